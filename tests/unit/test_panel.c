/* SPDX-License-Identifier: MIT */
/* The panel without a terminal: golden screens from recordings, keys, verdicts that stay calm.
 * SMEFF_GOLDEN=write renews tests/golden/panel-*.txt, to be looked at before they are committed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "cmd/panel.h"
#include "panel/keys.h"
#include "panel/view.h"

#define LIVE TEST_ROOT "/data/h200/live/"

static struct panel p;

/* ---- recordings, one GPU each, put together ---- */

struct move {
    unsigned gpu;
    int64_t shift_ns;
    int64_t *t0, *t1;
};

static const struct event_sink *panel_sink;

static int64_t *shifted(int64_t *room, const int64_t *from, size_t n, int64_t by)
{
    int64_t *out = realloc(room, (n + 1) * sizeof *out);
    assert_non_null(out);
    for (size_t i = 0; i < n; i++)
        out[i] = from[i] + by;
    return out;
}

static enum status pass(void *self, const struct event *ev, struct error *err)
{
    struct move *m = self;
    struct event moved = *ev;
    switch (ev->kind) {
    case EVENT_GPU:
        moved.u.gpu.gpu = m->gpu;
        moved.u.gpu.uuid = "";
        break;
    case EVENT_PLAN:
        moved.u.plan.gpu = m->gpu;
        break;
    case EVENT_SAMPLES:
        m->t0 = shifted(m->t0, ev->u.samples.t0_ns, ev->u.samples.n, m->shift_ns);
        m->t1 = shifted(m->t1, ev->u.samples.t1_ns, ev->u.samples.n, m->shift_ns);
        moved.u.samples.gpu = m->gpu;
        moved.u.samples.t0_ns = m->t0;
        moved.u.samples.t1_ns = m->t1;
        break;
    default:
        return OK; /* notes have paths in them */
    }
    return event_push(panel_sink, &moved, err);
}

/* All recordings end at the same time. They are read in turn, so that time goes on for all. */
static void read_all(const char *const *names, unsigned n)
{
    struct event_reader *readers[8];
    struct move moves[8] = {{0}};
    panel_sink = &p.sink;
    int64_t newest = 0;
    for (unsigned i = 0; i < n; i++) {
        char path[300];
        snprintf(path, sizeof path, LIVE "%s.jsonl.gz", names[i]);
        assert_int_equal(event_reader_open(&readers[i], path, NULL), OK);
        moves[i].gpu = i;
    }
    for (unsigned i = 0; i < n && n > 1; i++) {
        struct trace *t = NULL;
        assert_int_equal(trace_create(&t, NULL), OK);
        const struct event_sink sink = trace_sink(t);
        bool more = true;
        while (more)
            assert_int_equal(event_reader_next(readers[i], &sink, &more, NULL), OK);
        newest = trace_newest_ns(t) > newest ? trace_newest_ns(t) : newest;
        moves[i].shift_ns = -trace_newest_ns(t);
        trace_destroy(t);
        assert_int_equal(event_reader_rewind(readers[i], NULL), OK);
    }
    for (unsigned i = 0; i < n && n > 1; i++)
        moves[i].shift_ns += newest;
    bool any = true;
    while (any) {
        any = false;
        for (unsigned i = 0; i < n; i++) {
            const struct event_sink sink = {pass, &moves[i]};
            bool more;
            assert_int_equal(event_reader_next(readers[i], &sink, &more, NULL), OK);
            any |= more;
        }
    }
    for (unsigned i = 0; i < n; i++) {
        event_reader_close(readers[i]);
        free(moves[i].t0);
        free(moves[i].t1);
    }
    p.model.is_over = true;
    assert_int_equal(panel_look(&p, INT64_C(1000000000), NULL), OK);
    p.model.utc_offset_s = 0;
    p.model.is_over = false;
}

static int set_up(void **state)
{
    (void)state;
    p = (struct panel){0};
    return panel_init(&p, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    panel_fini(&p);
    return 0;
}

/* ---- screens ---- */

static void draw(int width, int height, struct buf *out)
{
    struct surface s;
    p.model.glyphs = p.model.ascii ? GLYPHS_ASCII : p.model.glyphs;
    assert_int_equal(surface_init(&s, width, height, p.model.ascii, NULL), OK);
    view_draw(&p.model, &s);
    surface_text(&s, out);
    surface_fini(&s);
}

static void golden(const char *name, int width, int height)
{
    char path[300];
    struct buf got = BUF_INIT, want = BUF_INIT;
    draw(width, height, &got);
    snprintf(path, sizeof path, TEST_ROOT "/tests/golden/panel-%s-%dx%d.txt", name, width, height);
    if (getenv("SMEFF_GOLDEN")) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fwrite(got.data, 1, got.len, f);
        fclose(f);
    }
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s is not there", path);
    for (int c; (c = fgetc(f)) != EOF;)
        buf_putc(&want, (char)c);
    fclose(f);
    if (strcmp(buf_str(&got), buf_str(&want)) != 0)
        fail_msg("%s: expected\n%s\nbut it is\n%s", path, buf_str(&want), buf_str(&got));
    buf_fini(&got);
    buf_fini(&want);
}

static const char *const five[] = {"decode", "matmul", "bursty", "tail", "idle"};

static void test_gpu_screens(void **state)
{
    (void)state;
    read_all(&five[0], 1);
    assert_int_equal(p.model.view, VIEW_GPU);
    golden("gpu", 40, 10);
    golden("gpu", 80, 24);
    golden("gpu", 120, 40);
    golden("gpu", 200, 60);
    p.model.ascii = true;
    golden("gpu-ascii", 80, 24);
}

static void test_overview_screens(void **state)
{
    (void)state;
    read_all(five, 5);
    assert_int_equal(p.model.view, VIEW_OVERVIEW);
    golden("overview", 40, 10);
    golden("overview", 80, 24);
    golden("overview", 120, 40);
    golden("overview", 200, 60);
}

static void test_other_screens(void **state)
{
    (void)state;
    read_all(&five[2], 1); /* bursty */
    p.model.glyphs = GLYPHS_BLOCK;
    golden("bursty-block", 80, 24);
    p.model.glyphs = GLYPHS_BRAILLE;
    golden("bursty", 120, 40);
    keys_press(&p.model, 'm');
    golden("metrics", 80, 24);
    golden("metrics", 120, 40);
    golden("metrics", 200, 60);
    keys_press(&p.model, 'p');
    golden("processes", 80, 24);
    keys_press(&p.model, '?');
    golden("help", 80, 24);
    golden("help", 200, 60);
    keys_press(&p.model, PANEL_KEY_ESC);
    for (int i = 0; i < 3; i++)
        keys_press(&p.model, PANEL_KEY_LEFT);
    assert_true(model_is_past(&p.model));
    golden("past", 80, 24);
}

/* Every size can be drawn: that nothing is written outside is checked by the sanitizers. */
static void test_every_size(void **state)
{
    (void)state;
    read_all(five, 5);
    static const enum view views[] = {VIEW_OVERVIEW, VIEW_GPU, VIEW_METRICS, VIEW_PROCESSES,
                                      VIEW_HELP};
    for (size_t v = 0; v < sizeof views / sizeof views[0]; v++)
        for (int width = 1; width < 260; width += width < 90 ? 7 : 41)
            for (int height = 1; height < 90; height += height < 30 ? 3 : 17) {
                struct buf text = BUF_INIT;
                p.model.view = views[v];
                draw(width, height, &text);
                buf_fini(&text);
            }
    struct buf text = BUF_INIT;
    draw(20, 4, &text);
    assert_contains(buf_str(&text), "20x4 is too small");
    buf_fini(&text);
}

/* ---- what is not known says why ---- */

static const int64_t begin = 1800000000 * INT64_C(1000000000);

static void push(const struct event *ev)
{
    assert_int_equal(event_push(&p.sink, ev, NULL), OK);
}

static void push_gpu(const struct plan_series *series, size_t n)
{
    const struct event gpu = {.kind = EVENT_GPU, .u.gpu = {0, "Card", "u", "GH100", ""}};
    const struct event plan = {
        .kind = EVENT_PLAN,
        .u.plan = {.source = SOURCE_PM, .rate_hz = 50, .n = n, .series = series}};
    push(&gpu);
    push(&plan);
}

/* 50 samples: the second number from_s, all columns the same. */
static void push_second(double from_s, size_t columns, double value)
{
    static const uint32_t index[] = {0, 1, 2, 3};
    int64_t t0[50], t1[50];
    double values[4 * 50];
    for (int i = 0; i < 50; i++) {
        t0[i] = begin + (int64_t)(from_s * 1e9) + i * INT64_C(20000000);
        t1[i] = t0[i] + 20000000;
    }
    for (size_t i = 0; i < columns * 50; i++)
        values[i] = value;
    const struct event ev = {.kind = EVENT_SAMPLES,
                             .u.samples = {.source = SOURCE_PM,
                                           .n = 50,
                                           .t0_ns = t0,
                                           .t1_ns = t1,
                                           .columns = columns,
                                           .series = index,
                                           .values = values,
                                           .stride = 50}};
    push(&ev);
}

static void look(void)
{
    assert_int_equal(panel_look(&p, INT64_C(5000000000), NULL), OK);
}

static void expect(const char *part)
{
    struct buf text = BUF_INIT;
    draw(100, 40, &text);
    if (!strstr(buf_str(&text), part))
        fail_msg("no \"%s\" on the screen", part);
    buf_fini(&text);
}

static void test_states_in_words(void **state)
{
    (void)state;
    look();
    expect("Waiting for the first readings");
    const struct plan_series series[] = {
        {METRIC_SM_ACTIVE, "sm_active", UNIT_RATIO, VALUE_SUSPECT, "read 93, should be 50", "", 0},
        {METRIC_SM_ISSUE, "sm_issue", UNIT_RATIO, VALUE_BUSY, "another process holds it", "", 0},
        {METRIC_TENSOR_ACTIVE, "t", UNIT_RATIO, VALUE_NO_PERMISSION, "ask the boss", "", 0},
    };
    push_gpu(series, 3);
    push_second(0, 1, 0.93);
    push_second(1, 1, 0.93);
    look();
    expect("93.0 %?");
    expect("SM active is suspect: read 93, should be 50");
    expect("busy: another process holds it");
    expect("no_permission: ask the boss");
    expect("processes are not known");
}

static void test_several_gpus_are_an_overview_until_somebody_chooses(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        const struct event gpu = {.kind = EVENT_GPU, .u.gpu = {i, "Card", "", "", ""}};
        push(&gpu);
        p.looked_ns = 0;
        look();
        assert_int_equal(p.model.view, i == 0 || i == 3 ? VIEW_GPU : VIEW_OVERVIEW);
        if (i == 2)
            keys_press(&p.model, '2');
    }
    assert_int_equal(p.model.gpu, 1);
}

/* ---- servers and processes ---- */

static void push_server(void)
{
    static const int64_t pids[] = {4250};
    static const struct event_process list[] = {{4250, "VLLM::EngineCore", 4.5e9, 0.97},
                                                {77, "", (double)NAN, (double)NAN}};
    static const struct event_server_metric metrics[] = {
        {METRIC_OUTPUT_TOKENS_PER_SECOND, VALUE_OK, 177.6, "", "", ""},
        {METRIC_TPOT, VALUE_OK, 0.0112, "", "", ""},
        {METRIC_TTFT, VALUE_WARMING, (double)NAN, "no request got its first token", "", ""},
        {METRIC_RUNNING, VALUE_OK, 2, "", "", ""},
        {METRIC_WAITING, VALUE_SUSPECT, 7, "estimated", "", ""},
        {METRIC_KV_USAGE, VALUE_OK, 0.45, "", "", ""},
    };
    const struct gpu_snapshot *g = &p.model.now->gpus[0];
    const struct event processes = {.kind = EVENT_PROCESSES, .u.processes = {0, 2, list}};
    const struct event server = {.kind = EVENT_SERVER,
                                 .u.server = {.url = "http://127.0.0.1:8000/metrics",
                                              .kind = "vllm",
                                              .model = "some/model",
                                              .pid = 4242,
                                              .is_local = true,
                                              .n_gpu_pids = 1,
                                              .gpu_pids = pids,
                                              .state = VALUE_OK,
                                              .reason = "",
                                              .t0_ns = g->t0_ns,
                                              .t1_ns = g->t1_ns,
                                              .n = 6,
                                              .metrics = metrics}};
    push(&processes);
    push(&server);
    p.looked_ns = 0;
    look();
    p.model.utc_offset_s = 0;
}

static void test_servers_stand_beside_their_gpu(void **state)
{
    (void)state;
    read_all(&five[0], 1);
    p.model.is_over = true;
    push_server();
    p.model.is_over = false;
    golden("server", 80, 24);
    golden("server", 120, 40);
    golden("server", 200, 60);
    expect("vllm · some/model · http://127.0.0.1:8000/metrics");
    expect("output 178 tokens/s");
    expect("TTFT warming");
    expect("waiting 7?"); /* suspect */
    expect("TTFT is warming: no request got its first token");
    keys_press(&p.model, 'o');
    golden("server-overview", 80, 24);
    keys_press(&p.model, 'p');
    expect("VLLM::EngineCore");
    expect("not told");
}

/* ---- calm verdicts ---- */

static void test_the_drivers_readings_are_no_verdict(void **state)
{
    (void)state;
    static const uint32_t column[] = {0};
    const struct plan_series util = {METRIC_GPU_UTIL, "gpu_util", UNIT_RATIO, VALUE_OK, "", "", 0};
    const struct event plan = {
        .kind = EVENT_PLAN,
        .u.plan = {.source = SOURCE_NVML, .rate_hz = 1, .n = 1, .series = &util}};
    push_gpu(NULL, 0);
    push(&plan);
    for (int i = 1; i <= 9; i++) {
        int64_t t = begin + i * INT64_C(1000000000);
        double v = 1;
        const struct event ev = {.kind = EVENT_SAMPLES,
                                 .u.samples = {.source = SOURCE_NVML,
                                               .n = 1,
                                               .t0_ns = &t,
                                               .t1_ns = &t,
                                               .columns = 1,
                                               .series = column,
                                               .values = &v,
                                               .stride = 1}};
        push(&ev);
    }
    look();
    expect("no verdict yet");
    expect("no hardware counters so far: the driver's readings only");
    expect("SM active    unsupported: no source here gives it");
}

static enum verdict_kind shown_kind(int64_t *until)
{
    const struct verdict_entry *e =
        verdicts_at(&p.verdicts, 0, begin + INT64_C(1000000000000), until);
    return e ? e->verdict.kind : VERDICT_COUNT;
}

static const struct plan_series enough[] = {
    {METRIC_GR_ACTIVE, "gr_active", UNIT_RATIO, VALUE_OK, "", "", 0},
    {METRIC_SM_ACTIVE, "sm_active", UNIT_RATIO, VALUE_OK, "", "", 0},
    {METRIC_DRAM_READ, "dram_read", UNIT_RATIO, VALUE_OK, "", "", 0},
    {METRIC_DRAM_WRITE, "dram_write", UNIT_RATIO, VALUE_OK, "", "", 0},
};

static void test_a_verdict_does_not_flip(void **state)
{
    (void)state;
    int s = 0;
    push_gpu(enough, 4);
    for (; s < 9; s++)
        push_second(s, 4, 0.45);
    enum verdict_kind busy = shown_kind(NULL);
    assert_int_not_equal(busy, VERDICT_IDLE);
    assert_int_not_equal(busy, VERDICT_COUNT);
    for (; s < 12; s++) /* one window of another kind is not believed */
        push_second(s, 4, 0);
    for (; s < 18; s++)
        push_second(s, 4, 0.45);
    assert_int_equal(shown_kind(NULL), busy);
    for (; s < 30; s++)
        push_second(s, 4, 0);
    assert_int_equal(shown_kind(NULL), VERDICT_IDLE);
    int64_t until = 0; /* what held before is remembered */
    const struct verdict_entry *then =
        verdicts_at(&p.verdicts, 0, begin + INT64_C(10000000000), &until);
    assert_non_null(then);
    assert_int_equal(then->verdict.kind, busy);
    assert_true(until > begin + INT64_C(16000000000) && until < begin + INT64_C(24000000000));
    assert_null(verdicts_at(&p.verdicts, 0, begin - 1, NULL));
    assert_null(verdicts_at(&p.verdicts, 99, begin, NULL));
}

/* Newer numbers for the same verdict must not change what somebody looks at. */
static void test_a_frozen_verdict_stands_still(void **state)
{
    (void)state;
    int s = 0;
    push_gpu(enough, 4);
    for (; s < 9; s++)
        push_second(s, 4, 0.45);
    p.model.is_frozen = true;
    p.model.at_ns = begin + 9 * INT64_C(1000000000);
    const struct verdict_entry *then = verdicts_at(&p.verdicts, 0, p.model.at_ns, NULL);
    struct verdict_entry before = *then;
    for (; s < 30; s++)
        push_second(s, 4, 0.48);
    int64_t until = 1;
    then = verdicts_at(&p.verdicts, 0, p.model.at_ns, &until);
    assert_memory_equal(then, &before, sizeof before);
    assert_int_equal(until, 0); /* it holds still */
    p.model.is_frozen = false;
    const struct verdict_entry *now =
        verdicts_at(&p.verdicts, 0, begin + INT64_C(1000000000000), NULL);
    assert_int_equal(now->since_ns, before.since_ns);
    assert_string_not_equal(now->verdict.evidence.line[0], before.verdict.evidence.line[0]);
}

/* ---- keys ---- */

static void test_keys(void **state)
{
    (void)state;
    struct model *m = &p.model;
    assert_int_equal(keys_press(m, PANEL_KEY_LEFT), PANEL_NOTHING); /* nothing is known yet */
    assert_int_equal(keys_press(m, ' '), PANEL_NOTHING);
    assert_false(m->is_frozen);
    read_all(five, 5);
    assert_int_equal(keys_press(m, PANEL_KEY_DOWN), PANEL_NOTHING);
    assert_int_equal(m->gpu, 1);
    keys_press(m, 'k');
    keys_press(m, 'k');
    assert_int_equal(m->gpu, 0);
    keys_press(m, '4');
    assert_int_equal(m->gpu, 3);
    assert_int_equal(m->view, VIEW_GPU);
    keys_press(m, '9'); /* there is none */
    assert_int_equal(m->gpu, 3);
    int64_t now = m->edge_ns;
    keys_press(m, 'h');
    assert_true(m->is_frozen && m->at_ns < now && model_is_past(m));
    keys_press(m, PANEL_KEY_RIGHT);
    keys_press(m, PANEL_KEY_RIGHT);
    assert_true(m->at_ns == m->froze_ns); /* never after the freeze */
    assert_true(m->froze_ns <= now && now - m->froze_ns < TRACE_BUCKET_NS);
    keys_press(m, PANEL_KEY_HOME);
    assert_true(m->at_ns == trace_oldest_ns(m->trace));
    keys_press(m, '<');
    assert_true(m->at_ns == trace_oldest_ns(m->trace));
    keys_press(m, 'm'); /* before the first reading: they do have it, but not of then */
    expect("not kept: nothing is kept of that moment");
    keys_press(m, PANEL_KEY_ESC);
    keys_press(m, PANEL_KEY_END);
    assert_false(m->is_frozen);
    keys_press(m, '-');
    assert_true(model_column_ns(m) == INT64_C(500000000));
    for (int i = 0; i < 9; i++)
        keys_press(m, '-');
    assert_true(model_column_ns(m) == INT64_C(5000000000));
    for (int i = 0; i < 9; i++)
        keys_press(m, '+');
    assert_true(model_column_ns(m) == TRACE_BUCKET_NS);
    keys_press(m, '?');
    assert_int_equal(m->view, VIEW_HELP);
    keys_press(m, PANEL_KEY_ESC);
    assert_int_equal(m->view, VIEW_GPU);
    keys_press(m, PANEL_KEY_ESC);
    assert_int_equal(m->view, VIEW_OVERVIEW);
    assert_int_equal(keys_press(m, 'r'), PANEL_RECORD);
    assert_int_equal(keys_press(m, PANEL_KEY_REDRAW), PANEL_REDRAW);
    assert_int_equal(keys_press(m, 'q'), PANEL_QUIT);
}

static void test_filter_and_sort(void **state)
{
    (void)state;
    struct model *m = &p.model;
    const struct gpu_snapshot *list[TRACE_GPUS_MAX];
    read_all(five, 5);
    assert_int_equal(model_gpus(m, list, TRACE_GPUS_MAX), 5);
    keys_press(m, 's'); /* GPU-Util */
    model_gpus(m, list, TRACE_GPUS_MAX);
    assert_int_equal(list[3]->index, 2);
    assert_int_equal(list[4]->index, 4);
    keys_press(m, 's'); /* gap: one warp on a card that looks full */
    model_gpus(m, list, TRACE_GPUS_MAX);
    assert_int_equal(list[0]->index, 3);
    keys_press(m, 's'); /* power */
    model_gpus(m, list, TRACE_GPUS_MAX);
    assert_int_equal(list[0]->index, 1);
    keys_press(m, '/');
    for (const char *c = "MEMORYq"; *c; c++) /* q is a letter now */
        assert_int_equal(keys_press(m, (uint32_t)*c), PANEL_NOTHING);
    assert_int_equal(model_gpus(m, list, TRACE_GPUS_MAX), 0);
    keys_press(m, PANEL_KEY_BACKSPACE);
    keys_press(m, PANEL_KEY_ENTER);
    assert_int_equal(model_gpus(m, list, TRACE_GPUS_MAX), 1);
    assert_int_equal(list[0]->index, 0);
    expect("only \"MEMORY\"");
    keys_press(m, PANEL_KEY_ESC);
    assert_int_equal(model_gpus(m, list, TRACE_GPUS_MAX), 5);
    keys_press(m, '/');
    keys_press(m, 'x');
    keys_press(m, PANEL_KEY_ESC);
    assert_string_equal(m->filter.text, "");
    keys_press(m, '/');
    for (int i = 0; i < 100; i++)
        keys_press(m, 'y');
    assert_int_equal(strlen(m->filter.text), FILTER_SIZE - 1);
    keys_press(m, PANEL_KEY_CLEAR);
    assert_string_equal(m->filter.text, "");
    keys_press(m, 0xFC); /* whole characters come and go */
    keys_press(m, 0x1F600);
    assert_string_equal(m->filter.text, "\xC3\xBC\xF0\x9F\x98\x80");
    keys_press(m, PANEL_KEY_BACKSPACE);
    assert_string_equal(m->filter.text, "\xC3\xBC");
    keys_press(m, PANEL_KEY_LEFT);
    keys_press(m, 0x202E); /* would turn the line around */
    keys_press(m, 0xD800);
    assert_string_equal(m->filter.text, "\xC3\xBC");
    keys_press(m, PANEL_KEY_BACKSPACE);
    keys_press(m, PANEL_KEY_BACKSPACE);
    assert_string_equal(m->filter.text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_gpu_screens, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_overview_screens, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_screens, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_every_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_states_in_words, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_several_gpus_are_an_overview_until_somebody_chooses,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_drivers_readings_are_no_verdict, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_servers_stand_beside_their_gpu, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_verdict_does_not_flip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_frozen_verdict_stands_still, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_keys, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_filter_and_sort, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
