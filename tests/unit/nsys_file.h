/* SPDX-License-Identifier: MIT */
/* Real exports, copied and changed by SQL, read the whole way to a snapshot. */
#ifndef SMEFF_TESTS_NSYS_FILE_H
#define SMEFF_TESTS_NSYS_FILE_H

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/nsys_snapshot.h"
#include "collect/collect.h"
#include "source/nsys/nsys.h"

#define DECODE TEST_ROOT "/data/h200/decode.sqlite"
#define MATMUL TEST_ROOT "/data/h200/matmul.sqlite"
#define IDLE   TEST_ROOT "/data/h200/idle.sqlite"

/* The typeId of the real exports: VM 1, source 1, GPU 0. */
#define TYPE_ID "281479271677952"

/* A path of this process's own; one file at a time. */
static inline const char *temp_path(void)
{
    static char path[64];
    if (!path[0])
        snprintf(path, sizeof path, "/tmp/smeff-test-%d.sqlite", (int)getpid());
    return path;
}

/* The tear-down of a group of tests that made it. */
static inline int remove_temp(void **state)
{
    (void)state;
    unlink(temp_path());
    return 0;
}

static inline void copy_file(const char *from, const char *to)
{
    static char data[1 << 20];
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ssize_t n;
    assert_true(in >= 0 && out >= 0);
    while ((n = read(in, data, sizeof data)) > 0)
        assert_int_equal(write(out, data, (size_t)n), n);
    close(in);
    close(out);
}

static inline void run_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
}

/* A copy of a real export, changed by sql ("" = as it is); returns its path. */
static inline const char *changed(const char *original, const char *sql)
{
    copy_file(original, temp_path());
    if (*sql)
        run_sql(temp_path(), sql);
    return temp_path();
}

static inline enum status read_export(const char *path, bool all, struct snapshot **out,
                                      struct error *err)
{
    return nsys_snapshot(path, all, out, err);
}

static inline struct snapshot *snapshot_of(const char *path, bool all)
{
    struct error err = ERROR_INIT;
    struct snapshot *s = NULL;
    if (read_export(path, all, &s, &err))
        fail_msg("%s", err.text);
    return s;
}

static inline bool has_note(const struct snapshot *s, const char *part)
{
    for (size_t i = 0; i < s->n_notes; i++)
        if (strstr(s->notes[i].text, part))
            return true;
    return false;
}

static inline struct metric_stats *metric(struct snapshot *s, size_t gpu, enum metric m)
{
    assert_true(gpu < s->n_gpus);
    return &s->gpus[gpu].metrics[m];
}

static inline void check_mean(struct snapshot *s, enum metric m, double mean)
{
    const struct metric_stats *x = metric(s, 0, m);
    if (x->value.state != VALUE_OK)
        fail_msg("%s is %s: %s", metric_info(m)->key, value_state_name(x->value.state),
                 x->value.reason);
    assert_near(x->value.v, mean, 1e-12);
}

static inline void check_state(struct snapshot *s, enum metric m, enum value_state state,
                               const char *reason)
{
    const struct value *v = &metric(s, 0, m)->value;
    if (v->state != state || !strstr(v->reason, reason))
        fail_msg("%s is %s (%s), expected %s (… %s …)", metric_info(m)->key,
                 value_state_name(v->state), v->reason, value_state_name(state), reason);
}

static inline const struct extra_stats *extra(const struct snapshot *s, const char *name)
{
    for (size_t i = 0; i < s->gpus[0].n_extras; i++)
        if (strcmp(s->gpus[0].extras[i].name, name) == 0)
            return &s->gpus[0].extras[i];
    fail_msg("no \"%s\"", name);
    return NULL;
}

static inline double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
