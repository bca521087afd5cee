/* SPDX-License-Identifier: MIT */
/* Inference servers beside the GPU that they use. */
#include <stdio.h>

#include "base/str.h"
#include "judge/serving.h"
#include "panel/pieces.h"

/* The numbers of a line, in the order of their worth; labels are short, since six stand in 78
 * columns.
 */
static const struct {
    enum metric metric;
    const char *label;
} items[] = {
    {METRIC_OUTPUT_TOKENS_PER_SECOND, "output"},
    {METRIC_TPOT, "TPOT"},
    {METRIC_TTFT, "TTFT"},
    {METRIC_RUNNING, "running"},
    {METRIC_WAITING, "waiting"},
    {METRIC_KV_USAGE, "KV"},
    {METRIC_PROMPT_TOKENS_PER_SECOND, "prompt"},
};

static const enum metric derived[] = {METRIC_BYTES_PER_OUTPUT_TOKEN,
                                      METRIC_JOULES_PER_OUTPUT_TOKEN};

/* Appends "label value" to the row, or begins the next one. */
static void put(struct area a, int *x, int *y, const char *label, const struct shown *s)
{
    char text[VALUE_TEXT];
    piece_value(s, text);
    int need = (int)(str_columns(label) + 1 + str_columns(text));
    if (*x > 3 && *x + need > a.width - 1) {
        *x = 3;
        (*y)++;
    }
    int at = area_text(a, *x, *y, ROLE_DIM, label);
    *x = area_text(a, at + 1, *y, piece_value_role(s, ROLE_STRONG), text) + 2;
}

/* Why a signal is not sound, as far as there are rows. */
static int put_reasons(struct area a, int y, const struct server_snapshot *s)
{
    for (size_t i = 0; i < sizeof items / sizeof items[0] && y < a.height; i++) {
        const struct value *v = &server_snapshot_metric(s, items[i].metric)->value;
        char text[VALUE_REASON_SIZE + 64];
        if (value_is_sound(v) || !v->reason[0])
            continue;
        snprintf(text, sizeof text, "%s is %s: %s", items[i].label, value_state_name(v->state),
                 v->reason);
        area_fit(a, 3, y++, a.width - 4, ROLE_DIM, text);
    }
    return y;
}

int piece_server(const struct model *m, size_t server, struct area a, int y)
{
    const struct server_snapshot *s = &m->now->servers[server];
    char head[900];
    snprintf(head, sizeof head, "%s%s%s%s%s", s->kind[0] ? s->kind : "server",
             s->model[0] ? " · " : "", s->model, " · ", s->url);
    area_fit(a, 1, y, a.width - 2, ROLE_TEXT, head);
    if (s->state != VALUE_OK) {
        snprintf(head, sizeof head, "%s: %s", value_state_name(s->state), s->reason);
        return area_words(a, 3, y + 1, 0, 1, ROLE_NOTE, head);
    }
    int x = 3;
    y++;
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        struct shown v = {.metric = items[i].metric,
                          .value = server_snapshot_metric(s, items[i].metric)->value};
        put(a, &x, &y, items[i].label, &v);
    }
    for (size_t i = 0; i < sizeof derived / sizeof derived[0]; i++) {
        struct shown v = {.metric = derived[i]};
        serving_derive(m->now, server, derived[i], &v.value);
        if (value_has_number(&v.value))
            put(a, &x, &y, "costs", &v);
    }
    return put_reasons(a, y + 1, s);
}

int pane_servers(const struct model *m, const struct gpu_snapshot *g, struct area a)
{
    size_t gpu = (size_t)(g - m->now->gpus), others = 0;
    int y = 0;
    if (a.height < 1 || m->now->n_servers == 0)
        return 0;
    if (model_is_past(m)) {
        area_text(a, 1, 0, ROLE_DIM, "servers are shown for the present only");
        return 1;
    }
    for (size_t i = 0; i < m->now->n_servers && y < a.height; i++)
        if (serving_of(m->now, i, gpu) != SERVING_NOT)
            y = piece_server(m, i, a, y);
        else
            others++;
    if (others && y < a.height)
        area_printf(a, 1, y++, ROLE_DIM, "%zu %s not known to use this GPU (see the overview)",
                    others, others == 1 ? "server is" : "servers are");
    return y < a.height ? y : a.height;
}
