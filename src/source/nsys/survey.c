/* SPDX-License-Identifier: MIT */
#include "source/nsys/survey.h"

#include <stdlib.h>

#include "source/nsys/db.h"

/* GPUS_MAX: the GPU id within a typeId has 8 bits. ROWS: some 3,000 samples of the usual 22
 * metrics. A GPU that starts later is known by its names; without those it has no values anyway. */
enum { GPUS_MAX = 256, ROWS = 65536 };

/* One GPU, and how far apart the values of its first metric come. */
struct found {
    int64_t type_id;
    int64_t metric, last_ns, apart_ns;
    bool any;
};

struct survey {
    struct found gpu[GPUS_MAX];
    size_t n;
    bool left_out;
    uint64_t rows;
    int64_t first_ns;
    bool any_time;
};

/* The GPU of this typeId, new or old; NULL when there are too many. */
static struct found *add_gpu(struct survey *sv, int64_t type_id)
{
    for (size_t i = sv->n; i > 0; i--) /* mostly the one of the row before */
        if (sv->gpu[i - 1].type_id == type_id)
            return &sv->gpu[i - 1];
    if (sv->n >= GPUS_MAX) {
        sv->left_out = true;
        return NULL;
    }
    sv->gpu[sv->n] = (struct found){.type_id = type_id};
    return &sv->gpu[sv->n++];
}

/* Rows may be in any order. */
static void take_distance(struct found *g, int64_t ns, int64_t metric)
{
    if (g->any && metric != g->metric)
        return;
    int64_t apart_ns = !g->any ? 0 : ns > g->last_ns ? ns - g->last_ns : g->last_ns - ns;
    if (apart_ns > 0 && (g->apart_ns == 0 || apart_ns < g->apart_ns))
        g->apart_ns = apart_ns;
    g->any = true;
    g->metric = metric;
    g->last_ns = ns;
}

static enum status take_row(void *self, const struct nsys_cell *cells, struct error *err)
{
    (void)err;
    struct survey *sv = self;
    sv->rows++;
    if (!nsys_time_ok(&cells[0]) || !cells[1].is_integer)
        return OK;
    if (!sv->any_time || cells[0].v < sv->first_ns)
        sv->first_ns = cells[0].v;
    sv->any_time = true;
    struct found *g = add_gpu(sv, cells[1].v);
    if (g && cells[2].is_integer)
        take_distance(g, cells[0].v, cells[2].v);
    return OK;
}

static enum status take_named(void *self, const struct nsys_cell *cells, struct error *err)
{
    (void)err;
    if (cells[0].is_integer)
        add_gpu(self, cells[0].v);
    return OK;
}

static enum status look(struct nsys_db *db, struct survey *sv, struct error *err)
{
    static const char columns[] = "timestamp, typeId, metricId";
    enum status st = nsys_db_each(db, columns, 3, "GPU_METRICS", NULL, ROWS, take_row, sv, err);
    if (!st && !sv->any_time && sv->rows == ROWS) /* is there any later one? */
        st = nsys_db_each(db, columns, 3, "GPU_METRICS", NULL, 0, take_row, sv, err);
    if (!st && nsys_db_has(db, "TARGET_INFO_GPU_METRICS", "typeId"))
        st = nsys_db_each(db, "typeId", 1, "TARGET_INFO_GPU_METRICS", NULL, 0, take_named, sv, err);
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

enum status nsys_survey_read(struct nsys_db *db, struct nsys_survey *out, struct error *err)
{
    struct survey sv = {.n = 0};
    enum status st = look(db, &sv, err);
    if (st)
        return st;
    struct nsys_gpu *gpus = calloc(sv.n ? sv.n : 1, sizeof *gpus);
    if (!gpus)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < sv.n; i++) {
        gpus[i].type_id = sv.gpu[i].type_id;
        gpus[i].apart_ns = sv.gpu[i].apart_ns;
    }
    qsort(gpus, sv.n, sizeof *gpus, by_type_id);
    number_gpus(gpus, sv.n);
    *out = (struct nsys_survey){.gpus = gpus,
                                .n_gpus = sv.n,
                                .rows = sv.rows,
                                .usable = sv.any_time,
                                .left_out = sv.left_out,
                                .first_ns = sv.first_ns};
    return OK;
}

void nsys_survey_fini(struct nsys_survey *s)
{
    for (size_t i = 0; i < s->n_gpus; i++)
        nsys_gpu_fini(&s->gpus[i]);
    free(s->gpus);
    *s = (struct nsys_survey){0};
}
