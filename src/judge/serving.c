/* SPDX-License-Identifier: MIT */
/* Which server runs where, and what one of its tokens costs. */
#include "judge/serving.h"

#include <math.h>

#include "judge/join.h"
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

struct server_rates serving_rates(const struct server_snapshot *x, bool rolls)
{
    struct server_rates newest = server_snapshot_rates(x);
    const struct server_rates *before = &x->before;
    double between_s = (double)(newest.t0_ns - before->t1_ns) * 1e-9;
    bool follows = before->t1_ns > before->t0_ns && fabs(between_s) <= WINDOW_FOLLOW_S;
    /* that nothing comes now, or nothing sound, shall not be hidden */
    bool comes = value_is_sound(&newest.tokens) && newest.tokens.v > 0;
    if (!rolls || !follows || !comes || server_snapshot_window_s(x) >= WINDOW_FITS_S)
        return newest;
    return *before;
}

/* Output tokens a second, more than 0. */
static bool has_tokens(const struct server_rates *rates, struct value *out)
{
    const struct value *tokens = &rates->tokens;
    if (!value_is_sound(tokens))
        refuse(out, tokens, metric_info(METRIC_OUTPUT_TOKENS_PER_SECOND)->label);
    else if (!(tokens->v > 0))
        value_set_state(out, SOURCE_DERIVED, VALUE_WARMING, "no output token in the window");
    return value_is_sound(tokens) && tokens->v > 0;
}

/* A server on the CPU beside an idle GPU: what was taken for granted is refuted. */
static bool is_refuted(const struct snapshot *s, size_t server, size_t gpu,
                       const struct server_rates *rates)
{
    struct join gr;
    if (serving_of(s, server, gpu) != SERVING_ALONE)
        return false;
    join_metric(s, rates, gpu, METRIC_GR_ACTIVE, &gr);
    return value_is_sound(&gr.value) && join_fits(&gr, rates) && gr.value.v <= SNAPSHOT_IDLE_SHARE;
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

/* The server's own GPUs, and nobody else's. */
static bool has_gpus(const struct snapshot *s, size_t server, const struct server_rates *rates,
                     struct value *out)
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
        if (is_refuted(s, server, i, rates)) {
            value_set_state(out, SOURCE_DERIVED, VALUE_UNSUPPORTED,
                            "GPU %u was idle while tokens came: the server does not use it",
                            g->index);
            return false;
        }
    }
    if (n == 0)
        unsupported(out, "it is not known which GPU this server uses");
    return n > 0;
}

/* ---- amounts of one GPU, a second; NaN and a reason when there is none ---- */

static void refuse_window(const struct snapshot *s, size_t gpu, const struct server_rates *rates,
                          struct value *out)
{
    const struct gpu_snapshot *g = &s->gpus[gpu];
    double server_s = (double)(rates->t1_ns - rates->t0_ns) * 1e-9;
    if (s->taken_ns)
        value_set_state(out, SOURCE_DERIVED, VALUE_UNSUPPORTED,
                        "the windows of GPU %u do not fit the server's (%.1f s)", g->index,
                        server_s);
    else
        value_set_state(out, SOURCE_DERIVED, VALUE_UNSUPPORTED,
                        "the server was read over another time (%.1f s) than GPU %u (%.1f s)",
                        server_s, g->index, gpu_snapshot_window_s(g));
}

/* One metric over the server's window, measured at least so much of it. */
static double rate(const struct snapshot *s, size_t gpu, const struct server_rates *rates,
                   enum metric m, double coverage_least, struct value *out)
{
    struct join j;
    join_metric(s, rates, gpu, m, &j);
    if (!value_is_sound(&j.value)) {
        refuse(out, &j.value, metric_info(m)->label);
        return NAN;
    }
    if (!join_fits(&j, rates)) {
        refuse_window(s, gpu, rates, out);
        return NAN;
    }
    if (j.coverage < coverage_least) {
        value_set_state(out, SOURCE_DERIVED, VALUE_UNSUPPORTED,
                        "GPU %u was sampled %.0f %% of the time only", s->gpus[gpu].index,
                        100 * j.coverage);
        return NAN;
    }
    return j.value.v;
}

static double dram_rate(const struct snapshot *s, size_t gpu, const struct server_rates *rates,
                        struct value *out)
{
    double reads = rate(s, gpu, rates, METRIC_DRAM_READ_BYTES, COVERAGE_LEAST, out);
    if (isnan(reads))
        return NAN;
    return reads + rate(s, gpu, rates, METRIC_DRAM_WRITE_BYTES, COVERAGE_LEAST, out);
}

/* The driver's own count of joules, else the mean of its readings of power. */
static double watts(const struct snapshot *s, size_t gpu, const struct server_rates *rates,
                    struct value *out)
{
    double by_energy = rate(s, gpu, rates, METRIC_ENERGY, SAME_WINDOW, out);
    if (!isnan(by_energy))
        return by_energy;
    struct value why = *out;
    double by_power = rate(s, gpu, rates, METRIC_POWER, SAME_WINDOW, out);
    if (isnan(by_power) && !value_is_sound(&s->gpus[gpu].metrics[METRIC_POWER].value))
        *out = why;
    return by_power;
}

/* The mean of its GPUs over what the server says of one. */
static void derive_estimate(const struct snapshot *s, size_t server, struct value *out)
{
    const struct server_snapshot *x = &s->servers[server];
    const struct server_rates rates = serving_rates(x, s->taken_ns != 0);
    const struct value *estimate = &rates.estimated_bytes;
    double sum = 0, n = 0;
    if (!value_is_sound(estimate)) {
        refuse(out, estimate, metric_info(METRIC_ESTIMATED_BYTES)->label);
        return;
    }
    if (!(estimate->v > 0)) {
        value_set_state(out, SOURCE_DERIVED, VALUE_WARMING, "the server reckons with no traffic");
        return;
    }
    if (!has_gpus(s, server, &rates, out))
        return;
    for (size_t i = 0; i < s->n_gpus; i++) {
        if (serving_of(s, server, i) == SERVING_NOT)
            continue;
        sum += dram_rate(s, i, &rates, out);
        n++;
    }
    if (!isnan(sum))
        value_set(out, SOURCE_DERIVED, rates.t1_ns, sum / n / estimate->v);
}

void serving_derive(const struct snapshot *s, size_t server, enum metric m, struct value *out)
{
    if (m == METRIC_MEASURED_TO_ESTIMATED) {
        derive_estimate(s, server, out);
        return;
    }
    const struct server_rates rates = serving_rates(&s->servers[server], s->taken_ns != 0);
    double sum = 0;
    if (!has_tokens(&rates, out) || !has_gpus(s, server, &rates, out))
        return;
    for (size_t i = 0; i < s->n_gpus; i++) {
        if (serving_of(s, server, i) == SERVING_NOT)
            continue;
        sum += m == METRIC_BYTES_PER_OUTPUT_TOKEN ? dram_rate(s, i, &rates, out)
                                                  : watts(s, i, &rates, out);
        if (isnan(sum))
            return;
    }
    value_set(out, SOURCE_DERIVED, rates.t1_ns, sum / rates.tokens.v);
}

void serving_derive_only(const struct snapshot *s, enum metric m, struct value *out)
{
    if (s->n_servers == 1)
        serving_derive(s, 0, m, out);
    else
        unsupported(out, s->n_servers ? "several inference servers: each has its own"
                                      : "no inference server was read");
}
