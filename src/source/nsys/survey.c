/* SPDX-License-Identifier: MIT */
#include "source/nsys/survey.h"

#include <stdlib.h>
#include <string.h>

#include "source/nsys/db.h"

/* The GPU id within a typeId has 8 bits; more typeIds are no machine. */
enum { GPUS_MAX = 256 };

/* Distances between samples are counted in classes of 1/64 octave: the period is the mean of the
 * fullest class, which no gap and no jitter of single samples moves. */
enum { CLASSES = 64 * 64 };

/* nsys samples at 10 Hz or faster; a distance of an hour is no period. */
static const int64_t period_max_ns = 3600000000000;

struct interval_class {
    uint64_t count;
    double sum_ns;
};

struct seen {
    struct nsys_gpu gpu;
    struct interval_class *classes; /* CLASSES of them */
};

static unsigned class_of(int64_t interval_ns)
{
    unsigned octave = 63 - (unsigned)__builtin_clzll((unsigned long long)interval_ns);
    unsigned fraction = octave >= 6 ? (unsigned)(interval_ns >> (octave - 6)) & 63
                                    : (unsigned)(interval_ns << (6 - octave)) & 63;
    return octave * 64 + fraction;
}

static int64_t fullest_class_ns(const struct interval_class *classes)
{
    const struct interval_class *best = classes;
    for (size_t i = 1; i < CLASSES; i++)
        if (classes[i].count > best->count)
            best = &classes[i];
    double period = best->count ? best->sum_ns / (double)best->count : 0;
    return period < (double)period_max_ns ? (int64_t)(period + 0.5) : 0;
}

static struct seen *find(struct seen *list, size_t n, int64_t type_id)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].gpu.type_id == type_id)
            return &list[i];
    return NULL;
}

static void take_time(struct seen *s, int64_t t, bool *disordered)
{
    struct nsys_gpu *g = &s->gpu;
    if (g->samples && t == g->last_ns)
        return; /* another metric of the same sample */
    if (g->samples && t < g->last_ns) {
        *disordered = true;
        return;
    }
    if (!g->samples) {
        g->first_ns = t;
    } else {
        int64_t interval = t - g->last_ns;
        struct interval_class *c = &s->classes[class_of(interval)];
        c->count++;
        c->sum_ns += (double)interval;
    }
    g->last_ns = t;
    g->samples++;
}

static enum status take_row(struct seen *list, struct nsys_survey *sv, sqlite3_stmt *stmt,
                            struct seen **last, struct error *err)
{
    int64_t t, type_id;
    sv->rows++;
    if (!nsys_db_time(stmt, 0, &t) || !nsys_db_int(stmt, 1, &type_id)) {
        sv->bad_rows++;
        return OK;
    }
    struct seen *s =
        *last && (*last)->gpu.type_id == type_id ? *last : find(list, sv->n_gpus, type_id);
    if (!s) {
        if (sv->n_gpus >= GPUS_MAX)
            return fail(err, ERR_BAD_INPUT, 0, "more than %d GPUs in GPU_METRICS", GPUS_MAX);
        s = &list[sv->n_gpus];
        s->classes = calloc(CLASSES, sizeof *s->classes);
        if (!s->classes)
            return fail(err, ERR_NOMEM, 0, "out of memory");
        s->gpu.type_id = type_id;
        sv->n_gpus++;
    }
    *last = s;
    take_time(s, t, &sv->disordered);
    return OK;
}

static enum status scan(sqlite3 *db, const char *sql, struct seen *list, struct nsys_survey *sv,
                        struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    enum status st = nsys_db_prepare(db, &stmt, sql, err);
    bool row = true;
    struct seen *last = NULL;
    while (!st && !(st = nsys_db_step(stmt, &row, err)) && row)
        st = take_row(list, sv, stmt, &last, err);
    sqlite3_finalize(stmt);
    return st;
}

static int by_type_id(const void *a, const void *b)
{
    int64_t x = ((const struct nsys_gpu *)a)->type_id, y = ((const struct nsys_gpu *)b)->type_id;
    return (x > y) - (x < y);
}

static void forget(struct seen *list, struct nsys_survey *sv)
{
    for (size_t i = 0; i < sv->n_gpus; i++)
        free(list[i].classes);
    memset(list, 0, GPUS_MAX * sizeof *list);
    *sv = (struct nsys_survey){.disordered = sv->disordered};
}

/* Two typeIds (two VMs, say) can carry the same GPU id: keep them apart. */
static void number_gpus(struct nsys_gpu *gpus, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        gpus[i].gpu = (unsigned)((uint64_t)gpus[i].type_id & 0xFF);
        for (size_t k = 0; k < i; k++)
            if (gpus[k].gpu == gpus[i].gpu) {
                gpus[i].gpu += 256;
                k = (size_t)-1;
            }
    }
}

enum status nsys_survey_read(sqlite3 *db, struct nsys_survey *out, struct error *err)
{
    struct nsys_survey sv = {0};
    struct seen *list = calloc(GPUS_MAX, sizeof *list);
    if (!list)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    enum status st = scan(db, "SELECT timestamp, typeId FROM GPU_METRICS", list, &sv, err);
    if (!st && sv.disordered) {
        forget(list, &sv);
        st = scan(db, "SELECT timestamp, typeId FROM GPU_METRICS ORDER BY timestamp", list, &sv,
                  err);
    }
    if (!st) {
        sv.gpus = calloc(sv.n_gpus ? sv.n_gpus : 1, sizeof *sv.gpus);
        if (!sv.gpus)
            st = fail(err, ERR_NOMEM, 0, "out of memory");
    }
    for (size_t i = 0; !st && i < sv.n_gpus; i++) {
        sv.gpus[i] = list[i].gpu;
        sv.gpus[i].period_ns = fullest_class_ns(list[i].classes);
    }
    for (size_t i = 0; i < sv.n_gpus; i++)
        free(list[i].classes);
    free(list);
    if (st)
        return st;
    qsort(sv.gpus, sv.n_gpus, sizeof *sv.gpus, by_type_id);
    number_gpus(sv.gpus, sv.n_gpus);
    *out = sv;
    return OK;
}

void nsys_survey_fini(struct nsys_survey *s)
{
    for (size_t i = 0; i < s->n_gpus; i++)
        nsys_gpu_fini(&s->gpus[i]);
    free(s->gpus);
    *s = (struct nsys_survey){0};
}
