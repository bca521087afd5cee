/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

static enum status push(struct machine *m, const struct event *ev, struct error *err)
{
    const struct event_sink collector = collector_sink(m->collector);
    const struct event_sink totals = totals_sink(m->totals);
    enum status st = event_push(&collector, ev, err);
    return st ? st : event_push(&totals, ev, err);
}

static bool has_nvlink(const struct machine *m)
{
    return m->number % 2 == 0;
}

/* The recordings are of a card without NVLink, and of the core set. */
static bool is_made_up(const struct machine *m, int metric)
{
    return has_nvlink(m) && (metric == METRIC_NVLINK_RX || metric == METRIC_NVLINK_TX);
}

static struct plan_series series_of(const struct machine *m, enum source_id source,
                                    const struct plan_series *recorded)
{
    struct plan_series s = *recorded;
    if (source == SOURCE_PM && m->may_not) {
        s.state = VALUE_NO_PERMISSION;
        s.reason = "the driver lets only administrators read counters";
    } else if (source == SOURCE_PM && is_made_up(m, s.metric)) {
        s.state = VALUE_OK;
        s.reason = "";
    }
    return s;
}

static enum status send_plans(struct machine *m, unsigned gpu, struct error *err)
{
    enum status st = OK;
    for (int k = 0; !st && k < SOURCE_COUNT; k++) {
        const struct load_source *s = &m->of_gpu[gpu]->sources[k];
        struct plan_series series[METRIC_COUNT];
        for (size_t i = 0; i < s->n; i++)
            series[i] = series_of(m, (enum source_id)k, &s->series[i]);
        const struct event ev = {
            .kind = EVENT_PLAN,
            .u.plan = {gpu, (enum source_id)k, k == SOURCE_PM ? LOAD_PM_HZ : 1, s->n, series}};
        if (s->n && !(k == SOURCE_GPM && m->may_not))
            st = push(m, &ev, err);
    }
    return st;
}

enum status machine_open(struct machine *m, unsigned number, unsigned n_gpus,
                         const struct load *loads, struct error *err)
{
    *m = (struct machine){.number = number, .n_gpus = n_gpus, .last_ns = clock_unix_ns()};
    m->window_ns = m->last_ns;
    m->may_not = number % 20 == 3;
    m->is_deaf = number % 50 == 4;
    snprintf(m->host, sizeof m->host, "gpu-%03u", number);
    const struct event hello = {.kind = EVENT_HELLO,
                                .u.hello = {EVENT_SCHEMA, "fleet", m->host, 0}};
    enum status st = collector_create(&m->collector, err);
    if (!st)
        st = totals_create(&m->totals, m->last_ns, err);
    if (!st)
        st = push(m, &hello, err);
    for (unsigned g = 0; !st && g < n_gpus; g++) {
        char uuid[64], bus[32];
        /* machines with servers decode on the GPUs of the first one */
        m->of_gpu[g] = &loads[number % 4 == 0 && g < n_gpus / 2 ? 0 : (number + g) % LOADS];
        m->energy_j[g] = 1000.0 * (number + g);
        snprintf(uuid, sizeof uuid, "GPU-%08x-0000-0000-0000-%012x", number, g);
        snprintf(bus, sizeof bus, "0000:%02x:00.0", 16 * g + 1);
        const struct event ev = {.kind = EVENT_GPU,
                                 .u.gpu = {g, m->of_gpu[g]->gpu, uuid, m->of_gpu[g]->chip, bus}};
        st = push(m, &ev, err);
        if (!st)
            st = send_plans(m, g, err);
    }
    return st;
}

void machine_close(struct machine *m)
{
    collector_destroy(m->collector);
    totals_destroy(m->totals);
}

/* ---- samples ---- */

static double value_of(struct machine *m, unsigned gpu, const struct load_source *s, size_t series,
                       size_t slot, double length_s)
{
    int metric = s->series[series].metric;
    double v = s->values[series][slot];
    if (is_made_up(m, metric))
        return 1e9 * (1 + gpu);
    if (metric == METRIC_POWER && isfinite(v))
        m->energy_j[gpu] += v * length_s;
    return metric == METRIC_ENERGY ? m->energy_j[gpu] : v;
}

static enum status send_samples(struct machine *m, unsigned gpu, enum source_id source,
                                int64_t now_ns, struct error *err)
{
    const struct load_source *s = &m->of_gpu[gpu]->sources[source];
    size_t n = source == SOURCE_PM ? LOAD_PM_HZ : 1, columns = 0;
    int64_t t0_ns[LOAD_PM_HZ], t1_ns[LOAD_PM_HZ], length_ns = now_ns - m->last_ns;
    uint32_t column[METRIC_COUNT];
    static double values[METRIC_COUNT * LOAD_PM_HZ];
    for (size_t i = 0; i < n; i++) {
        t0_ns[i] = m->last_ns + length_ns * (int64_t)i / (int64_t)n;
        t1_ns[i] = m->last_ns + length_ns * (int64_t)(i + 1) / (int64_t)n;
    }
    for (size_t c = 0; c < s->n; c++) {
        if (series_of(m, source, &s->series[c]).state != VALUE_OK)
            continue;
        for (size_t i = 0; i < n; i++)
            values[columns * n + i] =
                value_of(m, gpu, s, c, (m->seconds * n + i + 3 * gpu) % s->slots,
                         (double)(t1_ns[i] - t0_ns[i]) * 1e-9);
        column[columns++] = (uint32_t)c;
    }
    const struct event ev = {
        .kind = EVENT_SAMPLES,
        .u.samples = {gpu, source, n, t0_ns, t1_ns, columns, column, values, n}};
    return columns ? push(m, &ev, err) : OK;
}

static int64_t pid_of(unsigned server)
{
    return 1000 + server;
}

static enum status send_processes(struct machine *m, unsigned gpu, struct error *err)
{
    unsigned server = gpu < m->n_gpus / 2 || m->n_gpus < 2 ? 0 : 1;
    const struct event_process p = {pid_of(server), "server", 64e9, NAN};
    const struct event ev = {.kind = EVENT_PROCESSES, .u.processes = {gpu, 1, &p}};
    return push(m, &ev, err);
}

/* ---- servers ---- */

static struct event_server_metric metric_of(enum metric m, double v)
{
    return (struct event_server_metric){m, VALUE_OK, v, "", "made_up", ""};
}

static enum status send_server(struct machine *m, unsigned server, int64_t now_ns,
                               struct error *err)
{
    static const char *const models[] = {"llama-70b", "qwen-32b", "mixtral-8x7b"};
    char url[64];
    double k = 1 + 0.1 * (m->number % 10);
    int64_t pid = pid_of(server);
    struct event_server_metric metrics[] = {
        metric_of(METRIC_OUTPUT_TOKENS_PER_SECOND, 400 * k),
        metric_of(METRIC_PROMPT_TOKENS_PER_SECOND, 2500 * k),
        metric_of(METRIC_RUNNING, 16 * k),
        metric_of(METRIC_WAITING, m->number % 3),
        metric_of(METRIC_KV_USAGE, 0.6 + 0.02 * (m->number % 20)),
        metric_of(METRIC_TPOT, 0.03),
        metric_of(METRIC_TTFT, 0.4 * k),
        metric_of(METRIC_E2E_LATENCY, 9 * k),
        metric_of(METRIC_SPEC_ACCEPTANCE, 0.7),
        metric_of(METRIC_PREFIX_HIT, 0.4),
        metric_of(METRIC_ESTIMATED_BYTES, 3.5e12),
    };
    if (server == 1) /* not every server tells everything */
        metrics[8] = (struct event_server_metric){
            METRIC_SPEC_ACCEPTANCE, VALUE_UNSUPPORTED, NAN, "no speculative decoding", "", ""};
    snprintf(url, sizeof url, "http://127.0.0.1:%u/metrics", 8000 + server);
    const struct event ev = {.kind = EVENT_SERVER,
                             .u.server = {.url = url,
                                          .kind = "vllm",
                                          .model = models[(m->number / 4 + server) % 3],
                                          .pid = pid,
                                          .is_local = true,
                                          .n_gpu_pids = 1,
                                          .gpu_pids = &pid,
                                          .state = VALUE_OK,
                                          .reason = "",
                                          .t0_ns = m->window_ns,
                                          .t1_ns = now_ns,
                                          .n = sizeof metrics / sizeof metrics[0],
                                          .metrics = metrics}};
    return push(m, &ev, err);
}

enum status machine_tick(struct machine *m, struct error *err)
{
    int64_t now_ns = clock_unix_ns();
    enum status st = OK;
    for (unsigned g = 0; !st && g < m->n_gpus; g++)
        for (int k = 0; !st && k < SOURCE_COUNT; k++)
            if (m->of_gpu[g]->sources[k].n && !(m->may_not && k == SOURCE_GPM))
                st = send_samples(m, g, (enum source_id)k, now_ns, err);
    bool serves = m->number % 4 == 0;
    for (unsigned g = 0; !st && serves && m->seconds % 5 == 0 && g < m->n_gpus; g++)
        st = send_processes(m, g, err);
    for (unsigned i = 0; !st && serves && i < MACHINE_SERVERS && i < m->n_gpus; i++)
        st = send_server(m, i, now_ns, err);
    if (m->seconds % 5 == 4) /* as in a stream: a server's window begins anew each five seconds */
        m->window_ns = now_ns;
    m->last_ns = now_ns;
    m->seconds++;
    collector_roll(m->collector, 1);
    return st;
}
