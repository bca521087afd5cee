/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/num.h"
#include "base/str.h"

static void errors_carry_status_and_one_line(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    assert_int_equal(fail(&err, ERR_BAD_INPUT, 11, "a\nb\x1b[31m%d", 7), ERR_BAD_INPUT);
    assert_int_equal(err.status, ERR_BAD_INPUT);
    assert_int_equal(err.native, 11);
    assert_string_equal(err.text, "a?b?[31m7");
    assert_int_equal(fail_wrap(&err, ERR_IO, "file %s", "x"), ERR_BAD_INPUT);
    assert_string_equal(err.text, "file x: a?b?[31m7");
    assert_int_equal(fail(NULL, ERR_BUSY, 0, "nobody listens"), ERR_BUSY);
    assert_string_equal(status_name(ERR_BAD_INPUT), "BAD_INPUT");
    assert_string_equal(status_text(ERR_NO_GPU), "no GPU");
}

static void long_error_is_cut_between_characters(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    char long_text[1000];
    for (size_t i = 0; i + 2 < sizeof long_text; i += 2)
        memcpy(long_text + i, "\xC3\xA4", 3);
    fail(&err, ERR_IO, 0, "%s", long_text);
    size_t n = strlen(err.text);
    assert_true(n < sizeof err.text && n % 2 == 0);
    fail_wrap(&err, ERR_IO, "x%s", long_text);
    assert_int_equal((strlen(err.text) - 1) % 2, 0);
}

static void cleaning_keeps_text_and_replaces_the_rest(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        size_t len;
        const char *out;
    } cases[] = {
        {"plain \"quoted\" [Throughput %]", 29, "plain \"quoted\" [Throughput %]"},
        {"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", 9, "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"},
        {"a\0b", 3,
         "a\xEF\xBF\xBD"
         "b"},
        {"\x1b[2J", 4, "\xEF\xBF\xBD[2J"},
        {"\xC2\x9B", 2, "\xEF\xBF\xBD"},             /* C1: a terminal may take it for ESC [ */
        {"\xC0\xAF", 2, "\xEF\xBF\xBD\xEF\xBF\xBD"}, /* overlong */
        {"\xED\xA0\x80", 3, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"}, /* surrogate */
        {"a\xE2\x80\xAE"
         "b\xD8\x9C\xE2\x81\xA6",
         10, /* text turned around */
         "a\xEF\xBF\xBD"
         "b\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"a\xE2\x80\x8B\xEF\xBB\xBF", 7, "a\xEF\xBF\xBD\xEF\xBF\xBD"}, /* no room */
        {"\xE2\x80\x93\xE2\x80\xA6", 6, "\xE2\x80\x93\xE2\x80\xA6"},   /* – … are seen */
        {"x\xE2\x82", 3, "x\xEF\xBF\xBD\xEF\xBF\xBD"},                 /* cut */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[64];
        assert_true(str_clean(out, sizeof out, cases[i].in, cases[i].len));
        assert_string_equal(out, cases[i].out);
    }
    char small[4];
    assert_false(str_clean(small, sizeof small, "\xC3\xA4\xC3\xA4", 4));
    assert_string_equal(small, "\xC3\xA4");
}

/* A terminal in 8-bit mode takes U+009B, or the lone byte 0x9B, for ESC [. */
static void one_line_has_no_control_characters(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"plain \xC3\xA4\xE2\x82\xAC", "plain \xC3\xA4\xE2\x82\xAC"},
        {"a\tb\x7F", "a?b?"},
        {"a\xC2\x9B[31mb\xC2\x80\xC2\x9F", "a?[31mb??"},
        {"\xC2\xA0\xC3\x9B", "\xC2\xA0\xC3\x9B"}, /* no-break space and U+00DB are no C1 */
        {"a\x9B[31m", "a?[31m"},
        {"caf\xE9.sqlite", "caf\xE9.sqlite"}, /* a file name in Latin-1 keeps its bytes */
        {"x\xE2\x82", "x"},
        {"a\xE2\x80\xAE"
         "b",
         "a?b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", cases[i].in);
        str_one_line(text);
        assert_string_equal(text, cases[i].out);
    }
    struct error err = ERROR_INIT;
    fail(&err, ERR_IO, 0, "%s", "\xC2\x9B[2J");
    assert_string_equal(err.text, "?[2J");
}

static void long_text_loses_its_middle(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        const char *in, *out;
    } cases[] = {
        {13, "/a/b/c.sqlite", "/a/...sqlite"},
        {14, "/a/b/c.sqlite", "/a/b/c.sqlite"},
        {10, "0123456789abcdef", "01...cdef"},
        {4, "0123456789", "..."},
        {3, "0123456789", ""},
        {1, "", ""},
        /* room for two and four bytes: whole characters of two */
        {10, "\xC3\xA4\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB6\xC3\xBC", "\xC3\xA4...\xC3\xB6\xC3\xBC"},
        {11, "\xC3\xA4\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB6\xC3\xBC", "\xC3\xA4...\xC3\xB6\xC3\xBC"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[64] = "untouched";
        str_shorten(text, cases[i].size, cases[i].in);
        assert_string_equal(text, cases[i].out);
        assert_true(strlen(text) < cases[i].size);
    }
    char nothing = 'x';
    str_shorten(&nothing, 0, "abc");
    assert_int_equal(nothing, 'x');
}

static void columns_are_counted_by_character(void **state)
{
    (void)state;
    assert_int_equal(str_columns(""), 0);
    assert_int_equal(str_columns("a\xC3\xA4\xE2\x96\x88"), 3);
}

static void buffer_grows_and_remembers_failure(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    assert_string_equal(buf_str(&b), "");
    for (int i = 0; i < 1000; i++)
        buf_printf(&b, "%d,", i);
    assert_int_equal(b.len, 10 * 2 + 90 * 3 + 900 * 4);
    assert_int_equal(strlen(buf_str(&b)), b.len);
    buf_clear(&b);
    buf_repeat(&b, "ab", 3);
    buf_putc(&b, 'c');
    assert_string_equal(buf_str(&b), "abababc");
    b.failed = true;
    buf_puts(&b, "lost");
    assert_string_equal(buf_str(&b), "abababc");
    buf_fini(&b);
    buf_fini(&b);
}

static void numbers_read_back_as_the_same_double(void **state)
{
    (void)state;
    static const double cases[] = {0,     0.1,    1.0 / 3, 86.3076923076923, 150754820096,
                                   1e300, 5e-324, -2.5,    4814304000000,    1e-7};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[NUM_TEXT_SIZE];
        double back;
        size_t n = num_format(text, cases[i]);
        assert_int_equal(n, strlen(text));
        if (cases[i] == 5e-324)
            continue; /* strtod reports ERANGE for subnormal numbers */
        assert_true(num_parse(text, &back));
        assert_true(back == cases[i]);
    }
    char text[NUM_TEXT_SIZE];
    num_format(text, 0.1);
    assert_string_equal(text, "0.1");
    num_format(text, NAN);
    assert_string_equal(text, "nan");
}

static void only_whole_numbers_are_parsed(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",    " 1",    "1 ", "1x",   "x",      "+1",   "inf",
                                        "nan", "1e999", "0x", "0x10", "-0X1p3", "-inf", "1e5 "};
    double d;
    uint64_t u;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(num_parse(wrong[i], &d));
    assert_true(num_parse("-2.5e3", &d) && d == -2500);
    assert_false(num_parse_u64("-1", &u) || num_parse_u64("18446744073709551616", &u) ||
                 num_parse_u64("1.0", &u));
    assert_true(num_parse_u64("18446744073709551615", &u) && u == UINT64_MAX);
}

static void times_are_utc_with_the_asked_digits(void **state)
{
    (void)state;
    char t[CLOCK_TEXT_SIZE];
    assert_string_equal(clock_iso8601(t, INT64_C(1796019438769865363), 3),
                        "2026-11-30T06:17:18.769Z");
    assert_string_equal(clock_iso8601(t, INT64_C(1796019438769865363), 9),
                        "2026-11-30T06:17:18.769865363Z");
    assert_string_equal(clock_iso8601(t, INT64_C(1796019438769865363), 0), "2026-11-30T06:17:18Z");
    assert_string_equal(clock_iso8601(t, -1, 3), "1969-12-31T23:59:59.999Z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_carry_status_and_one_line),
        cmocka_unit_test(long_error_is_cut_between_characters),
        cmocka_unit_test(cleaning_keeps_text_and_replaces_the_rest),
        cmocka_unit_test(one_line_has_no_control_characters),
        cmocka_unit_test(long_text_loses_its_middle),
        cmocka_unit_test(columns_are_counted_by_character),
        cmocka_unit_test(buffer_grows_and_remembers_failure),
        cmocka_unit_test(numbers_read_back_as_the_same_double),
        cmocka_unit_test(only_whole_numbers_are_parsed),
        cmocka_unit_test(times_are_utc_with_the_asked_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
