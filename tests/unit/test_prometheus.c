/* SPDX-License-Identifier: MIT */
/* /metrics against a file that a person has read, against promtool, and rule by rule. */
#include <locale.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

#include "exporter.h"

#include "base/num.h"
#include "judge/verdict.h"
#include "show/prom_text.h"
#include "show/prometheus.h"

static const struct show_exporter exporter = {.is_up = true,
                                              .cpu_s = 1.5,
                                              .start_s = 1796043850.25,
                                              .memory_bytes = 4194304,
                                              .virtual_bytes = 16777216,
                                              .open_fds = 12,
                                              .max_fds = NAN};

/* To be released by buf_fini. */
static struct buf page(void)
{
    struct buf out = BUF_INIT;
    show_prometheus(&out, shot, totals, &exporter);
    assert_false(out.failed);
    return out;
}

/* The number of a series as it stands there; NaN when it is not there. */
static double number_of(const struct buf *out, const char *series)
{
    char line[600];
    double v = NAN;
    snprintf(line, sizeof line, "\n%s ", series);
    const char *at = strstr(buf_str(out), line);
    if (!at)
        return NAN;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at + strlen(line), "\n"), at + strlen(line));
    assert_true(num_parse(line, &v));
    return v;
}

#define GPU0 "{gpu=\"0\",uuid=\"GPU-00000000-0000-0000-0000-000000000000\"}"
#define GPU1 "{gpu=\"1\",uuid=\"GPU-two\"}"

static void as_a_person_has_read_it(void **state)
{
    (void)state;
    struct buf out = page();
    check_golden("metrics.prom", &out);
    check_format(buf_str(&out));
    buf_fini(&out);
}

static void promtool_has_nothing_to_say(void **state)
{
    (void)state;
    if (system("command -v promtool >/dev/null 2>&1") != 0) {
        print_message("promtool is not here: the names are not checked by it\n");
        skip();
    }
    struct buf out = page();
    FILE *pipe = popen("promtool check metrics 2>&1", "w");
    assert_non_null(pipe);
    assert_int_equal(fwrite(buf_str(&out), 1, out.len, pipe), out.len);
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    buf_fini(&out);
}

static void names_have_their_units(void **state)
{
    (void)state;
    char name[PROMETHEUS_NAME_SIZE];
    assert_string_equal(prometheus_gauge_name(name, METRIC_SM_ACTIVE), "smeff_sm_active_ratio");
    assert_string_equal(prometheus_gauge_name(name, METRIC_DRAM_READ_BYTES),
                        "smeff_dram_read_bytes_per_second");
    assert_string_equal(prometheus_gauge_name(name, METRIC_PCIE_RX),
                        "smeff_pcie_rx_bytes_per_second");
    assert_string_equal(prometheus_gauge_name(name, METRIC_MEM_USED), "smeff_mem_used_bytes");
    assert_string_equal(prometheus_gauge_name(name, METRIC_PCIE_GEN), "smeff_pcie_gen");
    assert_string_equal(prometheus_gauge_name(name, METRIC_OUTPUT_TOKENS_PER_SECOND),
                        "smeff_server_output_tokens_per_second");
    assert_string_equal(prometheus_gauge_name(name, METRIC_ESTIMATED_BYTES),
                        "smeff_server_estimated_bytes_per_second");
    assert_string_equal(prometheus_gauge_name(name, METRIC_JOULES_PER_OUTPUT_TOKEN),
                        "smeff_server_joules_per_output_token");
    assert_string_equal(prometheus_counter_name(name, METRIC_SM_ACTIVE),
                        "smeff_sm_active_seconds_total");
    assert_string_equal(prometheus_counter_name(name, METRIC_DRAM_READ_BYTES),
                        "smeff_dram_read_bytes_total");
    assert_string_equal(prometheus_counter_name(name, METRIC_NVLINK_TX),
                        "smeff_nvlink_tx_bytes_total");
    assert_string_equal(prometheus_counter_name(name, METRIC_ENERGY), "smeff_energy_joules_total");
    assert_string_equal(prometheus_counter_name(name, METRIC_ECC_ERRORS), "smeff_ecc_errors_total");
    assert_string_equal(prometheus_counter_name(name, METRIC_L2_HIT), "");
    assert_string_equal(prometheus_counter_name(name, METRIC_POWER), "");
    assert_string_equal(prometheus_counter_name(name, METRIC_KV_USAGE), "");
}

/* No two metrics under one name, nor a gauge and a counter. */
static void names_are_all_different(void **state)
{
    (void)state;
    static char names[2 * METRIC_COUNT][PROMETHEUS_NAME_SIZE];
    size_t n = 0;
    for (int m = 0; m < METRIC_COUNT; m++) {
        prometheus_gauge_name(names[n++], (enum metric)m);
        if (*prometheus_counter_name(names[n], (enum metric)m))
            n++;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(names[i], names[k]);
}

/* ok alone is a number: not stale, not suspect, and what is measured as 0 is 0. */
static void a_number_is_sent_only_where_it_is_sound(void **state)
{
    (void)state;
    struct value *v = &shot->gpus[0].metrics[METRIC_SM_ACTIVE].value;
    const char *gauge = "smeff_sm_active_ratio" GPU0;
    const char *counter = "smeff_sm_active_seconds_total" GPU0;
    const char *measured = "smeff_measured_seconds_total{gpu=\"0\",uuid=\"GPU-00000000-0000-0000-"
                           "0000-000000000000\",metric=\"sm_active\"}";
    struct buf out = page();
    assert_near(number_of(&out, gauge), v->v, 0);
    assert_near(number_of(&out, counter), totals_of(totals, 0, METRIC_SM_ACTIVE).integral, 0);
    assert_near(number_of(&out, measured), 10.04, 1e-3);
    assert_true(isnan(number_of(&out, "smeff_sm_active_ratio" GPU1)));
    assert_true(isnan(number_of(&out, "smeff_window_seconds" GPU1)));
    assert_true(isnan(number_of(&out, "smeff_coverage_ratio" GPU1)));
    assert_true(isnan(number_of(&out, "smeff_sm_active_seconds_total" GPU1)));
    assert_null(strstr(buf_str(&out), "metric=\"sm_active\",state=\"ok\""));
    buf_fini(&out);

    static const enum value_state not_sound[] = {VALUE_STALE, VALUE_SUSPECT};
    for (size_t i = 0; i < 2; i++) {
        v->state = not_sound[i];
        out = page();
        assert_true(isnan(number_of(&out, gauge)));
        assert_true(isnan(number_of(&out, counter))); /* it would say: nothing happened */
        assert_true(isnan(number_of(&out, measured)));
        buf_fini(&out);
    }
    v->state = VALUE_OK;
    v->v = 0;
    out = page();
    assert_near(number_of(&out, gauge), 0, 0);
    v->v = NAN;
    buf_fini(&out);
    out = page();
    assert_true(isnan(number_of(&out, gauge)));
    assert_null(strstr(buf_str(&out), "nan"));
    buf_fini(&out);
}

static void a_metric_that_waits_for_its_first_window_has_its_counter_already(void **state)
{
    (void)state;
    value_set_state(&shot->gpus[0].metrics[METRIC_SM_ACTIVE].value, SOURCE_PM, VALUE_WARMING,
                    "no sample yet");
    struct buf out = page();
    assert_true(number_of(&out, "smeff_sm_active_seconds_total" GPU0) > 9);
    buf_fini(&out);
}

/* Whole millijoules of the driver, not what the window has. */
static void energy_is_the_drivers_own_count(void **state)
{
    (void)state;
    struct buf out = page();
    double v = number_of(&out, "smeff_energy_joules_total" GPU0);
    assert_near(v, totals_of(totals, 0, METRIC_ENERGY).reading, 0);
    assert_near(v, 28362.24, 1e-6); /* the last of decode.csv */
    buf_fini(&out);
}

static void without_a_stream_there_are_no_numbers(void **state)
{
    (void)state;
    struct show_exporter down = exporter;
    struct buf out = BUF_INIT;
    down.is_up = false;
    show_prometheus(&out, shot, totals, &down);
    check_format(buf_str(&out));
    assert_near(number_of(&out, "smeff_up"), 0, 0);
    assert_near(number_of(&out, "smeff_gpu_up" GPU0), 0, 0);
    assert_contains(buf_str(&out), "smeff_gpu_info{gpu=\"0\"");
    assert_null(strstr(buf_str(&out), "smeff_sm_active"));
    assert_null(strstr(buf_str(&out), "smeff_measured"));
    assert_null(strstr(buf_str(&out), "smeff_throttle"));
    assert_null(strstr(buf_str(&out), "smeff_energy"));
    assert_null(strstr(buf_str(&out), "smeff_verdict"));
    assert_null(strstr(buf_str(&out), "smeff_server"));
    buf_clear(&out);
    show_prometheus(&out, NULL, totals, &down);
    check_format(buf_str(&out));
    assert_near(number_of(&out, "smeff_up"), 0, 0);
    assert_null(strstr(buf_str(&out), "gpu=\""));
    buf_fini(&out);
}

static void labels_are_escaped(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    struct prom_family f = {&out, "x", "gauge", "a \\ b\nc \"d\"", false};
    prom_sample(&f, (const struct prom_label[]){{"a", "\"q\" \\ \n"}, {"b", ""}, {NULL, NULL}}, 1);
    prom_sample(&f, (const struct prom_label[]){{"b", ""}, {NULL, NULL}}, 0.1);
    prom_sample(&f, NULL, NAN);
    prom_sample(&f, NULL, INFINITY);
    assert_string_equal(buf_str(&out), "# HELP x a \\\\ b\\nc \"d\"\n# TYPE x gauge\n"
                                       "x{a=\"\\\"q\\\" \\\\ \\n\"} 1\nx 0.1\n");
    buf_fini(&out);
}

static void a_family_without_samples_leaves_no_trace(void **state)
{
    (void)state;
    struct buf out = page();
    assert_null(strstr(buf_str(&out), "smeff_nvlink"));
    assert_null(strstr(buf_str(&out), "smeff_fan"));
    assert_null(strstr(buf_str(&out), "process_max_fds"));
    buf_fini(&out);
}

/* A reason with a number that moves would be a new series each second. */
static void reasons_are_stable(void **state)
{
    (void)state;
    char dst[VALUE_REASON_SIZE];
#define R(from, to) assert_string_equal(prometheus_reason(dst, from), to)
    R("nothing new for 12 s", "nothing new for N s");
    R("its readings cover 1.5 of 10.0 s: measure longer",
      "its readings cover N of N s: measure longer");
    R("PM sampling reads 12.1 %, GPM 30.4 % over the same 120 s",
      "PM sampling reads N %, GPM N % over the same N s");
    R("5 of 50 samples above 100 %; was 2.", "N of N samples above N %; was N.");
    R("killed by signal 9 (Killed)", "killed by signal N (Killed)");
    R("GH100 lacks it", "GH100 lacks it");
    R("libcupti.so.13 is too old", "libcupti.so.13 is too old");
    R("bit 0x20, x86_64", "bit 0x20, x86_64");
    R("12,5", "N");
    R("", "");
#undef R
    struct value *v = &shot->gpus[0].metrics[METRIC_SM_ACTIVE].value;
    value_set_state(v, SOURCE_PM, VALUE_STALE, "nothing new for 4 s");
    struct buf before = page();
    value_set_state(v, SOURCE_PM, VALUE_STALE, "nothing new for 5 s");
    struct buf after = page();
    assert_string_equal(buf_str(&before), buf_str(&after));
    assert_contains(buf_str(&after),
                    "metric=\"sm_active\",state=\"stale\",reason=\"nothing new for N s\"} 1\n");
    buf_fini(&before);
    buf_fini(&after);
}

static void one_verdict_of_all_is_1(void **state)
{
    (void)state;
    struct buf out = page();
    double sum = 0;
    for (int i = 0; i < VERDICT_COUNT; i++) {
        char series[200];
        snprintf(series, sizeof series,
                 "smeff_verdict{gpu=\"0\",uuid=\"GPU-00000000-0000-0000-0000-000000000000\","
                 "verdict=\"%s\"}",
                 verdict_name((enum verdict_kind)i));
        sum += number_of(&out, series);
    }
    assert_near(sum, 1, 0);
    assert_contains(buf_str(&out), "verdict=\"memory_bound\"} 1\n");
    assert_contains(buf_str(&out), "uuid=\"GPU-two\",verdict=\"unknown\"} 1\n");
    buf_fini(&out);
}

static void a_server_and_its_gpu(void **state)
{
    (void)state;
    shot->taken_ns = 0; /* a measurement: one window for all */
    struct buf out = page();
    const char *text = buf_str(&out);
    assert_contains(text, "smeff_server_up{server=\"http://127.0.0.1:8000/metrics\",kind=\"vllm\","
                          "model=\"m\xC3\xA4\"} 1\n");
    assert_contains(text, "smeff_server_up{server=\"http://127.0.0.1:8001/metrics\"} 0\n");
    assert_near(number_of(&out, "smeff_server_output_tokens_per_second{server="
                                "\"http://127.0.0.1:8000/metrics\",model=\"m\xC3\xA4\"}"),
                100, 0);
    assert_contains(text, "smeff_server_running{");
    assert_null(strstr(text, "smeff_server_kv_usage")); /* it is stale */
    assert_null(strstr(text, "smeff_server_ttft"));
    assert_contains(text, "metric=\"kv_usage\",state=\"stale\",reason=\"N s old\"} 1\n");
    assert_contains(text, "metric=\"ttft\",state=\"warming\",reason=\"none ended\"} 1\n");
    assert_contains(text, "\nsmeff_server_gpu{gpu=\"0\",");
    double bytes = number_of(&out, "smeff_server_bytes_per_output_token{server="
                                   "\"http://127.0.0.1:8000/metrics\",model=\"m\xC3\xA4\"}");
    assert_near(bytes, 3.88e10, 0.02e10); /* 3.88 TB/s of 100 tokens/s */
    buf_fini(&out);
}

/* Whatever the user's locale: a comma would be no number. */
static void the_locale_plays_no_part(void **state)
{
    (void)state;
    struct buf before = page();
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE.utf8")) {
        print_message("no locale with a decimal comma is here\n");
        buf_fini(&before);
        skip();
    }
    struct buf after = page();
    setlocale(LC_ALL, "C");
    assert_string_equal(buf_str(&before), buf_str(&after));
    buf_fini(&before);
    buf_fini(&after);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up_exporter, tear_down_exporter)
    const struct CMUnitTest tests[] = {
        T(as_a_person_has_read_it),
        T(promtool_has_nothing_to_say),
        T(names_have_their_units),
        T(names_are_all_different),
        T(a_number_is_sent_only_where_it_is_sound),
        T(a_metric_that_waits_for_its_first_window_has_its_counter_already),
        T(energy_is_the_drivers_own_count),
        T(without_a_stream_there_are_no_numbers),
        T(labels_are_escaped),
        T(a_family_without_samples_leaves_no_trace),
        T(reasons_are_stable),
        T(one_verdict_of_all_is_1),
        T(a_server_and_its_gpu),
        T(the_locale_plays_no_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
