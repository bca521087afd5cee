/* SPDX-License-Identifier: MIT */
#include "source/nsys/diag.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "source/nsys/db.h"

/* A real export has some 15 lines, hardly one of them a warning. */
enum { LINES_MAX = 80 };

/* Parts of the texts, not whole ones: wording changes between versions. Other collectors than that
 * of GPU metrics have buffers, too. */
static bool says_data_lost(const char *text)
{
    return str_starts_with(text, "GPU Metrics") &&
           (strcasestr(text, "buffer overflow") || strstr(text, "NVPA_STATUS_ERROR"));
}

/* Calls take for each line whose severity fulfils the condition (SQL of ours). */
static enum status each_text(struct nsys_db *db, const char *condition,
                             void (*take)(void *self, const char *text), void *self,
                             struct error *err)
{
    if (!nsys_db_has(db, "DIAGNOSTIC_EVENT", "severity") ||
        !nsys_db_has(db, "DIAGNOSTIC_EVENT", "text"))
        return OK;
    char *sql = sqlite3_mprintf("SELECT text FROM DIAGNOSTIC_EVENT WHERE %s", condition);
    sqlite3_stmt *stmt = NULL;
    enum status st =
        sql ? nsys_db_prepare(db, &stmt, sql, err) : fail(err, ERR_NOMEM, 0, "out of memory");
    bool row = true;
    while (!st && !(st = nsys_db_step(db, stmt, &row, err)) && row) {
        char text[NSYS_TEXT_SIZE];
        nsys_db_text(stmt, 0, text, sizeof text);
        take(self, text);
    }
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return st;
}

static void keep(struct nsys_diag *d, enum note_level level, const char *text)
{
    if (d->n == LINES_MAX) {
        d->left_out++;
        return;
    }
    struct nsys_diag_line *line = &d->line[d->n++];
    line->level = level;
    snprintf(line->text, sizeof line->text, "%s", text);
}

static void take_error(void *self, const char *text)
{
    struct nsys_diag *d = self;
    d->data_lost |= says_data_lost(text);
    keep(d, NOTE_ERROR, text);
}

static void take_warning(void *self, const char *text)
{
    struct nsys_diag *d = self;
    bool lost = says_data_lost(text);
    d->data_lost |= lost;
    keep(d, lost ? NOTE_ERROR : NOTE_WARNING, text);
}

/* Of all other lines only a loss of data matters here. */
static void take_other(void *self, const char *text)
{
    if (says_data_lost(text))
        take_error(self, text);
}

enum status nsys_diag_read(struct nsys_db *db, struct nsys_diag *out, struct error *err)
{
    /* ENUM_DIAGNOSTIC_SEVERITY_LEVEL: 0 unknown, 1 info, 2 warning, 3 error, 4 verbose. One pass
     * a level instead of sorting: there is no bound to the number of rows. */
    struct nsys_diag d = {.line = calloc(LINES_MAX, sizeof *d.line)};
    if (!d.line)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    enum status st = each_text(db, "severity=3", take_error, &d, err);
    if (!st)
        st = each_text(db, "severity=2", take_warning, &d, err);
    if (!st)
        st = each_text(db, "severity NOT IN (2,3)", take_other, &d, err);
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

/* "GPU Metrics [N]: Skipping metric EXPRESSION (why)" */
struct skipped {
    size_t device;
    char expression[NSYS_NAME_SIZE];
    char why[60];
};

static bool parse_skipped(const char *text, struct skipped *out)
{
    static const char device[] = "GPU Metrics [", skipping[] = "Skipping metric ";
    if (!str_starts_with(text, device))
        return false;
    char *end;
    const char *digits = text + strlen(device);
    unsigned long n = strtoul(digits, &end, 10);
    const char *expression = strstr(text, skipping);
    if (end == digits || *end != ']' || !expression)
        return false;
    expression += strlen(skipping);
    size_t length = strcspn(expression, " ");
    const char *why = expression + length + strspn(expression + length, " (");
    /* the number of the counter tells nobody anything */
    if (str_starts_with(why, "requires unsupported counter"))
        why = "requires unsupported counter";
    out->device = n;
    snprintf(out->expression, sizeof out->expression, "%.*s", (int)length, expression);
    snprintf(out->why, sizeof out->why, "%.*s", (int)strcspn(why, ")"), why);
    return true;
}

struct explaining {
    struct nsys_gpu *gpus; /* ascending typeId */
    size_t n_gpus;
};

static void explain(void *self, const char *text)
{
    const struct explaining *e = self;
    struct skipped skipped;
    /* N counts the selected devices, and so does the order of their ids */
    if (!parse_skipped(text, &skipped) || skipped.device >= e->n_gpus)
        return;
    struct nsys_gpu *g = &e->gpus[skipped.device];
    for (size_t i = 0; i < g->n_series; i++) {
        struct nsys_series *s = &g->series[i];
        if (s->metric == METRIC_NONE || s->state != VALUE_UNSUPPORTED || s->skipped)
            continue;
        const struct metric_info *info = metric_info((enum metric)s->metric);
        if (!info->nsys || !info->nsys_counter || !strstr(skipped.expression, info->nsys_counter))
            continue;
        s->skipped = true; /* the first line stands */
        /* the expression is a hundred columns wide; without it, RX and TX have one reason */
        snprintf(s->reason, sizeof s->reason, "nsys skipped it%s%s", skipped.why[0] ? ": " : "",
                 skipped.why);
    }
}

enum status nsys_diag_explain(struct nsys_db *db, struct nsys_gpu *gpus, size_t n_gpus,
                              struct error *err)
{
    struct explaining e = {gpus, n_gpus};
    return each_text(db, "1", explain, &e, err);
}

enum status nsys_diag_push(const struct nsys_diag *d, const struct event_sink *sink,
                           struct error *err)
{
    enum status st = OK;
    for (size_t i = 0; !st && i < d->n; i++)
        st = event_push_note(sink, d->line[i].level, -1, err, "nsys: %s", d->line[i].text);
    if (!st && d->left_out)
        st = event_push_note(sink, NOTE_WARNING, -1, err,
                             "nsys: %" PRIu64 " further errors and warnings left out", d->left_out);
    return st;
}
