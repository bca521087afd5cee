/* SPDX-License-Identifier: MIT */
#include "show/show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "show/json_out.h"
#include "show/wrap.h"

enum { CELL_SIZE = 64 };

/* ---- for people ---- */

static const int columns[] = {14, 20, 24, 12, 12, 12};

static void put_cell(struct buf *out, const struct show_style *style, int column, const char *text)
{
    struct buf plain = BUF_INIT;
    wrap_plain(&plain, style, text);
    size_t width = (size_t)columns[column], have = str_columns(buf_str(&plain));
    buf_puts(out, buf_str(&plain));
    buf_repeat(out, " ", have < width ? width - have : 1);
    buf_fini(&plain);
}

static const char *expected_text(char dst[CELL_SIZE], const struct proof *p)
{
    char value[24], tolerance[24];
    enum unit unit = metric_info(p->metric)->unit;
    if (isnan(p->expected))
        return "";
    unit_format(value, sizeof value, unit, p->expected, 0);
    if (p->tolerance > 0)
        snprintf(dst, CELL_SIZE, "%s%s ± %s", relation_sign(p->relation), value,
                 unit_format(tolerance, sizeof tolerance, unit, p->tolerance, 0));
    else
        snprintf(dst, CELL_SIZE, "%s%s", relation_sign(p->relation), value);
    return dst;
}

static const char *read_text(char dst[CELL_SIZE], const struct proof *p, int by)
{
    const struct value *v = &p->by[by].value;
    if (!value_has_number(v))
        return "–";
    return unit_format(dst, CELL_SIZE, metric_info(p->metric)->unit, v->v, 0);
}

static void put_proof(struct buf *out, const struct show_style *style, const struct proof *p,
                      int sources)
{
    char text[CELL_SIZE];
    enum proof_verdict verdict = proof_verdict(p);
    buf_puts(out, "  ");
    put_cell(out, style, 0, p->load);
    put_cell(out, style, 1, metric_info(p->metric)->key);
    put_cell(out, style, 2, expected_text(text, p));
    for (int by = 0; by < sources; by++)
        put_cell(out, style, 3 + by, read_text(text, p, by));
    if (style->colour)
        buf_puts(out, verdict == PROOF_FAIL   ? "\033[31m"
                      : verdict == PROOF_PASS ? "\033[32m"
                                              : "\033[2m");
    buf_puts(out, proof_verdict_name(verdict));
    if (style->colour)
        buf_puts(out, "\033[0m");
    buf_putc(out, '\n');
}

static bool has_number(const struct proof *p)
{
    for (int by = 0; by < PROOF_SOURCES; by++)
        if (value_has_number(&p->by[by].value))
            return true;
    return false;
}

/* In how many loads before did this source fail this metric? */
static size_t failed_before(const struct show_selftest *t, size_t i, int by)
{
    size_t n = 0;
    for (size_t k = 0; k < i; k++)
        n +=
            t->proofs[k].metric == t->proofs[i].metric && t->proofs[k].by[by].verdict == PROOF_FAIL;
    return n;
}

/* The first reason of each source and metric: what will be remembered. */
static void put_failures(struct buf *out, const struct show_selftest *t,
                         const struct show_style *style)
{
    for (size_t i = 0; i < t->n; i++)
        for (int by = 0; by < PROOF_SOURCES; by++) {
            const struct proof_reading *r = &t->proofs[i].by[by];
            if (r->verdict != PROOF_FAIL || failed_before(t, i, by))
                continue;
            char text[PROOF_REASON_SIZE + 80];
            snprintf(text, sizeof text, "%s by %s %s", metric_info(t->proofs[i].metric)->key,
                     source_name(proof_source(by)), r->reason);
            wrap_words(out, style, "  fail  ", text);
        }
}

void show_selftest_text(struct buf *out, const struct show_selftest *t,
                        const struct show_style *style)
{
    static const char *const heads[] = {"load", "metric", "must read", "pm", "gpm", "nsys"};
    int sources = t->has_nsys ? PROOF_SOURCES : PROOF_LIVE;
    size_t passed = 0, failed = 0, unread = 0;
    buf_printf(out, "GPU %u  %s, driver %s\n\n  ", t->gpu->index, t->gpu->name,
               t->driver[0] ? t->driver : "not known");
    for (int i = 0; i < 3 + sources; i++)
        put_cell(out, style, i, heads[i]);
    buf_puts(out, "verdict\n");
    for (size_t i = 0; i < t->n; i++) {
        const struct proof *p = &t->proofs[i];
        enum proof_verdict verdict = proof_verdict(p);
        passed += verdict == PROOF_PASS;
        failed += verdict == PROOF_FAIL;
        unread += !has_number(p);
        if (has_number(p))
            put_proof(out, style, p, sources);
    }
    buf_putc(out, '\n');
    put_failures(out, t, style);
    buf_printf(out, "%s: %zu passed, %zu failed", t->verdict, passed, failed);
    if (unread)
        buf_printf(out, ", %zu not read here (--json says why)", unread);
    buf_putc(out, '\n');
}

/* ---- JSON ---- */

static json_t *reading_json(const struct proof_reading *r)
{
    const struct value *v = &r->value;
    return json_pack("{s:o, s:s, s:s, s:s*}", "value",
                     value_has_number(v) ? json_out_number(v->v) : json_null(), "state",
                     value_state_name(v->state), "verdict", proof_verdict_name(r->verdict),
                     "reason", r->reason[0] ? r->reason : NULL);
}

static json_t *proof_json(const struct proof *p, bool has_nsys)
{
    const struct metric_info *info = metric_info(p->metric);
    json_t *nsys = has_nsys ? reading_json(&p->by[PROOF_NSYS]) : NULL;
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:s, s:o, s:o, s:o*, s:s}", "load", p->load,
                     "metric", info->key, "unit", unit_name(info->unit), "relation",
                     relation_name(p->relation), "expected", json_out_number(p->expected),
                     "tolerance", json_out_number(p->tolerance), "how", p->how, "pm",
                     reading_json(&p->by[PROOF_PM]), "gpm", reading_json(&p->by[PROOF_GPM]), "nsys",
                     nsys, "verdict", proof_verdict_name(proof_verdict(p)));
}

static json_t *list_json(const struct show_selftest *t)
{
    json_t *a = json_array();
    for (size_t i = 0; a && i < t->n; i++)
        json_array_append_new(a, proof_json(&t->proofs[i], t->has_nsys));
    return a;
}

static json_t *reports_json(const struct show_selftest *t)
{
    json_t *a = json_array();
    for (size_t i = 0; a && i < t->n_reports; i++)
        json_array_append_new(a, json_loads(t->reports[i], 0, NULL));
    return a;
}

enum status show_selftest_json(struct buf *out, const struct show_selftest *t, struct error *err)
{
    char time[CLOCK_TEXT_SIZE];
    const struct gpu_snapshot *g = t->gpu;
    json_t *o = json_pack("{s:i, s:s, s:{s:i, s:s, s:s, s:s, s:s}, s:s?, s:s, s:o, s:o}", "schema",
                          1, "time", clock_iso8601(time, t->time_ns, 3), "gpu", "index",
                          (int)g->index, "name", g->name, "uuid", g->uuid, "chip", g->chip,
                          "pci_bus", g->pci_bus, "driver", t->driver[0] ? t->driver : NULL,
                          "verdict", t->verdict, "proofs", list_json(t), "loads", reports_json(t));
    return json_out_line(out, o, JSON_REAL_PRECISION(12), err);
}
