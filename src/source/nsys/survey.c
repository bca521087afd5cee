/* SPDX-License-Identifier: MIT */
#include "source/nsys/survey.h"

#include <stdlib.h>

#include "source/nsys/db.h"

/* GPUS_MAX: the GPU id within a typeId has 8 bits. ROWS: some 3,000 samples of the usual 22
 * metrics. A GPU that starts later is known by its names; without those it has no values anyway. */
enum { GPUS_MAX = 256, ROWS = 65536 };

struct survey {
    int64_t type_id[GPUS_MAX];
    size_t n;
    uint64_t rows;
    int64_t first_ns;
    bool any_time;
};

static enum status add_gpu(struct survey *sv, int64_t type_id, struct error *err)
{
    for (size_t i = sv->n; i > 0; i--) /* mostly the one of the row before */
        if (sv->type_id[i - 1] == type_id)
            return OK;
    if (sv->n >= GPUS_MAX)
        return fail(err, ERR_BAD_INPUT, 0, "more than %d GPUs", GPUS_MAX);
    sv->type_id[sv->n++] = type_id;
    return OK;
}

static enum status take_row(void *self, const struct nsys_cell *cells, struct error *err)
{
    struct survey *sv = self;
    sv->rows++;
    if (!nsys_time_ok(&cells[0]) || !cells[1].is_integer)
        return OK;
    if (!sv->any_time || cells[0].v < sv->first_ns)
        sv->first_ns = cells[0].v;
    sv->any_time = true;
    return add_gpu(sv, cells[1].v, err);
}

static enum status take_named(void *self, const struct nsys_cell *cells, struct error *err)
{
    return cells[0].is_integer ? add_gpu(self, cells[0].v, err) : OK;
}

static enum status look(sqlite3 *db, struct survey *sv, struct error *err)
{
    enum status st =
        nsys_db_each(db, "timestamp, typeId", 2, "GPU_METRICS", NULL, ROWS, take_row, sv, err);
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

enum status nsys_survey_read(sqlite3 *db, struct nsys_survey *out, struct error *err)
{
    struct survey sv = {.n = 0};
    enum status st = look(db, &sv, err);
    if (st)
        return st;
    struct nsys_gpu *gpus = calloc(sv.n ? sv.n : 1, sizeof *gpus);
    if (!gpus)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < sv.n; i++)
        gpus[i].type_id = sv.type_id[i];
    qsort(gpus, sv.n, sizeof *gpus, by_type_id);
    number_gpus(gpus, sv.n);
    *out = (struct nsys_survey){
        .gpus = gpus, .n_gpus = sv.n, .rows = sv.rows, .first_ns = sv.first_ns};
    return OK;
}

void nsys_survey_fini(struct nsys_survey *s)
{
    for (size_t i = 0; i < s->n_gpus; i++)
        nsys_gpu_fini(&s->gpus[i]);
    free(s->gpus);
    *s = (struct nsys_survey){0};
}
