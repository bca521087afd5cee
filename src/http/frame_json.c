/* SPDX-License-Identifier: MIT */
#include "http/frame_json.h"

#include <string.h>

#include "base/num.h"
#include "metric/metric.h"

/* Five digits: a screen has no more. */
static void put_number(struct buf *out, double v)
{
    char text[NUM_TEXT_SIZE];
    buf_add(out, text, num_format_digits(text, v, 5));
}

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
        put_number(out, min);
        buf_putc(out, ',');
        put_number(out, mean);
        buf_putc(out, ',');
        put_number(out, max);
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
