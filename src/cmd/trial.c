/* SPDX-License-Identifier: MIT */
#include "cmd/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "cmd/interrupt.h"
#include "cmd/load_child.h"
#include "collect/collect.h"

/* A load compiles its kernels first, and runs evenly after SETTLE and for END longer than it is
 * sampled; samples are LATE when they arrive. */
enum { BEGIN_MS = 30000, SETTLE_MS = 200, END_MS = 100, LATE_MS = 350, POLL_MS = 20 };

static const double coverage_min = 0.95;

struct trial_bench {
    struct live *live;
    struct event_sink sink; /* takes what live gives */
    unsigned gpu;
    struct collector *by[PROOF_LIVE]; /* [PROOF_PM]: everything but GPM */
    double window_s;
    int64_t from_ns, to_ns; /* samples outside are left out; to 0 = none is taken */
};

/* ---- samples ---- */

/* The part of a batch that lies in the window. */
static bool cut(struct event_samples *s, int64_t from_ns, int64_t to_ns)
{
    size_t first = 0, n = 0;
    while (first < s->n && s->t0_ns[first] < from_ns)
        first++;
    while (first + n < s->n && s->t1_ns[first + n] <= to_ns)
        n++;
    s->n = n;
    s->t0_ns += first;
    s->t1_ns += first;
    s->values += first;
    return n > 0;
}

static enum source_id source_of(const struct event *ev)
{
    return ev->kind == EVENT_PLAN      ? ev->u.plan.source
           : ev->kind == EVENT_SAMPLES ? ev->u.samples.source
                                       : SOURCE_NONE;
}

static enum status take(void *self, const struct event *ev, struct error *err)
{
    struct trial_bench *b = self;
    struct event part = *ev;
    if (ev->kind == EVENT_SAMPLES && !cut(&part.u.samples, b->from_ns, b->to_ns))
        return OK;
    enum source_id source = source_of(ev);
    enum status st = OK;
    for (int i = 0; !st && i < PROOF_LIVE; i++) {
        struct event_sink sink = collector_sink(b->by[i]);
        if (source == SOURCE_NONE || (source == SOURCE_GPM) == (i == PROOF_GPM))
            st = event_push(&sink, &part, err);
    }
    return st;
}

static void open_window(struct trial_bench *b, int64_t from_ns, double seconds)
{
    for (int i = 0; i < PROOF_LIVE; i++)
        collector_forget(b->by[i]);
    b->window_s = seconds;
    b->from_ns = from_ns;
    b->to_ns = from_ns + (int64_t)(seconds * 1e9);
}

static enum status interrupted(struct error *err)
{
    return fail(err, ERR_IO, interrupt_raised(), "interrupted");
}

/* Handles what comes until then. */
static enum status poll_until(struct trial_bench *b, int64_t unix_ns, struct error *err)
{
    enum status st = OK;
    while (!st && clock_unix_ns() < unix_ns)
        st = interrupt_raised() ? interrupted(err) : live_poll(b->live, POLL_MS, err);
    return st;
}

/* ---- the bench ---- */

static enum status wait_for_counters(struct trial_bench *b, struct error *err)
{
    int64_t deadline_ns = clock_monotonic_ns() + BEGIN_MS * INT64_C(1000000);
    enum status st = OK, ended = OK;
    const char *reason = "";
    while (!st && !live_settled(b->live) && clock_monotonic_ns() < deadline_ns) {
        if (interrupt_raised())
            return interrupted(err);
        if (live_over(b->live, &ended, &reason))
            return fail(err, ended ? ended : ERR_NO_GPU, 0, "%s", reason);
        st = live_poll(b->live, POLL_MS, err);
    }
    if (st)
        return st;
    st = live_counters(b->live, &reason);
    return st ? fail(err, st, 0, "no hardware counters: %s", reason) : OK;
}

enum status trial_bench_open(struct trial_bench **out, const struct request *r, unsigned gpu,
                             struct error *err)
{
    struct trial_bench *b = calloc(1, sizeof *b);
    if (!b)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    b->gpu = gpu;
    b->sink = (struct event_sink){take, b};
    enum status st = OK;
    for (int i = 0; !st && i < PROOF_LIVE; i++)
        st = collector_create(&b->by[i], err);
    if (!st)
        st = live_open(&b->live, r, &b->sink, err);
    if (!st)
        st = wait_for_counters(b, err);
    if (st) {
        trial_bench_close(b);
        return st;
    }
    *out = b;
    return OK;
}

void trial_bench_close(struct trial_bench *b)
{
    if (!b)
        return;
    live_close(b->live);
    for (int i = 0; i < PROOF_LIVE; i++)
        collector_destroy(b->by[i]);
    free(b);
}

/* ---- the load ---- */

/* Until the load has begun, or (report) has ended with its report. */
static enum status wait_for_load(struct trial_bench *b, struct load_child *l, bool report,
                                 const char *name, struct error *err)
{
    int64_t deadline_ns = clock_monotonic_ns() + BEGIN_MS * INT64_C(1000000);
    char death[80];
    for (;;) {
        load_child_read(l);
        if (report ? l->report != NULL : l->begin_ns != 0)
            return OK;
        if (l->ended)
            return fail(err, ERR_IO, 0, "load %s %s", name,
                        proc_death_text(death, sizeof death, l->wait_status));
        if (clock_monotonic_ns() > deadline_ns)
            return fail(err, ERR_TIMEOUT, 0, "load %s did not %s within %d s", name,
                        report ? "end" : "begin", BEGIN_MS / 1000);
        if (interrupt_raised())
            return interrupted(err);
        enum status st = live_poll(b->live, POLL_MS, err);
        if (st)
            return st;
    }
}

/* ---- proofs ---- */

/* A mean over a part of the window proves nothing of a load that was counted over all of it. */
static void check_coverage(const struct gpu_snapshot *g, double window_s, struct value *v)
{
    double span_s = gpu_snapshot_window_s(g), edges_s = 2 * (g->rate_hz > 0 ? 1 / g->rate_hz : 1);
    if (value_has_number(v) && (span_s + edges_s < window_s || g->coverage < coverage_min))
        value_set_state(v, v->source, VALUE_FAILED, "only %.0f %% of the window were sampled",
                        100 * g->coverage * span_s / window_s);
}

void trial_value(const struct snapshot *s, unsigned gpu, enum metric m, struct value *out)
{
    value_set_state(out, SOURCE_NONE, VALUE_UNSUPPORTED, "no source here gives it");
    for (size_t i = 0; i < s->n_gpus; i++)
        if (s->gpus[i].index == gpu)
            *out = s->gpus[i].metrics[m].value;
}

static void add_proof(struct trial *t, const struct proof *p, const struct trial_bench *b,
                      struct snapshot *const by[PROOF_LIVE])
{
    if (t->n == TRIAL_PROOFS_MAX)
        return;
    struct proof *new = &t->proofs[t->n++];
    *new = *p;
    for (int i = 0; i < PROOF_LIVE; i++) {
        trial_value(by[i], b->gpu, p->metric, &new->by[i].value);
        for (size_t k = 0; k < by[i]->n_gpus; k++)
            if (by[i]->gpus[k].index == b->gpu)
                check_coverage(&by[i]->gpus[k], b->window_s, &new->by[i].value);
    }
    value_set_state(&new->by[PROOF_NSYS].value, SOURCE_NSYS, VALUE_UNSUPPORTED, "not asked for");
    proof_judge(new);
}

static double number_or_nan(const json_t *o)
{
    return json_is_number(o) ? json_number_value(o) : NAN;
}

static bool claim_of(const json_t *o, struct proof *p)
{
    const char *metric = json_string_value(json_object_get(o, "metric"));
    const char *how = json_string_value(json_object_get(o, "how"));
    int m = metric ? metric_by_key(metric) : METRIC_NONE;
    if (m == METRIC_NONE || !how ||
        !relation_by_name(json_string_value(json_object_get(o, "relation")), &p->relation))
        return false;
    p->metric = (enum metric)m;
    p->expected = number_or_nan(json_object_get(o, "value"));
    p->tolerance = number_or_nan(json_object_get(o, "tolerance"));
    str_clean(p->how, sizeof p->how, how, strlen(how));
    return true;
}

/* What both sources have, and the load says nothing of. */
static void add_comparisons(struct trial *t, const struct proof *like, const struct trial_bench *b,
                            struct snapshot *const by[PROOF_LIVE])
{
    static const enum metric both[] = {METRIC_GR_ACTIVE, METRIC_SM_ACTIVE, METRIC_OCCUPANCY,
                                       METRIC_TENSOR_ACTIVE, METRIC_DRAM_THROUGHPUT};
    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++) {
        bool has = false;
        for (size_t k = 0; k < t->n; k++)
            has |= t->proofs[k].metric == both[i];
        struct proof p = *like;
        p.metric = both[i];
        p.expected = p.tolerance = NAN;
        snprintf(p.how, sizeof p.how, "not known for this load; the sources must agree");
        if (!has)
            add_proof(t, &p, b, by);
    }
}

static enum status prove(struct trial_bench *b, const struct load_child *l, const char *load,
                         struct trial *t, struct error *err)
{
    struct snapshot *by[PROOF_LIVE] = {NULL, NULL};
    enum status st = OK;
    for (int i = 0; !st && i < PROOF_LIVE; i++)
        st = collector_snapshot(b->by[i], &by[i], err);
    if (!st) {
        struct proof p = {.relation = RELATION_EQUAL};
        snprintf(p.load, sizeof p.load, "%s", load);
        size_t i;
        json_t *o;
        json_array_foreach(json_object_get(l->report, "expectations"), i, o)
        {
            if (claim_of(o, &p))
                add_proof(t, &p, b, by);
        }
        p.relation = RELATION_EQUAL;
        add_comparisons(t, &p, b, by);
        t->report = json_dumps(l->report, JSON_COMPACT | JSON_REAL_PRECISION(15));
        if (!t->report)
            st = fail(err, ERR_NOMEM, 0, "out of memory");
    }
    for (int i = 0; i < PROOF_LIVE; i++)
        snapshot_destroy(by[i]);
    return st;
}

enum status trial_run(struct trial_bench *b, const char *load, double seconds, struct trial *out,
                      struct error *err)
{
    struct load_child l = LOAD_CHILD_INIT;
    double margin_s = (SETTLE_MS + END_MS) * 1e-3;
    *out = (struct trial){0};
    enum status st = load_child_start(&l, b->gpu, load, seconds + margin_s, err);
    if (!st)
        st = wait_for_load(b, &l, false, load, err);
    if (!st) {
        int64_t from_ns = l.begin_ns + SETTLE_MS * INT64_C(1000000);
        open_window(b, from_ns, seconds);
        st = poll_until(b, b->to_ns + LATE_MS * INT64_C(1000000), err);
    }
    if (!st)
        st = wait_for_load(b, &l, true, load, err);
    b->to_ns = 0;
    if (!st)
        st = prove(b, &l, load, out, err);
    load_child_fini(&l);
    if (st)
        trial_fini(out);
    return st;
}

void trial_fini(struct trial *t)
{
    free(t->report);
    *t = (struct trial){0};
}

enum status trial_watch(struct trial_bench *b, double seconds, double *gr_active,
                        struct snapshot **out, struct error *err)
{
    *gr_active = NAN;
    open_window(b, clock_unix_ns(), seconds);
    enum status st = poll_until(b, b->to_ns + LATE_MS * INT64_C(1000000), err);
    b->to_ns = 0;
    for (int i = PROOF_LIVE - 1; !st && i >= 0; i--) {
        struct value v;
        struct snapshot *s = NULL;
        st = collector_snapshot(b->by[i], &s, err);
        if (st)
            break;
        trial_value(s, b->gpu, METRIC_GR_ACTIVE, &v);
        if (value_has_number(&v))
            *gr_active = v.v;
        if (i == PROOF_PM)
            *out = s;
        else
            snapshot_destroy(s);
    }
    return st;
}
