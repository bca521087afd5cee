/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "support.h"

#include "metric/value.h"

static void zeroed_value_is_no_measurement(void **state)
{
    (void)state;
    struct value v = {0};
    assert_int_equal(v.state, VALUE_UNSUPPORTED);
    assert_false(value_has_number(&v) || value_is_sound(&v));
}

static void only_three_states_carry_a_number(void **state)
{
    (void)state;
    struct value v = {0};
    for (int s = 0; s < VALUE_STATE_COUNT; s++) {
        v.state = (enum value_state)s;
        bool carries = s == VALUE_OK || s == VALUE_STALE || s == VALUE_SUSPECT;
        assert_int_equal(value_has_number(&v), carries);
        assert_int_equal(value_is_sound(&v), s == VALUE_OK);
    }
}

static void reason_is_cleaned_and_cut(void **state)
{
    (void)state;
    struct value v = {0};
    value_set(&v, SOURCE_PM, 5, 0.5);
    assert_int_equal(v.state, VALUE_OK);
    value_set_state(&v, SOURCE_NSYS, VALUE_SUSPECT, "name \"%s\"", "a\x1b[31m\n");
    assert_string_equal(v.reason, "name \"a\xEF\xBF\xBD[31m\xEF\xBF\xBD\"");
    assert_near(v.v, 0.5, 0);
    char long_text[600];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    value_set_state(&v, SOURCE_NSYS, VALUE_FAILED, "%s", long_text);
    assert_int_equal(strlen(v.reason), VALUE_REASON_SIZE - 1);
}

/* docs/interface.md promises these words to scripts. */
static void states_have_the_promised_names(void **state)
{
    (void)state;
    static const char *const names[] = {"unsupported",   "ok",   "warming", "stale",
                                        "no_permission", "busy", "failed",  "suspect"};
    for (int s = 0; s < VALUE_STATE_COUNT; s++)
        assert_string_equal(value_state_name((enum value_state)s), names[s]);
    assert_string_equal(value_state_name((enum value_state)99), "?");
    assert_string_equal(source_name(SOURCE_NSYS), "nsys");
    assert_string_equal(source_name((enum source_id)99), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroed_value_is_no_measurement),
        cmocka_unit_test(only_three_states_carry_a_number),
        cmocka_unit_test(reason_is_cleaned_and_cut),
        cmocka_unit_test(states_have_the_promised_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
