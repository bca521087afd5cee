/* SPDX-License-Identifier: MIT */
#include "docs_text.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "metric/metric.h"

/* Shown in the manual page's footer. Renew it when what the catalogue says changes. */
#define CATALOGUE_DATE "November 30, 2026"

enum { MAN_COLUMNS = 78 };

static const char intro[] =
    "Every metric that smeff knows: what it means, when it misleads, and the name that each source "
    "has for it. Values are in SI base units and ratios from 0 to 1; tables and the panel show "
    "ratios as percent. A metric that a source, chip or file does not give has no value and a "
    "reason, never 0.";

static const char sources[] =
    "Names of nsys rows count only as a whole, with their unit; the first one that a file has is "
    "taken. nsys gives whole percents and lifts every trace of activity to 1. A PM sampling "
    "expression is taken when the GPU offers it and the whole set still needs "
    "one pass; chips are named as CUPTI names them (GH100 is an H100 or H200), with * for any "
    "ending. Cost is the CPU class that was measured on one H200: high ones are left out unless "
    "asked for. Always on means part of the default set. Links are seen from the GPU: in is what "
    "it receives.";

static const char *cost_name(char cost)
{
    return cost == 'l'   ? "low cost"
           : cost == 'm' ? "medium cost"
           : cost == 'h' ? "high cost"
                         : "cost not measured";
}

static const char *scope_name(enum metric_scope scope)
{
    return scope == SCOPE_GPU ? "per GPU" : scope == SCOPE_SERVER ? "per server" : "GPU and server";
}

/* "GA10* AD10* !GA100" in words, with each chip's name as it is. */
static void add_chips(struct buf *b, const char *chips)
{
    if (!chips) {
        buf_puts(b, "every chip");
        return;
    }
    for (int negative = 0; negative < 2; negative++) {
        int n = 0;
        for (const char *p = chips; *p; p += strspn(p, " ")) {
            size_t len = strcspn(p, " ");
            if ((*p == '!') == (negative == 1)) {
                if (n == 0 && negative)
                    buf_puts(b, chips[0] == '!' ? "all but " : ", not ");
                else if (n > 0)
                    buf_puts(b, " ");
                buf_add(b, p + negative, len - (size_t)negative);
                n++;
            }
            p += len;
        }
    }
}

static void each_metric(struct buf *b, int group,
                        void (*add)(struct buf *, const struct metric_info *))
{
    for (int m = 0; m < METRIC_COUNT; m++)
        if ((int)metric_info((enum metric)m)->group == group)
            add(b, metric_info((enum metric)m));
}

/* Markdown */

static void md_row(struct buf *b, const struct metric_info *i)
{
    buf_printf(b, "| [`%s`](#%s) | %s | %s | %s |\n", i->key, i->key, unit_name(i->unit),
               i->core ? "yes" : "", i->help);
}

static void md_nsys(struct buf *b, const struct metric_info *i)
{
    for (const struct nsys_name *n = i->nsys; n && n->name; n++) {
        buf_printf(b, "- nsys: `%s`", n->name);
        for (const char *const *plus = n->plus; plus && *plus; plus++)
            buf_printf(b, " + `%s`", *plus);
        buf_printf(b, " (%s)", n->sets);
        if (n->suspect)
            buf_printf(b, " — marked as suspect: %s", n->suspect);
        buf_puts(b, "\n");
    }
}

static void md_pm(struct buf *b, const struct metric_info *i)
{
    for (const struct pm_candidate *c = i->pm; c && c->expression; c++) {
        buf_printf(b, "- PM sampling: `%s` (", c->expression);
        add_chips(b, c->chips);
        buf_printf(b, "; %s)\n", cost_name(c->cost));
    }
}

static void md_metric(struct buf *b, const struct metric_info *i)
{
    buf_printf(b, "\n### %s\n\n%s. %s\n\n", i->key, i->help, i->doc);
    buf_printf(b, "- label: %s; unit: %s; %s; %s%s\n", i->label, unit_name(i->unit),
               scope_name(i->scope), i->kind == KIND_COUNTER ? "counter" : "gauge",
               i->core ? "; always on" : "");
    md_nsys(b, i);
    md_pm(b, i);
    if (i->gpm_id)
        buf_printf(b, "- NVML GPM: metric %d\n", i->gpm_id);
    if (i->dcgm)
        buf_printf(b, "- DCGM: `%s`\n", i->dcgm);
}

void docs_markdown(struct buf *b)
{
    buf_puts(b, "# Metrics\n\n"
                "<!-- Made from src/metric/metrics.def by the target `docs`. Do not edit. -->\n\n");
    buf_printf(b, "%s\n\n", intro);
    for (const char *p = sources; *p; p++) /* a lone star would begin emphasis */
        buf_puts(b, *p == '*' ? "`*`" : (char[]){*p, '\0'});
    buf_puts(b, "\n");
    for (int g = 0; g < GROUP_COUNT; g++) {
        buf_printf(
            b, "\n## %s\n\n| key | unit | always on | what it is |\n| --- | --- | --- | --- |\n",
            metric_group_title((enum metric_group)g));
        each_metric(b, g, md_row);
        each_metric(b, g, md_metric);
    }
}

/* mdoc */

/* One character of UTF-8 at s as roff; returns its length. The texts are our own and valid. */
static size_t roff_char(struct buf *b, const char *s)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t len = u[0] < 0x80 ? 1 : u[0] < 0xE0 ? 2 : u[0] < 0xF0 ? 3 : 4;
    if (len == 1) {
        if (*s == '\\' || *s == '"')
            buf_puts(b, *s == '\\' ? "\\e" : "\\(dq");
        else
            buf_putc(b, *s);
        return 1;
    }
    uint32_t code = u[0] & (0xFFU >> (len + 1));
    for (size_t i = 1; i < len; i++)
        code = code << 6 | (u[i] & 0x3FU);
    buf_printf(b, "\\[u%04X]", (unsigned)code);
    return len;
}

/* Prose: each sentence begins a line, as mdoc wants it, and lines stay short. */
static void man_text(struct buf *b, const char *s)
{
    size_t column = 0;
    while (*s) {
        struct buf word = BUF_INIT;
        char end = *s;
        for (; *s && *s != ' '; s += roff_char(&word, s))
            end = *s;
        s += *s == ' ';
        if (column > 0 && column + 1 + word.len > MAN_COLUMNS) {
            buf_putc(b, '\n');
            column = 0;
        }
        if (column > 0)
            buf_putc(b, ' ');
        if (column == 0 && (*buf_str(&word) == '.' || *buf_str(&word) == '\''))
            buf_puts(b, "\\&"); /* no request */
        buf_puts(b, buf_str(&word));
        column += (column > 0) + word.len;
        bool begins = isupper((unsigned char)*s) || isdigit((unsigned char)*s);
        if (*s && begins && (end == '.' || end == ':')) {
            buf_putc(b, '\n');
            column = 0;
        }
        b->failed |= word.failed;
        buf_fini(&word);
    }
    buf_putc(b, '\n');
}

/* A name that people copy: hyphens stay hyphens, and a long one may break after a dot or "_". */
static void man_name(struct buf *b, const char *macro, const char *s)
{
    buf_printf(b, ".%s \"", macro);
    while (*s) {
        bool stop = s[1] && (*s == '.' || (s[0] == '_' && s[1] != '_'));
        if (*s == '-') {
            buf_puts(b, "\\-");
            s++;
        } else {
            s += roff_char(b, s);
        }
        if (stop)
            buf_puts(b, "\\:");
    }
    buf_puts(b, "\"\n");
}

static void man_nsys(struct buf *b, const struct metric_info *i)
{
    for (const struct nsys_name *n = i->nsys; n && n->name; n++) {
        buf_puts(b, ".It\nnsys:\n");
        man_name(b, "Ql", n->name);
        for (const char *const *plus = n->plus; plus && *plus; plus++) {
            buf_puts(b, "plus\n");
            man_name(b, "Ql", *plus);
        }
        man_name(b, "Pq", n->sets);
        if (n->suspect) {
            buf_puts(b, "is marked as suspect:\n");
            man_text(b, n->suspect);
        }
    }
}

static void man_pm(struct buf *b, const struct metric_info *i)
{
    for (const struct pm_candidate *c = i->pm; c && c->expression; c++) {
        struct buf where = BUF_INIT;
        add_chips(&where, c->chips);
        buf_printf(&where, "; %s", cost_name(c->cost));
        buf_puts(b, ".It\nPM sampling:\n");
        man_name(b, "Ql", c->expression);
        man_name(b, "Pq", buf_str(&where));
        b->failed |= where.failed;
        buf_fini(&where);
    }
}

static void man_metric(struct buf *b, const struct metric_info *i)
{
    buf_printf(b, ".It Cm %s\n", i->key);
    man_text(b, i->help);
    buf_printf(b, ".Pq %s, %s, %s%s\n.Pp\n", unit_name(i->unit), scope_name(i->scope),
               i->kind == KIND_COUNTER ? "counter" : "gauge", i->core ? ", always on" : "");
    man_text(b, i->doc);
    if (!i->nsys && !i->pm && !i->gpm_id && !i->dcgm)
        return;
    buf_puts(b, ".Pp\n.Bl -dash -compact\n");
    man_nsys(b, i);
    man_pm(b, i);
    if (i->gpm_id)
        buf_printf(b, ".It\nNVML GPM: metric %d\n", i->gpm_id);
    if (i->dcgm)
        buf_printf(b, ".It\nDCGM:\n.Dv %s\n", i->dcgm);
    buf_puts(b, ".El\n");
}

void docs_man(struct buf *b)
{
    buf_puts(b, ".\\\" Made from src/metric/metrics.def by the target docs. Do not edit.\n"
                ".Dd " CATALOGUE_DATE "\n.Dt SMEFF-METRICS 7\n.Os\n"
                ".Sh NAME\n.Nm smeff-metrics\n.Nd what each metric means and when it misleads\n"
                ".Sh DESCRIPTION\n");
    man_text(b, intro);
    buf_puts(b, ".Pp\n");
    man_text(b, sources);
    for (int g = 0; g < GROUP_COUNT; g++) {
        buf_puts(b, ".Sh ");
        for (const char *p = metric_group_title((enum metric_group)g); *p; p++)
            buf_putc(b, (char)toupper((unsigned char)*p));
        buf_puts(b, "\n.Bl -tag -width Ds\n");
        each_metric(b, g, man_metric);
        buf_puts(b, ".El\n");
    }
    buf_puts(b, ".Sh SEE ALSO\n.Xr smeff 1\n");
}
