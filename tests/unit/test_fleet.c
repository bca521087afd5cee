/* SPDX-License-Identifier: MIT */
/* A fleet by the answers of a Prometheus server, and its page. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

#include "fleet/query.h"
#include "panel/fleet.h"

static struct fleet f;
static struct fleet_model m;

static enum status take(size_t i, const char *result)
{
    char body[8192];
    snprintf(body, sizeof body,
             "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[%s]}}",
             result);
    return fleet_take(&f, i, body, strlen(body), NULL);
}

#define WHO(instance, gpu)                                                                         \
    "\"instance\":\"" instance "\",\"gpu\":\"" gpu "\",\"uuid\":\"GPU-" gpu "\""
#define LISTED(instance, gpu)                                                                      \
    "{\"metric\":{\"__name__\":\"smeff_gpu_info\"," WHO(instance,                                  \
                                                        gpu) ",\"name\":\"NVIDIA H200\"},"         \
                                                             "\"value\":[1.5,\"1\"]}"
#define SAMPLE(instance, gpu, v) "{\"metric\":{" WHO(instance, gpu) "},\"value\":[1.5,\"" v "\"]}"

/* The number of a query that holds a text. */
static size_t query_with(const char *text)
{
    char query[FLEET_QUERY_SIZE];
    for (size_t i = 0; i < fleet_queries(); i++)
        if (strstr(fleet_query(i, query), text))
            return i;
    fail_msg("no query has %s", text);
    return 0;
}

/* What every GPU of a core set tells. */
static void units(const char *instance, const char *gpu, const char *dram_read)
{
    static const char *const keys[] = {"sm_issue_seconds", "tensor_active_seconds",
                                       "dram_write_seconds", "dram_read_seconds"};
    for (size_t i = 0; i < 4; i++) {
        char sample[200];
        snprintf(
            sample, sizeof sample,
            "{\"metric\":{\"instance\":\"%s\",\"gpu\":\"%s\",\"uuid\":\"GPU-%s\"},\"value\":[1,"
            "\"%s\"]}",
            instance, gpu, gpu, i < 3 ? "0.01" : dram_read);
        assert_int_equal(take(query_with(keys[i]), sample), OK);
    }
}

static int set_up(void **state)
{
    (void)state;
    m = (struct fleet_model){.fleet = &f, .from = "http://prom:9090", .glyphs = GLYPHS_BRAILLE};
    assert_int_equal(take(0, LISTED("b:1", "10") "," LISTED("b:1", "9") "," LISTED(
                                 "a:1", "0") "," LISTED("a:1", "0") "," LISTED("a:1", "1")),
                     OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fleet_fini(&f);
    return 0;
}

static void test_the_list_is_sorted_and_without_twins(void **state)
{
    (void)state;
    assert_int_equal(f.n, 4);
    assert_string_equal(f.list[0].instance, "a:1");
    assert_string_equal(f.list[2].gpu, "9"); /* 10 after 9 */
    assert_string_equal(f.list[3].name, "NVIDIA H200");
    assert_true(isnan(f.list[0].power_w) && isnan(fleet_waste(&f.list[0])));
    assert_int_equal(fleet_busiest(&f.list[0]), -1);
}

static void test_waste_is_what_no_unit_did(void **state)
{
    (void)state;
    size_t util = query_with("gpu_util_seconds_total"),
           dram = query_with("dram_read_seconds_total");
    assert_int_equal(take(util, SAMPLE("a:1", "0", "1") "," SAMPLE("a:1", "1", "0.3") "," SAMPLE(
                                    "b:1", "9", "NaN") "," SAMPLE("c:1", "0", "0.5")),
                     OK);
    assert_int_equal(take(dram, SAMPLE("a:1", "0", "0.67") "," SAMPLE("a:1", "1", "0.4")), OK);
    assert_true(isnan(fleet_waste(&f.list[0]))); /* the tensor pipe could have been the busiest */
    units("a:1", "0", "0.67");
    units("a:1", "1", "0.4");
    assert_int_equal(fleet_busiest(&f.list[0]), FLEET_DRAM);
    assert_near(fleet_waste(&f.list[0]), 0.32, 1e-12); /* reads and writes together */
    assert_near(fleet_waste(&f.list[1]), 0, 0); /* busier than GPU-Util says: nothing is wasted */
    assert_true(isnan(fleet_waste(&f.list[2])));
    assert_int_equal(take(query_with("fp64_active_seconds"), SAMPLE("a:1", "0", "0.9")), OK);
    assert_int_equal(fleet_busiest(&f.list[0]), FLEET_FP64);
    assert_int_equal(take(query_with("fp64_active_seconds"), SAMPLE("a:1", "0", "0")), OK);
    struct fleet_sum sum;
    fleet_add_up(&f, &sum);
    assert_int_equal(sum.hosts, 2);
    assert_int_equal(sum.known, 2);
    assert_near(sum.waste, 0.32, 1e-12);
    assert_near(sum.util, 1.3, 1e-12);
}

static const char *drawn(int width, int height)
{
    static char text[1 << 16];
    struct surface s;
    struct buf out = BUF_INIT;
    assert_int_equal(surface_init(&s, width, height, false, NULL), OK);
    fleet_draw(&m, &s);
    surface_text(&s, &out);
    snprintf(text, sizeof text, "%s", buf_str(&out));
    buf_fini(&out);
    surface_fini(&s);
    return text;
}

static void filled(size_t i, const char *result)
{
    assert_int_equal(take(i, result), OK);
}

#define SCRAPED (1 + FLEET_SHARE_COUNT + 1) /* the instant list, behind who is away */

static void fill(void)
{
    filled(query_with("gpu_util_seconds_total"),
           SAMPLE("a:1", "0", "0.5") "," SAMPLE("a:1", "1", "0.9") "," SAMPLE("b:1", "9", "1"));
    units("a:1", "0", "0.44");
    units("a:1", "1", "0.09");
    units("b:1", "9", "0.69");
    filled(SCRAPED, LISTED("a:1", "0") "," LISTED("a:1", "1") "," LISTED("b:1", "9") "," LISTED(
                        "b:1", "10"));
    filled(query_with("smeff_verdict"),
           "{\"metric\":{" WHO("a:1", "1") ",\"verdict\":\"latency_bound\"},\"value\":[1,\"1\"]}");
    filled(query_with("smeff_metric_state"),
           "{\"metric\":{" WHO("b:1", "10") ",\"state\":\"no_permission\",\"reason\":\"the driver "
                                            "refuses\"},\"value\":[1,\"1\"]}");
    filled(query_with("smeff_power_watts"), SAMPLE("a:1", "1", "312.4"));
}

static void test_the_most_wasteful_comes_first(void **state)
{
    (void)state;
    fill();
    m.age_s = 3;
    const char *text = drawn(120, 20);
    const char *first = strstr(text, "a:1/1"), *second = strstr(text, "b:1/9"),
               *third = strstr(text, "a:1/0"), *last = strstr(text, "b:1/10");
    assert_true(first && second && third && last);
    assert_true(first < second && second < third && third < last);
    assert_contains(text, "4 GPUs on 2 hosts · GPU-Util says 80 %, their busiest units did 42 %: "
                          "1.2 GPUs' worth of waste (1 not known)");
    assert_contains(text, "latency_bound");
    assert_contains(text, "312 W");
    assert_contains(text, "no_permission: the driver refuses"); /* never 0, never blank */
    assert_contains(text, "3 s old");
    fleet_press(&m, 's'); /* by host */
    text = drawn(120, 20);
    assert_true(strstr(text, "a:1/0") < strstr(text, "a:1/1"));
}

static void test_pages_and_filter(void **state)
{
    (void)state;
    fill();
    drawn(80, 7); /* room for two */
    assert_int_equal(m.rows, 2);
    fleet_press(&m, PANEL_KEY_PAGE_DOWN);
    assert_contains(drawn(80, 7), "3 to 4 of 4");
    fleet_press(&m, PANEL_KEY_END);
    assert_contains(drawn(80, 7), "3 to 4 of 4");
    fleet_press(&m, PANEL_KEY_HOME);
    assert_contains(drawn(80, 7), "1 to 2 of 4");
    fleet_press(&m, PANEL_KEY_UP);
    assert_contains(drawn(80, 7), "1 to 2 of 4");
    fleet_press(&m, '/');
    fleet_press(&m, 'L');
    fleet_press(&m, 'a');
    fleet_press(&m, 't');
    fleet_press(&m, PANEL_KEY_ENTER);
    assert_contains(drawn(80, 7), "only \"Lat\": 1");
    fleet_press(&m, PANEL_KEY_ESC);
    assert_int_equal(fleet_press(&m, 'q'), PANEL_QUIT);
    fleet_press(&m, '?');
    assert_contains(drawn(80, 24), "Waste is GPU-Util minus");
}

static void test_every_size_can_be_drawn(void **state)
{
    (void)state;
    fill();
    for (int w = 1; w < 220; w += w < 100 ? 1 : 7)
        for (int h = 1; h < 30; h += 4)
            assert_true(w < 24 || h < 6 || strstr(drawn(w, h), "smeff"));
}

static void test_a_host_whose_daemon_is_away_says_so(void **state)
{
    (void)state;
    fill();
    take(query_with("smeff_up == 0"),
         "{\"metric\":{\"instance\":\"b:1\",\"job\":\"smeff\"},\"value\":[1,\"0\"]}");
    assert_true(f.list[2].is_away && f.list[3].is_away && !f.list[0].is_away);
    assert_contains(drawn(120, 20), "its daemon is away");
}

static void test_a_host_that_is_not_scraped_any_more_stays(void **state)
{
    (void)state;
    fill();
    char query[FLEET_QUERY_SIZE];
    assert_string_equal(fleet_query(SCRAPED, query), "smeff_gpu_info");
    assert_string_equal(fleet_query(0, query), "last_over_time(smeff_gpu_info[1h])");
    take(0, LISTED("a:1", "0") "," LISTED("b:1", "9"));
    take(SCRAPED, LISTED("a:1", "0"));
    assert_contains(drawn(120, 20), "not scraped any more");
    assert_true(f.list[0].is_scraped && !f.list[1].is_scraped);
}

static void test_other_answers_are_refused(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "",
        "x",
        "[]",
        "{}",
        "{\"status\":\"success\"}",
        "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[]}}",
        "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":7}}",
        "<html>not found</html>"};
    struct error err = ERROR_INIT;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        assert_int_equal(fleet_take(&f, 1, bodies[i], strlen(bodies[i]), &err), ERR_BAD_INPUT);
    static const char refused[] =
        "{\"status\":\"error\",\"errorType\":\"x\",\"error\":\"too much\"}";
    assert_int_equal(fleet_take(&f, 1, refused, strlen(refused), &err), ERR_BAD_INPUT);
    assert_contains(err.text, "too much");
    assert_int_equal(f.n, 4); /* the list is as it was */
    assert_int_equal(take(1, "7,{},{\"metric\":[]},{\"metric\":{},\"value\":\"x\"}"), OK);
    assert_int_equal(take(0, "7,{\"metric\":{\"instance\":\"\\u001b[2J\\u202e\"}}"), OK);
    assert_null(strchr(drawn(80, 20), '\x1b'));
}

static void test_queries_fit_a_url(void **state)
{
    (void)state;
    for (size_t i = 0; i < fleet_queries(); i++) {
        char path[FLEET_PATH_SIZE];
        fleet_query_path(i, "/prometheus", INT64_C(1796073522131000000), path);
        assert_true(strlen(path) < FLEET_PATH_SIZE - 4);
        assert_contains(path, "/prometheus/api/v1/query?time=1796073522.131&query=");
        assert_null(strpbrk(path, " \"{}[]"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_list_is_sorted_and_without_twins, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_waste_is_what_no_unit_did, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_most_wasteful_comes_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pages_and_filter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_every_size_can_be_drawn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_host_whose_daemon_is_away_says_so, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_host_that_is_not_scraped_any_more_stays, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_other_answers_are_refused, set_up, tear_down),
        cmocka_unit_test(test_queries_fit_a_url),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
