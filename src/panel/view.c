/* SPDX-License-Identifier: MIT */
#include "panel/view.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

enum { TABS = 5, WIDTH_MIN = 24, HEIGHT_MIN = 5 };

/* ---- head ---- */

/* "LIVE", "FROZEN", … with the time that is looked at. */
static void state_text(const struct model *m, bool with_origin, char *dst, size_t size)
{
    char clock[16] = "";
    if (model_at_ns(m) > 0)
        model_clock(m, model_at_ns(m), m->is_frozen, clock, sizeof clock);
    const char *state = model_is_past(m) ? "PAST" : m->is_frozen ? "FROZEN" : "";
    const char *over = m->is_over && !m->is_frozen ? "ENDED" : "";
    snprintf(dst, size, "%s%s%s%s%s%s ", m->is_recording ? "● REC  " : "", state, over,
             *state || *over ? "  " : "", with_origin ? m->origin : "", "");
    size_t n = strlen(dst);
    snprintf(dst + n, size - n, " %s ", clock);
}

static void draw_head(const struct model *m, struct area a)
{
    static const char *const titles[TABS] = {"Overview", "GPU", "Metrics", "Processes", "Help"};
    char text[MODEL_LINE_SIZE + 64], state[MODEL_LINE_SIZE + 64];
    const struct gpu_snapshot *g = model_gpu(m);
    area_fill(a, 0, 0, a.width, ROLE_TITLE, ' ');
    state_text(m, a.width >= 60, state, sizeof state);
    int room = a.width - (int)str_columns(state);
    int x = area_text(a, 1, 0, ROLE_TITLE, "smeff ");
    for (int i = 0; i < TABS; i++) {
        bool here = (int)m->view == i;
        if (i == VIEW_GPU && g)
            snprintf(text, sizeof text, "GPU %u", g->index);
        else
            snprintf(text, sizeof text, "%s", titles[i]);
        if ((a.width < 72 && !here) || x + (int)str_columns(text) + 3 > room)
            continue;
        x = area_printf(a, x, 0, ROLE_TITLE, here ? "[%s]" : " %s ", text);
    }
    area_right(a, a.width, 0, ROLE_TITLE, state);
}

/* ---- status line ---- */

static const char *keys_of(const struct model *m, int width)
{
    if (width < 60)
        return "q quit  ? help  space freeze";
    switch (m->view) {
    case VIEW_OVERVIEW:
        return "q quit  ? help  ↑↓ choose  Enter open  s sort  / filter  ←→ past  + - scale";
    case VIEW_GPU:
        return "q quit  ? help  ←→ past  + - scale  space freeze  r record  m metrics  p processes";
    case VIEW_HELP:
        return "q quit  Esc back  ↑↓ scroll";
    case VIEW_METRICS:
        return "q quit  ? help  Esc back  ↑↓ scroll  / filter";
    default:
        return "q quit  ? help  Esc back  ↑↓ scroll  / filter  s sort";
    }
}

/* The keys of a line ("q quit  ? help"): the first word of each pair stands out. */
static void put_keys(struct area a, int y, const char *text)
{
    bool key = true;
    int x = 1;
    while (*text && x < a.width - 1) {
        const char *pause = strstr(text, "  ");
        size_t pair = pause ? (size_t)(pause - text) : strlen(text), word = 0;
        char part[64];
        if (strncmp(text, "+ -", 3) == 0)
            word = 3;
        while (key && word < pair && text[word] != ' ')
            word++;
        if (x + (int)pair > a.width - 1)
            return;
        snprintf(part, sizeof part, "%.*s", (int)word, text);
        x = area_text(a, x, y, ROLE_KEY, part);
        snprintf(part, sizeof part, "%.*s", (int)(pair - word), text + word);
        x = area_text(a, x, y, ROLE_DIM, part) + 2;
        text += pair + (pause ? 2 : 0);
    }
}

static void draw_status(const struct model *m, struct area a, int y)
{
    if (m->filter.is_typing) {
        int x = area_printf(a, 1, y, ROLE_STRONG, "filter: %s", m->filter.text);
        area_cell(a, x, y, ROLE_SELECTED, ' ');
        area_right(a, a.width - 1, y, ROLE_DIM, "Enter keeps it, Esc ends it");
        return;
    }
    if (m->message[0]) {
        area_fit(a, 1, y, a.width - 2, m->message_is_bad ? ROLE_BAD : ROLE_NOTE, m->message);
        return;
    }
    if (!m->is_once)
        put_keys(a, y, keys_of(m, a.width));
}

/* ---- all ---- */

static void draw_waiting(const struct model *m, struct area a)
{
    area_text(a, 1, 1, ROLE_STRONG,
              m->is_over ? "Nothing came." : "Waiting for the first readings …");
    if (m->message[0])
        area_words(a, 1, 3, 0, 4, ROLE_NOTE, m->message);
    else
        area_text(a, 1, 3, ROLE_DIM, "Counters come within about a second.");
}

void view_draw(const struct model *m, struct surface *s)
{
    surface_clear(s);
    struct area all = surface_area(s);
    if (s->width < WIDTH_MIN || s->height < HEIGHT_MIN) {
        area_printf(all, 0, 0, ROLE_NOTE, "%dx%d is too small", s->width, s->height);
        area_printf(all, 0, 1, ROLE_DIM, "%dx%d is needed", WIDTH_MIN, HEIGHT_MIN);
        return;
    }
    draw_head(m, all);
    draw_status(m, all, s->height - 1);
    struct area middle = area_part(all, 0, 1, s->width, s->height - 2);
    if ((!m->now || m->now->n_gpus == 0) && m->view != VIEW_HELP) {
        draw_waiting(m, middle);
        return;
    }
    switch (m->view) {
    case VIEW_OVERVIEW:
        view_overview(m, middle);
        break;
    case VIEW_GPU:
        view_gpu(m, middle);
        break;
    case VIEW_METRICS:
        view_metrics(m, middle);
        break;
    case VIEW_PROCESSES:
        view_processes(m, middle);
        break;
    case VIEW_HELP:
        view_help(m, middle);
        break;
    }
}
