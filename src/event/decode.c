/* SPDX-License-Identifier: MIT */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "event/book.h"
#include "event/quick.h"
#include "event/wire.h"

/* A stream can come from another host or an old file: whatever a line holds, what is pushed keeps
 * the contracts of event.h. */

enum { PROCESSES_MAX = 10000 };
enum { SERVER_TEXT_MAX = 4096, SERVER_METRICS_MAX = 1000, SERVER_PIDS_MAX = 256 };

struct event_decoder {
    struct book book;
    struct quick quick;
};

enum status event_decoder_create(struct event_decoder **out, struct error *err)
{
    struct event_decoder *d = calloc(1, sizeof *d);
    if (!d)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    *out = d;
    return OK;
}

void event_decoder_destroy(struct event_decoder *d)
{
    if (!d)
        return;
    book_fini(&d->book);
    quick_fini(&d->quick);
    free(d);
}

static const char *text(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}

static double number(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static enum status get_gpu(const json_t *o, unsigned *gpu, struct error *err)
{
    const json_t *g = json_object_get(o, "gpu");
    if (!json_is_integer(g) || json_integer_value(g) < 0 || json_integer_value(g) >= BOOK_GPUS_MAX)
        return fail(err, ERR_BAD_INPUT, 0, "no GPU number");
    *gpu = (unsigned)json_integer_value(g);
    return OK;
}

#define BY_NAME(function, type, count, name_of)                                                    \
    static bool function(const char *name, type *out)                                              \
    {                                                                                              \
        for (int i = 0; i < count; i++)                                                            \
            if (strcmp(name_of((type)i), name) == 0) {                                             \
                *out = (type)i;                                                                    \
                return true;                                                                       \
            }                                                                                      \
        return false;                                                                              \
    }
BY_NAME(source_by_name, enum source_id, SOURCE_COUNT, source_name)
BY_NAME(unit_by_name, enum unit, UNITS_END, unit_name)
BY_NAME(state_by_name, enum value_state, VALUE_STATE_COUNT, value_state_name)

static enum status get_source(const json_t *o, enum source_id *source, struct error *err)
{
    if (!source_by_name(text(o, "source"), source))
        return fail(err, ERR_BAD_INPUT, 0, "no known source");
    return OK;
}

/* A catalogue key that this version does not know stays a series of its own name. */
static enum status get_series(const json_t *o, struct plan_series *out, struct error *err)
{
    const char *key = text(o, "metric");
    *out = (struct plan_series){.metric = *key ? metric_by_key(key) : METRIC_NONE,
                                .name = *key ? key : text(o, "name"),
                                .reason = text(o, "reason"),
                                .counter = text(o, "counter")};
    if (!*out->name)
        return fail(err, ERR_BAD_INPUT, 0, "a series without a name");
    if (!unit_by_name(text(o, "unit"), &out->unit))
        out->unit = UNIT_COUNT;
    if (out->metric != METRIC_NONE && out->unit != metric_info((enum metric)out->metric)->unit)
        return fail(err, ERR_BAD_INPUT, 0, "%s has the unit %s", key, text(o, "unit"));
    if (!state_by_name(text(o, "state"), &out->state))
        out->state = VALUE_FAILED;
    double resolution = number(json_object_get(o, "resolution"));
    out->resolution = resolution > 0 ? resolution : 0;
    return OK;
}

static enum status decode_plan(struct event_decoder *d, const json_t *o,
                               const struct event_sink *sink, struct error *err)
{
    struct event ev = {.kind = EVENT_PLAN};
    struct event_plan *p = &ev.u.plan;
    const json_t *list = json_object_get(o, "series");
    p->n = json_array_size(list);
    enum status st = get_gpu(o, &p->gpu, err);
    if (!st)
        st = get_source(o, &p->source, err);
    if (!st && (!json_is_array(list) || p->n > BOOK_SERIES_MAX))
        st = fail(err, ERR_BAD_INPUT, 0, "a plan without a list of series");
    if (st)
        return st;
    double rate = number(json_object_get(o, "rate_hz"));
    p->rate_hz = rate > 0 ? rate : 0;
    struct plan_series *series = calloc(p->n ? p->n : 1, sizeof *series);
    if (!series)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; !st && i < p->n; i++)
        st = get_series(json_array_get(list, i), &series[i], err);
    p->series = series;
    if (!st)
        st = book_remember(&d->book, p, err);
    if (!st)
        st = event_push(sink, &ev, err);
    free(series);
    return st;
}

struct batch {
    int64_t *t0, *t1;
    uint32_t *series;
    double *values;
};

static void batch_fini(struct batch *b)
{
    free(b->t0);
    free(b->t1);
    free(b->series);
    free(b->values);
}

static enum status get_time(const json_t *t, const char *key, int64_t *out, struct error *err)
{
    /* half the range leaves room for differences */
    if (!json_is_integer(t) || json_integer_value(t) > INT64_MAX / 2 ||
        json_integer_value(t) < INT64_MIN / 2)
        return fail(err, ERR_BAD_INPUT, 0, "%s holds no time", key);
    *out = json_integer_value(t);
    return OK;
}

static enum status get_times(const json_t *o, const char *key, size_t n, int64_t *out,
                             struct error *err)
{
    const json_t *list = json_object_get(o, key);
    if (json_array_size(list) != n)
        return fail(err, ERR_BAD_INPUT, 0, "%s is not as long as t1_ns", key);
    for (size_t i = 0; i < n; i++) {
        enum status st = get_time(json_array_get(list, i), key, &out[i], err);
        if (st)
            return st;
    }
    return OK;
}

static enum status get_columns(const json_t *values, const struct book_plan *plan, size_t n,
                               struct batch *b, size_t *columns, struct error *err)
{
    const char *name;
    json_t *list;
    size_t c = 0;
    json_object_foreach((json_t *)values, name, list)
    {
        long index = book_series_index(plan, name, c);
        if (index < 0)
            continue;
        if (json_array_size(list) != n)
            return fail(err, ERR_BAD_INPUT, 0, "%s has not as many values as times", name);
        b->series[c] = (uint32_t)index;
        for (size_t i = 0; i < n; i++)
            b->values[c * n + i] = number(json_array_get(list, i));
        c++;
    }
    *columns = c;
    return OK;
}

static enum status decode_samples(struct event_decoder *d, const json_t *o,
                                  const struct event_sink *sink, struct error *err)
{
    struct event ev = {.kind = EVENT_SAMPLES};
    struct event_samples *s = &ev.u.samples;
    const json_t *values = json_object_get(o, "values");
    enum status st = get_gpu(o, &s->gpu, err);
    if (!st)
        st = get_source(o, &s->source, err);
    if (st)
        return st;
    const struct book_plan *plan = book_find(&d->book, s->gpu, s->source);
    if (!plan)
        return fail(err, ERR_BAD_INPUT, 0, "samples of GPU %u before their plan", s->gpu);
    s->n = json_array_size(json_object_get(o, "t1_ns"));
    size_t columns = json_object_size(values);
    if (s->n == 0 || s->n > BOOK_SAMPLES_MAX || columns > BOOK_SERIES_MAX)
        return fail(err, ERR_BAD_INPUT, 0, "%zu samples of %zu series", s->n, columns);
    struct batch b = {calloc(s->n, sizeof *b.t0), calloc(s->n, sizeof *b.t1),
                      calloc(columns + 1, sizeof *b.series),
                      calloc(s->n * columns + 1, sizeof *b.values)};
    if (!b.t0 || !b.t1 || !b.series || !b.values)
        st = fail(err, ERR_NOMEM, 0, "out of memory");
    if (!st)
        st = get_times(o, "t0_ns", s->n, b.t0, err);
    if (!st)
        st = get_times(o, "t1_ns", s->n, b.t1, err);
    for (size_t i = 0; !st && i < s->n; i++)
        if (b.t1[i] < b.t0[i])
            st = fail(err, ERR_BAD_INPUT, 0, "a sample that ends before it begins");
    if (!st)
        st = get_columns(values, plan, s->n, &b, &s->columns, err);
    s->t0_ns = b.t0;
    s->t1_ns = b.t1;
    s->series = b.series;
    s->values = b.values;
    s->stride = s->n;
    if (!st)
        st = event_push(sink, &ev, err);
    batch_fini(&b);
    return st;
}

static enum status decode_processes(const json_t *o, const struct event_sink *sink,
                                    struct error *err)
{
    struct event ev = {.kind = EVENT_PROCESSES};
    struct event_processes *p = &ev.u.processes;
    const json_t *list = json_object_get(o, "list");
    p->n = json_array_size(list);
    enum status st = get_gpu(o, &p->gpu, err);
    if (st)
        return st;
    if (p->n > PROCESSES_MAX)
        return fail(err, ERR_BAD_INPUT, 0, "%zu processes", p->n);
    struct event_process *processes = calloc(p->n ? p->n : 1, sizeof *processes);
    if (!processes)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < p->n; i++) {
        const json_t *x = json_array_get(list, i);
        processes[i] =
            (struct event_process){.pid = json_integer_value(json_object_get(x, "pid")),
                                   .name = text(x, "name"),
                                   .gpu_memory_bytes = number(json_object_get(x, "gpu_memory")),
                                   .sm_utilization = number(json_object_get(x, "sm_utilization"))};
    }
    p->list = processes;
    st = event_push(sink, &ev, err);
    free(processes);
    return st;
}

/* ---- servers ---- */

/* What the server itself says comes from outside, twice: bounded. */
static enum status get_text(const json_t *o, const char *key, const char **out, struct error *err)
{
    *out = text(o, key);
    if (strlen(*out) > SERVER_TEXT_MAX)
        return fail(err, ERR_BAD_INPUT, 0, "%s is too long", key);
    return OK;
}

static enum status get_state(const json_t *o, enum value_state *state, const char **reason,
                             struct error *err)
{
    if (!state_by_name(text(o, "state"), state))
        *state = VALUE_FAILED;
    return get_text(o, "reason", reason, err);
}

static enum status get_server_metric(const json_t *o, enum metric m,
                                     struct event_server_metric *out, struct error *err)
{
    *out = (struct event_server_metric){.metric = m, .v = NAN};
    enum status st = get_state(o, &out->state, &out->reason, err);
    if (!st)
        st = get_text(o, "series", &out->series, err);
    if (!st)
        st = get_text(o, "freshness", &out->freshness, err);
    struct value shown = {.state = out->state};
    if (st || !value_has_number(&shown))
        return st;
    out->v = number(json_object_get(o, "value"));
    if (!(out->v >= 0)) /* all that servers count begins at 0 */
        return fail(err, ERR_BAD_INPUT, 0, "%s is %s without a number", metric_info(m)->key,
                    value_state_name(out->state));
    return OK;
}

static enum status get_server_metrics(const json_t *o, struct event_server_metric *list, size_t *n,
                                      struct error *err)
{
    json_t *metrics = json_object_get(o, "metrics"), *value;
    const char *key;
    enum status st = OK;
    if (!json_is_object(metrics) || json_object_size(metrics) > SERVER_METRICS_MAX)
        return fail(err, ERR_BAD_INPUT, 0, "a server without its metrics");
    json_object_foreach(metrics, key, value)
    {
        int m = metric_by_key(key);
        if (st || m == METRIC_NONE || metric_info((enum metric)m)->scope != SCOPE_SERVER)
            continue;
        st = get_server_metric(value, (enum metric)m, &list[*n], err);
        ++*n;
    }
    return st;
}

static enum status get_server_pids(const json_t *o, int64_t *pids, size_t *n, struct error *err)
{
    const json_t *list = json_object_get(o, "gpu_pids");
    *n = json_array_size(list);
    if (*n > SERVER_PIDS_MAX)
        return fail(err, ERR_BAD_INPUT, 0, "%zu processes of a server", *n);
    for (size_t i = 0; i < *n; i++) {
        pids[i] = json_integer_value(json_array_get(list, i));
        if (pids[i] <= 0)
            return fail(err, ERR_BAD_INPUT, 0, "gpu_pids holds no process id");
    }
    return OK;
}

static enum status get_server(const json_t *o, struct event_server *s, struct error *err)
{
    json_int_t pid = json_integer_value(json_object_get(o, "pid"));
    s->pid = pid > 0 ? pid : 0;
    s->is_local = json_is_true(json_object_get(o, "local"));
    s->is_gone = json_is_true(json_object_get(o, "gone"));
    enum status st = get_text(o, "url", &s->url, err);
    if (!st && !*s->url)
        st = fail(err, ERR_BAD_INPUT, 0, "a server without a URL");
    if (!st)
        st = get_text(o, "kind", &s->kind, err);
    if (!st)
        st = get_text(o, "model", &s->model, err);
    if (!st)
        st = get_state(o, &s->state, &s->reason, err);
    if (!st)
        st = get_time(json_object_get(o, "t0_ns"), "t0_ns", &s->t0_ns, err);
    if (!st)
        st = get_time(json_object_get(o, "t1_ns"), "t1_ns", &s->t1_ns, err);
    if (!st && s->t1_ns < s->t0_ns)
        st = fail(err, ERR_BAD_INPUT, 0, "a window that ends before it begins");
    return st;
}

static enum status decode_server(const json_t *o, const struct event_sink *sink, struct error *err)
{
    struct event_server_metric metrics[METRIC_COUNT]; /* keys are unique: JSON_REJECT_DUPLICATES */
    int64_t pids[SERVER_PIDS_MAX];
    struct event ev = {.kind = EVENT_SERVER, .u.server = {.gpu_pids = pids, .metrics = metrics}};
    enum status st = get_server(o, &ev.u.server, err);
    if (!st)
        st = get_server_pids(o, pids, &ev.u.server.n_gpu_pids, err);
    if (!st)
        st = get_server_metrics(o, metrics, &ev.u.server.n, err);
    return st ? st : event_push(sink, &ev, err);
}

static enum status decode_hello(const json_t *o, const struct event_sink *sink, struct error *err)
{
    json_int_t schema = json_integer_value(json_object_get(o, "schema"));
    if (schema != EVENT_SCHEMA)
        return fail(err, ERR_BAD_INPUT, 0, "schema %lld instead of %d", (long long)schema,
                    EVENT_SCHEMA);
    struct event ev = {.kind = EVENT_HELLO,
                       .u.hello = {EVENT_SCHEMA, text(o, "tool"), text(o, "host"),
                                   json_is_true(json_object_get(o, "replay"))}};
    return event_push(sink, &ev, err);
}

static enum status decode_gpu(const json_t *o, const struct event_sink *sink, struct error *err)
{
    struct event ev = {.kind = EVENT_GPU,
                       .u.gpu = {.name = text(o, "name"),
                                 .uuid = text(o, "uuid"),
                                 .chip = text(o, "chip"),
                                 .pci_bus = text(o, "pci_bus")}};
    enum status st = get_gpu(o, &ev.u.gpu.gpu, err);
    return st ? st : event_push(sink, &ev, err);
}

static enum status decode_note(const json_t *o, const struct event_sink *sink, struct error *err)
{
    const char *level = text(o, "level");
    unsigned gpu = 0;
    struct event ev = {.kind = EVENT_NOTE,
                       .u.note = {.level = strcmp(level, "error") == 0     ? NOTE_ERROR
                                           : strcmp(level, "warning") == 0 ? NOTE_WARNING
                                                                           : NOTE_INFO,
                                  .gpu = -1,
                                  .text = text(o, "text")}};
    if (get_gpu(o, &gpu, NULL) == OK)
        ev.u.note.gpu = (int)gpu;
    return event_push(sink, &ev, err);
}

static enum status decode_end(const json_t *o, const struct event_sink *sink, struct error *err)
{
    struct event ev = {.kind = EVENT_END, .u.end = {ERR_IO, text(o, "reason")}};
    const char *name = text(o, "status");
    for (int i = 0; i < STATUS_INDEX_COUNT; i++) {
        enum status st = (enum status)(-i);
        if (strcmp(status_name(st), name) == 0)
            ev.u.end.status = st;
    }
    return event_push(sink, &ev, err);
}

static enum status decode_object(struct event_decoder *d, const json_t *o,
                                 const struct event_sink *sink, struct error *err)
{
    const char *kind = text(o, "event");
    if (strcmp(kind, "samples") == 0)
        return decode_samples(d, o, sink, err);
    if (strcmp(kind, "plan") == 0)
        return decode_plan(d, o, sink, err);
    if (strcmp(kind, "gpu") == 0)
        return decode_gpu(o, sink, err);
    if (strcmp(kind, "hello") == 0)
        return decode_hello(o, sink, err);
    if (strcmp(kind, "processes") == 0)
        return decode_processes(o, sink, err);
    if (strcmp(kind, "server") == 0)
        return decode_server(o, sink, err);
    if (strcmp(kind, "note") == 0)
        return decode_note(o, sink, err);
    if (strcmp(kind, "end") == 0)
        return decode_end(o, sink, err);
    if (strcmp(kind, "beat") == 0) {
        struct event ev = {.kind = EVENT_BEAT};
        return event_push(sink, &ev, err);
    }
    return *kind ? OK : fail(err, ERR_BAD_INPUT, 0, "an object without \"event\"");
}

enum status event_decode(struct event_decoder *d, const char *line, size_t len,
                         const struct event_sink *sink, struct error *err)
{
    struct event quick = {.kind = EVENT_SAMPLES};
    if (quick_samples(&d->quick, &d->book, line, len, &quick.u.samples))
        return event_push(sink, &quick, err);
    json_error_t why;
    json_t *o = json_loadb(line, len, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(o)) {
        json_decref(o);
        return fail(err, ERR_BAD_INPUT, 0, "no JSON object: %s", o ? "another type" : why.text);
    }
    enum status st = decode_object(d, o, sink, err);
    json_decref(o);
    return st;
}
