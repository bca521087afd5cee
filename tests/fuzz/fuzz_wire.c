/* SPDX-License-Identifier: MIT */
/* Any bytes as the lines of a stream: what is pushed can be encoded again, collected, judged and
 * shown. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collect.h"
#include "event/wire.h"
#include "show/show.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct both {
    struct event_encoder *encoder;
    struct event_sink collector;
    struct buf lines;
};

static enum status take(void *self, const struct event *ev, struct error *err)
{
    struct both *b = self;
    if (event_encode(b->encoder, &b->lines, ev, err))
        abort();
    return event_push(&b->collector, ev, err);
}

/* What we wrote, we must be able to read. */
static void read_again(const struct buf *lines, const struct event_sink *sink)
{
    struct event_decoder *d = NULL;
    if (event_decoder_create(&d, NULL))
        abort();
    for (const char *p = buf_str(lines), *end; (end = strchr(p, '\n')); p = end + 1)
        if (event_decode(d, p, (size_t)(end - p), sink, NULL))
            abort();
    event_decoder_destroy(d);
}

static enum status ignore(void *self, const struct event *ev, struct error *err)
{
    (void)self, (void)ev, (void)err;
    return OK;
}

/* ---- the quick way and the general one ---- */

static void mix(uint64_t *sum, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++)
        *sum = (*sum ^ p[i]) * UINT64_C(1099511628211);
}

/* Every bit of a batch; all NaN are one. */
static enum status sum_samples(void *self, const struct event *ev, struct error *err)
{
    uint64_t *sum = self;
    (void)err;
    mix(sum, &ev->kind, sizeof ev->kind);
    if (ev->kind != EVENT_SAMPLES)
        return OK;
    const struct event_samples *s = &ev->u.samples;
    mix(sum, &s->gpu, sizeof s->gpu);
    mix(sum, &s->source, sizeof s->source);
    mix(sum, s->t0_ns, s->n * sizeof *s->t0_ns);
    mix(sum, s->t1_ns, s->n * sizeof *s->t1_ns);
    mix(sum, s->series, s->columns * sizeof *s->series);
    for (size_t c = 0; c < s->columns; c++)
        for (size_t i = 0; i < s->n; i++) {
            double v = s->values[c * s->stride + i];
            if (v != v)
                v = 0.1234567;
            mix(sum, &v, sizeof v);
        }
    return OK;
}

/* A blank in front makes a line no line of the quick way, and changes nothing else. */
static void decode_both_ways(const uint8_t *data, size_t size)
{
    struct event_decoder *quick = NULL, *general = NULL;
    uint64_t a = 1, b = 1;
    const struct event_sink to_a = {sum_samples, &a}, to_b = {sum_samples, &b};
    char *blank = malloc(size + 1);
    if (!blank || event_decoder_create(&quick, NULL) || event_decoder_create(&general, NULL))
        abort();
    blank[0] = ' ';
    for (const char *p = (const char *)data, *end = p + size; p < end;) {
        const char *line_end = memchr(p, '\n', (size_t)(end - p));
        size_t len = (size_t)((line_end ? line_end : end) - p);
        memcpy(blank + 1, p, len);
        enum status first = event_decode(quick, p, len, &to_a, NULL);
        if (event_decode(general, blank, len + 1, &to_b, NULL) != first || a != b)
            abort();
        p += len + 1;
    }
    event_decoder_destroy(quick);
    event_decoder_destroy(general);
    free(blank);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    decode_both_ways(data, size);
    struct event_decoder *d = NULL;
    struct collector *c = NULL;
    struct snapshot *s = NULL;
    struct both b = {.lines = BUF_INIT};
    struct buf out = BUF_INIT;
    const struct event_sink sink = {take, &b}, nobody = {ignore, NULL};
    if (event_decoder_create(&d, NULL) || event_encoder_create(&b.encoder, NULL) ||
        collector_create(&c, NULL))
        abort();
    b.collector = collector_sink(c);
    for (const char *p = (const char *)data, *end = p + size; p < end;) {
        const char *line_end = memchr(p, '\n', (size_t)(end - p));
        size_t len = (size_t)((line_end ? line_end : end) - p);
        (void)event_decode(d, p, len, &sink, NULL);
        p += len + 1;
    }
    read_again(&b.lines, &nobody);
    if (collector_snapshot(c, &s, NULL) == OK) {
        if (show_json(&out, s, NULL, NULL))
            abort();
        show_text(&out, s, "", &(struct show_style){80, false, true});
    }
    snapshot_destroy(s);
    collector_destroy(c);
    event_encoder_destroy(b.encoder);
    event_decoder_destroy(d);
    buf_fini(&b.lines);
    buf_fini(&out);
    return 0;
}
