/* SPDX-License-Identifier: MIT */
#include "source/nsys/verified.h"

#include <stdlib.h>
#include <string.h>

#include "source/nsys/db.h"

/* Checked against the names of the three exports in data/h200: nsys 2025.3.1 (schema 3.20.3), set
 * gh100 = METRIC_SET_INDEX 5, on an H200 without NVLink. Only the rows of the catalogue. */
static const struct {
    int64_t id;
    const char *name;
} verified_gh100[] = {
    {0, "GPC Clock Frequency [MHz]"},
    {1, "SYS Clock Frequency [MHz]"},
    {2, "GR Active [Throughput %]"},
    {3, "SMs Active [Throughput %]"},
    {4, "SM Issue [Throughput %]"},
    {5, "Tensor Active [Throughput %]"},
    {12, "Compute Warps in Flight [Throughput %]"},
    {18, "DRAM Read Bandwidth [Throughput %]"},
    {19, "DRAM Write Bandwidth [Throughput %]"},
    {20, "PCIe RX Throughput [Throughput %]"},
    {21, "PCIe TX Throughput [Throughput %]"},
};

/* Those captures had ids 0 to 21 and no other, all unsigned, and all of one byte but the two
 * clocks and, with work on the GPU, the counts of compute and of unallocated warps: nsys takes the
 * narrowest storage that holds the values. */
enum { IDS = 22 };
static const uint32_t all_ids = (UINT32_C(1) << IDS) - 1;
static const uint32_t four_bytes_busy = 1 << 0 | 1 << 1 | 1 << 13 | 1 << 16;
static const uint32_t four_bytes_idle = 1 << 0 | 1 << 1;

/* What one GPU has, as bits by id. */
struct seen {
    uint32_t ids;                /* in GPU_METRICS */
    uint32_t fields, four_bytes; /* in GENERIC_EVENT_TYPE_FIELDS */
    bool other;                  /* anything that the verified captures had not */
};

struct look {
    struct nsys_gpu *gpus;
    size_t n_gpus;
    struct seen *seen; /* one a GPU */
};

static struct seen *seen_of(const struct look *l, const struct nsys_cell *type_id)
{
    struct nsys_gpu *g = type_id->is_integer ? nsys_gpu_find(l->gpus, l->n_gpus, type_id->v) : NULL;
    return g ? &l->seen[g - l->gpus] : NULL;
}

/* The bit of an id; 0 and "other" for an id that was not verified. */
static uint32_t bit_of(struct seen *s, const struct nsys_cell *id)
{
    if (id->is_integer && id->v >= 0 && id->v < IDS)
        return UINT32_C(1) << id->v;
    s->other = true;
    return 0;
}

static enum status take_row(void *self, const struct nsys_cell *cells, struct error *err)
{
    (void)err;
    struct seen *s = seen_of(self, &cells[0]);
    if (s)
        s->ids |= bit_of(s, &cells[1]);
    return OK;
}

static enum status take_field(void *self, const struct nsys_cell *cells, struct error *err)
{
    (void)err;
    struct seen *s = seen_of(self, &cells[0]);
    if (!s)
        return OK;
    uint32_t bit = bit_of(s, &cells[1]);
    int64_t size = cells[3].is_integer ? cells[3].v : 0;
    s->other |= (s->fields & bit) != 0 || !cells[2].is_integer || cells[2].v != FIELD_UNSIGNED ||
                (size != 1 && size != 4);
    s->fields |= bit;
    s->four_bytes |= size == 4 ? bit : 0;
    return OK;
}

static bool is_verified(const struct seen *s)
{
    return !s->other && s->ids == all_ids && s->fields == all_ids &&
           (s->four_bytes == four_bytes_busy || s->four_bytes == four_bytes_idle);
}

static enum status add_names(struct nsys_gpu *g, struct error *err)
{
    enum status st = OK;
    for (size_t i = 0; !st && i < sizeof verified_gh100 / sizeof verified_gh100[0]; i++)
        st = nsys_gpu_add(g, verified_gh100[i].id, verified_gh100[i].name, err);
    return st;
}

enum status nsys_verified_names(struct nsys_db *db, const struct nsys_meta *meta,
                                struct nsys_gpu *gpus, size_t n_gpus, bool *used, struct error *err)
{
    static const char *const columns[] = {"typeId", "fieldIdx", "type", "size"};
    *used = false;
    /* the version is the exporting program's, the set's number the capturing one's: together they
     * do not tell which set it was, so chip, ids and storage must agree as well */
    if (strcmp(meta->schema, "3.20.3") != 0 || strcmp(meta->set_index, "5") != 0)
        return OK;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (!nsys_db_has(db, "GENERIC_EVENT_TYPE_FIELDS", columns[i]))
            return OK;
    struct look look = {gpus, n_gpus, calloc(n_gpus ? n_gpus : 1, sizeof *look.seen)};
    if (!look.seen)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    enum status st = nsys_db_each(db, "typeId, fieldIdx, type, size", 4,
                                  "GENERIC_EVENT_TYPE_FIELDS", NULL, 0, take_field, &look, err);
    if (!st)
        st = nsys_db_each(db, "typeId, metricId", 2, "GPU_METRICS", NULL, 0, take_row, &look, err);
    for (size_t i = 0; !st && i < n_gpus; i++)
        if (is_verified(&look.seen[i]) && strcmp(gpus[i].info.chip, "GH100") == 0) {
            *used = true;
            st = add_names(&gpus[i], err);
        }
    free(look.seen);
    return st;
}
