/* SPDX-License-Identifier: MIT */
#include "show/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "judge/serving.h"
#include "show/html.h"
#include "show/report_parts.h"
#include "show/show.h"

static const char *time_text(char dst[CLOCK_TEXT_SIZE], int64_t unix_ns)
{
    if (unix_ns < CLOCK_WALL_MIN_NS)
        dst[0] = '\0';
    else
        clock_iso8601(dst, unix_ns, 3);
    return dst;
}

static void put_lines(struct buf *out, const char *title, const struct verdict_lines *l)
{
    if (l->n == 0)
        return;
    buf_printf(out, "<p class=\"dim\">%s</p><ul>", title);
    for (size_t i = 0; i < l->n; i++) {
        buf_puts(out, "<li>");
        html_text(out, l->line[i]);
        buf_puts(out, "</li>");
    }
    buf_puts(out, "</ul>\n");
}

static void put_verdict(struct buf *out, const struct snapshot *s, size_t gpu)
{
    struct verdict v;
    serving_verdict(s, gpu, &v);
    buf_printf(out, "<div class=\"verdict\"><p><strong>%s</strong> – %s</p>\n",
               verdict_name(v.kind), verdict_text(v.kind));
    put_lines(out, "What led there", &v.evidence);
    put_lines(out, "What it does not prove", &v.limits);
    put_lines(out, "What to try", &v.advice);
    buf_puts(out, "</div>\n");
}

/* ---- environment ---- */

__attribute__((format(printf, 3, 4))) static void put_fact(struct buf *out, const char *label,
                                                           const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    report_fact(out, label, text);
}

static void put_environment(struct buf *out, const struct snapshot *s, const struct gpu_snapshot *g)
{
    char from[CLOCK_TEXT_SIZE], to[CLOCK_TEXT_SIZE];
    buf_puts(out, "<div class=\"wide\"><table><tbody>\n");
    report_fact(out, "GPU", g->name);
    report_fact(out, "UUID", g->uuid);
    report_fact(out, "Chip", g->chip);
    report_fact(out, "PCI bus", g->pci_bus);
    report_fact(out, "Host", s->host);
    report_fact(out, "Measured by", s->tool);
    put_fact(out, "Counters", "%s%s", source_name(g->backend),
             g->backend == SOURCE_NONE ? ": no hardware counters" : "");
    if (g->rate_hz > 0)
        put_fact(out, "Samples", "%llu, %g a second", (unsigned long long)g->samples, g->rate_hz);
    put_fact(out, "Window", "%.3f s%s%s%s%s", gpu_snapshot_window_s(g),
             g->t0_ns >= CLOCK_WALL_MIN_NS ? ", from " : "", time_text(from, g->t0_ns),
             g->t1_ns >= CLOCK_WALL_MIN_NS ? " to " : "", time_text(to, g->t1_ns));
    if (!isnan(g->coverage))
        put_fact(out, "Coverage", "%.2f %% of the window was really measured", 100 * g->coverage);
    if (g->gaps)
        put_fact(out, "Gaps", "%llu, the longest %.3f s", (unsigned long long)g->gaps,
                 g->longest_gap_s);
    buf_puts(out, "</tbody></table></div>\n");
}

static void put_notes(struct buf *out, const struct snapshot *s)
{
    if (s->n_notes == 0)
        return;
    buf_puts(out, "<h3>Notes of the measurement</h3><ul>");
    for (size_t i = 0; i < s->n_notes; i++) {
        buf_printf(out, "<li%s>%s: ", s->notes[i].level == NOTE_INFO ? "" : " class=\"note\"",
                   note_level_name(s->notes[i].level));
        if (s->notes[i].gpu >= 0)
            buf_printf(out, "GPU %d: ", s->notes[i].gpu);
        html_text(out, s->notes[i].text);
        buf_puts(out, "</li>");
    }
    buf_puts(out, "</ul>\n");
}

/* ---- the page ---- */

static void put_head(struct buf *out, const struct snapshot *s, const struct timeline *t,
                     const char *name)
{
    char time[CLOCK_TEXT_SIZE], shown[400];
    str_clean(shown, sizeof shown, name, strlen(name));
    buf_puts(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "style-src 'unsafe-inline'\">\n<title>");
    html_text(out, s->n_gpus ? s->gpus[0].name : "no GPU");
    buf_puts(out, " – smeff report</title>\n<style>\n");
    buf_puts(out, report_style);
    buf_puts(out, "</style></head><body>\n<h1>What the GPU really did</h1>\n<p class=\"dim\">");
    html_text(out, s->host);
    buf_printf(out, "%s%s", s->host[0] ? " · " : "", time_text(time, timeline_begin_ns(t)));
    double span_s = (double)(timeline_end_ns(t) - timeline_begin_ns(t)) * 1e-9;
    if (span_s < 100)
        buf_printf(out, " · %.3g s", span_s);
    else
        buf_printf(out, " · %.0f s", span_s);
    if (shown[0]) {
        buf_puts(out, " · ");
        html_text(out, shown);
    }
    buf_puts(out, "</p>\n");
}

static void put_gpu(struct buf *out, const struct snapshot *s, size_t i, const struct timeline *t)
{
    const struct gpu_snapshot *g = &s->gpus[i];
    buf_printf(out, "<section><h2>GPU %u ", g->index);
    html_text(out, g->name);
    buf_puts(out, "</h2>\n");
    put_verdict(out, s, i);
    buf_puts(out,
             "<h3>GPU-Util says that a kernel was there; the counters say what it used</h3>\n");
    report_gap(out, g);
    buf_puts(out, "<h3>Over time: the line is the mean of each column, the band reaches from its "
                  "least to its greatest sample; seconds since the beginning</h3>\n");
    report_gpu_charts(out, g, t);
    buf_puts(out, "<h3>Every metric</h3>\n");
    report_metrics(out, g);
    buf_puts(out, "<h3>Processes</h3>\n");
    report_processes(out, g);
    buf_puts(out, "<h3>Environment</h3>\n");
    put_environment(out, s, g);
    buf_puts(out, "</section>\n");
}

static void put_server(struct buf *out, const struct snapshot *s, size_t i,
                       const struct timeline *t)
{
    const struct server_snapshot *x = &s->servers[i];
    buf_puts(out, "<section><h2>Server ");
    html_text(out, x->url);
    buf_puts(out, "</h2>\n<p class=\"dim\">");
    html_text(out, x->kind);
    buf_puts(out, x->kind[0] && x->model[0] ? " · " : "");
    html_text(out, x->model);
    for (size_t g = 0; g < s->n_gpus; g++)
        if (serving_of(s, i, g) != SERVING_NOT)
            buf_printf(out, " · GPU %u", s->gpus[g].index);
    buf_puts(out, "</p>\n");
    report_server_charts(out, x, t);
    report_server(out, s, i);
    buf_puts(out, "</section>\n");
}

static enum status put_data(struct buf *out, const struct snapshot *s, const char *name,
                            struct error *err)
{
    struct buf json = BUF_INIT;
    enum status st = show_json(&json, s, name[0] ? name : NULL, err);
    if (!st) {
        buf_puts(out, "<script type=\"application/json\" id=\"data\">");
        html_json(out, buf_str(&json));
        buf_puts(out, "</script>\n");
    }
    buf_fini(&json);
    return st;
}

enum status show_report(struct buf *out, const struct snapshot *s, const struct timeline *t,
                        const char *name, struct error *err)
{
    put_head(out, s, t, name);
    for (size_t i = 0; i < s->n_gpus; i++)
        put_gpu(out, s, i, t);
    if (s->n_gpus == 0)
        buf_puts(out, "<p>There is no GPU in it.</p>\n");
    for (size_t i = 0; i < s->n_servers; i++)
        put_server(out, s, i, t);
    put_notes(out, s);
    if (timeline_is_partial(t))
        buf_puts(out, "<p class=\"note\">There are no charts of GPUs beyond 64 and servers beyond "
                      "16.</p>\n");
    enum status st = put_data(out, s, name, err);
    buf_printf(out,
               "<p class=\"dim\">Made by smeff %s. Numbers without a state beside them are "
               "sound; what has none says why. The JSON of all of it is in this file.</p>\n"
               "</body></html>\n",
               SMEFF_VERSION);
    return !st && out->failed ? fail(err, ERR_NOMEM, 0, "out of memory") : st;
}
