/* SPDX-License-Identifier: MIT */
/* Where the names of a file's metrics come from, and how their values are stored. */
#include <stdlib.h>
#include <string.h>

#include "source/nsys/db.h"
#include "source/nsys/series.h"
#include "source/nsys/verified.h"

/* Of all GPUs together. NVIDIA's largest set of 2025.3 has 160 metrics; a file with more than this
 * is no export. */
enum { METRICS_MAX = 20000 };

struct nsys_gpu *nsys_gpu_find(struct nsys_gpu *gpus, size_t n, int64_t type_id)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (gpus[mid].type_id == type_id)
            return &gpus[mid];
        if (gpus[mid].type_id < type_id)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

enum status nsys_gpu_add(struct nsys_gpu *g, int64_t id, const char *name, struct error *err)
{
    if ((g->n_metrics & (g->n_metrics - 1)) == 0) { /* at 0, 1, 2, 4 … room for the next power */
        size_t cap = g->n_metrics ? 2 * g->n_metrics : 1;
        struct nsys_file_metric *grown = realloc(g->metrics, cap * sizeof *grown);
        if (!grown)
            return fail(err, ERR_NOMEM, 0, "out of memory");
        g->metrics = grown;
    }
    struct nsys_file_metric *m = &g->metrics[g->n_metrics++];
    *m = (struct nsys_file_metric){.id = id, .series = -1};
    strncpy(m->name, name, sizeof m->name - 1);
    return OK;
}

static enum status read_table(struct nsys_db *db, struct nsys_gpu *gpus, size_t n_gpus,
                              struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    enum status st = nsys_db_prepare(
        db, &stmt, "SELECT typeId, metricId, metricName FROM TARGET_INFO_GPU_METRICS", err);
    bool row = true;
    size_t n_names = 0;
    while (!st && !(st = nsys_db_step(db, stmt, &row, err)) && row) {
        int64_t type_id, id;
        char name[NSYS_NAME_SIZE];
        if (!nsys_db_int(stmt, 0, &type_id) || !nsys_db_int(stmt, 1, &id))
            continue;
        struct nsys_gpu *g = nsys_gpu_find(gpus, n_gpus, type_id);
        nsys_db_text(stmt, 2, name, sizeof name);
        if (!g || !name[0])
            continue;
        st = n_names++ < METRICS_MAX
                 ? nsys_gpu_add(g, id, name, err)
                 : fail(err, ERR_BAD_INPUT, 0, "more than %d metrics", METRICS_MAX);
    }
    sqlite3_finalize(stmt);
    return st;
}

static int by_id(const void *a, const void *b)
{
    const struct nsys_file_metric *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(struct nsys_file_metric *const *)a)->name,
                  (*(struct nsys_file_metric *const *)b)->name);
}

/* Sorts by id and keeps one entry an id; an id with two names contradicts itself. */
static void sort_by_id(struct nsys_gpu *g)
{
    if (g->n_metrics == 0)
        return;
    qsort(g->metrics, g->n_metrics, sizeof *g->metrics, by_id);
    size_t kept = 1;
    for (size_t i = 1; i < g->n_metrics; i++) {
        struct nsys_file_metric *last = &g->metrics[kept - 1];
        if (g->metrics[i].id != last->id)
            g->metrics[kept++] = g->metrics[i];
        else if (strcmp(g->metrics[i].name, last->name) != 0)
            last->contradictory = true;
    }
    g->n_metrics = kept;
}

/* Makes the list by name; a name with two ids contradicts itself. */
static enum status sort_by_name(struct nsys_gpu *g, struct error *err)
{
    size_t n = g->n_metrics;
    struct nsys_file_metric **list = calloc(n ? n : 1, sizeof(struct nsys_file_metric *));
    if (!list)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < n; i++)
        list[i] = &g->metrics[i];
    qsort(list, n, sizeof *list, by_name);
    for (size_t i = 1; i < n; i++)
        if (strcmp(list[i - 1]->name, list[i]->name) == 0)
            list[i - 1]->contradictory = list[i]->contradictory = true;
    g->by_name = list;
    return OK;
}

struct nsys_file_metric *nsys_gpu_by_id(struct nsys_gpu *g, int64_t id)
{
    size_t low = 0, high = g->n_metrics;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (g->metrics[mid].id == id)
            return &g->metrics[mid];
        if (g->metrics[mid].id < id)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

struct nsys_file_metric *nsys_gpu_by_name(struct nsys_gpu *g, const char *name)
{
    size_t low = 0, high = g->n_metrics;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = strcmp(g->by_name[mid]->name, name);
        if (order == 0)
            return g->by_name[mid];
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

struct fields {
    struct nsys_gpu *gpus;
    size_t n_gpus;
};

static bool known_storage(int64_t type, int64_t size)
{
    return type == FIELD_FLOAT    ? size == 4
           : type == FIELD_DOUBLE ? size == 8
                                  : type >= 0 && type <= FIELD_DOUBLE && size >= 1 && size <= 8;
}

/* How a value is stored: fieldIdx is the metric's id. Two different answers are none. */
static enum status take_field(void *self, const struct nsys_cell *cells, struct error *err)
{
    (void)err;
    struct fields *f = self;
    if (!cells[0].is_integer || !cells[1].is_integer || !cells[2].is_integer ||
        !cells[3].is_integer)
        return OK;
    int64_t type = cells[2].v, size = cells[3].v;
    struct nsys_gpu *g = nsys_gpu_find(f->gpus, f->n_gpus, cells[0].v);
    struct nsys_file_metric *m = g ? nsys_gpu_by_id(g, cells[1].v) : NULL;
    if (!m)
        return OK;
    if (!known_storage(type, size)) {
        m->odd_storage = true;
        return OK;
    }
    if (m->has_storage && (m->type != (int)type || m->size != (int)size))
        m->contradictory = true;
    m->type = (int)type;
    m->size = (int)size;
    m->has_storage = true;
    return OK;
}

static enum status read_fields(struct nsys_db *db, struct nsys_gpu *gpus, size_t n_gpus,
                               struct error *err)
{
    struct fields fields = {gpus, n_gpus};
    if (!nsys_db_has(db, "GENERIC_EVENT_TYPE_FIELDS", "typeId") ||
        !nsys_db_has(db, "GENERIC_EVENT_TYPE_FIELDS", "fieldIdx") ||
        !nsys_db_has(db, "GENERIC_EVENT_TYPE_FIELDS", "size") ||
        !nsys_db_has(db, "GENERIC_EVENT_TYPE_FIELDS", "type"))
        return OK;
    return nsys_db_each(db, "typeId, fieldIdx, type, size", 4, "GENERIC_EVENT_TYPE_FIELDS", NULL, 0,
                        take_field, &fields, err);
}

enum status nsys_names_read(struct nsys_db *db, const struct nsys_meta *meta, struct nsys_gpu *gpus,
                            size_t n_gpus, enum nsys_names_from *from, struct error *err)
{
    enum status st = OK;
    bool verified = false;
    *from = NAMES_NONE;
    if (nsys_db_has(db, "TARGET_INFO_GPU_METRICS", NULL)) {
        *from = NAMES_TABLE; /* even when it is empty: a table that is there is the truth */
        st = read_table(db, gpus, n_gpus, err);
    } else {
        st = nsys_verified_names(db, meta, gpus, n_gpus, &verified, err);
    }
    if (verified)
        *from = NAMES_VERIFIED_IDS;
    for (size_t i = 0; !st && i < n_gpus; i++) {
        sort_by_id(&gpus[i]);
        st = sort_by_name(&gpus[i], err);
    }
    return st ? st : read_fields(db, gpus, n_gpus, err);
}
