/* SPDX-License-Identifier: MIT */
#include "http/frame_json.h"

#include <string.h>

#include "http/digits.h"
#include "metric/metric.h"

static void put_key(struct buf *out, const char *comma, const char *key)
{
    buf_puts(out, comma);
    buf_putc(out, '"');
    buf_puts(out, key);
    buf_puts(out, "\":[");
}

static bool put_gpu(struct buf *out, const char *comma, const struct frames *f, unsigned gpu)
{
    bool any = false;
    double min, mean, max;
    for (int m = 0; m < METRIC_COUNT; m++) {
        if (!frames_of(f, gpu, (enum metric)m, &min, &mean, &max))
            continue;
        if (!any)
            buf_printf(out, "%s{\"index\":%u,\"values\":{", comma, gpu);
        put_key(out, any ? "," : "", metric_info((enum metric)m)->key);
        digits_put(out, min);
        buf_putc(out, ',');
        digits_put(out, mean);
        buf_putc(out, ',');
        digits_put(out, max);
        buf_putc(out, ']');
        any = true;
    }
    if (any)
        buf_puts(out, "}}");
    return any;
}

bool frame_json(struct buf *out, const struct frames *f)
{
    int64_t t0_ns, t1_ns;
    const char *comma = "";
    if (!frames_span(f, &t0_ns, &t1_ns))
        return false;
    buf_printf(out, "event: frame\ndata: {\"t0_ns\":\"%lld\",\"t1_ns\":\"%lld\",\"gpus\":[",
               (long long)t0_ns, (long long)t1_ns);
    for (unsigned gpu = 0; gpu < FRAMES_GPUS_MAX; gpu++)
        if (put_gpu(out, comma, f, gpu))
            comma = ",";
    buf_puts(out, "]}\n\n");
    return true;
}
