/* SPDX-License-Identifier: MIT */
/* Who uses the GPUs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "panel/pieces.h"
#include "panel/view.h"

enum { LIST_MAX = 512 };

struct entry {
    unsigned gpu;
    const struct snapshot_process *p;
    double key; /* larger comes first */
};

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->key < y->key || x->key > y->key)
        return x->key > y->key ? -1 : 1;
    return x->gpu != y->gpu ? (x->gpu > y->gpu) - (x->gpu < y->gpu)
                            : (x->p->pid > y->p->pid) - (x->p->pid < y->p->pid);
}

static double key_of(const struct model *m, const struct snapshot_process *p)
{
    double key = m->sort == SORT_MEMORY || m->sort == SORT_POWER ? p->gpu_memory_bytes
                 : m->sort == SORT_UTIL || m->sort == SORT_GAP   ? p->sm_utilization
                                                                 : 0;
    return isnan(key) ? -1 : key;
}

static size_t list(const struct model *m, struct entry *out)
{
    size_t n = 0;
    for (size_t i = 0; m->now && i < m->now->n_gpus; i++) {
        const struct gpu_snapshot *g = &m->now->gpus[i];
        for (size_t k = 0; k < g->n_processes && n < LIST_MAX; k++) {
            char text[128];
            snprintf(text, sizeof text, "%lld %s", (long long)g->processes[k].pid,
                     g->processes[k].name);
            if (filter_matches(&m->filter, text))
                out[n++] = (struct entry){g->index, &g->processes[k], key_of(m, &g->processes[k])};
        }
    }
    qsort(out, n, sizeof *out, compare);
    return n;
}

static void draw_entry(const struct model *m, struct area a, int y, const struct entry *e)
{
    char text[VALUE_TEXT];
    bool none = isnan(e->p->gpu_memory_bytes), idle = isnan(e->p->sm_utilization);
    snprintf(text, sizeof text, "%u", e->gpu);
    area_right(a, 4, y, ROLE_DIM, text);
    snprintf(text, sizeof text, "%lld", (long long)e->p->pid);
    area_right(a, 15, y, ROLE_TEXT, text);
    area_right(a, 28, y, none ? ROLE_DIM : ROLE_STRONG,
               none ? "not told"
                    : unit_format(text, sizeof text, UNIT_BYTES, e->p->gpu_memory_bytes, 0));
    area_right(a, 38, y, idle ? ROLE_DIM : ROLE_STRONG,
               idle ? "not told"
                    : unit_format(text, sizeof text, UNIT_RATIO, e->p->sm_utilization, 0.01));
    int x = 40;
    if (a.width >= 80) {
        bar_draw(a, x, y, 16, m->glyphs, ROLE_CLAIM, idle ? 0 : e->p->sm_utilization);
        x += 18;
    }
    area_fit(a, x, y, a.width - x - 1, ROLE_TEXT, e->p->name[0] ? e->p->name : "(no name)");
}

/* GPUs whose driver does not tell at all. */
static int put_unknown(const struct model *m, struct area a, int y)
{
    for (size_t i = 0; m->now && i < m->now->n_gpus; i++)
        if (!m->now->gpus[i].processes_known)
            area_printf(a, 1, y++, ROLE_DIM,
                        "GPU %u: its processes are not known (the driver or "
                        "the recording does not tell)",
                        m->now->gpus[i].index);
    return y;
}

void view_processes(const struct model *m, struct area a)
{
    static struct entry entries[LIST_MAX]; /* scratch */
    size_t n = list(m, entries);
    int room = a.height - 2, x;
    int first = m->scroll > (int)n - room ? (int)n - room : m->scroll;
    first = first < 0 ? 0 : first;
    x = area_printf(a, 1, 0, ROLE_STRONG, "%zu process%s on GPUs", n, n == 1 ? "" : "es");
    x = area_printf(a, x, 0, ROLE_DIM, " · sorted by %s",
                    m->sort == SORT_INDEX                             ? "GPU"
                    : m->sort == SORT_MEMORY || m->sort == SORT_POWER ? "memory"
                                                                      : "use of SMs");
    if (m->filter.text[0])
        x = area_printf(a, x, 0, ROLE_DIM, " · only \"%s\"", m->filter.text);
    if (model_is_past(m))
        area_text(a, x, 0, ROLE_NOTE, " · as of the moment of freezing");
    area_text(a, 1, 1, ROLE_DIM, "GPU        PID       memory   driver's");
    area_text(a, 40, 1, ROLE_DIM, a.width >= 80 ? "share of time" : "name");
    if (a.width >= 80)
        area_text(a, 58, 1, ROLE_DIM, "name");
    int y = 2;
    for (size_t i = (size_t)first; i < n && y < a.height; i++)
        draw_entry(m, a, y++, &entries[i]);
    put_unknown(m, a, y);
}
