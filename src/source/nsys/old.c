/* SPDX-License-Identifier: MIT */
#include "source/nsys/old.h"

#include <string.h>

#include "metric/metric.h"
#include "source/nsys/db.h"

/* An event of another source that holds such a name would be a strange accident; GPU metrics hold
 * it in every event. So a look at the first ones is enough. */
enum { EVENTS_MAX = 1000, TEXT_MAX = 8192 };

static bool holds_metric_name(const char *json)
{
    for (int m = 0; m < METRIC_COUNT; m++)
        for (const struct nsys_name *n = metric_info((enum metric)m)->nsys; n && n->name; n++)
            if (strstr(json, n->name))
                return true;
    return false;
}

static bool events_hold_metric_names(struct nsys_db *db)
{
    sqlite3_stmt *stmt = NULL;
    char text[TEXT_MAX];
    bool row = true, found = false;
    enum status st = nsys_db_prepare(db, &stmt, "SELECT data FROM GENERIC_EVENTS", NULL);
    for (int i = 0; i < EVENTS_MAX && !st && !found; i++) {
        st = nsys_db_step(db, stmt, &row, NULL);
        if (st || !row)
            break;
        nsys_db_text(stmt, 0, text, sizeof text);
        found = holds_metric_name(text);
    }
    sqlite3_finalize(stmt);
    return found;
}

/* An event -> its type -> its source -> the name of that. */
static bool events_come_from_gpu_metrics(struct nsys_db *db)
{
    static const struct {
        const char *table, *column;
    } needed[] = {{"GENERIC_EVENTS", "typeId"},
                  {"GENERIC_EVENT_TYPES", "typeId"},
                  {"GENERIC_EVENT_TYPES", "sourceId"},
                  {"GENERIC_EVENT_SOURCES", "sourceId"},
                  {"GENERIC_EVENT_SOURCES", "nameId"},
                  {"StringIds", "id"},
                  {"StringIds", "value"}};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!nsys_db_has(db, needed[i].table, needed[i].column))
            return false;
    sqlite3_stmt *stmt = NULL;
    bool row = false;
    enum status st = nsys_db_prepare(
        db, &stmt,
        "SELECT 1 FROM GENERIC_EVENTS WHERE typeId IN (SELECT typeId FROM GENERIC_EVENT_TYPES "
        "WHERE sourceId IN (SELECT sourceId FROM GENERIC_EVENT_SOURCES WHERE nameId IN "
        "(SELECT id FROM StringIds WHERE value='GpuMetrics'))) LIMIT 1",
        NULL);
    if (!st)
        st = nsys_db_step(db, stmt, &row, NULL);
    sqlite3_finalize(stmt);
    return !st && row;
}

bool nsys_is_old_form(struct nsys_db *db, const struct nsys_meta *meta)
{
    if (!nsys_db_has(db, "GENERIC_EVENTS", "data"))
        return false;
    bool old_schema =
        meta->schema_major >= 0 &&
        (meta->schema_major < 3 || (meta->schema_major == 3 && meta->schema_minor == 0));
    return old_schema || events_come_from_gpu_metrics(db) || events_hold_metric_names(db);
}
