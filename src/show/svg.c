/* SPDX-License-Identifier: MIT */
#include "show/svg.h"

#include <math.h>

#include "show/html.h"

/* The drawing's own units; the page scales it. */
enum { LEFT = 64, WIDTH = 900, HEIGHT = 84, TOP = 6, AXIS = 18, TICKS = 6 };

static double x_of(const struct svg_chart *c, size_t i)
{
    return LEFT + (double)WIDTH * (double)i / (double)c->n;
}

static double y_of(double v, double top)
{
    double share = v / top;
    return TOP + HEIGHT * (1 - fmin(fmax(share, 0), 1));
}

/* A round number not below what the data has: 1, 2 or 5 times a power of ten. */
static double round_top(const struct svg_chart *c)
{
    double most = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->columns[i].known && c->columns[i].max > most)
            most = c->columns[i].max;
    if (most <= 0)
        return 1;
    double step = pow(10, floor(log10(most)));
    return most <= step       ? step
           : most <= 2 * step ? 2 * step
           : most <= 5 * step ? 5 * step
                              : 10 * step;
}

/* The end of the known columns that begin at i. */
static size_t run_end(const struct svg_chart *c, size_t i)
{
    while (i < c->n && c->columns[i].known)
        i++;
    return i;
}

/* Columns are flat: a step, not a slope, since nothing is known of what lies between. */
static void put_band(struct buf *out, const struct svg_chart *c, size_t from, size_t to, double top)
{
    buf_printf(out, "M%.1f %.1f", x_of(c, from), y_of(c->columns[from].max, top));
    for (size_t i = from; i < to; i++)
        buf_printf(out, "V%.1fH%.1f", y_of(c->columns[i].max, top), x_of(c, i + 1));
    for (size_t i = to; i-- > from;)
        buf_printf(out, "V%.1fH%.1f", y_of(c->columns[i].min, top), x_of(c, i));
    buf_puts(out, "Z");
}

static void put_line(struct buf *out, const struct svg_chart *c, size_t from, size_t to, double top)
{
    buf_printf(out, "M%.1f %.1f", x_of(c, from), y_of(c->columns[from].mean, top));
    for (size_t i = from; i < to; i++)
        buf_printf(out, "V%.1fH%.1f", y_of(c->columns[i].mean, top), x_of(c, i + 1));
}

static void put_path(struct buf *out, const struct svg_chart *c, double top, const char *class,
                     void (*put)(struct buf *, const struct svg_chart *, size_t, size_t, double))
{
    buf_printf(out, "<path class=\"%s\" d=\"", class);
    for (size_t i = 0; i < c->n; i++) {
        size_t end = run_end(c, i);
        if (end > i)
            put(out, c, i, end, top);
        i = end;
    }
    buf_puts(out, "\"/>");
}

static void put_scale(struct buf *out, const struct svg_chart *c, double top)
{
    char text[48];
    for (int i = 0; i <= 2; i++) {
        double y = y_of(top * i / 2, top);
        buf_printf(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, y, LEFT + WIDTH);
        unit_format(text, sizeof text, c->unit, top * i / 2, top / 20);
        buf_printf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 6, y + 4);
        html_text(out, text);
        buf_puts(out, "</text>");
    }
}

/* Seconds since the begin, at round steps. */
static void put_times(struct buf *out, const struct svg_chart *c)
{
    double span_s = (double)c->column_ns * 1e-9 * (double)c->n;
    double step = pow(10, floor(log10(span_s / TICKS)));
    step *= span_s / step / TICKS > 5 ? 10 : span_s / step / TICKS > 2 ? 5 : 2;
    for (double t = 0; t <= span_s; t += step)
        buf_printf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g s</text>",
                   LEFT + WIDTH * t / span_s, TOP + HEIGHT + AXIS - 3, t);
}

static bool any_known(const struct svg_chart *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->columns[i].known)
            return true;
    return false;
}

void svg_timeline(struct buf *out, const struct svg_chart *c)
{
    if (!any_known(c))
        return;
    double top = c->top > 0 ? c->top : round_top(c);
    buf_printf(out, "<svg class=\"%s\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", c->role,
               LEFT + WIDTH + 16, TOP + HEIGHT + AXIS);
    html_text(out, c->label);
    buf_puts(out, " over time\">");
    put_scale(out, c, top);
    put_path(out, c, top, "band", put_band);
    put_path(out, c, top, "mean", put_line);
    put_times(out, c);
    buf_puts(out, "</svg>");
}
