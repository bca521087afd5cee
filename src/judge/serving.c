/* SPDX-License-Identifier: MIT */
/* Which server runs where, and what one of its tokens costs. */
#include "judge/serving.h"

#include <math.h>

#include "judge/thresholds.h"

static bool has_process(const struct gpu_snapshot *g, int64_t pid)
{
    for (size_t i = 0; i < g->n_processes; i++)
        if (g->processes[i].pid == pid)
            return true;
    return false;
}

enum serving serving_of(const struct snapshot *s, size_t server, size_t gpu)
{
    const struct server_snapshot *x = &s->servers[server];
    const struct gpu_snapshot *g = &s->gpus[gpu];
    if (x->pid > 0 && has_process(g, x->pid))
        return SERVING_BY_PROCESS;
    for (size_t i = 0; i < x->n_gpu_pids; i++)
        if (has_process(g, x->gpu_pids[i]))
            return SERVING_BY_PROCESS;
    /* of a process that is not known, a forwarded port or a container's, nothing is taken for
     * granted */
    bool alone = x->is_local && x->pid > 0 && s->n_gpus == 1 && s->n_servers == 1;
    return alone ? SERVING_ALONE : SERVING_NOT;
}

static bool is_shared(const struct snapshot *s, size_t server, size_t gpu)
{
    for (size_t i = 0; i < s->n_servers; i++)
        if (i != server && serving_of(s, i, gpu) != SERVING_NOT)
            return true;
    return false;
}

/* Rates of two windows are only divided by each other when both are about the same time. */
static bool same_window(const struct server_snapshot *x, const struct gpu_snapshot *g)
{
    int64_t begin_first = x->t0_ns < g->t0_ns ? x->t0_ns : g->t0_ns;
    int64_t begin_last = x->t0_ns < g->t0_ns ? g->t0_ns : x->t0_ns;
    int64_t end_first = x->t1_ns < g->t1_ns ? x->t1_ns : g->t1_ns;
    int64_t end_last = x->t1_ns < g->t1_ns ? g->t1_ns : x->t1_ns;
    return end_first > begin_last &&
           (double)(end_first - begin_last) >= SAME_WINDOW * (double)(end_last - begin_first);
}

/* ---- what stands in the way ---- */

static void unsupported(struct value *out, const char *reason)
{
    value_set_state(out, SOURCE_DERIVED, VALUE_UNSUPPORTED, "%s", reason);
}

/* A number that is not sound is no number here. */
static void refuse(struct value *out, const struct value *cause, const char *what)
{
    if (value_has_number(cause))
        value_set_state(out, SOURCE_DERIVED, VALUE_UNSUPPORTED, "%s is %s: %s", what,
                        value_state_name(cause->state), cause->reason);
    else
        value_set_state(out, SOURCE_DERIVED, cause->state, "%s: %s", what, cause->reason);
}

/* Output tokens a second, more than 0. */
static bool has_tokens(const struct server_snapshot *x, struct value *out)
{
    const struct value *tokens = &server_snapshot_metric(x, METRIC_OUTPUT_TOKENS_PER_SECOND)->value;
    if (!value_is_sound(tokens))
        refuse(out, tokens, metric_info(METRIC_OUTPUT_TOKENS_PER_SECOND)->label);
    else if (!(tokens->v > 0))
        value_set_state(out, SOURCE_DERIVED, VALUE_WARMING, "no output token in the window");
    return value_is_sound(tokens) && tokens->v > 0;
}

/* A server on the CPU beside an idle GPU: what was taken for granted is refuted. */
static bool is_refuted(const struct snapshot *s, size_t server, size_t gpu)
{
    const struct value *gr = &s->gpus[gpu].metrics[METRIC_GR_ACTIVE].value;
    return serving_of(s, server, gpu) == SERVING_ALONE && value_is_sound(gr) &&
           gr->v <= SNAPSHOT_IDLE_SHARE;
}

/* Another program's traffic would be charged to the tokens. What the driver does not tell of a
 * process is taken for nothing: idle processes are many. */
static bool has_foreign_work(const struct server_snapshot *x, const struct gpu_snapshot *g)
{
    for (size_t i = 0; i < g->n_processes; i++) {
        bool own = g->processes[i].pid == x->pid;
        for (size_t k = 0; k < x->n_gpu_pids; k++)
            own |= g->processes[i].pid == x->gpu_pids[k];
        if (!own && g->processes[i].sm_utilization > SNAPSHOT_IDLE_SHARE)
            return true;
    }
    return false;
}

/* The server's own GPUs, measured over its window. */
static bool has_gpus(const struct snapshot *s, size_t server, struct value *out)
{
    const struct server_snapshot *x = &s->servers[server];
    size_t n = 0;
    for (size_t i = 0; i < s->n_gpus; i++) {
        const struct gpu_snapshot *g = &s->gpus[i];
        if (serving_of(s, server, i) == SERVING_NOT)
            continue;
        n++;
        if (is_shared(s, server, i)) {
            value_set_state(out, SOURCE_DERIVED, VALUE_UNSUPPORTED, "several servers use GPU %u",
                            g->index);
            return false;
        }
        if (serving_of(s, server, i) == SERVING_BY_PROCESS && has_foreign_work(x, g)) {
            value_set_state(out, SOURCE_DERIVED, VALUE_UNSUPPORTED,
                            "another program works on GPU %u, too", g->index);
            return false;
        }
        if (is_refuted(s, server, i)) {
            value_set_state(out, SOURCE_DERIVED, VALUE_UNSUPPORTED,
                            "GPU %u was idle while tokens came: the server does not use it",
                            g->index);
            return false;
        }
        if (!same_window(x, g)) {
            value_set_state(out, SOURCE_DERIVED, VALUE_UNSUPPORTED,
                            "the server was read over another time (%.1f s) than GPU %u (%.1f s)",
                            server_snapshot_window_s(x), g->index, gpu_snapshot_window_s(g));
            return false;
        }
    }
    if (n == 0)
        unsupported(out, "it is not known which GPU this server uses");
    return n > 0;
}

/* ---- amounts of one GPU, a second; NaN and a reason when there is none ---- */

static double dram_rate(const struct gpu_snapshot *g, struct value *out)
{
    if (g->coverage < COVERAGE_LEAST) {
        value_set_state(out, SOURCE_DERIVED, VALUE_UNSUPPORTED,
                        "GPU %u was sampled %.0f %% of the time only", g->index, 100 * g->coverage);
        return NAN;
    }
    static const enum metric parts[] = {METRIC_DRAM_READ_BYTES, METRIC_DRAM_WRITE_BYTES};
    double sum = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const struct value *v = &g->metrics[parts[i]].value;
        if (!value_is_sound(v)) {
            refuse(out, v, metric_info(parts[i])->label);
            return NAN;
        }
        sum += v->v;
    }
    return sum;
}

/* The driver's own count of joules, else the mean of its readings of power. */
static double watts(const struct gpu_snapshot *g, struct value *out)
{
    const struct value *energy = &g->metrics[METRIC_ENERGY].value;
    const struct value *power = &g->metrics[METRIC_POWER].value;
    if (value_is_sound(energy) && gpu_snapshot_window_s(g) > 0)
        return energy->v / gpu_snapshot_window_s(g);
    if (value_is_sound(power))
        return power->v;
    refuse(out, energy, metric_info(METRIC_ENERGY)->label);
    return NAN;
}

/* The mean of its GPUs over what the server says of one. */
static void derive_estimate(const struct snapshot *s, size_t server, struct value *out)
{
    const struct server_snapshot *x = &s->servers[server];
    const struct value *estimate = &server_snapshot_metric(x, METRIC_ESTIMATED_BYTES)->value;
    double sum = 0, n = 0;
    if (!value_is_sound(estimate)) {
        refuse(out, estimate, metric_info(METRIC_ESTIMATED_BYTES)->label);
        return;
    }
    if (!(estimate->v > 0)) {
        value_set_state(out, SOURCE_DERIVED, VALUE_WARMING, "the server reckons with no traffic");
        return;
    }
    if (!has_gpus(s, server, out))
        return;
    for (size_t i = 0; i < s->n_gpus; i++) {
        if (serving_of(s, server, i) == SERVING_NOT)
            continue;
        sum += dram_rate(&s->gpus[i], out);
        n++;
    }
    if (!isnan(sum))
        value_set(out, SOURCE_DERIVED, x->t1_ns, sum / n / estimate->v);
}

void serving_derive(const struct snapshot *s, size_t server, enum metric m, struct value *out)
{
    if (m == METRIC_MEASURED_TO_ESTIMATED) {
        derive_estimate(s, server, out);
        return;
    }
    const struct server_snapshot *x = &s->servers[server];
    double sum = 0;
    if (!has_tokens(x, out) || !has_gpus(s, server, out))
        return;
    for (size_t i = 0; i < s->n_gpus; i++) {
        if (serving_of(s, server, i) == SERVING_NOT)
            continue;
        sum += m == METRIC_BYTES_PER_OUTPUT_TOKEN ? dram_rate(&s->gpus[i], out)
                                                  : watts(&s->gpus[i], out);
        if (isnan(sum))
            return;
    }
    value_set(out, SOURCE_DERIVED, x->t1_ns,
              sum / server_snapshot_metric(x, METRIC_OUTPUT_TOKENS_PER_SECOND)->value.v);
}

void serving_derive_only(const struct snapshot *s, enum metric m, struct value *out)
{
    if (s->n_servers == 1)
        serving_derive(s, 0, m, out);
    else
        unsupported(out, s->n_servers ? "several inference servers: each has its own"
                                      : "no inference server was read");
}
