/* SPDX-License-Identifier: MIT */
#include "show/prometheus.h"

#include <math.h>
#include <stdio.h>

#include "judge/serving.h"
#include "metric/throttle.h"
#include "show/prom_text.h"

struct page {
    struct buf *out;
    const struct snapshot *s; /* NULL = none */
    const struct totals *totals;
    bool is_up;
};

/* s may be NULL, then there is no GPU and no server. */
static size_t n_gpus(const struct page *p)
{
    return p->s ? p->s->n_gpus : 0;
}

static size_t n_servers(const struct page *p)
{
    return p->s && p->is_up ? p->s->n_servers : 0;
}

static double sound_or_nan(const struct value *v)
{
    return value_is_sound(v) ? v->v : NAN;
}

static struct prom_family gauge(const struct page *p, const char *name, const char *help)
{
    return (struct prom_family){.out = p->out, .name = name, .type = "gauge", .help = help};
}

static struct prom_family counter(const struct page *p, const char *name, const char *help)
{
    return (struct prom_family){.out = p->out, .name = name, .type = "counter", .help = help};
}

/* A sample with the labels of a GPU, then up to four more (NULL = none). */
static void gpu_sample(struct prom_family *f, const struct gpu_snapshot *g,
                       const struct prom_label *more, double v)
{
    char index[16];
    struct prom_label labels[PROM_LABELS_MAX] = {{"gpu", index}, {"uuid", g->uuid}};
    snprintf(index, sizeof index, "%u", g->index);
    for (size_t i = 0; more && more[i].key; i++)
        labels[2 + i] = more[i];
    prom_sample(f, labels, v);
}

/* ---- the exporter, and which GPUs there are ---- */

static bool gpu_is_up(const struct page *p, const struct gpu_snapshot *g)
{
    bool is_up = false;
    for (int m = 0; m < METRIC_COUNT; m++)
        is_up |= value_is_sound(&g->metrics[m].value);
    return p->is_up && is_up;
}

static void put_exporter(const struct page *p)
{
    struct prom_family build = gauge(p, "smeff_build_info", "Which smeff this is");
    struct prom_family up = gauge(
        p, "smeff_up", "Whether the stream of samples lives: 1, or 0 while the daemon is away");
    prom_sample(&build, (const struct prom_label[]){{"version", SMEFF_VERSION}, {NULL, NULL}}, 1);
    struct prom_family replay =
        gauge(p, "smeff_replay", "1 where a recording is played: then nothing here happens now");
    prom_sample(&up, NULL, p->is_up);
    prom_sample(&replay, NULL, p->s && p->s->is_replay);
}

static void put_gpus(const struct page *p)
{
    struct prom_family info = gauge(p, "smeff_gpu_info", "Which GPU this is, and what samples it");
    struct prom_family up = gauge(p, "smeff_gpu_up", "Whether anything is measured of this GPU");
    for (size_t i = 0; i < n_gpus(p); i++) {
        const struct gpu_snapshot *g = &p->s->gpus[i];
        gpu_sample(&info, g,
                   (const struct prom_label[]){{"name", g->name},
                                               {"chip", g->chip},
                                               {"pci_bus_id", g->pci_bus},
                                               {"backend", source_name(g->backend)},
                                               {NULL, NULL}},
                   1);
    }
    for (size_t i = 0; i < n_gpus(p); i++)
        gpu_sample(&up, &p->s->gpus[i], NULL, gpu_is_up(p, &p->s->gpus[i]));
}

/* ---- how the numbers came about ---- */

static double age_s(const struct snapshot *s, const struct gpu_snapshot *g)
{
    bool known = s->taken_ns && g->samples && s->taken_ns >= g->t1_ns;
    return known ? (double)(s->taken_ns - g->t1_ns) * 1e-9 : NAN;
}

static void put_windows(const struct page *p)
{
    struct prom_family families[] = {
        gauge(p, "smeff_coverage_ratio", "Measured time as a share of the newest window"),
        gauge(p, "smeff_sample_rate_hertz", "Samples a second of the hardware counters"),
        gauge(p, "smeff_window_seconds",
              "Length of the newest window, which all gauges are means of"),
        gauge(p, "smeff_sample_age_seconds", "How old the end of the newest window is"),
        gauge(p, "smeff_gpu_processes", "Processes that use the GPU"),
    };
    for (size_t k = 0; k < sizeof families / sizeof families[0]; k++)
        for (size_t i = 0; p->is_up && i < n_gpus(p); i++) {
            const struct gpu_snapshot *g = &p->s->gpus[i];
            bool is_up = gpu_is_up(p, g);
            const double values[] = {
                is_up ? g->coverage : NAN, is_up && g->rate_hz > 0 ? g->rate_hz : NAN,
                is_up && gpu_snapshot_window_s(g) > 0 ? gpu_snapshot_window_s(g) : NAN,
                age_s(p->s, g), g->processes_known ? (double)g->n_processes : NAN};
            gpu_sample(&families[k], g, NULL, values[k]);
        }
}

/* ---- metrics of a GPU ---- */

static void put_gauges(const struct page *p)
{
    for (int i = 0; i < METRIC_COUNT; i++) {
        const struct metric_info *info = metric_info((enum metric)i);
        char name[PROMETHEUS_NAME_SIZE];
        if (info->scope != SCOPE_GPU || info->kind != KIND_GAUGE || info->unit == UNIT_FLAGS)
            continue;
        struct prom_family f = gauge(p, prometheus_gauge_name(name, (enum metric)i), info->help);
        for (size_t k = 0; p->is_up && k < n_gpus(p); k++)
            gpu_sample(&f, &p->s->gpus[k], NULL, sound_or_nan(&p->s->gpus[k].metrics[i].value));
    }
}

/* A total that stands still would say "nothing happened" where nothing is known: what is no longer
 * measured, or cannot be right, is left out until it is back. */
static bool has_total(const struct page *p, const struct gpu_snapshot *g, enum metric m)
{
    enum value_state state = g->metrics[m].value.state;
    return p->is_up && state != VALUE_STALE && state != VALUE_SUSPECT &&
           totals_of(p->totals, g->index, m).is_offered;
}

static double counter_value(const struct page *p, const struct gpu_snapshot *g, enum metric m)
{
    struct total total = totals_of(p->totals, g->index, m);
    if (!has_total(p, g, m))
        return NAN;
    return metric_info(m)->kind == KIND_COUNTER ? total.reading : total.integral;
}

static const char *counter_help(char *dst, size_t size, enum metric m)
{
    const struct metric_info *info = metric_info(m);
    bool is_sum = info->kind == KIND_GAUGE;
    snprintf(dst, size, "%s%s%s", info->help, is_sum ? ", summed up over the measured time" : "",
             is_sum && info->unit == UNIT_RATIO ? " in seconds" : "");
    return dst;
}

static void put_counters(const struct page *p)
{
    for (int i = 0; i < METRIC_COUNT; i++) {
        char name[PROMETHEUS_NAME_SIZE], help[300];
        if (!*prometheus_counter_name(name, (enum metric)i))
            continue;
        struct prom_family f = counter(p, name, counter_help(help, sizeof help, (enum metric)i));
        for (size_t k = 0; k < n_gpus(p); k++)
            gpu_sample(&f, &p->s->gpus[k], NULL, counter_value(p, &p->s->gpus[k], (enum metric)i));
    }
}

static void put_throttle(const struct page *p)
{
    struct prom_family f = counter(p, "smeff_throttle_seconds_total",
                                   "Seconds in which the driver held the clocks down, by reason "
                                   "(what it says at each reading is taken for the time since the "
                                   "one before)");
    for (size_t k = 0; k < n_gpus(p); k++)
        for (size_t bit = 0; bit < THROTTLE_REASONS; bit++) {
            const struct gpu_snapshot *g = &p->s->gpus[k];
            const struct prom_label reason[] = {{"reason", throttle_key(bit)}, {NULL, NULL}};
            gpu_sample(&f, g, reason,
                       has_total(p, g, METRIC_THROTTLE)
                           ? totals_throttled_s(p->totals, g->index, bit)
                           : NAN);
        }
}

static void put_measured(const struct page *p)
{
    struct prom_family f = counter(p, "smeff_measured_seconds_total",
                                   "How long each metric that has a counter was measured: a "
                                   "counter's increase over this one's is the mean");
    for (size_t k = 0; k < n_gpus(p); k++)
        for (int i = 0; i < METRIC_COUNT; i++) {
            const struct gpu_snapshot *g = &p->s->gpus[k];
            enum metric m = (enum metric)i;
            const struct prom_label metric[] = {{"metric", metric_info(m)->key}, {NULL, NULL}};
            char name[PROMETHEUS_NAME_SIZE];
            if ((*prometheus_counter_name(name, m) || m == METRIC_THROTTLE) && has_total(p, g, m))
                gpu_sample(&f, g, metric, totals_of(p->totals, g->index, m).measured_s);
        }
}

static void put_states(const struct page *p)
{
    struct prom_family f = gauge(p, "smeff_metric_state",
                                 "1 for each metric that has no sound number now, with its state "
                                 "and the reason (numbers in it are written N)");
    for (size_t k = 0; p->is_up && k < n_gpus(p); k++)
        for (int i = 0; i < METRIC_COUNT; i++) {
            const struct gpu_snapshot *g = &p->s->gpus[k];
            const struct value *v = &g->metrics[i].value;
            const struct metric_info *info = metric_info((enum metric)i);
            char reason[VALUE_REASON_SIZE];
            if (info->scope != SCOPE_GPU || value_is_sound(v))
                continue;
            gpu_sample(&f, g,
                       (const struct prom_label[]){{"metric", info->key},
                                                   {"state", value_state_name(v->state)},
                                                   {"reason", prometheus_reason(reason, v->reason)},
                                                   {NULL, NULL}},
                       1);
        }
}

static void put_verdicts(const struct page *p)
{
    struct prom_family f =
        gauge(p, "smeff_verdict", "What limited the GPU in the newest window: 1 for one of these");
    for (size_t i = 0; p->is_up && i < n_gpus(p); i++) {
        struct verdict v;
        serving_verdict(p->s, i, &v);
        for (int kind = 0; kind < VERDICT_COUNT; kind++)
            gpu_sample(&f, &p->s->gpus[i],
                       (const struct prom_label[]){
                           {"verdict", verdict_name((enum verdict_kind)kind)}, {NULL, NULL}},
                       kind == (int)v.kind);
    }
}

/* ---- servers ---- */

static void server_value(const struct page *p, size_t server, enum metric m, struct value *out)
{
    if (metric_info(m)->scope == SCOPE_SERVER)
        *out = server_snapshot_metric(&p->s->servers[server], m)->value;
    else
        serving_derive(p->s, server, m, out);
}

static void put_server_metrics(const struct page *p)
{
    for (int i = 0; i < METRIC_COUNT; i++) {
        char name[PROMETHEUS_NAME_SIZE];
        if (metric_info((enum metric)i)->scope == SCOPE_GPU)
            continue;
        struct prom_family f = gauge(p, prometheus_gauge_name(name, (enum metric)i),
                                     metric_info((enum metric)i)->help);
        for (size_t k = 0; k < n_servers(p); k++) {
            const struct server_snapshot *x = &p->s->servers[k];
            struct value v = {0};
            server_value(p, k, (enum metric)i, &v);
            prom_sample(
                &f,
                (const struct prom_label[]){{"server", x->url}, {"model", x->model}, {NULL, NULL}},
                sound_or_nan(&v));
        }
    }
}

static void put_server_states(const struct page *p)
{
    struct prom_family f = gauge(p, "smeff_server_metric_state",
                                 "1 for each metric of a server that has no sound number now, with "
                                 "its state and the reason (numbers in it are written N)");
    for (size_t k = 0; k < n_servers(p); k++)
        for (int i = 0; i < METRIC_COUNT; i++) {
            const struct server_snapshot *x = &p->s->servers[k];
            const struct metric_info *info = metric_info((enum metric)i);
            char reason[VALUE_REASON_SIZE];
            struct value v = {0};
            if (info->scope == SCOPE_GPU || x->state != VALUE_OK)
                continue;
            server_value(p, k, (enum metric)i, &v);
            if (!value_is_sound(&v))
                prom_sample(
                    &f,
                    (const struct prom_label[]){{"server", x->url},
                                                {"model", x->model},
                                                {"metric", info->key},
                                                {"state", value_state_name(v.state)},
                                                {"reason", prometheus_reason(reason, v.reason)},
                                                {NULL, NULL}},
                    1);
        }
}

static void put_servers(const struct page *p)
{
    struct prom_family up =
        gauge(p, "smeff_server_up", "Whether the inference server's last answer was good");
    struct prom_family on =
        gauge(p, "smeff_server_gpu", "1 for each GPU that is known to work for this server");
    for (size_t i = 0; i < n_servers(p); i++) {
        const struct server_snapshot *x = &p->s->servers[i];
        prom_sample(&up,
                    (const struct prom_label[]){
                        {"server", x->url}, {"kind", x->kind}, {"model", x->model}, {NULL, NULL}},
                    x->state == VALUE_OK);
    }
    put_server_metrics(p);
    put_server_states(p);
    for (size_t i = 0; i < n_servers(p); i++)
        for (size_t k = 0; k < n_gpus(p); k++)
            if (serving_of(p->s, i, k) != SERVING_NOT)
                gpu_sample(&on, &p->s->gpus[k],
                           (const struct prom_label[]){{"server", p->s->servers[i].url},
                                                       {"model", p->s->servers[i].model},
                                                       {NULL, NULL}},
                           1);
}

/* ---- the process, under the names that all exporters use ---- */

static void put_process(const struct page *p, const struct show_exporter *e)
{
    const struct {
        struct prom_family family;
        double v;
    } list[] = {
        {counter(p, "process_cpu_seconds_total", "CPU time of this process, user and system"),
         e->cpu_s},
        {gauge(p, "process_max_fds", "Most file descriptors that it may open"), e->max_fds},
        {gauge(p, "process_open_fds", "File descriptors that it has open"), e->open_fds},
        {gauge(p, "process_resident_memory_bytes", "Its resident memory"), e->memory_bytes},
        {gauge(p, "process_start_time_seconds", "When it began, UNIX time"), e->start_s},
        {gauge(p, "process_virtual_memory_bytes", "Its virtual memory"), e->virtual_bytes},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        struct prom_family f = list[i].family;
        prom_sample(&f, NULL, list[i].v);
    }
}

void show_prometheus(struct buf *out, const struct snapshot *s, const struct totals *totals,
                     const struct show_exporter *e)
{
    const struct page p = {out, s, totals, e->is_up};
    put_exporter(&p);
    put_gpus(&p);
    put_windows(&p);
    put_gauges(&p);
    put_counters(&p);
    put_throttle(&p);
    put_measured(&p);
    put_states(&p);
    put_verdicts(&p);
    put_servers(&p);
    put_process(&p, e);
}
