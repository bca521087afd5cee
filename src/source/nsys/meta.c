/* SPDX-License-Identifier: MIT */
#include "source/nsys/meta.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/str.h"
#include "source/nsys/db.h"

/* Enough for every machine; more rows are no machine. */
enum { GPU_INFO_MAX = 256 };

static bool flag(const char *s)
{
    return strcmp(s, "true") == 0 || strcmp(s, "1") == 0;
}

/* The number at the beginning of text, and what follows it; -1 when there is none. */
static int leading_number(const char *text, const char **rest)
{
    char digits[8] = "";
    size_t n = strspn(text, "0123456789");
    uint64_t v;
    *rest = text + n;
    if (n == 0 || n >= sizeof digits)
        return -1;
    memcpy(digits, text, n);
    return num_parse_u64(digits, &v) ? (int)v : -1;
}

static void take_schema(struct nsys_meta *m, const char *version)
{
    const char *rest;
    str_clean(m->schema, sizeof m->schema, version, strlen(version));
    int major = leading_number(version, &rest);
    int minor = *rest == '.' ? leading_number(rest + 1, &rest) : -1;
    m->schema_major = minor < 0 ? -1 : major;
    m->schema_minor = major < 0 ? -1 : minor;
}

static void take_shift(struct nsys_meta *m, const char *value)
{
    double shift;
    if (!num_parse(value, &shift) || shift != 0)
        str_clean(m->time_shift, sizeof m->time_shift, value[0] ? value : "?",
                  value[0] ? strlen(value) : 1);
}

struct reading {
    struct nsys_meta *meta;
    bool normalized;
};

static void take(struct reading *r, const char *name, const char *value)
{
    struct nsys_meta *m = r->meta;
    if (strcmp(name, "EXPORT_SCHEMA_VERSION") == 0) {
        take_schema(m, value);
    } else if (strcmp(name, "EXPORT_PRODUCT_VERSION") == 0) {
        str_clean(m->product, sizeof m->product, value, strlen(value));
    } else if (strcmp(name, "EXPORT_PARAM_TIME_NORMALIZE") == 0) {
        r->normalized = flag(value);
    } else if (strcmp(name, "EXPORT_PARAM_TIME_SHIFT") == 0) {
        take_shift(m, value);
    } else if (strcmp(name, "GPU_METRICS_OPTIONS:SAMPLING_FREQUENCY") == 0) {
        if (!num_parse(value, &m->nominal_hz) || m->nominal_hz <= 0)
            m->nominal_hz = 0;
    } else if (strcmp(name, "GPU_METRICS_OPTIONS:GPU_0:METRIC_SET_INDEX") == 0) {
        str_clean(m->set_index, sizeof m->set_index, value, strlen(value));
    } else if (strcmp(name, "Hostname") == 0) {
        str_clean(m->host, sizeof m->host, value, strlen(value));
    }
}

/* Any table of (name, value) text rows. */
static enum status read_pairs(struct reading *r, struct nsys_db *db, const char *table,
                              struct error *err)
{
    if (!nsys_db_has(db, table, "name") || !nsys_db_has(db, table, "value"))
        return OK;
    char *sql = sqlite3_mprintf("SELECT name, value FROM %s", table);
    sqlite3_stmt *stmt = NULL;
    enum status st =
        sql ? nsys_db_prepare(db, &stmt, sql, err) : fail(err, ERR_NOMEM, 0, "out of memory");
    bool row = true;
    while (!st && !(st = nsys_db_step(db, stmt, &row, err)) && row) {
        char name[128], value[256];
        nsys_db_text(stmt, 0, name, sizeof name);
        nsys_db_text(stmt, 1, value, sizeof value);
        take(r, name, value);
    }
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return st;
}

static enum status take_epoch(void *self, const struct nsys_cell *cells, struct error *err)
{
    (void)err;
    struct nsys_meta *m = self;
    m->epoch_ns = cells[0].v;
    /* a clock before 2001 is no clock */
    m->has_epoch = nsys_time_ok(cells) && cells[0].v > CLOCK_WALL_MIN_NS;
    return OK;
}

static enum status read_epoch(struct nsys_db *db, struct nsys_meta *m, struct error *err)
{
    if (!nsys_db_has(db, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs"))
        return OK;
    return nsys_db_each(db, "utcEpochNs", 1, "TARGET_INFO_SESSION_START_TIME", NULL, 1, take_epoch,
                        m, err);
}

/* Times that somebody shifted on export tell no wall-clock time, whatever they counted from. */
static void settle_epoch(struct nsys_meta *m, bool normalized)
{
    if (normalized) { /* stamps are UTC already */
        m->epoch_ns = 0;
        m->has_epoch = true;
    }
    if (m->time_shift[0])
        m->has_epoch = false;
}

enum status nsys_meta_read(struct nsys_db *db, struct nsys_meta *out, struct error *err)
{
    static const char *const tables[] = {
        "EXPORT_META_DATA", /* up to nsys 2023.2 */
        "META_DATA_EXPORT", /* from 2023.3 on, as the next */
        "META_DATA_CAPTURE",
        "TARGET_INFO_SYSTEM_ENV",
    };
    struct nsys_meta m = {.schema_major = -1, .schema_minor = -1};
    struct reading r = {&m, false};
    enum status st = OK;
    for (size_t i = 0; !st && i < sizeof tables / sizeof tables[0]; i++)
        st = read_pairs(&r, db, tables[i], err);
    if (!st)
        st = read_epoch(db, &m, err);
    if (st)
        return st;
    settle_epoch(&m, r.normalized);
    *out = m;
    return OK;
}

static const char *column_or_null(struct nsys_db *db, const char *column)
{
    return nsys_db_has(db, "TARGET_INFO_GPU", column) ? column : "NULL";
}

enum status nsys_gpu_info_read(struct nsys_db *db, struct nsys_gpu_info **out, size_t *n,
                               struct error *err)
{
    *out = NULL;
    *n = 0;
    if (!nsys_db_has(db, "TARGET_INFO_GPU", "id"))
        return OK;
    char *sql = sqlite3_mprintf("SELECT id, %s, %s, %s, %s, %s FROM TARGET_INFO_GPU LIMIT %d",
                                column_or_null(db, "vmId"), column_or_null(db, "name"),
                                column_or_null(db, "uuid"), column_or_null(db, "chipName"),
                                column_or_null(db, "busLocation"), GPU_INFO_MAX);
    struct nsys_gpu_info *list = calloc(GPU_INFO_MAX, sizeof *list);
    sqlite3_stmt *stmt = NULL;
    enum status st = sql && list ? nsys_db_prepare(db, &stmt, sql, err)
                                 : fail(err, ERR_NOMEM, 0, "out of memory");
    bool row = true;
    size_t found = 0;
    while (!st && !(st = nsys_db_step(db, stmt, &row, err)) && row && found < GPU_INFO_MAX) {
        struct nsys_gpu_info *g = &list[found];
        if (!nsys_db_int(stmt, 0, &g->id))
            continue;
        if (!nsys_db_int(stmt, 1, &g->vm))
            g->vm = -1;
        nsys_db_text(stmt, 2, g->name, sizeof g->name);
        nsys_db_text(stmt, 3, g->uuid, sizeof g->uuid);
        nsys_db_text(stmt, 4, g->chip, sizeof g->chip);
        nsys_db_text(stmt, 5, g->bus, sizeof g->bus);
        found++;
    }
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
    if (st) {
        free(list);
        return st;
    }
    *out = list;
    *n = found;
    return OK;
}
