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
        for (char *line = strtok(out.data, "\n"); line; line = strtok(NULL, "\n"))
            if (str_columns(line) > (size_t)columns)
                fail_msg("%zu columns of %d: %s", str_columns(line), columns, line);
        buf_fini(&out);
    }
    snapshot_destroy(s);
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

static int remove_temp(void **state)
{
    (void)state;
    unlink(temp_path());
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_at_several_widths),
        cmocka_unit_test(text_keeps_to_its_width),
        cmocka_unit_test(json_of_each_file),
        cmocka_unit_test(json_numbers_have_states_and_gaps_have_reasons),
        cmocka_unit_test(csv_of_two_streams_has_one_header),
    };
    return cmocka_run_group_tests(tests, NULL, remove_temp);
}
