/* SPDX-License-Identifier: MIT */
#include "panel/fleet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { WIDTH_MIN = 24, HEIGHT_MIN = 5, VALUE = 32 };

/* ---- order ---- */

struct entry {
    const struct fleet_gpu *gpu;
    double key;
    size_t place; /* in the fleet's own order, which decides between equals */
};

static double key_of(const struct fleet_gpu *g, enum fleet_sort sort)
{
    int busiest = fleet_busiest(g);
    switch (sort) {
    case FLEET_BY_WASTE:
        return fleet_waste(g);
    case FLEET_BY_UTIL:
        return g->share[FLEET_UTIL];
    case FLEET_BY_BUSIEST:
        return busiest < 0 ? NAN : fleet_share_of(g, (enum fleet_share)busiest);
    case FLEET_BY_POWER:
        return g->power_w;
    default:
        return 0;
    }
}

/* The largest first; what is not known comes last. */
static int by_key(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    double p = isnan(x->key) ? -INFINITY : x->key, q = isnan(y->key) ? -INFINITY : y->key;
    if (p > q || p < q)
        return p < q ? 1 : -1;
    return (x->place > y->place) - (x->place < y->place);
}

static bool is_wanted(const struct fleet_model *m, const struct fleet_gpu *g)
{
    char text[400];
    snprintf(text, sizeof text, "%s %s %s %s %s", g->instance, g->gpu, g->name, g->verdict,
             g->uuid);
    return filter_matches(&m->filter, text);
}

/* Those that are shown, in order; NULL: no memory. */
static struct entry *list_gpus(const struct fleet_model *m, size_t *n)
{
    const struct fleet *f = m->fleet;
    struct entry *list = calloc(f->n + 1, sizeof *list);
    *n = 0;
    for (size_t i = 0; list && i < f->n; i++)
        if (is_wanted(m, &f->list[i]))
            list[(*n)++] = (struct entry){&f->list[i], key_of(&f->list[i], m->sort), i};
    if (list)
        qsort(list, *n, sizeof *list, by_key);
    return list;
}

/* ---- keys ---- */

enum panel_action fleet_press(struct fleet_model *m, uint32_t key)
{
    if (m->filter.is_typing) {
        filter_type(&m->filter, key);
        m->scroll = 0;
        return PANEL_NOTHING;
    }
    switch (key) {
    case 'q':
    case PANEL_KEY_F10:
        return PANEL_QUIT;
    case PANEL_KEY_REDRAW:
        return PANEL_REDRAW;
    case '?':
    case PANEL_KEY_F1:
        m->is_help = !m->is_help;
        break;
    case ' ':
        m->is_frozen = !m->is_frozen;
        break;
    case 's':
        m->sort = (enum fleet_sort)((m->sort + 1) % FLEET_SORT_COUNT);
        m->scroll = 0;
        break;
    case '/':
        m->filter.is_typing = true;
        break;
    case PANEL_KEY_ESC:
        if (m->is_help)
            m->is_help = false;
        else
            m->filter.text[0] = '\0';
        break;
    case PANEL_KEY_UP:
    case 'k':
        m->scroll--;
        break;
    case PANEL_KEY_DOWN:
    case 'j':
        m->scroll++;
        break;
    case PANEL_KEY_PAGE_UP:
        m->scroll -= m->rows;
        break;
    case PANEL_KEY_PAGE_DOWN:
        m->scroll += m->rows;
        break;
    case PANEL_KEY_HOME:
        m->scroll = 0;
        break;
    case PANEL_KEY_END:
        m->scroll = FLEET_GPUS_MAX;
        break;
    default:
        break;
    }
    return PANEL_NOTHING;
}

/* ---- one line ---- */

struct columns {
    int who, name, util, busiest, unit, waste, bar, power, memory, verdict, end;
};

/* What is least told goes first where there is little room; 0 = not shown. */
static struct columns columns_of(int width)
{
    struct columns c = {.who = 1};
    int who = width >= 100 ? 28 : width >= 60 ? 22 : 14, x = 1 + who;
    if (width >= 140) {
        c.name = x + 1;
        x += 22;
    }
    c.util = x += 9;
    c.busiest = x += 8;
    if (width >= 68) {
        c.unit = x + 1;
        x += 14;
    }
    c.waste = x += 8;
    if (width >= 128) {
        c.bar = x + 2;
        x += width >= 160 ? 34 : 22;
    }
    if (width >= 92)
        c.power = x += 8;
    if (width >= 112)
        c.memory = x += 11;
    if (width >= 76)
        c.verdict = x + 2;
    c.end = width;
    return c;
}

static void put_share(struct area a, int right, int y, double v, enum role role)
{
    char text[VALUE];
    if (right && !isnan(v))
        area_right(a, right, y, role, unit_format(text, sizeof text, UNIT_RATIO, v, 0.001));
}

static void put_amount(struct area a, int right, int y, enum unit unit, double v)
{
    char text[VALUE];
    if (right && !isnan(v))
        area_right(a, right, y, ROLE_TEXT, unit_format(text, sizeof text, unit, v, 0));
}

/* Why there is no number, in words, from the column of the missing one on. */
static void put_reason(struct area a, const struct columns *c, int y, const struct fleet_gpu *g)
{
    char text[160];
    if (!g->is_scraped)
        snprintf(text, sizeof text, "not scraped any more");
    else if (g->is_away)
        snprintf(text, sizeof text, "its daemon is away");
    else if (g->state[0])
        snprintf(text, sizeof text, "%s: %s", g->state, g->reason);
    else
        snprintf(text, sizeof text, "the units that matter are not all known");
    area_fit(a, c->util + 1, y, c->end - c->util - 2, ROLE_DIM, text);
}

static void draw_gpu(const struct fleet_model *m, struct area a, const struct columns *c, int y,
                     const struct fleet_gpu *g)
{
    char who[280];
    int busiest = fleet_busiest(g), room = (c->name ? c->name : c->util - 8) - c->who - 1;
    snprintf(who, sizeof who, "%s/%s", g->instance, g->gpu);
    if ((int)str_columns(who) > room) { /* the number is worth more than a host's domain */
        int keep = room - (int)strlen(g->gpu) - 2;
        snprintf(who, sizeof who, "%.*s…/%s", keep > 0 ? keep : 0, g->instance, g->gpu);
    }
    area_fit(a, c->who, y, room, ROLE_STRONG, who);
    if (c->name)
        area_fit(a, c->name, y, 20, ROLE_TEXT, g->name);
    put_share(a, c->util, y, g->share[FLEET_UTIL], ROLE_CLAIM);
    if (busiest < 0) {
        put_reason(a, c, y, g);
        return;
    }
    enum role role = busiest == FLEET_DRAM ? ROLE_MEMORY : ROLE_REAL;
    put_share(a, c->busiest, y, fleet_share_of(g, (enum fleet_share)busiest), role);
    if (c->unit)
        area_fit(a, c->unit, y, 13, ROLE_DIM,
                 metric_info(fleet_metric((enum fleet_share)busiest))->label);
    put_share(a, c->waste, y, fleet_waste(g), ROLE_STRONG);
    if (c->bar && !isnan(fleet_waste(g)))
        bar_draw(a, c->bar, y, (c->end >= 160 ? 32 : 20), m->glyphs, ROLE_CLAIM, fleet_waste(g));
    put_amount(a, c->power, y, UNIT_WATTS, g->power_w);
    put_amount(a, c->memory, y, UNIT_BYTES, g->mem_used);
    if (c->verdict)
        area_fit(a, c->verdict, y, c->end - c->verdict - 1,
                 g->is_away || !g->is_scraped ? ROLE_NOTE : ROLE_VERDICT,
                 g->is_away    ? "(its daemon is away)"
                 : *g->verdict ? g->verdict
                               : "no verdict");
}

static void draw_titles(struct area a, const struct columns *c, int y)
{
    area_text(a, c->who, y, ROLE_DIM, "host / GPU");
    if (c->name)
        area_text(a, c->name, y, ROLE_DIM, "model");
    area_right(a, c->util, y, ROLE_DIM, "GPU-Util");
    area_right(a, c->busiest, y, ROLE_DIM, "busiest");
    if (c->unit)
        area_text(a, c->unit, y, ROLE_DIM, "unit");
    area_right(a, c->waste, y, ROLE_DIM, "waste");
    if (c->power)
        area_right(a, c->power, y, ROLE_DIM, "power");
    if (c->memory)
        area_right(a, c->memory, y, ROLE_DIM, "memory");
    if (c->verdict)
        area_text(a, c->verdict, y, ROLE_DIM, "verdict now");
}

/* ---- the page ---- */

static const char *sort_name(enum fleet_sort sort)
{
    static const char *const titles[] = {
#define X(name, title) title,
        FLEET_SORTS(X)
#undef X
    };
    return titles[sort];
}

static void draw_head(const struct fleet_model *m, struct area a)
{
    char state[64];
    area_fill(a, 0, 0, a.width, ROLE_TITLE, ' ');
    int x = area_printf(a, 1, 0, ROLE_TITLE, "smeff  [Fleet]  ");
    if (m->age_s < 0)
        snprintf(state, sizeof state, " waiting ");
    else
        snprintf(state, sizeof state, " %s%lld s old ", m->is_frozen ? "FROZEN  " : "",
                 (long long)m->age_s);
    int right = a.width - (int)str_columns(state);
    if (right - x > 10)
        area_fit(a, x, 0, right - x - 1, ROLE_TITLE, m->from);
    area_right(a, a.width, 0, ROLE_TITLE, state);
}

static void draw_sums(const struct fleet_model *m, struct area a, size_t shown)
{
    struct fleet_sum sum;
    fleet_add_up(m->fleet, &sum);
    int x = area_printf(a, 1, 1, ROLE_STRONG, "%zu GPU%s on %zu host%s", sum.gpus,
                        sum.gpus == 1 ? "" : "s", sum.hosts, sum.hosts == 1 ? "" : "s");
    if (sum.known && a.width < 120)
        x = area_printf(a, x, 1, ROLE_TEXT, " · waste: %.1f GPUs' worth", sum.waste);
    else if (sum.known)
        x = area_printf(
            a, x, 1, ROLE_TEXT,
            " · GPU-Util says %.0f %%, their busiest units did %.0f %%: %.1f GPUs' worth "
            "of waste",
            100 * sum.util / (double)sum.known, 100 * sum.busiest / (double)sum.known, sum.waste);
    if (sum.known < sum.gpus)
        area_printf(a, x, 1, ROLE_NOTE, " (%zu not known)", sum.gpus - sum.known);
    x = area_printf(a, 1, 2, ROLE_DIM, "means of 5 minutes · sorted by %s", sort_name(m->sort));
    if (m->filter.text[0])
        x = area_printf(a, x, 2, ROLE_DIM, " · only \"%s\": %zu", m->filter.text, shown);
}

static void draw_list(struct fleet_model *m, struct area a)
{
    size_t n;
    struct entry *list = list_gpus(m, &n);
    struct columns c = columns_of(a.width);
    if (!list)
        return;
    draw_sums(m, a, n);
    draw_titles(a, &c, 3);
    m->rows = a.height - 4;
    int last = (int)n - m->rows;
    m->scroll = m->scroll > last ? last : m->scroll;
    m->scroll = m->scroll < 0 ? 0 : m->scroll;
    for (int i = 0; i < m->rows && (size_t)(m->scroll + i) < n; i++)
        draw_gpu(m, a, &c, 4 + i, list[m->scroll + i].gpu);
    if (n == 0)
        area_text(a, 1, 4, ROLE_DIM,
                  m->fleet->n ? "no host, GPU, model or verdict has this in its "
                                "name (Esc: all)"
                              : "this server knows no GPU of smeff's exporter "
                                "(smeff_gpu_info)");
    if ((int)n > m->rows && m->rows > 0 && a.width >= 60) {
        char text[64];
        snprintf(text, sizeof text, "%d to %d of %zu", m->scroll + 1, m->scroll + m->rows, n);
        area_right(a, a.width - 1, 2, ROLE_DIM, text);
    }
    free(list);
}

static void draw_help(struct area a)
{
    static const char *const lines[] = {
        "q  quit          ?  this page        Ctrl-L  draw everything anew",
        "↑↓ PgUp PgDn Home End  scroll        s  sort: waste, host, GPU-Util, busiest unit, power",
        "/  filter by host, model, verdict    space  freeze, go on",
        "",
        "Waste is GPU-Util minus the busiest of the units that limit work (SM issue, tensor and "
        "FMA",
        "pipes, DRAM, links): the share of time in which the card looked busy and had room. Means "
        "go",
        "over five minutes, from counters, so that nothing between two scrapes is lost; the "
        "verdict",
        "is the newest one. A GPU without counters has its reason in words.",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        area_text(a, 2, 2 + (int)i, ROLE_TEXT, lines[i]);
}

static void draw_status(const struct fleet_model *m, struct area a, int y)
{
    if (m->filter.is_typing)
        area_printf(a, 1, y, ROLE_STRONG, "filter: %s_", m->filter.text);
    else if (m->message[0])
        area_fit(a, 1, y, a.width - 2, ROLE_BAD, m->message);
    else if (!m->is_once)
        area_text(a, 1, y, ROLE_DIM, "q quit  ? help  ↑↓ scroll  s sort  / filter  space freeze");
}

void fleet_draw(struct fleet_model *m, struct surface *s)
{
    surface_clear(s);
    struct area all = surface_area(s);
    if (s->width < WIDTH_MIN || s->height < HEIGHT_MIN) {
        area_printf(all, 0, 0, ROLE_NOTE, "%dx%d is too small", s->width, s->height);
        return;
    }
    draw_head(m, all);
    draw_status(m, all, s->height - 1);
    struct area middle = area_part(all, 0, 0, s->width, s->height - 1);
    if (m->is_help)
        draw_help(middle);
    else if (!m->fleet)
        area_text(middle, 1, 2, ROLE_STRONG, "Waiting for the first answers …");
    else
        draw_list(m, middle);
}
