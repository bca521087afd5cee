/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "collect/tally.h"

static void empty_has_no_numbers(void **state)
{
    (void)state;
    struct tally t;
    tally_init(&t);
    assert_true(isnan(tally_mean(&t)) && isnan(tally_quantile(&t, 0.5)));
    tally_add(&t, NAN, 1);
    tally_add(&t, INFINITY, 1);
    assert_int_equal(t.count, 0);
    tally_fini(&t);
    tally_fini(&t);
}

static void whole_percents_are_exact(void **state)
{
    (void)state;
    struct tally t;
    tally_init(&t);
    for (int i = 1; i <= 100; i++)
        tally_add(&t, i / 100.0, 1);
    assert_near(tally_mean(&t), 0.505, 0);
    assert_near(tally_quantile(&t, 0.50), 0.50, 0);
    assert_near(tally_quantile(&t, 0.95), 0.95, 0);
    assert_near(tally_quantile(&t, 1), 1, 0);
    assert_near(tally_quantile(&t, 0.001), 0.01, 0);
    assert_near(t.min, 0.01, 0);
    assert_near(t.max, 1, 0);
    tally_fini(&t);
}

static void one_sample_is_every_quantile(void **state)
{
    (void)state;
    struct tally t;
    tally_init(&t);
    tally_add(&t, -0.0, 1);
    assert_near(tally_quantile(&t, 0.5), 0, 0);
    assert_false(signbit(tally_quantile(&t, 0.5)));
    tally_fini(&t);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Against sorting, over twelve orders of magnitude and both signs. */
static void quantiles_are_within_a_thousandth(void **state)
{
    (void)state;
    enum { N = 20000 };
    static double all[N];
    struct tally t;
    tally_init(&t);
    srand(1);
    for (int i = 0; i < N; i++) {
        all[i] = (rand() % 2 ? 1 : -1) * pow(10, rand() % 12000 / 1000.0 - 3);
        tally_add(&t, all[i], 1);
    }
    qsort(all, N, sizeof all[0], by_value);
    for (double q = 0.01; q < 1; q += 0.01) {
        double exact = all[(int)ceil(q * (double)N - 1e-9) - 1];
        assert_near(tally_quantile(&t, q), exact, 0.001 * fabs(exact));
    }
    tally_fini(&t);
}

static void mean_of_many_small_steps_loses_nothing(void **state)
{
    (void)state;
    struct tally t;
    tally_init(&t);
    tally_add(&t, 1e16, 1);
    for (int i = 0; i < 1000000; i++)
        tally_add(&t, 1.0, 1);
    assert_near(tally_mean(&t) * 1000001, 1e16 + 1e6, 4);
    assert_true(t.cap <= 16);
    tally_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_has_no_numbers),
        cmocka_unit_test(whole_percents_are_exact),
        cmocka_unit_test(one_sample_is_every_quantile),
        cmocka_unit_test(quantiles_are_within_a_thousandth),
        cmocka_unit_test(mean_of_many_small_steps_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
