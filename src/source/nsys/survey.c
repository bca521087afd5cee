/* SPDX-License-Identifier: MIT */
#include "source/nsys/survey.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/nsys/db.h"

/* GPUS_MAX: the GPU id within a typeId has 8 bits. ROWS: some 3,000 samples of the usual 22
 * metrics, plenty for the distance between them. */
enum { GPUS_MAX = 256, ROWS = 65536 };

/* Distances are counted in classes of 1/64 octave: the period is the mean of the fullest class,
 * which no gap and no jitter of single samples moves. */
enum { CLASSES = 64 * 64 };

/* nsys samples at 10 Hz or faster; a distance of an hour is no period. */
static const double period_max_ns = 3.6e12;

struct interval_class {
    uint64_t count;
    double sum_ns;
};

struct seen {
    int64_t type_id, last_ns;
    bool any;
    struct interval_class *classes; /* CLASSES of them */
};

struct survey {
    struct seen list[GPUS_MAX];
    size_t n;
    uint64_t rows;
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
    return period < period_max_ns ? (int64_t)(period + 0.5) : 0;
}

/* The GPU of this typeId, new or old. */
static enum status find(struct survey *sv, int64_t type_id, struct seen **out, struct error *err)
{
    for (size_t i = 0; i < sv->n; i++)
        if (sv->list[i].type_id == type_id) {
            *out = &sv->list[i];
            return OK;
        }
    if (sv->n >= GPUS_MAX)
        return fail(err, ERR_BAD_INPUT, 0, "more than %d GPUs", GPUS_MAX);
    struct seen *s = &sv->list[sv->n];
    s->classes = calloc(CLASSES, sizeof *s->classes);
    if (!s->classes)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    s->type_id = type_id;
    sv->n++;
    *out = s;
    return OK;
}

static enum status take_row(void *self, const struct nsys_cell *cells, struct error *err)
{
    struct survey *sv = self;
    struct seen *s = NULL;
    sv->rows++;
    if (!nsys_time_ok(&cells[0]) || !cells[1].is_integer)
        return OK;
    enum status st = find(sv, cells[1].v, &s, err);
    if (st)
        return st;
    int64_t interval = s->any ? cells[0].v - s->last_ns : 0;
    if (interval) {
        struct interval_class *c = &s->classes[class_of(interval < 0 ? -interval : interval)];
        c->count++;
        c->sum_ns += (double)(interval < 0 ? -interval : interval);
    }
    s->last_ns = cells[0].v;
    s->any = true;
    return OK;
}

static enum status take_named(void *self, const struct nsys_cell *cells, struct error *err)
{
    struct seen *s = NULL;
    return cells[0].is_integer ? find(self, cells[0].v, &s, err) : OK;
}

static enum status look(sqlite3 *db, struct survey *sv, struct error *err)
{
    enum status st =
        nsys_db_each(db, "timestamp, typeId", 2, "GPU_METRICS", NULL, ROWS, take_row, sv, err);
    if (!st && nsys_db_has(db, "TARGET_INFO_GPU_METRICS", "typeId"))
        st = nsys_db_each(db, "typeId", 1, "TARGET_INFO_GPU_METRICS", NULL, 0, take_named, sv, err);
    /* a GPU that started late is not among the first rows */
    for (size_t i = 0; !st && i < sv->n && sv->rows == ROWS; i++) {
        char rows_of_gpu[64];
        snprintf(rows_of_gpu, sizeof rows_of_gpu, "GPU_METRICS WHERE typeId=%lld",
                 (long long)sv->list[i].type_id);
        if (!sv->list[i].any)
            st = nsys_db_each(db, "timestamp, typeId", 2, rows_of_gpu, NULL, ROWS, take_row, sv,
                              err);
    }
    return st;
}

static int by_type_id(const void *a, const void *b)
{
    int64_t x = ((const struct nsys_gpu *)a)->type_id, y = ((const struct nsys_gpu *)b)->type_id;
    return (x > y) - (x < y);
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
    struct survey *sv = calloc(1, sizeof *sv);
    if (!sv)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    struct nsys_gpu *gpus = NULL;
    enum status st = look(db, sv, err);
    if (!st) {
        gpus = calloc(sv->n ? sv->n : 1, sizeof *gpus);
        if (!gpus)
            st = fail(err, ERR_NOMEM, 0, "out of memory");
    }
    for (size_t i = 0; i < sv->n; i++) {
        if (gpus)
            gpus[i] = (struct nsys_gpu){.type_id = sv->list[i].type_id,
                                        .period_ns = fullest_class_ns(sv->list[i].classes)};
        free(sv->list[i].classes);
    }
    if (!st) {
        qsort(gpus, sv->n, sizeof *gpus, by_type_id);
        number_gpus(gpus, sv->n);
        *out = (struct nsys_survey){.gpus = gpus, .n_gpus = sv->n, .rows = sv->rows};
    }
    free(sv);
    return st;
}

void nsys_survey_fini(struct nsys_survey *s)
{
    for (size_t i = 0; i < s->n_gpus; i++)
        nsys_gpu_fini(&s->gpus[i]);
    free(s->gpus);
    *s = (struct nsys_survey){0};
}
