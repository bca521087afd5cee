/* SPDX-License-Identifier: MIT */
#include "http/site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "http/columns.h"
#include "http/frame_json.h"
#include "http/gate.h"
#include "http/page.h"
#include "show/show.h"

static const char json_type[] = "application/json; charset=utf-8",
                  metrics_type[] = "text/plain; version=0.0.4; charset=utf-8",
                  html_type[] = "text/html; charset=utf-8", events_type[] = "text/event-stream",
                  nothing[] = "default-src 'none'; frame-ancestors 'none'";

/* What is made of a snapshot when it is first asked for. */
enum text { TEXT_STATUS, TEXT_METRICS, TEXT_DCGM, TEXTS };

/* Charts that were asked for since the newest snapshot. FRESH: so many are made a second, a
 * millisecond each; KEPT: so many of them are shared. */
enum { CHARTS_FRESH = 100, CHARTS_KEPT = 16 };

struct chart {
    uint64_t gpu, seconds, columns;
    struct blob *text; /* NULL = none */
};

struct site {
    const struct trace *trace;
    const struct site_ops *ops;
    void *self;
    struct snapshot *snapshot; /* owned; NULL = none yet */
    unsigned long long number; /* of the snapshot */
    struct blob *texts[TEXTS], *page, *dcgm_page;
    struct chart charts[CHARTS_KEPT];
    size_t n_charts;    /* made, kept or not */
    struct buf scratch; /* keeps its memory: a snapshot's texts are as long as the last one's */
    char host[256], reason[200];
};

enum status site_create(struct site **out, const struct trace *trace, const char *this_host,
                        const struct site_ops *ops, void *self, struct error *err)
{
    static const char dcgm_page[] =
        "<!DOCTYPE html>\n<html lang=\"en\"><title>smeff</title><p>GPU metrics under DCGM's names: "
        "<a href=\"/metrics\">/metrics</a></p></html>\n";
    struct site *s = calloc(1, sizeof *s);
    if (s) {
        *s = (struct site){.trace = trace, .ops = ops, .self = self, .reason = "it is starting"};
        snprintf(s->host, sizeof s->host, "%s", this_host);
        s->page = blob_make(web_page, web_page_size);
        s->dcgm_page = blob_make(dcgm_page, sizeof dcgm_page - 1);
    }
    if (!s || !s->page || !s->dcgm_page) {
        site_destroy(s);
        return fail(err, ERR_NOMEM, 0, "out of memory");
    }
    *out = s;
    return OK;
}

static void forget_texts(struct site *s)
{
    for (size_t i = 0; i < TEXTS; i++) {
        blob_unref(s->texts[i]);
        s->texts[i] = NULL;
    }
    for (size_t i = 0; i < CHARTS_KEPT; i++) {
        blob_unref(s->charts[i].text);
        s->charts[i] = (struct chart){0};
    }
    s->n_charts = 0;
}

void site_destroy(struct site *s)
{
    if (!s)
        return;
    forget_texts(s);
    blob_unref(s->page);
    blob_unref(s->dcgm_page);
    snapshot_destroy(s->snapshot);
    buf_fini(&s->scratch);
    free(s);
}

void site_take(struct site *s, struct snapshot *fresh)
{
    forget_texts(s);
    snapshot_destroy(s->snapshot);
    s->snapshot = fresh;
    s->number++;
}

void site_tell(struct site *s, const char *reason)
{
    snprintf(s->reason, sizeof s->reason, "%s", reason);
}

/* ---- texts ---- */

static bool render(struct site *s, enum text which)
{
    switch (which) {
    case TEXT_METRICS:
        s->ops->metrics(s->self, s->snapshot, &s->scratch);
        return true;
    case TEXT_DCGM:
        s->ops->dcgm(s->self, s->snapshot, &s->scratch);
        return true;
    default:
        return show_json(&s->scratch, s->snapshot, NULL, NULL) == OK;
    }
}

/* The site's own reference; NULL: no memory. */
static struct blob *text_of(struct site *s, enum text which)
{
    if (s->texts[which])
        return s->texts[which];
    buf_clear(&s->scratch);
    if (render(s, which))
        s->texts[which] = blob_of(&s->scratch);
    return s->texts[which];
}

/* ---- answers ---- */

static void answer_blob(struct http_answer *out, struct blob *b, const char *type,
                        const struct http_request *r)
{
    struct blob *packed = b && gate_accepts_gzip(r->accept_encoding) ? blob_gzip(b) : NULL;
    *out = (struct http_answer){
        .status = 200, .type = type, .policy = nothing, .varies = true, .is_gzip = packed != NULL};
    if (b)
        out->body = blob_ref(packed ? packed : b);
}

static void answer_page(struct site *s, const struct http_request *r, struct http_answer *out)
{
    answer_blob(out, s->page, html_type, r);
    out->policy = web_page_csp;
}

static void answer_dcgm_page(struct site *s, const struct http_request *r, struct http_answer *out)
{
    answer_blob(out, s->dcgm_page, html_type, r);
}

static void answer_later(struct http_answer *out, const char *why)
{
    answer_text(out, 503, why);
    out->retry = true;
}

static void answer_status(struct site *s, const struct http_request *r, struct http_answer *out)
{
    if (s->snapshot)
        answer_blob(out, text_of(s, TEXT_STATUS), json_type, r);
    else
        answer_later(out, "nothing is known yet");
}

/* Without a snapshot there is something to say: that nothing is up. */
static void answer_metrics(struct site *s, const struct http_request *r, struct http_answer *out)
{
    answer_blob(out, text_of(s, TEXT_METRICS), metrics_type, r);
}

/* DCGM's names have none for that. */
static void answer_dcgm(struct site *s, const struct http_request *r, struct http_answer *out)
{
    if (s->reason[0])
        answer_later(out, s->reason);
    else
        answer_blob(out, text_of(s, TEXT_DCGM), metrics_type, r);
}

static void answer_health(struct site *s, const struct http_request *r, struct http_answer *out)
{
    (void)r;
    answer_text(out, s->reason[0] ? 503 : 200, s->reason[0] ? s->reason : "ok");
}

static void answer_events(struct site *s, const struct http_request *r, struct http_answer *out)
{
    static const char *const rates[] = {"1", "2", "5", "10"};
    static const unsigned hz[] = {1, 2, 5, 10};
    const char *wanted = r->hz ? r->hz : "5";
    (void)s;
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        if (strcmp(wanted, rates[i]) == 0) {
            bool is_head = strcmp(r->method, "HEAD") == 0;
            *out = (struct http_answer){.status = 200,
                                        .body = is_head ? blob_make("", 0) : NULL,
                                        .type = events_type,
                                        .policy = nothing,
                                        .stream_hz = is_head ? 0 : hz[i]};
            return;
        }
    answer_text(out, 400, "hz is 1, 2, 5 or 10");
}

static bool get_number(const char *text, uint64_t otherwise, uint64_t most, uint64_t *out)
{
    *out = otherwise;
    return !text || (num_parse_u64(text, out) && *out <= most);
}

static struct chart *find_chart(struct site *s, const struct chart *wanted)
{
    for (size_t i = 0; i < CHARTS_KEPT; i++) {
        struct chart *c = &s->charts[i];
        if (c->text && c->gpu == wanted->gpu && c->seconds == wanted->seconds &&
            c->columns == wanted->columns)
            return c;
    }
    return NULL;
}

/* Made, kept for a second, and the site's; NULL: no such GPU, or no memory. */
static struct blob *make_chart(struct site *s, const struct chart *wanted)
{
    struct chart *place = &s->charts[s->n_charts++ % CHARTS_KEPT];
    buf_clear(&s->scratch);
    if (!columns_json(&s->scratch, s->trace, (unsigned)wanted->gpu, (double)wanted->seconds,
                      wanted->columns))
        return NULL;
    blob_unref(place->text);
    *place = *wanted;
    place->text = blob_of(&s->scratch);
    return place->text;
}

static void answer_history(struct site *s, const struct http_request *r, struct http_answer *out)
{
    struct chart wanted = {0};
    if (!get_number(r->gpu, 0, UINT32_MAX, &wanted.gpu) ||
        !get_number(r->seconds, TRACE_SECONDS, TRACE_SECONDS, &wanted.seconds) ||
        wanted.seconds == 0 || !get_number(r->columns, 300, COLUMNS_MAX, &wanted.columns) ||
        wanted.columns == 0) {
        answer_text(out, 400, "gpu is a number, seconds 1 to 600, columns 1 to 600");
        return;
    }
    const struct chart *kept = find_chart(s, &wanted);
    if (kept)
        answer_blob(out, kept->text, json_type, r);
    else if (!trace_has_gpu(s->trace, (unsigned)wanted.gpu))
        answer_text(out, 404, "no such GPU");
    else if (s->n_charts >= CHARTS_FRESH)
        answer_later(out, "too many different charts are asked for");
    else
        answer_blob(out, make_chart(s, &wanted), json_type, r);
}

static const struct {
    enum http_door door;
    const char *path;
    void (*answer)(struct site *s, const struct http_request *r, struct http_answer *out);
} paths[] = {
    {HTTP_DOOR_WEB, "/", answer_page},
    {HTTP_DOOR_WEB, "/metrics", answer_metrics},
    {HTTP_DOOR_WEB, "/status.json", answer_status},
    {HTTP_DOOR_WEB, "/events", answer_events},
    {HTTP_DOOR_WEB, "/history.json", answer_history},
    {HTTP_DOOR_WEB, "/healthz", answer_health},
    {HTTP_DOOR_DCGM, "/", answer_dcgm_page},
    {HTTP_DOOR_DCGM, "/metrics", answer_dcgm},
    {HTTP_DOOR_DCGM, "/health", answer_health},
};

bool site_refuses(const struct site *s, const struct http_request *r, struct http_answer *out)
{
    return gate_refuses(r, s->host, out);
}

void site_answer(struct site *s, const struct http_request *r, struct http_answer *out)
{
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (paths[i].door == r->door && strcmp(paths[i].path, r->path) == 0) {
            paths[i].answer(s, r, out);
            return;
        }
    answer_text(out, 404, "there is no such path here");
}

/* ---- event streams ---- */

struct blob *site_hello(void)
{
    static const char hello[] = "retry: 2000\n\n";
    return blob_make(hello, sizeof hello - 1);
}

struct blob *site_status_event(struct site *s)
{
    const struct blob *status = s->snapshot ? text_of(s, TEXT_STATUS) : NULL;
    struct buf text = BUF_INIT;
    if (!status)
        return NULL;
    buf_printf(&text, "event: status\nid: %llu\ndata: ", s->number);
    buf_add(&text, status->data, status->len); /* one line, with its end */
    buf_putc(&text, '\n');
    struct blob *b = blob_of(&text);
    buf_fini(&text);
    return b;
}

struct blob *site_frame_event(const struct frames *f)
{
    struct buf text = BUF_INIT;
    struct blob *b = frame_json(&text, f) ? blob_of(&text) : NULL;
    buf_fini(&text);
    return b;
}
