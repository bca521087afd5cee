/* SPDX-License-Identifier: MIT */
/* What servers say about a GPU's verdict. Only on sound values. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "judge/finding.h"
#include "judge/serving.h"
#include "judge/thresholds.h"

/* A claim about a whole window wants more than one look. */
enum { READINGS_MIN = 2 };

/* What is known of the requests outweighs advice that had to guess. */
static void advise_first(struct verdict *v, const char *text)
{
    struct verdict_lines *l = &v->advice;
    if (l->n < VERDICT_LINES)
        l->n++;
    memmove(l->line[1], l->line[0], (l->n - 1) * sizeof l->line[0]);
    snprintf(l->line[0], sizeof l->line[0], "%s", text);
}

static const struct value *value_of(const struct server_snapshot *x, enum metric m)
{
    return &server_snapshot_metric(x, m)->value;
}

/* ---- no request, no work ---- */

static bool never_any(const struct server_metric *m)
{
    return value_is_sound(&m->value) && m->readings >= READINGS_MIN && !(m->max > 0);
}

static bool is_quiet(const struct server_snapshot *x)
{
    const struct value *tokens = value_of(x, METRIC_OUTPUT_TOKENS_PER_SECOND);
    return never_any(server_snapshot_metric(x, METRIC_RUNNING)) &&
           never_any(server_snapshot_metric(x, METRIC_WAITING)) &&
           !(value_has_number(tokens) && tokens->v > 0); /* between two readings, then */
}

/* Work that the server's clients did not ask for is another program's. */
static void explain_quiet(const struct server_snapshot *x, struct verdict *v)
{
    verdict_add(&v->evidence,
                "no request ran or waited at %.80s (%llu readings): the clients send too little",
                x->url, (unsigned long long)server_snapshot_metric(x, METRIC_RUNNING)->readings);
    advise_first(v, "Send more requests at once: nothing ran and nothing waited.");
}

/* ---- about one request ---- */

static bool about_one(const struct server_snapshot *x)
{
    const struct server_metric *running = server_snapshot_metric(x, METRIC_RUNNING);
    return value_is_sound(&running->value) && running->readings > 0 && running->mean >= ONE_LEAST &&
           running->mean <= ONE_MOST;
}

/* The peak of the server's GPUs, bytes a second: what they read over the share that it is. */
static double dram_peak(const struct snapshot *s, size_t server)
{
    double peak = 0;
    for (size_t i = 0; i < s->n_gpus; i++) {
        const struct value *bytes = &s->gpus[i].metrics[METRIC_DRAM_READ_BYTES].value;
        const struct value *share = &s->gpus[i].metrics[METRIC_DRAM_READ].value;
        if (serving_of(s, server, i) == SERVING_NOT)
            continue;
        if (!value_is_sound(bytes) || !value_is_sound(share) || share->v < PEAK_MIN)
            return NAN;
        peak += bytes->v / share->v;
    }
    return peak;
}

static void explain_token_time(const struct snapshot *s, size_t server, struct verdict *v)
{
    const struct server_rates rates = serving_rates(&s->servers[server], s->taken_ns != 0);
    const struct value *tpot = &rates.tpot;
    struct value bytes = {0};
    char amount[32], speed[32], needed[32], taken[32];
    serving_derive(s, server, METRIC_BYTES_PER_OUTPUT_TOKEN, &bytes);
    double peak = dram_peak(s, server);
    if (!value_is_sound(&bytes) || !value_is_sound(tpot) || !(tpot->v > 0) || !(peak > 0))
        return;
    double seconds = bytes.v / peak;
    if (seconds / tpot->v > EXPLAINED_MAX)
        return;
    unit_format(amount, sizeof amount, UNIT_BYTES_PER_TOKEN, bytes.v, 0);
    unit_format(speed, sizeof speed, UNIT_BYTES_PER_SECOND, peak, 0);
    unit_format(needed, sizeof needed, UNIT_SECONDS, seconds, 0);
    unit_format(taken, sizeof taken, UNIT_SECONDS, tpot->v, 0);
    verdict_add(&v->evidence,
                "memory explains %.0f %% of the time per token: %s at the peak of %s take %s of %s",
                100 * seconds / tpot->v, amount, speed, needed, taken);
}

static void explain_one(const struct snapshot *s, size_t server, struct verdict *v)
{
    explain_token_time(s, server, v);
    if (v->kind == VERDICT_MEMORY_BOUND)
        advise_first(
            v, "Raise concurrency: about one request runs, and weights are read once per step "
               "whatever the batch.");
}

/* ---- a full KV cache ---- */

static bool is_kv_full(const struct server_snapshot *x)
{
    const struct value *kv = value_of(x, METRIC_KV_USAGE), *waiting = value_of(x, METRIC_WAITING);
    return value_is_sound(kv) && value_is_sound(waiting) && kv->v >= KV_FULL - SLACK &&
           waiting->v > 0;
}

static void explain_kv(const struct server_snapshot *x, struct verdict *v)
{
    verdict_add(&v->evidence, "KV cache is the limit of %.80s: %.0f %% in use, %.0f requests wait",
                x->url, 100 * value_of(x, METRIC_KV_USAGE)->v, value_of(x, METRIC_WAITING)->v);
    advise_first(
        v, "Make room in the KV cache: FP8 KV cache, shorter contexts, more memory for it, or "
           "another GPU. More requests at once will not help.");
}

void serving_verdict(const struct snapshot *s, size_t gpu, struct verdict *out)
{
    size_t n = 0, last = 0, quiet = 0;
    verdict_of(&s->gpus[gpu], out);
    for (size_t i = 0; i < s->n_servers; i++) {
        if (serving_of(s, i, gpu) == SERVING_NOT)
            continue;
        n++;
        last = i;
        quiet += is_quiet(&s->servers[i]);
        if (is_kv_full(&s->servers[i]))
            explain_kv(&s->servers[i], out);
    }
    if (n == 0)
        return;
    bool waits_for_work = out->kind == VERDICT_IDLE || out->kind == VERDICT_STARVED;
    if (waits_for_work && quiet == n)
        explain_quiet(&s->servers[last], out);
    /* of several servers nobody knows whose the traffic is */
    if (n == 1 && about_one(&s->servers[last]))
        explain_one(s, last, out);
    if (serving_of(s, last, gpu) == SERVING_ALONE)
        verdict_add(&out->limits,
                    "That %.80s uses this GPU was concluded from both being the only "
                    "ones here.",
                    s->servers[last].url);
}
