/* SPDX-License-Identifier: MIT */
#include "source/nsys/diag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/nsys/db.h"

/* A real export has some 15 lines. */
enum { LINES_MAX = 500 };

/* Parts of the texts, not whole ones: wording changes between versions. */
static bool says_data_lost(const char *text)
{
    return strcasestr(text, "buffer overflow") || strstr(text, "NVPA_STATUS_ERROR");
}

enum status nsys_diag_read(sqlite3 *db, struct nsys_diag *out, struct error *err)
{
    *out = (struct nsys_diag){0};
    if (!nsys_db_has(db, "DIAGNOSTIC_EVENT", "severity") ||
        !nsys_db_has(db, "DIAGNOSTIC_EVENT", "text"))
        return OK;
    struct nsys_diag d = {.line = calloc(LINES_MAX, sizeof *d.line)};
    if (!d.line)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    sqlite3_stmt *stmt = NULL;
    enum status st = nsys_db_prepare(
        db, &stmt, "SELECT severity, text FROM DIAGNOSTIC_EVENT ORDER BY severity DESC", err);
    bool row = true;
    while (!st && !(st = nsys_db_step(stmt, &row, err)) && row && d.n < LINES_MAX) {
        if (!nsys_db_int(stmt, 0, &d.line[d.n].severity))
            continue;
        nsys_db_text(stmt, 1, d.line[d.n].text, sizeof d.line[d.n].text);
        d.data_lost |= says_data_lost(d.line[d.n].text);
        d.n++;
    }
    sqlite3_finalize(stmt);
    if (st) {
        nsys_diag_fini(&d);
        return st;
    }
    *out = d;
    return OK;
}

void nsys_diag_fini(struct nsys_diag *d)
{
    free(d->line);
    *d = (struct nsys_diag){0};
}

void nsys_diag_explain(const struct nsys_diag *d, struct nsys_gpu *g)
{
    for (size_t i = 0; i < g->n_series; i++) {
        struct nsys_series *s = &g->series[i];
        const char *stem =
            s->metric == METRIC_NONE ? NULL : metric_info((enum metric)s->metric)->nsys_counter;
        if (s->state != VALUE_UNSUPPORTED || !stem)
            continue;
        for (size_t k = 0; k < d->n; k++) {
            const char *text = d->line[k].text;
            const char *skipped = strstr(text, "Skipping metric ");
            if (!skipped || !strstr(skipped, stem))
                continue;
            snprintf(s->reason, sizeof s->reason, "nsys left it out: %s",
                     strstr(skipped, "unsupported counter") ? "this GPU does not have the counter"
                                                            : skipped);
            break;
        }
    }
}

enum status nsys_diag_push(const struct nsys_diag *d, const struct event_sink *sink,
                           struct error *err)
{
    enum status st = OK;
    for (size_t i = 0; !st && i < d->n; i++) {
        const char *text = d->line[i].text;
        bool lost = says_data_lost(text);
        if (d->line[i].severity == 2 || d->line[i].severity == 3 || lost)
            st = event_push_note(sink, d->line[i].severity == 3 || lost ? NOTE_ERROR : NOTE_WARNING,
                                 -1, err, "nsys: %s", text);
    }
    return st;
}
