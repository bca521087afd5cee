/* SPDX-License-Identifier: MIT */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "metric/unit.h"

struct shown {
    enum unit unit;
    double v, resolution;
    const char *text;
};

static void check(const struct shown *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[64];
        assert_ptr_equal(
            unit_format(text, sizeof text, cases[i].unit, cases[i].v, cases[i].resolution), text);
        assert_string_equal(text, cases[i].text);
    }
}

#define CHECK(...)                                                                                 \
    do {                                                                                           \
        const struct shown cases[] = {__VA_ARGS__};                                                \
        check(cases, sizeof cases / sizeof cases[0]);                                              \
    } while (0)

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(unit_name(UNIT_RATIO), "ratio");
    assert_string_equal(unit_name(UNIT_JOULES_PER_TOKEN), "joules_per_token");
    assert_string_equal(unit_name(UNITS_END), "?");
    assert_string_equal(unit_prometheus_suffix(UNIT_BYTES_PER_SECOND), "bytes_per_second");
    assert_string_equal(unit_prometheus_suffix(UNIT_COUNT), "");
    assert_string_equal(unit_prometheus_suffix(UNIT_FLAGS), "");
    assert_string_equal(unit_prometheus_suffix(UNITS_END), "");
}

static void test_ratio(void **state)
{
    (void)state;
    CHECK({UNIT_RATIO, 0.863, 0, "86.3 %"}, {UNIT_RATIO, 0.0325, 0, "3.25 %"},
          {UNIT_RATIO, 0.000312, 0, "0.03 %"}, {UNIT_RATIO, 4e-6, 0, "0.00 %"},
          {UNIT_RATIO, 0, 0, "0 %"}, {UNIT_RATIO, 1, 0, "100 %"}, {UNIT_RATIO, 3, 0, "300 %"},
          {UNIT_RATIO, 0.99996, 0, "100 %"}, {UNIT_RATIO, 0.09996, 0, "10.0 %"});
}

/* Never finer than the source: whole percents, and a mean of many of them. */
static void test_resolution(void **state)
{
    (void)state;
    CHECK({UNIT_RATIO, 0.863, 0.01, "86 %"}, {UNIT_RATIO, 0.8634, 0.001, "86.3 %"},
          {UNIT_RATIO, 0.03, 0.01, "3 %"}, {UNIT_RATIO, 0.004, 0.01, "0 %"},
          {UNIT_RATIO, 0.8634, 1e-9, "86.3 %"}, {UNIT_RATIO, 0.8634, NAN, "86.3 %"},
          {UNIT_RATIO, 0.8634, -1, "86.3 %"}, {UNIT_RATIO, 0.8634, DBL_MAX, "86.3 %"},
          {UNIT_HERTZ, 1.755e9, 1e6, "1.76 GHz"}, {UNIT_HERTZ, 345e6, 1e6, "345 MHz"},
          {UNIT_HERTZ, 9e6, 1e6, "9 MHz"}, {UNIT_CELSIUS, 45, 1, "45 °C"},
          {UNIT_BYTES_PER_SECOND, 1.23e6, 1e6, "1 MB/s"},
          {UNIT_BYTES_PER_SECOND, 0.6e6, 1e6, "1 MB/s"},
          {UNIT_BYTES_PER_SECOND, 0.4e6, 1e6, "0 kB/s"},
          {UNIT_BYTES_PER_SECOND, 0.64e6, 1e5, "600 kB/s"});
}

static void test_rates_and_clocks(void **state)
{
    (void)state;
    CHECK({UNIT_BYTES_PER_SECOND, 3.97e12, 0, "3.97 TB/s"},
          {UNIT_BYTES_PER_SECOND, 56.5e9, 0, "56.5 GB/s"},
          {UNIT_BYTES_PER_SECOND, 999.6e3, 0, "1.00 MB/s"},
          {UNIT_BYTES_PER_SECOND, 999.4e3, 0, "999 kB/s"},
          {UNIT_BYTES_PER_SECOND, 12, 0, "12.0 B/s"}, {UNIT_BYTES_PER_SECOND, 0, 0, "0 B/s"},
          {UNIT_HERTZ, 1.8037e9, 0, "1.80 GHz"}, {UNIT_HERTZ, 50, 0, "50.0 Hz"},
          {UNIT_TOKENS_PER_SECOND, 105.6, 0, "106 tokens/s"},
          {UNIT_TOKENS_PER_SECOND, 12345.6, 0, "12346 tokens/s"},
          {UNIT_TOKENS_PER_SECOND, 0.5, 0, "0.50 tokens/s"});
}

static void test_memory_sizes(void **state)
{
    (void)state;
    const double gib = 1073741824;
    CHECK({UNIT_BYTES, 139.8 * gib, 0, "139.8 GiB"}, {UNIT_BYTES, 80 * gib, 0, "80.0 GiB"},
          {UNIT_BYTES, 512, 0, "512 B"}, {UNIT_BYTES, 0, 0, "0 B"},
          {UNIT_BYTES, 1048575, 0, "1.0 MiB"}, {UNIT_BYTES, 1023.4 * 1024, 0, "1023.4 KiB"});
}

static void test_other_units(void **state)
{
    (void)state;
    CHECK({UNIT_WATTS, 80.84, 0, "80.8 W"}, {UNIT_WATTS, 700, 0, "700 W"},
          {UNIT_WATTS, 10200, 0, "10.2 kW"}, {UNIT_JOULES, 123456, 0, "123 kJ"},
          {UNIT_CELSIUS, 45, 0, "45.0 °C"}, {UNIT_SECONDS, 0.0104, 0, "10.4 ms"},
          {UNIT_SECONDS, 0.99996, 0, "1.00 s"}, {UNIT_SECONDS, 22e-6, 0, "22.0 µs"},
          {UNIT_SECONDS, 1234, 0, "1234 s"}, {UNIT_SECONDS, 0, 0, "0 s"}, {UNIT_COUNT, 3, 0, "3"},
          {UNIT_COUNT, 123456, 0, "123456"}, {UNIT_COUNT, 2.5, 0, "2.50"},
          {UNIT_FLAGS, 0, 0, "0x0"}, {UNIT_FLAGS, 0x44, 0, "0x44"},
          {UNIT_BYTES_PER_TOKEN, 1.2e9, 0, "1.2 GB/token"},
          {UNIT_BYTES_PER_TOKEN, 16.14e9, 0, "16.1 GB/token"},
          {UNIT_BYTES_PER_TOKEN, 140e9, 0, "140 GB/token"},
          {UNIT_JOULES_PER_TOKEN, 1.234, 0, "1.2 J/token"},
          {UNIT_JOULES_PER_TOKEN, 0.35, 0, "350 mJ/token"});
}

static void test_no_number(void **state)
{
    (void)state;
    CHECK({UNIT_WATTS, NAN, 0, "–"}, {UNIT_WATTS, INFINITY, 0, "–"},
          {UNIT_WATTS, -INFINITY, 0, "–"}, {UNIT_COUNT, NAN, 0, "–"}, {UNIT_FLAGS, NAN, 0, "–"},
          {UNIT_FLAGS, 2.5, 0, "–"}, {UNIT_FLAGS, -1, 0, "–"}, {UNIT_FLAGS, 1e300, 0, "–"},
          {UNITS_END, 1, 0, "–"});
}

static void test_negative(void **state)
{
    (void)state;
    CHECK({UNIT_WATTS, -12.34, 0, "-12.3 W"}, {UNIT_WATTS, -0.0, 0, "0 W"},
          {UNIT_RATIO, -1e-9, 0, "0.00 %"}, {UNIT_RATIO, -0.004, 0.01, "0 %"},
          {UNIT_SECONDS, -1e-15, 0, "0.00 ns"}, {UNIT_COUNT, -3, 0, "-3"});
}

/* Too small a buffer gets whole characters and an end, whatever its size. */
static void test_small_buffer(void **state)
{
    (void)state;
    char text[8];
    for (size_t size = 1; size <= sizeof text; size++) {
        memset(text, 'x', sizeof text);
        unit_format(text, size, UNIT_CELSIUS, 45, 1);
        assert_true(strlen(text) < size);
        assert_true(strncmp("45 °C", text, strlen(text)) == 0);
        char clean[16];
        str_clean(clean, sizeof clean, text, strlen(text));
        assert_string_equal(clean, text); /* no half of "°" */
    }
    text[0] = 'x';
    unit_format(text, 0, UNIT_CELSIUS, 45, 1);
    assert_int_equal(text[0], 'x');
}

static double random_value(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    double mantissa = 1 + (double)(*seed >> 40) / (double)(1 << 24);
    int exponent = (int)(*seed >> 8 & 127) - 50;
    return (*seed >> 4 & 1 ? -1 : 1) * ldexp(mantissa, exponent);
}

/* What holds for every number: one sign, digits, at most one '.', and the unit of the tables. */
static void test_any_value(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 200000; i++) {
        double v = random_value(&seed), resolution = fabs(random_value(&seed));
        enum unit unit = (enum unit)(i % UNITS_END);
        char text[512];
        unit_format(text, sizeof text, unit, v, i % 3 ? 0 : resolution);
        if (unit == UNIT_FLAGS)
            continue;
        const char *p = text + (text[0] == '-');
        size_t digits = strspn(p, "0123456789");
        assert_true(digits > 0);
        size_t all = digits + (p[digits] == '.' ? 1 + strspn(p + digits + 1, "0123456789") : 0);
        assert_true(p[all] == ' ' || (unit == UNIT_COUNT && p[all] == '\0'));
        assert_true(strspn(p, "0.") < all || text[0] != '-'); /* no "-0" */
        assert_true(all == digits || all - digits - 1 <= 2);
    }
}

static const char *comma_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",  "de_DE",      "fr_FR.UTF-8",
                                        "nl_NL.UTF-8", "pl_PL.UTF-8", "ru_RU.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (setlocale(LC_ALL, names[i]) && strcmp(localeconv()->decimal_point, ",") == 0)
            return names[i];
    setlocale(LC_ALL, "C");
    return NULL;
}

static void test_comma_locale(void **state)
{
    (void)state;
    if (!comma_locale()) {
        print_message("no locale with a decimal comma is installed: this case was not tried\n");
        skip();
    }
    char comma[16];
    snprintf(comma, sizeof comma, "%.1f", 0.5);
    assert_string_equal(comma, "0,5"); /* the locale is in force */
    CHECK({UNIT_RATIO, 0.863, 0, "86.3 %"}, {UNIT_BYTES_PER_SECOND, 3.97e12, 0, "3.97 TB/s"},
          {UNIT_TOKENS_PER_SECOND, 12345678, 0, "12345678 tokens/s"},
          {UNIT_COUNT, 1e15, 0, "1000000000000000"});
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),        cmocka_unit_test(test_ratio),
        cmocka_unit_test(test_resolution),   cmocka_unit_test(test_rates_and_clocks),
        cmocka_unit_test(test_memory_sizes), cmocka_unit_test(test_other_units),
        cmocka_unit_test(test_no_number),    cmocka_unit_test(test_negative),
        cmocka_unit_test(test_small_buffer), cmocka_unit_test(test_any_value),
        cmocka_unit_test(test_comma_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
