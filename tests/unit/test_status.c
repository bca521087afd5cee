/* SPDX-License-Identifier: MIT */
/* A daemon's status as JSON: nothing that was asked for is missing without an error. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "support.h"

#include "show/show.h"

static struct extra_stats extra;
static struct gpu_snapshot gpu;
static struct snapshot_note notes[2];
static struct snapshot s;
static struct show_daemon about;

static int set_up(void **state)
{
    (void)state;
    const int64_t now_ns = INT64_C(1796000000123000000);
    gpu = (struct gpu_snapshot){.coverage = NAN};
    notes[0] = (struct snapshot_note){NOTE_WARNING, 0, now_ns, "hot"};
    notes[1] = (struct snapshot_note){NOTE_INFO, -1, 0, "cold"};
    s = (struct snapshot){
        .taken_ns = now_ns, .gpus = &gpu, .n_gpus = 1, .notes = notes, .n_notes = 2};
    about = (struct show_daemon){.pid = 42,
                                 .started_ns = now_ns,
                                 .reason = "",
                                 .run_dir = "/run/smeff",
                                 .memory_bytes = NAN};
    return 0;
}

/* To be released by json_decref. */
static json_t *status(void)
{
    struct buf out = BUF_INIT;
    assert_int_equal(show_status_json(&out, &s, &about, NULL), OK);
    json_t *o = json_loads(buf_str(&out), 0, NULL);
    assert_non_null(o);
    buf_fini(&out);
    return o;
}

static const char *text_at(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "(none)";
}

static void a_daemon_that_samples(void **state)
{
    (void)state;
    json_t *o = status();
    const json_t *daemon = json_object_get(o, "daemon");
    assert_string_equal(text_at(daemon, "state"), "running");
    assert_string_equal(text_at(daemon, "run_dir"), "/run/smeff");
    assert_true(json_is_null(json_object_get(daemon, "replay")));
    assert_true(json_is_null(json_object_get(daemon, "reason")));
    assert_true(json_is_null(json_object_get(daemon, "memory_bytes")));
    json_decref(o);
}

/* A path is bytes; it need not be UTF-8. */
static void paths_that_are_no_text(void **state)
{
    (void)state;
    about.replay = "/x/\xff.jsonl";
    about.run_dir = "/run/\xc3";
    about.is_paused = true;
    about.reason = "lent to \xe2\x82";
    json_t *o = status();
    const json_t *daemon = json_object_get(o, "daemon");
    assert_string_equal(text_at(daemon, "replay"), "/x/\xef\xbf\xbd.jsonl");
    assert_contains(text_at(daemon, "run_dir"), "/run/\xef\xbf\xbd");
    assert_contains(text_at(daemon, "reason"), "lent to \xef\xbf\xbd");
    json_decref(o);
}

/* What JSON cannot say is a failure, not a status without the daemon. */
static void a_daemon_that_cannot_be_said_is_an_error(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    struct error err = ERROR_INIT;
    about.cpu_s = NAN;
    assert_int_not_equal(show_status_json(&out, &s, &about, &err), OK);
    assert_int_equal(out.len, 0);
    assert_true(err.text[0]);
    buf_fini(&out);
}

static void notes_have_their_time(void **state)
{
    (void)state;
    json_t *o = status();
    const json_t *list = json_object_get(o, "notes");
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(text_at(json_array_get(list, 0), "time"), "2026-11-30T00:53:20.123Z");
    assert_true(json_is_null(json_object_get(json_array_get(list, 1), "time")));
    json_decref(o);
}

/* A source's own unit, longer than there is room, cut inside a character. */
static void a_long_unit_loses_no_metric(void **state)
{
    (void)state;
    snprintf(extra.name, sizeof extra.name, "odd [%s]", "éééééééééééééééééééééééééééééééééééé");
    gpu.extras = &extra;
    gpu.n_extras = 1;
    json_t *o = status();
    const json_t *of_gpu = json_array_get(json_object_get(o, "gpus"), 0);
    const json_t *metric = json_object_get(json_object_get(of_gpu, "other_metrics"), extra.name);
    assert_non_null(metric);
    assert_contains(text_at(metric, "unit"), "ééé");
    json_decref(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_daemon_that_samples, set_up),
        cmocka_unit_test_setup(paths_that_are_no_text, set_up),
        cmocka_unit_test_setup(a_daemon_that_cannot_be_said_is_an_error, set_up),
        cmocka_unit_test_setup(notes_have_their_time, set_up),
        cmocka_unit_test_setup(a_long_unit_loses_no_metric, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
