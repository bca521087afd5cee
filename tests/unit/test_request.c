/* SPDX-License-Identifier: MIT */
/* The options that say what to sample. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "cmd/request.h"

static struct request r;
static struct error err;

static void parse(const struct options *o)
{
    err = (struct error)ERROR_INIT;
    if (request_parse(o, &r, &err))
        fail_msg("%s", err.text);
}

static void refuse(const struct options *o, const char *part)
{
    err = (struct error)ERROR_INIT;
    enum status st = request_parse(o, &r, &err);
    if (st != ERR_USAGE)
        fail_msg("taken, or another status: %d, expected \"%s\"", (int)st, part);
    assert_contains(err.text, part);
}

static void nothing_asked(void **state)
{
    (void)state;
    parse(&(struct options){0});
    assert_int_equal(r.backend, BACKEND_AUTO);
    assert_int_equal(r.set, SET_CORE);
    assert_int_equal(r.n_extra + r.n_gpus + r.n_uuids, 0);
    assert_null(r.cupti_dir);
    assert_true(r.rate_hz <= 0);
    assert_true(request_wants(&r, 0, "") && request_wants(&r, 63, "GPU-x"));
}

static void backends(void **state)
{
    (void)state;
    static const char *const names[] = {"auto", "pm", "gpm", "nvml", "nsys"};
    static const enum backend values[] = {BACKEND_AUTO, BACKEND_PM, BACKEND_GPM, BACKEND_NVML,
                                          BACKEND_NSYS};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        parse(&(struct options){.backend = names[i]});
        assert_int_equal(r.backend, values[i]);
    }
    refuse(&(struct options){.backend = "PM"},
           "--backend is auto, pm, gpm, nsys or nvml, not \"PM\"");
    refuse(&(struct options){.backend = ""}, "--backend");
    refuse(&(struct options){.backend = "pmx"}, "--backend");
}

static void rates(void **state)
{
    (void)state;
    static const char *const wrong[] = {"0",   "-1",  "1e9", "20000.1", "x",    "",     "nan",
                                        "inf", "50x", " 50", "5,0",     "0x10", "1e-9", "0.05"};
    parse(&(struct options){.rate = "1"});
    assert_near(r.rate_hz, 1, 0);
    parse(&(struct options){.rate = "20000"});
    assert_near(r.rate_hz, 20000, 0);
    parse(&(struct options){.rate = "12.5"});
    assert_near(r.rate_hz, 12.5, 0);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        refuse(&(struct options){.rate = wrong[i]}, "--rate");
}

static void sets(void **state)
{
    (void)state;
    parse(&(struct options){.set = "wide"});
    assert_int_equal(r.set, SET_WIDE);
    parse(&(struct options){.set = "core"});
    assert_int_equal(r.set, SET_CORE);
    refuse(&(struct options){.set = "all"}, "--set is core or wide, not \"all\"");
    refuse(&(struct options){.set = ""}, "--set");
}

static void metrics(void **state)
{
    (void)state;
    parse(&(struct options){.metric = "sm_throughput,l2_hit"});
    assert_int_equal(r.n_extra, 2);
    assert_int_equal(r.extra[0], METRIC_SM_THROUGHPUT);
    assert_int_equal(r.extra[1], METRIC_L2_HIT);
    assert_string_equal(r.metric_list, "sm_throughput,l2_hit");
    refuse(&(struct options){.metric = "sm_throughput,nonsense"}, "no GPU metric \"nonsense\"");
    refuse(&(struct options){.metric = ""}, "no GPU metric");
    refuse(&(struct options){.metric = "l2_hit,"}, "no GPU metric \"\"");
    refuse(&(struct options){.metric = "tpot"}, "no GPU metric \"tpot\""); /* a server's */
}

/* As often as one likes: more than there is room for costs nothing. */
static void a_metric_many_times(void **state)
{
    (void)state;
    static char list[20 * 1000];
    size_t used = 0;
    for (int i = 0; i < 1000; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%sl2_hit", i ? "," : "");
    parse(&(struct options){.metric = list});
    assert_true(r.n_extra >= 1 && r.n_extra <= METRIC_COUNT);
    refuse(&(struct options){.metric = strcat(list, ",x")}, "no GPU metric \"x\"");
}

static void gpus_by_index(void **state)
{
    (void)state;
    parse(&(struct options){.gpu = "1,0"});
    assert_int_equal(r.n_gpus, 2);
    assert_int_equal(r.gpus[0], 1);
    assert_int_equal(r.gpus[1], 0);
    assert_true(request_wants(&r, 0, "") && request_wants(&r, 1, "GPU-b"));
    assert_false(request_wants(&r, 2, "GPU-c"));
    parse(&(struct options){.gpu = "all"});
    assert_true(request_wants(&r, 5, ""));
    parse(&(struct options){.gpu = "63"});
    assert_int_equal(r.gpus[0], 63);
}

static void gpus_by_uuid(void **state)
{
    (void)state;
    parse(&(struct options){.gpu = "GPU-11111111-2222,MIG-3,2"});
    assert_int_equal(r.n_uuids, 2);
    assert_int_equal(r.n_gpus, 1);
    /* a beginning is enough, as for nvidia-smi */
    assert_true(request_wants(&r, 0, "GPU-11111111-2222-3333-4444-555555555555"));
    assert_true(request_wants(&r, 0, "MIG-3"));
    assert_true(request_wants(&r, 2, "GPU-9"));
    assert_false(request_wants(&r, 0, "GPU-11111111-9999"));
    assert_false(request_wants(&r, 0, "GPU-1"));
    assert_false(request_wants(&r, 0, "")); /* not known yet */
}

static void gpus_that_are_none(void **state)
{
    (void)state;
    static const char *const wrong[] = {"x",
                                        "-1",
                                        "",
                                        "0,",
                                        ",0",
                                        "0,,1",
                                        "64",
                                        "4 ",
                                        "+1",
                                        "0x1",
                                        "gpu-11",
                                        "1.0",
                                        "99999999999999999999",
                                        "0-3",
                                        "all,0"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        refuse(&(struct options){.gpu = wrong[i]}, "--gpu is a list of indices or UUIDs, or all");
}

/* One GPU named twice is one GPU; a list beyond the limits is refused, not cut. */
static void long_lists(void **state)
{
    (void)state;
    static char list[8000];
    size_t used = 0;
    for (int i = 0; i < SOURCE_GPUS_MAX; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%d", i ? "," : "", i);
    parse(&(struct options){.gpu = list});
    assert_int_equal(r.n_gpus, SOURCE_GPUS_MAX);
    refuse(&(struct options){.gpu = strcat(list, ",0")}, "more than 64 GPUs");
    memset(list, 'x', sizeof list - 1);
    memcpy(list, "GPU-", 4);
    refuse(&(struct options){.gpu = list}, "--gpu");
    used = 0;
    for (int i = 0; i < 40; i++)
        used += (size_t)snprintf(list + used, sizeof list - used,
                                 "%sGPU-00000000-0000-0000-0000-%012d", i ? "," : "", i);
    refuse(&(struct options){.gpu = list}, "--gpu");
}

static void the_same_gpu_twice(void **state)
{
    (void)state;
    parse(&(struct options){.gpu = "0,0"});
    assert_true(r.n_gpus == 1 || r.n_gpus == 2);
    assert_true(request_wants(&r, 0, ""));
}

static void the_first_fault_is_told(void **state)
{
    (void)state;
    refuse(&(struct options){.backend = "x", .rate = "x", .gpu = "x"}, "--backend");
    parse(&(struct options){.cupti = "/some where"});
    assert_string_equal(r.cupti_dir, "/some where");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_asked),
        cmocka_unit_test(backends),
        cmocka_unit_test(rates),
        cmocka_unit_test(sets),
        cmocka_unit_test(metrics),
        cmocka_unit_test(a_metric_many_times),
        cmocka_unit_test(gpus_by_index),
        cmocka_unit_test(gpus_by_uuid),
        cmocka_unit_test(gpus_that_are_none),
        cmocka_unit_test(long_lists),
        cmocka_unit_test(the_same_gpu_twice),
        cmocka_unit_test(the_first_fault_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
