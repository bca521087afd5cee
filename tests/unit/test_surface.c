/* SPDX-License-Identifier: MIT */
/* Cells, charts, bars, colours. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "panel/chart.h"

static struct surface s;

static char *text_of(void)
{
    static char text[4000];
    struct buf b = BUF_INIT;
    surface_text(&s, &b);
    assert_true(b.len < sizeof text);
    memcpy(text, buf_str(&b), b.len + 1);
    buf_fini(&b);
    return text;
}

static struct area begin(int width, int height, bool ascii)
{
    surface_fini(&s);
    assert_int_equal(surface_init(&s, width, height, ascii, NULL), OK);
    return surface_area(&s);
}

static int tear_down(void **state)
{
    (void)state;
    surface_fini(&s);
    return 0;
}

static void test_text_is_clipped(void **state)
{
    (void)state;
    struct area a = begin(6, 3, false);
    area_text(a, 3, 0, ROLE_TEXT, "abcdef");
    area_text(a, -2, 1, ROLE_TEXT, "abcdef");
    area_text(a, 0, 3, ROLE_TEXT, "outside");
    area_text(a, 0, -1, ROLE_TEXT, "outside");
    assert_string_equal(text_of(), "   abc\ncdef\n");
    struct area part = area_part(a, 2, 1, 3, 10);
    assert_int_equal(part.width, 3);
    assert_int_equal(part.height, 2);
    area_text(part, 0, 1, ROLE_TEXT, "12345");
    assert_string_equal(text_of(), "   abc\ncdef\n  123\n");
    struct area none = area_part(a, 7, 0, 5, 5);
    assert_int_equal(none.width, 0);
    area_text(none, 0, 0, ROLE_TEXT, "x");
    area_fill(none, 0, 0, 3, ROLE_TEXT, 'x');
    assert_string_equal(text_of(), "   abc\ncdef\n  123\n");
}

static void test_characters_that_are_not_one_column_wide(void **state)
{
    (void)state;
    struct area a = begin(12, 1, false);
    area_text(a, 0, 0, ROLE_TEXT,
              "\xE4\xB8\xAD"
              "e\xCC\x81"
              "\xF0\x9F\x98\x80"
              "\xFF"
              "µ\x1B[");
    assert_string_equal(text_of(), "?e??\xEF\xBF\xBDµ?[\n");
}

static void test_ascii(void **state)
{
    (void)state;
    struct area a = begin(20, 1, true);
    area_text(a, 0, 0, ROLE_TEXT, "48 °C – ● é…");
    assert_string_equal(text_of(), "48 C - * ?~\n");
}

static void test_fit_and_right(void **state)
{
    (void)state;
    struct area a = begin(10, 3, false);
    assert_int_equal(area_fit(a, 0, 0, 5, ROLE_TEXT, "abcde"), 5);
    assert_int_equal(area_fit(a, 0, 1, 5, ROLE_TEXT, "abcdef"), 5);
    assert_int_equal(area_right(a, 10, 2, ROLE_TEXT, "°C"), 8);
    assert_string_equal(text_of(), "abcde\nabcd…\n        °C\n");
}

static void test_words(void **state)
{
    (void)state;
    struct area a = begin(10, 4, false);
    assert_int_equal(area_words(a, 0, 0, 2, 4, ROLE_TEXT, "one two three four"), 3);
    assert_string_equal(text_of(), "one two\n  three\n  four\n");
    surface_clear(&s);
    assert_int_equal(area_words(a, 0, 0, 0, 2, ROLE_TEXT, "one two three fours"), 2);
    assert_string_equal(text_of(), "one two\nthree…\n");
    assert_int_equal(area_words(a, 0, 1, 0, 0, ROLE_TEXT, "x"), 1);
}

static struct trace_column column(double min, double max)
{
    return (struct trace_column){min, max, (min + max) / 2, true};
}

static void test_braille(void **state)
{
    (void)state;
    struct area a = begin(3, 2, false);
    const struct trace_column none = {NAN, NAN, NAN, false};
    const struct trace_column columns[] = {column(0, 0),     none,         column(1, 1),
                                           column(0.5, 0.5), column(0, 1), column(0.25, 0.75)};
    chart_draw(a, GLYPHS_BRAILLE, ROLE_REAL, columns, 6, 1);
    /* 0 is a line, unknown is blank, body whole, band chequered with a whole top */
    assert_string_equal(text_of(), " ⡇⡣\n⡀⣿⣪\n");
    assert_int_equal(s.cells[1].role, ROLE_REAL);
    assert_int_equal(s.cells[2].role, ROLE_REAL_BAND);
}

static void test_little_is_not_nothing(void **state)
{
    (void)state;
    struct area a = begin(4, 1, false);
    const struct trace_column columns[] = {column(0.001, 0.001), column(0, 0), column(0.5, 0.5),
                                           column(2, 2)};
    chart_draw(a, GLYPHS_BLOCK, ROLE_REAL, columns, 4, 1);
    assert_string_equal(text_of(), "▁▁▄█\n");
    assert_int_equal(s.cells[0].role, ROLE_REAL);
    assert_int_equal(s.cells[1].role, ROLE_REAL_BAND);
    chart_draw(begin(4, 1, true), GLYPHS_ASCII, ROLE_REAL, columns, 4, 1);
    assert_string_equal(text_of(), "._=#\n");
}

static void test_charts_end_at_the_right(void **state)
{
    (void)state;
    const struct trace_column columns[] = {column(1, 1), column(1, 1), column(1, 1)};
    chart_draw(begin(6, 1, false), GLYPHS_BLOCK, ROLE_REAL, columns, 3, 1);
    assert_string_equal(text_of(), "   ███\n");
    chart_draw(begin(2, 1, false), GLYPHS_BLOCK, ROLE_REAL, columns, 2, 1);
    assert_string_equal(text_of(), "██\n");
    chart_draw(begin(3, 2, true), GLYPHS_ASCII, ROLE_REAL, columns, 3, 2);
    assert_string_equal(text_of(), "\n###\n");
}

static void test_bars(void **state)
{
    (void)state;
    struct area a = begin(8, 5, false);
    bar_draw(a, 0, 0, 8, GLYPHS_BRAILLE, ROLE_REAL, 1);
    bar_draw(a, 0, 1, 8, GLYPHS_BRAILLE, ROLE_REAL, 0);
    bar_draw(a, 0, 2, 8, GLYPHS_BRAILLE, ROLE_REAL, 0.5);
    bar_draw(a, 0, 3, 8, GLYPHS_BRAILLE, ROLE_REAL, 0.0001);
    bar_draw(a, 0, 4, 8, GLYPHS_BRAILLE, ROLE_REAL, 3);
    assert_string_equal(text_of(), "████████\n········\n████····\n▏·······\n████████\n");
    a = begin(4, 2, true);
    bar_draw(a, 0, 0, 4, GLYPHS_ASCII, ROLE_REAL, 0.5);
    bar_draw(a, 0, 1, 4, GLYPHS_ASCII, ROLE_REAL, 0.01);
    assert_string_equal(text_of(), "##..\n|...\n");
}

/* Without colours the roles that must be told apart still are: by weight or by reverse. */
static void test_theme(void **state)
{
    (void)state;
    for (int r = 0; r < ROLE_COUNT; r++) {
        assert_int_equal(theme_look((enum role)r, COLOURS_NONE).colour, -1);
        assert_true(theme_look((enum role)r, COLOURS_16).colour < 16);
        assert_true(theme_look((enum role)r, COLOURS_256).colour < 256);
    }
    assert_true(theme_look(ROLE_SELECTED, COLOURS_NONE).reverse);
    assert_true(theme_look(ROLE_TITLE, COLOURS_NONE).reverse);
    assert_int_not_equal(theme_look(ROLE_CLAIM, COLOURS_24BIT).colour,
                         theme_look(ROLE_REAL, COLOURS_24BIT).colour);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_text_is_clipped, tear_down),
        cmocka_unit_test_teardown(test_characters_that_are_not_one_column_wide, tear_down),
        cmocka_unit_test_teardown(test_ascii, tear_down),
        cmocka_unit_test_teardown(test_fit_and_right, tear_down),
        cmocka_unit_test_teardown(test_words, tear_down),
        cmocka_unit_test_teardown(test_braille, tear_down),
        cmocka_unit_test_teardown(test_little_is_not_nothing, tear_down),
        cmocka_unit_test_teardown(test_charts_end_at_the_right, tear_down),
        cmocka_unit_test_teardown(test_bars, tear_down),
        cmocka_unit_test_teardown(test_theme, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
