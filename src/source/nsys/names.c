/* SPDX-License-Identifier: MIT */
/* Where the names of a file's metrics come from, and how their values are stored. */
#include <stdlib.h>
#include <string.h>

#include "source/nsys/db.h"
#include "source/nsys/series.h"

/* NVIDIA's largest set of 2025.3 has 160 metrics; a file with more than this is no export. */
enum { RAW_MAX = 20000 };

/* Ids that were checked against the names of a real export: nsys 2025.3.1 (schema 3.20.3), set
 * gh100 = METRIC_SET_INDEX 5, on an H200 without NVLink. Only the rows of the catalogue. */
static const struct {
    int64_t id;
    const char *name;
    int size;
} verified_gh100[] = {
    {0, "GPC Clock Frequency [MHz]", 4},
    {1, "SYS Clock Frequency [MHz]", 4},
    {2, "GR Active [Throughput %]", 1},
    {3, "SMs Active [Throughput %]", 1},
    {4, "SM Issue [Throughput %]", 1},
    {5, "Tensor Active [Throughput %]", 1},
    {12, "Compute Warps in Flight [Throughput %]", 1},
    {18, "DRAM Read Bandwidth [Throughput %]", 1},
    {19, "DRAM Write Bandwidth [Throughput %]", 1},
    {20, "PCIe RX Throughput [Throughput %]", 1},
    {21, "PCIe TX Throughput [Throughput %]", 1},
};
enum { VERIFIED_GH100_IDS = 22 }; /* that capture had ids 0 to 21 and no other */

static struct nsys_gpu *find_gpu(struct nsys_gpu *gpus, size_t n, int64_t type_id)
{
    for (size_t i = 0; i < n; i++)
        if (gpus[i].type_id == type_id)
            return &gpus[i];
    return NULL;
}

static enum status add_raw(struct nsys_gpu *g, int64_t metric_id, const char *name,
                           struct error *err)
{
    if (g->n_raw >= RAW_MAX)
        return fail(err, ERR_BAD_INPUT, 0, "more than %d metrics for one GPU", RAW_MAX);
    if ((g->n_raw & (g->n_raw - 1)) == 0) { /* at 0, 1, 2, 4 … make room for the next power */
        size_t cap = g->n_raw ? 2 * g->n_raw : 1;
        struct nsys_raw *grown = realloc(g->raw, cap * sizeof *grown);
        if (!grown)
            return fail(err, ERR_NOMEM, 0, "out of memory");
        g->raw = grown;
    }
    struct nsys_raw *r = &g->raw[g->n_raw++];
    *r = (struct nsys_raw){.metric_id = metric_id, .target = -1};
    strncpy(r->name, name, sizeof r->name - 1);
    size_t len = strlen(r->name);
    r->percent = len >= 2 && strcmp(r->name + len - 2, "%]") == 0;
    r->clock = len >= 5 && strcmp(r->name + len - 5, "[MHz]") == 0;
    return OK;
}

/* Rows of (typeId, id, name). */
static enum status read_names(sqlite3 *db, const char *sql, struct nsys_gpu *gpus, size_t n_gpus,
                              struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    enum status st = nsys_db_prepare(db, &stmt, sql, err);
    bool row = true;
    while (!st && !(st = nsys_db_step(stmt, &row, err)) && row) {
        int64_t type_id, metric_id;
        char name[NSYS_NAME_SIZE];
        if (!nsys_db_int(stmt, 0, &type_id) || !nsys_db_int(stmt, 1, &metric_id))
            continue;
        struct nsys_gpu *g = find_gpu(gpus, n_gpus, type_id);
        nsys_db_text(stmt, 2, name, sizeof name);
        if (g && name[0])
            st = add_raw(g, metric_id, name, err);
    }
    sqlite3_finalize(stmt);
    return st;
}

static int by_id(const void *a, const void *b)
{
    const struct nsys_raw *x = a, *y = b;
    if (x->metric_id != y->metric_id)
        return x->metric_id < y->metric_id ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(struct nsys_raw *const *)a)->name, (*(struct nsys_raw *const *)b)->name);
}

/* Sorts by id, keeps one row an id, and marks ids with two names and names with two ids. */
static enum status settle(struct nsys_gpu *g, struct error *err)
{
    if (g->n_raw == 0)
        return OK;
    qsort(g->raw, g->n_raw, sizeof *g->raw, by_id);
    size_t kept = 1;
    for (size_t i = 1; i < g->n_raw; i++) {
        struct nsys_raw *last = &g->raw[kept - 1];
        if (g->raw[i].metric_id != last->metric_id)
            g->raw[kept++] = g->raw[i];
        else if (strcmp(g->raw[i].name, last->name) != 0)
            last->ambiguous = true;
    }
    g->n_raw = kept;
    struct nsys_raw **sorted = calloc(kept, sizeof(struct nsys_raw *));
    if (!sorted)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < kept; i++)
        sorted[i] = &g->raw[i];
    qsort(sorted, kept, sizeof *sorted, by_name);
    for (size_t i = 1; i < kept; i++)
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
            sorted[i - 1]->ambiguous = sorted[i]->ambiguous = true;
    free(sorted);
    return OK;
}

struct nsys_raw *nsys_raw_find(struct nsys_gpu *g, int64_t metric_id)
{
    size_t low = 0, high = g->n_raw;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (g->raw[mid].metric_id == metric_id)
            return &g->raw[mid];
        if (g->raw[mid].metric_id < metric_id)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

/* How each value is stored: fieldIdx is the metric's id. Two different answers are none. */
static enum status read_fields(sqlite3 *db, struct nsys_gpu *gpus, size_t n_gpus, struct error *err)
{
    if (!nsys_db_has(db, "GENERIC_EVENT_TYPE_FIELDS", "fieldIdx") ||
        !nsys_db_has(db, "GENERIC_EVENT_TYPE_FIELDS", "size") ||
        !nsys_db_has(db, "GENERIC_EVENT_TYPE_FIELDS", "type"))
        return OK;
    sqlite3_stmt *stmt = NULL;
    enum status st = nsys_db_prepare(
        db, &stmt, "SELECT typeId, fieldIdx, type, size FROM GENERIC_EVENT_TYPE_FIELDS", err);
    bool row = true;
    while (!st && !(st = nsys_db_step(stmt, &row, err)) && row) {
        int64_t type_id, id, type, size;
        if (!nsys_db_int(stmt, 0, &type_id) || !nsys_db_int(stmt, 1, &id) ||
            !nsys_db_int(stmt, 2, &type) || !nsys_db_int(stmt, 3, &size))
            continue;
        struct nsys_gpu *g = find_gpu(gpus, n_gpus, type_id);
        struct nsys_raw *r = g ? nsys_raw_find(g, id) : NULL;
        if (!r || type < 0 || type > FIELD_DOUBLE || size < 1 || size > 8)
            continue;
        if (r->has_field && (r->type != (int)type || r->size != (int)size))
            r->ambiguous = true;
        r->type = (int)type;
        r->size = (int)size;
        r->has_field = true;
    }
    sqlite3_finalize(stmt);
    return st;
}

/* The ids of the data must be exactly those of the verified capture. */
static enum status ids_are_verified(sqlite3 *db, int64_t type_id, bool *yes, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    bool row = false;
    int64_t count = 0, low = -1, high = -1;
    enum status st = nsys_db_prepare(db, &stmt,
                                     "SELECT count(DISTINCT metricId), min(metricId), "
                                     "max(metricId) FROM GPU_METRICS WHERE typeId=?1",
                                     err);
    if (!st)
        sqlite3_bind_int64(stmt, 1, type_id);
    if (!st)
        st = nsys_db_step(stmt, &row, err);
    *yes = !st && row && nsys_db_int(stmt, 0, &count) && nsys_db_int(stmt, 1, &low) &&
           nsys_db_int(stmt, 2, &high) && count == VERIFIED_GH100_IDS && low == 0 &&
           high == VERIFIED_GH100_IDS - 1;
    sqlite3_finalize(stmt);
    return st;
}

static enum status use_verified_ids(sqlite3 *db, const struct nsys_meta *meta,
                                    struct nsys_gpu *gpus, size_t n_gpus, bool *used,
                                    struct error *err)
{
    *used = false;
    if (strcmp(meta->schema, "3.20.3") != 0 || strcmp(meta->set_index, "5") != 0)
        return OK;
    for (size_t i = 0; i < n_gpus; i++) {
        bool yes = false;
        enum status st = ids_are_verified(db, gpus[i].type_id, &yes, err);
        if (st)
            return st;
        if (!yes || strcmp(gpus[i].info.chip, "GH100") != 0)
            continue;
        *used = true;
        for (size_t k = 0; !st && k < sizeof verified_gh100 / sizeof verified_gh100[0]; k++) {
            st = add_raw(&gpus[i], verified_gh100[k].id, verified_gh100[k].name, err);
            if (st)
                return st;
            struct nsys_raw *r = &gpus[i].raw[gpus[i].n_raw - 1];
            r->has_field = true;
            r->type = FIELD_UNSIGNED;
            r->size = verified_gh100[k].size;
        }
    }
    return OK;
}

static bool any_names(const struct nsys_gpu *gpus, size_t n_gpus)
{
    for (size_t i = 0; i < n_gpus; i++)
        if (gpus[i].n_raw)
            return true;
    return false;
}

enum status nsys_series_read(sqlite3 *db, const struct nsys_meta *meta, struct nsys_gpu *gpus,
                             size_t n_gpus, enum nsys_names_from *from, struct error *err)
{
    enum status st = OK;
    *from = NAMES_NONE;
    if (nsys_db_has(db, "TARGET_INFO_GPU_METRICS", NULL)) {
        *from = NAMES_TABLE; /* even when it is empty: a table that is there is the truth */
        st = read_names(db, "SELECT typeId, metricId, metricName FROM TARGET_INFO_GPU_METRICS",
                        gpus, n_gpus, err);
    } else if (nsys_db_has(db, "GENERIC_EVENT_TYPE_FIELDS", "fieldNameId") &&
               nsys_db_has(db, "StringIds", "value")) {
        st = read_names(db,
                        "SELECT f.typeId, f.fieldIdx, s.value FROM GENERIC_EVENT_TYPE_FIELDS f "
                        "JOIN StringIds s ON s.id = f.fieldNameId",
                        gpus, n_gpus, err);
        *from = any_names(gpus, n_gpus) ? NAMES_FIELDS : NAMES_NONE;
    }
    bool used = false;
    if (!st && *from == NAMES_NONE)
        st = use_verified_ids(db, meta, gpus, n_gpus, &used, err);
    if (used)
        *from = NAMES_VERIFIED_IDS;
    for (size_t i = 0; !st && i < n_gpus; i++)
        st = settle(&gpus[i], err);
    if (!st)
        st = read_fields(db, gpus, n_gpus, err);
    return st;
}
