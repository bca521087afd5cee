/* SPDX-License-Identifier: MIT */
/* The ring of lines that a daemon's viewers read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "collect/history.h"

static const int64_t s1 = 1000000000;

static void add(struct history *h, const struct event *ev, const char *line, int64_t now_ns)
{
    assert_int_equal(history_add(h, ev, line, strlen(line), now_ns, NULL), OK);
}

static void add_note(struct history *h, int number, int64_t now_ns)
{
    char line[32];
    struct event ev = {.kind = EVENT_NOTE, .u.note = {NOTE_INFO, -1, ""}};
    snprintf(line, sizeof line, "note %d\n", number);
    add(h, &ev, line, now_ns);
}

static void add_plan(struct history *h, unsigned gpu, enum source_id source, const char *line,
                     int64_t now_ns)
{
    struct event ev = {.kind = EVENT_PLAN, .u.plan = {.gpu = gpu, .source = source}};
    add(h, &ev, line, now_ns);
}

/* All from an offset on, as a reader takes it. */
static const char *text_from(const struct history *h, uint64_t offset)
{
    static char text[1 << 20];
    size_t used = 0;
    const char *data;
    for (size_t n; (n = history_read(h, offset, &data)) > 0; offset += n, used += n)
        memcpy(text + used, data, n);
    text[used] = '\0';
    return text;
}

static void readers_get_all_lines_in_order(void **state)
{
    (void)state;
    struct history *h = NULL;
    char expected[4000] = "";
    assert_int_equal(history_create(&h, 1 << 20, 600, NULL), OK);
    for (int i = 0; i < 100; i++) {
        add_note(h, i, i);
        sprintf(expected + strlen(expected), "note %d\n", i);
    }
    assert_string_equal(text_from(h, history_begin(h)), expected);
    assert_string_equal(text_from(h, history_end(h)), "");
    history_destroy(h);
}

static void what_is_too_old_goes(void **state)
{
    (void)state;
    struct history *h = NULL;
    assert_int_equal(history_create(&h, 1 << 20, 10, NULL), OK);
    for (int i = 0; i < 30; i++)
        add_note(h, i, i * s1);
    assert_true(strncmp(text_from(h, history_begin(h)), "note 19\n", 8) == 0);
    assert_near(history_seconds(h, 29 * s1), 10, 1e-9);
    assert_true(strncmp(text_from(h, history_since(h, 3, 29 * s1)), "note 26\n", 8) == 0);
    assert_string_equal(text_from(h, history_since(h, 0.5, 40 * s1)), "");
    history_destroy(h);
}

/* Each line is of one letter, the next line of the next. */
static void check_letters(const struct history *h)
{
    const char *data;
    char letter = '\0';
    size_t at = 0;
    uint64_t offset = history_begin(h);
    for (size_t n; (n = history_read(h, offset, &data)) > 0; offset += n)
        for (size_t i = 0; i < n; i++) {
            if (data[i] == '\n') {
                at = 0;
                continue;
            }
            if (at++ == 0)
                letter = letter == 'z' ? 'a' : letter ? (char)(letter + 1) : data[i];
            assert_int_equal(data[i], letter);
        }
}

/* The ring wraps and grows at odd places: whatever is left must be the newest, whole lines. */
static void the_budget_holds_and_lines_stay_whole(void **state)
{
    (void)state;
    struct history *h = NULL;
    char line[3001];
    struct event ev = {.kind = EVENT_NOTE, .u.note = {NOTE_INFO, -1, ""}};
    assert_int_equal(history_create(&h, 2500000, 600, NULL), OK);
    for (int i = 0; i < 5000; i++) {
        size_t len = 100 + (size_t)(i * 7919) % 2800;
        memset(line, 'a' + i % 26, len - 1);
        line[len - 1] = '\n';
        line[len] = '\0';
        add(h, &ev, line, i);
        assert_true(history_bytes(h) <= 2500000);
        const char *data;
        size_t n = history_read(h, history_begin(h), &data);
        assert_true(n > 0 && data[0] >= 'a' && data[0] <= 'z');
    }
    assert_true(history_bytes(h) > 2490000);
    check_letters(h);
    history_destroy(h);
}

static void a_line_beyond_the_budget_is_left_out(void **state)
{
    (void)state;
    struct history *h = NULL;
    assert_int_equal(history_create(&h, 10, 600, NULL), OK);
    add_note(h, 1, 0);
    add_note(h, 1234567, 0);
    assert_string_equal(text_from(h, history_begin(h)), "note 1\n");
    history_destroy(h);
}

/* Who begins to read in the middle must know the plans that hold there, and only those. */
static void the_preamble_is_that_of_the_offset(void **state)
{
    (void)state;
    struct history *h = NULL;
    struct buf out = BUF_INIT;
    struct event hello = {.kind = EVENT_HELLO, .u.hello = {1, "t", "", false}};
    struct event gpu = {.kind = EVENT_GPU, .u.gpu = {0, "n", "u", "c", "b"}};
    assert_int_equal(history_create(&h, 1 << 20, 10, NULL), OK);
    add(h, &gpu, "gpu\n", 0);
    add_plan(h, 0, SOURCE_PM, "plan pm 1\n", 0);
    add(h, &hello, "hello\n", 0);
    add_plan(h, 1, SOURCE_PM, "plan pm of 1\n", 0);
    add_note(h, 1, 0);
    add_plan(h, 0, SOURCE_PM, "plan pm 2\n", 5 * s1);
    uint64_t before = history_end(h);
    add_plan(h, 0, SOURCE_PM, "plan pm 3\n", 6 * s1);
    assert_int_equal(history_preamble(h, before, &out, NULL), OK);
    assert_string_equal(buf_str(&out), "hello\ngpu\nplan pm 2\nplan pm of 1\n");
    buf_clear(&out);
    struct event server = {.kind = EVENT_SERVER, .u.server = {.url = "a"}};
    add(h, &server, "server a\n", 7 * s1);
    server.u.server.url = "b";
    add(h, &server, "server b\n", 7 * s1);
    server.u.server.is_gone = true;
    add(h, &server, "server b is gone\n", 8 * s1);
    for (int i = 0; i < 30; i++) /* all of the above goes, and holds still */
        add_note(h, i, (20 + i) * s1);
    assert_int_equal(history_preamble(h, history_begin(h), &out, NULL), OK);
    assert_string_equal(buf_str(&out), "hello\ngpu\nplan pm 3\nplan pm of 1\nserver a\n");
    buf_fini(&out);
    history_destroy(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_get_all_lines_in_order),
        cmocka_unit_test(what_is_too_old_goes),
        cmocka_unit_test(the_budget_holds_and_lines_stay_whole),
        cmocka_unit_test(a_line_beyond_the_budget_is_left_out),
        cmocka_unit_test(the_preamble_is_that_of_the_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
