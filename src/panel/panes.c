/* SPDX-License-Identifier: MIT */
/* Verdict, board, processes and doubts of one GPU. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "metric/throttle.h"
#include "panel/pieces.h"

/* ---- the verdict ---- */

enum { SENTENCES_FROM = 8 };

/* Lines of one kind, at most so many rows of the area below y. */
static int put_lines(struct area a, int y, int end, const char *lead, enum role role,
                     const struct verdict_lines *lines)
{
    int indent = 13;
    for (size_t i = 0; i < lines->n && y < end; i++) {
        area_text(a, 1, y, ROLE_DIM, i ? "" : lead);
        y = area_words(area_part(a, indent, 0, a.width - indent - 1, a.height), 0, y, 0, end - y,
                       role, lines->line[i]);
    }
    return y;
}

/* Where there is no room for sentences: the numbers alone, which stand before the colons. */
static int put_numbers(struct area a, int y, int rows, const struct verdict_lines *lines)
{
    char text[VERDICT_LINES * 48] = "";
    size_t used = 0;
    for (size_t i = 0; i < lines->n && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s", i ? ", " : "",
                                 (int)strcspn(lines->line[i], ":"), lines->line[i]);
    if (!*text || rows < 1)
        return y;
    area_text(a, 1, y, ROLE_DIM, "because");
    return area_words(area_part(a, 13, 0, a.width - 14, a.height), 0, y, 0, rows, ROLE_TEXT, text);
}

static void put_since(const struct model *m, const struct verdict_entry *e, int64_t until_ns,
                      struct area a, int x)
{
    char from[16], to[16], text[96];
    model_clock(m, e->since_ns, false, from, sizeof from);
    if (until_ns)
        snprintf(text, sizeof text, "from %s to %s", from,
                 model_clock(m, until_ns, false, to, sizeof to));
    else
        snprintf(text, sizeof text, "%s since %s", e->is_first_look ? "first look," : "over 3 s,",
                 from);
    if (x + 2 + (int)str_columns(text) < a.width)
        area_right(a, a.width - 1, 0, ROLE_DIM, text);
}

int pane_verdict(const struct model *m, const struct gpu_snapshot *g, struct area a)
{
    int64_t until_ns = 0;
    const struct verdict_entry *e =
        m->verdicts ? verdicts_at(m->verdicts, g->index, model_at_ns(m), &until_ns) : NULL;
    if (a.height < 1)
        return 0;
    if (!e) {
        area_text(a, 1, 0, ROLE_DIM,
                  model_is_past(m) ? "no verdict is kept of that moment"
                                   : "no verdict yet: it takes a second of hardware counters (m: "
                                     "why there may be none)");
        return 1;
    }
    const struct verdict *v = &e->verdict;
    int x = area_printf(a, 1, 0, ROLE_VERDICT, "● %s", verdict_name(v->kind));
    x = area_printf(a, x, 0, ROLE_TEXT, " – %s", verdict_text(v->kind));
    put_since(m, e, until_ns, a, x);
    bool tall = a.height >= SENTENCES_FROM;
    int y = tall && (int)v->evidence.n + 5 <= a.height
                ? put_lines(a, 1, a.height - 4, "because", ROLE_TEXT, &v->evidence)
                : put_numbers(a, 1, a.height >= 4 ? 2 : a.height - 1, &v->evidence);
    if (tall)
        y = put_lines(a, y, y + 2, "not proven", ROLE_DIM, &v->limits);
    return put_lines(a, y, a.height, "try", ROLE_TEXT, &v->advice);
}

/* ---- the board ---- */

/* "Power 551 W of 700 W": label and text, on the next row when it does not fit. */
struct flow {
    struct area a;
    int x, y;
};

static void put_item(struct flow *f, const char *label, enum role role, const char *text)
{
    int need = (int)(str_columns(label) + 1 + str_columns(text));
    if (f->x > 1 && f->x + need > f->a.width - 1) {
        f->x = 1;
        f->y++;
    }
    int x = area_text(f->a, f->x, f->y, ROLE_DIM, label);
    f->x = area_text(f->a, x + 1, f->y, role, text) + 3;
}

static void put_metric(struct flow *f, const struct model *m, const struct gpu_snapshot *g,
                       const char *label, enum metric metric, enum metric of)
{
    char number[VALUE_TEXT], limit[VALUE_TEXT], text[2 * VALUE_TEXT + 8];
    struct shown s = model_value(m, g, metric), total = model_value(m, g, of);
    piece_value(&s, number);
    if (of != metric && value_has_number(&s.value) && value_has_number(&total.value))
        snprintf(text, sizeof text, "%s of %s", number, piece_value(&total, limit));
    else
        snprintf(text, sizeof text, "%s", number);
    put_item(f, label, piece_value_role(&s, ROLE_TEXT), text);
}

static void put_throttle(struct flow *f, const struct model *m, const struct gpu_snapshot *g)
{
    char words[THROTTLE_TEXT_SIZE];
    const struct value *v = &g->metrics[METRIC_THROTTLE].value;
    enum role role = ROLE_TEXT;
    if (model_is_past(m))
        snprintf(words, sizeof words, "not kept");
    else if (!value_has_number(v))
        snprintf(words, sizeof words, "%s", value_state_name(v->state));
    else {
        throttle_words((uint64_t)v->v, words, sizeof words);
        role = v->v > 1 ? ROLE_NOTE : ROLE_TEXT; /* 1: idle */
    }
    put_item(f, "Clock limits", role, words);
}

int pane_board(const struct model *m, const struct gpu_snapshot *g, struct area a)
{
    struct flow f = {a, 1, 0};
    struct shown clock = model_value(m, g, METRIC_GPC_CLOCK);
    bool counted = value_has_number(&clock.value);
    if (a.height < 1)
        return 0;
    put_metric(&f, m, g, "Power", METRIC_POWER, METRIC_POWER_LIMIT);
    put_metric(&f, m, g, "SM clock", counted ? METRIC_GPC_CLOCK : METRIC_CLOCK_SM,
               counted ? METRIC_GPC_CLOCK : METRIC_CLOCK_SM);
    put_metric(&f, m, g, "Temp", METRIC_TEMPERATURE, METRIC_TEMPERATURE);
    put_throttle(&f, m, g);
    put_metric(&f, m, g, "Memory", METRIC_MEM_USED, METRIC_MEM_TOTAL);
    put_metric(&f, m, g, "clock", METRIC_CLOCK_MEM, METRIC_CLOCK_MEM);
    put_metric(&f, m, g, "temp", METRIC_MEM_TEMPERATURE, METRIC_MEM_TEMPERATURE);
    if (a.height > 2)
        put_metric(&f, m, g, "Fan", METRIC_FAN, METRIC_FAN);
    if (a.height > 2)
        put_metric(&f, m, g, "ECC errors", METRIC_ECC_ERRORS, METRIC_ECC_ERRORS);
    return f.y + 1 < a.height ? f.y + 1 : a.height;
}

/* ---- processes ---- */

static const char *process_bytes(const struct snapshot_process *p, char dst[VALUE_TEXT])
{
    if (isnan(p->gpu_memory_bytes))
        snprintf(dst, VALUE_TEXT, "not told");
    else
        unit_format(dst, VALUE_TEXT, UNIT_BYTES, p->gpu_memory_bytes, 0);
    return dst;
}

int pane_processes(const struct model *m, const struct gpu_snapshot *g, struct area a)
{
    char memory[VALUE_TEXT], text[32];
    if (a.height < 1)
        return 0;
    if (model_is_past(m)) {
        area_text(a, 1, 0, ROLE_DIM, "processes are shown for the present only");
        return 1;
    }
    if (!g->processes_known || g->n_processes == 0) {
        area_text(a, 1, 0, ROLE_DIM,
                  g->processes_known ? "no process uses this GPU" : "processes are not known");
        return 1;
    }
    int shown = (int)g->n_processes <= a.height ? (int)g->n_processes : a.height - 1;
    for (int i = 0; i < shown; i++) {
        const struct snapshot_process *p = &g->processes[i];
        snprintf(text, sizeof text, "%lld", (long long)p->pid);
        area_right(a, 9, i, ROLE_DIM, text);
        area_fit(a, 11, i, a.width - 11 - 12, ROLE_TEXT, p->name[0] ? p->name : "(no name)");
        area_right(a, a.width - 1, i, ROLE_TEXT, process_bytes(p, memory));
    }
    if (shown == (int)g->n_processes)
        return shown;
    area_printf(a, 11, a.height - 1, ROLE_DIM, "and %zu more (p)", g->n_processes - (size_t)shown);
    return a.height;
}

/* ---- doubts ---- */

int pane_doubts(const struct model *m, const struct gpu_snapshot *g, struct area a)
{
    char text[VALUE_REASON_SIZE + 96];
    int y = 0;
    for (int i = 0; i < METRIC_COUNT && y < a.height; i++) {
        const struct metric_info *info = metric_info((enum metric)i);
        if (info->scope != SCOPE_GPU)
            continue;
        struct shown s = model_value(m, g, (enum metric)i);
        if (!value_has_number(&s.value) || value_is_sound(&s.value))
            continue;
        snprintf(text, sizeof text, "%s is %s: %s", info->label, value_state_name(s.value.state),
                 s.value.reason);
        area_fit(a, 1, y++, a.width - 2, ROLE_NOTE, text);
    }
    return y;
}
