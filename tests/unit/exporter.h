/* SPDX-License-Identifier: MIT */
/* What the tests of exporters share: a snapshot and totals of a real recording, with a second GPU
 * of which little is known, and a server. */
#ifndef SMEFF_TESTS_EXPORTER_H
#define SMEFF_TESTS_EXPORTER_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "collect/collect.h"
#include "collect/totals.h"
#include "event/file.h"

static struct snapshot *shot;
static struct totals *totals;

struct two_sinks {
    struct event_sink a, b;
};

static inline enum status push_both(void *self, const struct event *ev, struct error *err)
{
    const struct two_sinks *s = self;
    enum status st = event_push(&s->a, ev, err);
    return st ? st : event_push(&s->b, ev, err);
}

static inline void read_recording(const char *path)
{
    struct collector *c = NULL;
    struct event_reader *r = NULL;
    bool more = true;
    assert_int_equal(collector_create(&c, NULL), OK);
    assert_int_equal(totals_create(&totals, 0, NULL), OK);
    struct two_sinks both = {collector_sink(c), totals_sink(totals)};
    const struct event_sink sink = {push_both, &both};
    assert_int_equal(event_reader_open(&r, path, NULL), OK);
    while (more)
        assert_int_equal(event_reader_next(r, &sink, &more, NULL), OK);
    event_reader_close(r);
    assert_int_equal(collector_snapshot(c, &shot, NULL), OK);
    collector_destroy(c);
}

/* A GPU without counters, whose name needs escaping. */
static inline void add_gpu(void)
{
    struct gpu_snapshot *g = realloc(shot->gpus, 2 * sizeof *g);
    assert_non_null(g);
    shot->gpus = g;
    shot->n_gpus = 2;
    g[1] = (struct gpu_snapshot){.index = 1, .coverage = NAN, .backend = SOURCE_NVML};
    snprintf(g[1].name, sizeof g[1].name, "Odd \"card\" \\ two");
    snprintf(g[1].uuid, sizeof g[1].uuid, "GPU-two");
    snprintf(g[1].pci_bus, sizeof g[1].pci_bus, "0000:c1:00.0");
    for (int m = 0; m < METRIC_COUNT; m++)
        value_set_state(&g[1].metrics[m].value, SOURCE_NONE, VALUE_UNSUPPORTED,
                        "no source here gives it");
    value_set_state(&g[1].metrics[METRIC_SM_ACTIVE].value, SOURCE_PM, VALUE_BUSY,
                    "process 4242 holds the counters");
    value_set(&g[1].metrics[METRIC_POWER].value, SOURCE_NVML, 1, 61.5);
    value_set(&g[1].metrics[METRIC_GPU_UTIL].value, SOURCE_NVML, 1, 0.29);
}

static inline void set_server_value(struct server_snapshot *x, enum metric m, double v)
{
    value_set(&x->metrics[m - SERVER_METRIC_FIRST].value, SOURCE_SERVER, 1, v);
}

/* Servers on GPU 0: one that streams 100 tokens/s, one that never answered. */
static inline void add_servers(void)
{
    free(shot->servers);
    shot->servers = calloc(2, sizeof *shot->servers);
    assert_non_null(shot->servers);
    shot->n_servers = 2;
    struct server_snapshot *x = &shot->servers[0], *y = &shot->servers[1];
    snprintf(x->url, sizeof x->url, "http://127.0.0.1:8000/metrics");
    snprintf(x->kind, sizeof x->kind, "vllm");
    snprintf(x->model, sizeof x->model, "m\xC3\xA4");
    x->state = VALUE_OK;
    x->is_local = true;
    x->pid = 5;
    x->t0_ns = shot->gpus[0].t0_ns;
    x->t1_ns = shot->gpus[0].t1_ns;
    for (int i = 0; i < SERVER_METRICS; i++)
        value_set_state(&x->metrics[i].value, SOURCE_SERVER, VALUE_WARMING, "none ended");
    set_server_value(x, METRIC_OUTPUT_TOKENS_PER_SECOND, 100);
    set_server_value(x, METRIC_RUNNING, 0);
    value_set_state(&x->metrics[METRIC_KV_USAGE - SERVER_METRIC_FIRST].value, SOURCE_SERVER,
                    VALUE_STALE, "3 s old");
    x->metrics[METRIC_KV_USAGE - SERVER_METRIC_FIRST].value.v = 0.5;
    snprintf(y->url, sizeof y->url, "http://127.0.0.1:8001/metrics");
    y->state = VALUE_FAILED;
    struct gpu_snapshot *g = &shot->gpus[0];
    free(g->processes);
    g->processes = calloc(1, sizeof *g->processes);
    assert_non_null(g->processes);
    g->processes[0] = (struct snapshot_process){
        .pid = 5, .name = "server", .gpu_memory_bytes = NAN, .sm_utilization = NAN};
    g->n_processes = 1;
    g->processes_known = true;
}

static inline int set_up_exporter(void **state)
{
    (void)state;
    read_recording(TEST_ROOT "/data/h200/live/decode.jsonl.gz");
    add_gpu();
    add_servers();
    shot->taken_ns = shot->gpus[0].t1_ns + 125000000;
    return 0;
}

static inline int tear_down_exporter(void **state)
{
    (void)state;
    snapshot_destroy(shot);
    totals_destroy(totals);
    shot = NULL;
    totals = NULL;
    return 0;
}

static inline void check_golden(const char *name, const struct buf *out)
{
    char path[512];
    static char expected[1 << 20];
    snprintf(path, sizeof path, "%s/tests/golden/%s", TEST_ROOT, name);
    assert_false(out->failed);
    if (getenv("SMEFF_UPDATE_GOLDEN")) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        assert_int_equal(fwrite(buf_str(out), 1, out->len, f), out->len);
        assert_int_equal(fclose(f), 0);
        return;
    }
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("no file %s", path);
    size_t n = fread(expected, 1, sizeof expected - 1, f);
    fclose(f);
    expected[n] = '\0';
    if (strcmp(expected, buf_str(out)) != 0)
        fail_msg("%s differs; now:\n%s", path, buf_str(out));
}

/* Each name has HELP and TYPE once, before its samples, and these stand together; each series is
 * there once; every line is whole. */
static inline void check_format(const char *text)
{
    enum { SEEN_MAX = 2000 };
    static char names[SEEN_MAX][128];
    static const char *series[SEEN_MAX];
    size_t n_names = 0, n_series = 0;
    for (const char *p = text; *p;) {
        const char *end = strchr(p, '\n');
        assert_non_null(end);
        char name[128];
        if (strncmp(p, "# HELP ", 7) == 0) {
            snprintf(name, sizeof name, "%.*s", (int)strcspn(p + 7, " "), p + 7);
            for (size_t i = 0; i < n_names; i++)
                assert_string_not_equal(names[i], name);
            snprintf(names[n_names++], sizeof names[0], "%s", name);
            assert_true(n_names < SEEN_MAX);
        } else {
            const char *at = strncmp(p, "# TYPE ", 7) == 0 ? p + 7 : p;
            snprintf(name, sizeof name, "%.*s", (int)strcspn(at, " {"), at);
            assert_true(n_names > 0);
            assert_string_equal(names[n_names - 1], name);
        }
        if (*p != '#') {
            const char *brace = strstr(p, "} "); /* no label value of ours has it */
            size_t len = brace && brace < end ? (size_t)(brace - p) + 1 : strcspn(p, " ");
            for (size_t i = 0; i < n_series; i++)
                assert_false(strncmp(series[i], p, len) == 0 && series[i][len] == ' ');
            series[n_series++] = p;
            assert_true(n_series < SEEN_MAX);
        }
        p = end + 1;
    }
}

#endif
