/* SPDX-License-Identifier: MIT */
#include "http/columns.h"

#include "http/digits.h"
#include "metric/metric.h"

static void put_list(struct buf *out, const char *name, const struct trace_column *list, size_t n,
                     size_t offset)
{
    buf_printf(out, "\"%s\":[", name);
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_putc(out, ',');
        digits_put(out, *(const double *)((const char *)&list[i] + offset));
    }
    buf_putc(out, ']');
}

static bool put_metric(struct buf *out, const char *comma, enum metric m,
                       const struct trace_column *list, size_t n)
{
    bool known = false;
    for (size_t i = 0; i < n; i++)
        known |= list[i].known;
    if (!known)
        return false;
    buf_printf(out, "%s\"%s\":{", comma, metric_info(m)->key);
    put_list(out, "min", list, n, offsetof(struct trace_column, min));
    buf_putc(out, ',');
    put_list(out, "mean", list, n, offsetof(struct trace_column, mean));
    buf_putc(out, ',');
    put_list(out, "max", list, n, offsetof(struct trace_column, max));
    buf_putc(out, '}');
    return true;
}

bool columns_json(struct buf *out, const struct trace *t, unsigned gpu, double seconds, size_t n)
{
    static struct trace_column list[COLUMNS_MAX];
    int64_t newest_ns = trace_newest_ns(t);
    /* whole buckets: the borders of columns fall on theirs */
    int64_t buckets = (int64_t)(seconds * 1e9) / TRACE_BUCKET_NS;
    int64_t step = (buckets + (int64_t)n - 1) / (int64_t)n;
    step = step < 1 ? 1 : step;
    size_t count = (size_t)((buckets + step - 1) / step);
    int64_t step_ns = step * TRACE_BUCKET_NS;
    /* columns begin at whole multiples of their width, so that a chart that asks again does not
     * flicker; the last one holds the newest sample */
    int64_t begin_ns = (newest_ns / step_ns + 1) * step_ns - (int64_t)count * step_ns;
    if (!trace_has_gpu(t, gpu))
        return false;
    buf_printf(out,
               "{\"schema\":1,\"gpu\":%u,\"begin_ns\":\"%lld\",\"step_ns\":\"%lld\",\"values\":{",
               gpu, (long long)begin_ns, (long long)step_ns);
    const char *comma = "";
    for (int m = 0; m < METRIC_COUNT; m++) {
        trace_columns(t, gpu, (enum metric)m, begin_ns, step_ns, count, list);
        if (put_metric(out, comma, (enum metric)m, list, count))
            comma = ",";
    }
    buf_puts(out, "}}\n");
    return true;
}
