/* SPDX-License-Identifier: MIT */
/* Renderers against files that a person has read: tests/golden. After a wanted change,
 * SMEFF_UPDATE_GOLDEN=1 writes them anew; read the difference before committing it. */
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "support.h"

#include "nsys_file.h"

#include "base/str.h"
#include "show/show.h"
#include "show/wrap.h"

static void check_golden(const char *name, const struct buf *out)
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

static void golden_text(const char *original, const char *golden, struct show_style style)
{
    struct snapshot *s = snapshot_of(original, false);
    struct buf out = BUF_INIT;
    show_text(&out, s, "recording.sqlite", &style);
    check_golden(golden, &out);
    buf_fini(&out);
    snapshot_destroy(s);
}

static void text_at_several_widths(void **state)
{
    (void)state;
    golden_text(DECODE, "decode-120.txt", (struct show_style){120, false, true});
    golden_text(DECODE, "decode-80-ascii.txt", (struct show_style){80, false, false});
    golden_text(DECODE, "decode-44.txt", (struct show_style){44, false, true});
    golden_text(MATMUL, "matmul-100-colour.txt", (struct show_style){100, true, true});
    golden_text(IDLE, "idle-80.txt", (struct show_style){80, false, true});
}

static void check_width(const struct buf *out, int columns)
{
    for (const char *p = buf_str(out); *p;) {
        char line[2048];
        size_t len = strcspn(p, "\n");
        snprintf(line, sizeof line, "%.*s", (int)len, p);
        if (str_columns(line) > (size_t)columns)
            fail_msg("%zu columns of %d: %s", str_columns(line), columns, line);
        p += len + (p[len] == '\n');
    }
}

/* No line of the table or of wrapped text may be wider than the page. */
static void text_keeps_to_its_width(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE, "UPDATE GPU_METRICS SET value=250 WHERE metricId=4 AND timestamp<99999999;"
                        "DROP TABLE TARGET_INFO_SESSION_START_TIME"),
        false);
    for (int columns = 40; columns <= 140; columns++) {
        struct buf out = BUF_INIT;
        const struct show_style style = {columns, false, true};
        show_text(&out, s, "x", &style);
        check_width(&out, columns);
        buf_fini(&out);
    }
    snapshot_destroy(s);
}

/* A card with readings of all kinds, in a terminal that knows only ASCII. */
static void ascii_mode_is_ascii(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(DECODE, false);
    struct gpu_snapshot *g = &s->gpus[0];
    struct buf out = BUF_INIT;
    const struct show_style style = {100, false, false};
    snprintf(g->name, sizeof g->name, "K\xC3\xB6nig 日");
    value_set(&g->metrics[METRIC_TEMPERATURE].value, SOURCE_NVML, 1, 45);
    g->metrics[METRIC_TEMPERATURE].min = g->metrics[METRIC_TEMPERATURE].max = 45;
    g->metrics[METRIC_TEMPERATURE].p50 = g->metrics[METRIC_TEMPERATURE].p95 = NAN;
    show_text(&out, s, "recording \xE2\x80\x93 \xC2\xB5", &style);
    for (int m = 0; m < METRIC_COUNT; m++)
        show_metric(&out, metric_info((enum metric)m), &style);
    show_catalogue(&out, &style);
    for (size_t i = 0; i < out.len; i++)
        if ((unsigned char)out.data[i] >= 0x80)
            fail_msg("not ASCII: %s", out.data + i);
    assert_contains(out.data, "recording - u\n");
    assert_contains(out.data, "K?nig ?");
    assert_contains(out.data,
                    "  Temperature             45.0 C    45.0 C         -         -    45.0 C");
    assert_contains(out.data, "load and store, ...)");
    buf_fini(&out);
    snapshot_destroy(s);
}

static void words_are_wrapped_by_columns_and_never_cut(void **state)
{
    (void)state;
    struct buf out = BUF_INIT, text = BUF_INIT;
    const struct show_style style = {40, false, true};
    buf_puts(&text, "  a ");
    buf_repeat(&text, "x", 600);
    buf_puts(&text, "  ");
    buf_repeat(&text, "\xC3\xA4", 30);
    buf_puts(&text, " bb "); /* 2 + 30 + 1 + 2 columns fit, 65 bytes would not */
    wrap_words(&out, &style, "> ", buf_str(&text));
    assert_int_equal(out.len, 2 + 1 + 1 + 2 + 600 + 1 + 2 + 60 + 1 + 2 + 1);
    assert_memory_equal(out.data, "> a\n  xxx", 9);
    assert_memory_equal(out.data + 606, "\n  \xC3\xA4", 5);
    assert_string_equal(out.data + out.len - 4, " bb\n");
    buf_clear(&out);
    wrap_words(&out, &style, "", "");
    assert_string_equal(buf_str(&out), "\n");
    buf_fini(&out);
    buf_fini(&text);
}

/* Who prints the table has said the notes on stderr; JSON is read by programs and has them. */
static void notes_are_in_the_json_and_not_in_the_table(void **state)
{
    (void)state;
    struct snapshot *s =
        snapshot_of(changed(DECODE, "DROP TABLE TARGET_INFO_SESSION_START_TIME"), false);
    struct buf out = BUF_INIT;
    const struct show_style style = {100, false, true};
    assert_true(s->n_notes > 0);
    show_text(&out, s, "x", &style);
    assert_null(strstr(out.data, s->notes[0].text));
    buf_clear(&out);
    assert_int_equal(show_json(&out, s, "x", NULL), OK);
    assert_contains(out.data, s->notes[0].text);
    buf_fini(&out);
    snapshot_destroy(s);
}

/* Samples of whole percents that are all the same do not tell what lies between two steps. */
static void a_mean_has_no_digit_that_nobody_measured(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(DECODE, false);
    struct metric_stats *m = &s->gpus[0].metrics[METRIC_SM_ISSUE];
    struct buf out = BUF_INIT;
    const struct show_style style = {40, false, true};
    assert_near(m->min, m->max, 0);
    show_text(&out, s, "", &style);
    assert_contains(out.data, "  SM issue                  10 %\n");
    buf_clear(&out);
    m->min = 0.09;
    show_text(&out, s, "", &style);
    assert_contains(out.data, "  SM issue                10.0 %\n");
    buf_fini(&out);
    snapshot_destroy(s);
}

static void every_metric_can_be_shown(void **state)
{
    (void)state;
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct metric_info *info = metric_info((enum metric)m);
        struct buf out = BUF_INIT;
        assert_int_equal(show_metric_json(&out, info, NULL), OK);
        json_t *o = json_loadb(out.data, out.len, JSON_REJECT_DUPLICATES, NULL);
        assert_string_equal(json_string_value(json_object_get(o, "key")), info->key);
        assert_string_equal(json_string_value(json_object_get(o, "description")), info->doc);
        json_decref(o);
        buf_clear(&out);
        const struct show_style style = {60, false, true};
        show_metric(&out, info, &style);
        assert_contains(out.data, info->key);
        if (info->dcgm)
            assert_contains(out.data, info->dcgm);
        buf_fini(&out);
    }
}

static void json_of_each_file(void **state)
{
    (void)state;
    static const struct {
        const char *path, *golden;
    } cases[] = {{DECODE, "decode.json"}, {IDLE, "idle.json"}};
    for (size_t i = 0; i < 2; i++) {
        struct snapshot *s = snapshot_of(cases[i].path, false);
        struct buf out = BUF_INIT;
        assert_int_equal(show_json(&out, s, "recording.sqlite", NULL), OK);
        assert_ptr_equal(strchr(out.data, '\n'), out.data + out.len - 1);
        check_golden(cases[i].golden, &out);
        buf_fini(&out);
        snapshot_destroy(s);
    }
}

/* Law of the house: no number without the state that allows one, never a missing reason. */
static void json_numbers_have_states_and_gaps_have_reasons(void **state)
{
    (void)state;
    struct snapshot *s = snapshot_of(
        changed(DECODE, "UPDATE TARGET_INFO_GPU_METRICS SET metricName='\"q\"'||char(27) WHERE "
                        "metricId=6; UPDATE GPU_METRICS SET value=250 WHERE metricId=3"),
        true);
    struct buf out = BUF_INIT;
    json_error_t why;
    assert_int_equal(show_json(&out, s, "a\"b\n.sqlite", NULL), OK);
    json_t *root = json_loadb(out.data, out.len, JSON_REJECT_DUPLICATES, &why);
    if (!root)
        fail_msg("%s", why.text);
    json_t *gpu = json_array_get(json_object_get(root, "gpus"), 0);
    const char *key;
    json_t *m;
    int seen = 0;
    json_object_foreach(json_object_get(gpu, "metrics"), key, m)
    {
        const char *st = json_string_value(json_object_get(m, "state"));
        bool number = json_is_number(json_object_get(m, "value"));
        bool carries = !strcmp(st, "ok") || !strcmp(st, "suspect") || !strcmp(st, "stale");
        if (number != carries || (strcmp(st, "ok") != 0) != (json_object_get(m, "reason") != NULL))
            fail_msg("%s: %s", key, json_dumps(m, 0));
        if (json_number_value(json_object_get(m, "value")) > 1 &&
            !strcmp(json_string_value(json_object_get(m, "unit")), "ratio"))
            assert_string_equal(st, "suspect");
        seen++;
    }
    assert_true(seen > 30);
    assert_int_equal(json_object_size(json_object_get(gpu, "other_metrics")), 11);
    json_decref(root);
    buf_fini(&out);
    snapshot_destroy(s);
}

struct csv_case {
    struct show_csv *csv;
    struct buf out;
    size_t stream;
    bool rows;
};

static enum status csv_push(void *self, const struct event *ev, struct error *err)
{
    struct csv_case *c = self;
    if (ev->kind == EVENT_SAMPLES)
        return show_csv_rows(c->csv, c->stream, &ev->u.samples, &c->out, err);
    return c->rows ? OK : show_csv_describe(c->csv, "a,\"b\".sqlite", ev, err);
}

static void csv_of_two_streams_has_one_header(void **state)
{
    (void)state;
    struct csv_case c = {.out = BUF_INIT};
    struct error err = ERROR_INIT;
    struct event_sink sink = {csv_push, &c};
    struct nsys_export *a = NULL, *b = NULL;
    assert_int_equal(show_csv_create(&c.csv, &err), OK);
    assert_int_equal(
        nsys_export_open(&a,
                         changed(DECODE, "DELETE FROM TARGET_INFO_GPU_METRICS WHERE metricId>3;"
                                         "UPDATE GPU_METRICS SET value=-1 WHERE metricId=3 AND "
                                         "timestamp<30000000"),
                         false, &err),
        OK);
    assert_int_equal(nsys_export_describe(a, &sink, &err), OK);
    assert_int_equal(nsys_export_open(&b, MATMUL, false, &err), OK);
    assert_int_equal(nsys_export_describe(b, &sink, &err), OK);
    show_csv_header(c.csv, &c.out);
    c.rows = true;
    assert_int_equal(nsys_export_read(a, NSYS_AS_STORED, &sink, &err), OK);
    c.stream = 1;
    assert_int_equal(nsys_export_read(b, NSYS_AS_STORED, &sink, &err), OK);
    check_golden("two.csv", &c.out);
    nsys_export_close(a);
    nsys_export_close(b);
    show_csv_destroy(c.csv);
    buf_fini(&c.out);
}

/* ---- CSV of a stream made by hand ---- */

static struct show_csv *csv;

static void describe(const struct event *ev)
{
    assert_int_equal(show_csv_describe(csv, "f", ev, NULL), OK);
}

static struct event plan_of(struct plan_series *series, size_t n)
{
    return (struct event){.kind = EVENT_PLAN,
                          .u.plan = {.gpu = 1, .source = SOURCE_PM, .n = n, .series = series}};
}

static int csv_set_up(void **state)
{
    (void)state;
    static struct plan_series series[] = {
        {METRIC_SM_ACTIVE, "sm_active", UNIT_RATIO, VALUE_OK, "", "", 0},
        {METRIC_OCCUPANCY, "occupancy", UNIT_RATIO, VALUE_SUSPECT, "doubt", "", 0},
        {METRIC_NONE, "own name [%]", UNIT_COUNT, VALUE_SUSPECT, "doubt", "", 0},
        {METRIC_POWER, "power", UNIT_WATTS, VALUE_NO_PERMISSION, "forbidden", "", 0}};
    struct event ev = plan_of(series, 4);
    assert_int_equal(show_csv_create(&csv, NULL), OK);
    assert_int_equal(show_csv_describe(csv, "f", &ev, NULL), ERR_BAD_INPUT); /* no hello */
    describe(&(struct event){.kind = EVENT_HELLO, .u.hello = {EVENT_SCHEMA, "t", "", false}});
    describe(&(struct event){.kind = EVENT_GPU, .u.gpu = {1, "n", "a,\"b\"", "", ""}});
    describe(&ev);
    return 0;
}

static int csv_tear_down(void **state)
{
    (void)state;
    show_csv_destroy(csv);
    csv = NULL;
    return 0;
}

static enum status csv_rows(const uint32_t *series, size_t columns, const double *values,
                            struct buf *out)
{
    static const int64_t t0[] = {0, 20}, t1[] = {20, 40};
    struct event_samples batch = {.gpu = 1,
                                  .source = SOURCE_PM,
                                  .n = 2,
                                  .t0_ns = t0,
                                  .t1_ns = t1,
                                  .columns = columns,
                                  .series = series,
                                  .values = values,
                                  .stride = 2};
    return show_csv_rows(csv, 0, &batch, out, NULL);
}

static void csv_marks_suspect_cells_and_quotes_the_uuid(void **state)
{
    (void)state;
    static const uint32_t series[] = {0, 1, 2, 3};
    static const double values[] = {0.5, 1.5, 0.25, NAN, 7, NAN, 300, 300};
    struct buf out = BUF_INIT;
    show_csv_header(csv, &out);
    assert_int_equal(csv_rows(series, 4, values, &out), OK);
    assert_string_equal(out.data, "file,gpu,uuid,source,time,start_ns,end_ns,suspect,"
                                  "sm_active,occupancy,own name [%]\n"
                                  "f,1,\"a,\"\"b\"\"\",pm,,0,20,occupancy own_name_[%],0.5,0.25,7\n"
                                  "f,1,\"a,\"\"b\"\"\",pm,,20,40,sm_active,1.5,,\n");
    buf_fini(&out);
}

/* A name of the source that is one of our columns, or a great many names. */
static void csv_columns_have_names_of_their_own(void **state)
{
    (void)state;
    enum { MANY = 3000 };
    static struct plan_series series[MANY + 5];
    static char names[MANY][16];
    static const char *const odd[] = {"sm_active", "nsys:sm_active", "file", "nsys:other",
                                      "sm_active"};
    struct show_csv *many = NULL;
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < MANY + 5; i++) {
        if (i >= 5)
            snprintf(names[i - 5], sizeof names[0], "name %zu", i);
        series[i] = (struct plan_series){
            METRIC_NONE, i < 5 ? odd[i] : names[i - 5], UNIT_COUNT, VALUE_OK, "", "", 0};
    }
    series[4].metric = METRIC_SM_ACTIVE;
    struct event hello = {.kind = EVENT_HELLO, .u.hello = {EVENT_SCHEMA, "t", "", false}};
    struct event plan = plan_of(series, MANY + 5);
    plan.u.plan.source = SOURCE_NSYS;
    assert_int_equal(show_csv_create(&many, NULL), OK);
    for (int i = 0; i < 2; i++) { /* of two streams */
        assert_int_equal(show_csv_describe(many, "f", &hello, NULL), OK);
        assert_int_equal(show_csv_describe(many, "f", &plan, NULL), OK);
        assert_int_equal(show_csv_replan(many, (size_t)i, &plan.u.plan, &out, NULL), OK);
    }
    show_csv_header(many, &out);
    assert_contains(out.data, "suspect,sm_active,nsys:sm_active,nsys:nsys:sm_active,nsys:file,"
                              "nsys:other,name 5,name 6,");
    size_t commas = 0;
    for (size_t i = 0; i < out.len; i++)
        commas += out.data[i] == ',';
    assert_int_equal(commas + 1, 8 + MANY + 5);
    show_csv_destroy(many);
    buf_fini(&out);
}

static void csv_refuses_samples_that_no_plan_announced(void **state)
{
    (void)state;
    static const uint32_t series[] = {4};
    static const double values[] = {0.5, 1.5};
    struct buf out = BUF_INIT;
    assert_int_equal(csv_rows(series, 1, values, &out), ERR_BAD_INPUT);
    assert_int_equal(out.len, 0);
}

static void csv_tells_what_a_later_plan_changed(void **state)
{
    (void)state;
    struct plan_series series[] = {
        {METRIC_SM_ACTIVE, "sm_active", UNIT_RATIO, VALUE_SUSPECT, "samples were lost", "", 0},
        {METRIC_OCCUPANCY, "occupancy", UNIT_RATIO, VALUE_SUSPECT, "doubt", "", 0},
        {METRIC_NONE, "own name [%]", UNIT_COUNT, VALUE_FAILED, "no value", "", 0},
        {METRIC_POWER, "power", UNIT_WATTS, VALUE_NO_PERMISSION, "forbidden", "", 0}};
    struct event ev = plan_of(series, 4);
    struct buf changes = BUF_INIT, out = BUF_INIT;
    assert_int_equal(show_csv_replan(csv, 0, &ev.u.plan, &changes, NULL), OK);
    assert_string_equal(buf_str(&changes), "sm_active is suspect: samples were lost; "
                                           "own name [%] is failed: no value");
    static const uint32_t columns[] = {0};
    static const double values[] = {0.5, 0.5};
    assert_int_equal(csv_rows(columns, 1, values, &out), OK);
    assert_contains(out.data, ",0,20,sm_active,0.5,,\n");
    series[2].name = "another name";
    assert_int_equal(show_csv_replan(csv, 0, &ev.u.plan, &changes, NULL), ERR_BAD_INPUT);
    ev.u.plan.n = 2;
    assert_int_equal(show_csv_replan(csv, 0, &ev.u.plan, &changes, NULL), ERR_BAD_INPUT);
    assert_int_equal(show_csv_replan(csv, 1, &ev.u.plan, &changes, NULL), ERR_BAD_INPUT);
    buf_fini(&changes);
    buf_fini(&out);
}

/* Live: several samplers speak in turn, a plan comes again, and one comes after the header. */
static void csv_of_a_live_stream(void **state)
{
    (void)state;
    struct plan_series warming[] = {
        {METRIC_SM_ACTIVE, "sm_active", UNIT_RATIO, VALUE_WARMING, "soon", "", 0},
        {METRIC_OCCUPANCY, "occupancy", UNIT_RATIO, VALUE_UNSUPPORTED, "no", "", 0}};
    struct plan_series late[] = {{METRIC_POWER, "power", UNIT_WATTS, VALUE_OK, "", "", 0},
                                 {METRIC_NONE, "late name", UNIT_COUNT, VALUE_OK, "", "", 0},
                                 {METRIC_SM_ACTIVE, "sm_active", UNIT_RATIO, VALUE_OK, "", "", 0}};
    static const uint32_t series[] = {0, 1, 2};
    static const double values[] = {0.5, 0.25, 7, 7, 0.75, 1};
    struct event ev = plan_of(warming, 2);
    struct buf out = BUF_INIT;
    assert_int_equal(show_csv_create(&csv, NULL), OK);
    describe(&(struct event){.kind = EVENT_HELLO, .u.hello = {EVENT_SCHEMA, "t", "", false}});
    describe(&(struct event){.kind = EVENT_GPU, .u.gpu = {1, "n", "one", "", ""}});
    describe(&(struct event){.kind = EVENT_GPU, .u.gpu = {2, "n", "two", "", ""}});
    describe(&ev);
    warming[0].state = VALUE_OK;
    describe(&ev);
    show_csv_header(csv, &out);
    assert_int_equal(csv_rows(series, 2, values, &out), OK);
    ev = plan_of(late, 3);
    describe(&ev);
    assert_int_equal(csv_rows(series, 3, values, &out), OK);
    assert_string_equal(out.data, "file,gpu,uuid,source,time,start_ns,end_ns,suspect,sm_active\n"
                                  "f,1,one,pm,,0,20,,0.5\n"
                                  "f,1,one,pm,,20,40,,0.25\n"
                                  "f,1,one,pm,,0,20,,0.75\n"
                                  "f,1,one,pm,,20,40,,1\n");
    buf_fini(&out);
}

/* ---- servers ---- */

/* The recording with a server beside it: 100 tokens/s, warming times, a KV cache that is stale. */
static struct snapshot *with_server(void)
{
    struct snapshot *s = snapshot_of(DECODE, false);
    struct server_snapshot *x = s->servers; /* has room for one more than there are */
    s->n_servers = 1;
    snprintf(x->url, sizeof x->url, "http://127.0.0.1:8000/metrics");
    snprintf(x->kind, sizeof x->kind, "vllm");
    snprintf(x->model, sizeof x->model, "m\xC3\xA4");
    x->state = VALUE_OK;
    x->is_local = true;
    x->pid = 5; /* which the GPU's list lacks */
    x->t0_ns = s->gpus[0].t0_ns;
    x->t1_ns = s->gpus[0].t1_ns;
    for (int i = 0; i < SERVER_METRICS; i++)
        value_set_state(&x->metrics[i].value, SOURCE_SERVER, VALUE_WARMING, "none ended");
    struct server_metric *tokens =
        &x->metrics[METRIC_OUTPUT_TOKENS_PER_SECOND - SERVER_METRIC_FIRST];
    value_set(&tokens->value, SOURCE_SERVER, 1, 100);
    snprintf(tokens->series, sizeof tokens->series, "vllm:g");
    struct value *kv = &x->metrics[METRIC_KV_USAGE - SERVER_METRIC_FIRST].value;
    value_set_state(kv, SOURCE_SERVER, VALUE_STALE, "3 s old");
    kv->v = 0.5;
    return s;
}

static void a_server_in_the_table(void **state)
{
    (void)state;
    struct snapshot *s = with_server();
    struct buf out = BUF_INIT;
    show_text(&out, s, "", &(struct show_style){100, false, true});
    assert_contains(buf_str(&out), "\nServer  http://127.0.0.1:8000/metrics · vllm · mä · GPU 0 · "
                                   "1.30 s\n"
                                   "  Output tokens/s        100 tokens/s\n"
                                   "  KV cache                     50.0 %\n"
                                   "    stale: 3 s old\n"
                                   "  Time per token, First token, Running, Waiting: none ended "
                                   "(warming)\n"
                                   "  Bytes per token: ");
    buf_clear(&out);
    show_text(&out, s, "", &(struct show_style){60, false, false});
    check_width(&out, 60);
    for (const char *p = buf_str(&out); *p; p++)
        assert_true((unsigned char)*p < 0x80);
    /* one that never answered has its reason alone */
    s->servers[0].kind[0] = s->servers[0].model[0] = '\0';
    s->servers[0].state = VALUE_FAILED;
    snprintf(s->servers[0].reason, sizeof s->servers[0].reason, "no answer within 1 s");
    buf_clear(&out);
    show_text(&out, s, "", &(struct show_style){100, false, true});
    assert_contains(buf_str(&out), "\n  failed: no answer within 1 s\n");
    assert_null(strstr(buf_str(&out), "none ended"));
    buf_fini(&out);
    snapshot_destroy(s);
}

static void a_server_in_the_json(void **state)
{
    (void)state;
    struct snapshot *s = with_server();
    struct buf out = BUF_INIT;
    assert_int_equal(show_json(&out, s, NULL, NULL), OK);
    const char *text = buf_str(&out);
    assert_contains(text,
                    "\"servers\":[{\"url\":\"http://127.0.0.1:8000/metrics\",\"kind\":\"vllm\","
                    "\"model\":\"mä\",\"pid\":5,\"gpus\":[0],\"state\":\"ok\","
                    "\"reason\":null,\"window_s\":1.29");
    assert_contains(text, "\"output_tokens_per_second\":{\"value\":100.0,\"unit\":"
                          "\"tokens_per_second\",\"state\":\"ok\",\"series\":\"vllm:g\"}");
    assert_contains(text, "\"kv_usage\":{\"value\":0.5,\"unit\":\"ratio\",\"state\":\"stale\","
                          "\"reason\":\"3 s old\"}");
    assert_contains(text, "\"ttft\":{\"value\":null,\"unit\":\"seconds\",\"state\":\"warming\","
                          "\"reason\":\"none ended\"}");
    /* the recording has shares of the bandwidth, no bytes */
    assert_contains(text, "\"derived\":{\"bytes_per_output_token\":{\"value\":null,\"unit\":"
                          "\"bytes_per_token\",\"state\":\"unsupported\",\"reason\":\"DRAM read "
                          "rate: ");
    buf_fini(&out);
    snapshot_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_at_several_widths),
        cmocka_unit_test(text_keeps_to_its_width),
        cmocka_unit_test(ascii_mode_is_ascii),
        cmocka_unit_test(words_are_wrapped_by_columns_and_never_cut),
        cmocka_unit_test(notes_are_in_the_json_and_not_in_the_table),
        cmocka_unit_test(a_mean_has_no_digit_that_nobody_measured),
        cmocka_unit_test(every_metric_can_be_shown),
        cmocka_unit_test(json_of_each_file),
        cmocka_unit_test(json_numbers_have_states_and_gaps_have_reasons),
        cmocka_unit_test(a_server_in_the_table),
        cmocka_unit_test(a_server_in_the_json),
        cmocka_unit_test(csv_of_two_streams_has_one_header),
        cmocka_unit_test_setup_teardown(csv_marks_suspect_cells_and_quotes_the_uuid, csv_set_up,
                                        csv_tear_down),
        cmocka_unit_test(csv_columns_have_names_of_their_own),
        cmocka_unit_test_setup_teardown(csv_refuses_samples_that_no_plan_announced, csv_set_up,
                                        csv_tear_down),
        cmocka_unit_test_teardown(csv_of_a_live_stream, csv_tear_down),
        cmocka_unit_test_setup_teardown(csv_tells_what_a_later_plan_changed, csv_set_up,
                                        csv_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, remove_temp);
}
