/* SPDX-License-Identifier: MIT */
#include "show/track_text.h"

#include <stdlib.h>

#include "show/json_out.h"

static void put_text(struct buf *out, const char *text)
{
    json_t *s = json_string(text);
    char *quoted = s ? json_dumps(s, JSON_ENCODE_ANY) : NULL;
    buf_puts(out, quoted ? quoted : "\"?\"");
    out->failed |= !quoted;
    free(quoted);
    json_decref(s);
}

static void put_begin(struct track_text *t, struct buf *out, const char *kind, long pid)
{
    buf_printf(out, "%s{\"ph\":\"%s\",\"pid\":%ld,", t->count++ ? ",\n" : "", kind, pid);
}

/* Microseconds with three decimals: whole nanoseconds. */
static void put_ns(struct buf *out, const char *key, int64_t ns)
{
    long long size = ns < 0 ? -(long long)ns : ns;
    buf_printf(out, "\"%s\":%s%lld.%03lld", key, ns < 0 ? "-" : "", size / 1000, size % 1000);
}

static void put_name(struct track_text *t, struct buf *out, const char *what, long pid, int tid,
                     const char *name)
{
    put_begin(t, out, "M", pid);
    buf_printf(out, "\"tid\":%d,\"name\":\"%s\",\"args\":{\"name\":", tid, what);
    put_text(out, name);
    buf_puts(out, "}}");
}

void track_process(struct track_text *t, struct buf *out, long pid, const char *name, long order)
{
    put_name(t, out, "process_name", pid, 0, name);
    put_begin(t, out, "M", pid);
    buf_printf(out, "\"tid\":0,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%ld}}",
               order);
}

void track_thread(struct track_text *t, struct buf *out, long pid, int tid, const char *name)
{
    put_name(t, out, "thread_name", pid, tid, name);
}

void track_counter(struct track_text *t, struct buf *out, long pid, const char *name, int64_t t_ns,
                   double v)
{
    put_begin(t, out, "C", pid);
    buf_puts(out, "\"name\":");
    put_text(out, name);
    buf_putc(out, ',');
    put_ns(out, "ts", t_ns - t->base_ns);
    buf_printf(out, ",\"args\":{\"value\":%.9g}}", v);
}

void track_slice(struct track_text *t, struct buf *out, long pid, int tid, const char *name,
                 int64_t from_ns, int64_t to_ns)
{
    put_begin(t, out, "X", pid);
    buf_printf(out, "\"tid\":%d,\"name\":", tid);
    put_text(out, name);
    buf_putc(out, ',');
    put_ns(out, "ts", from_ns - t->base_ns);
    buf_putc(out, ',');
    put_ns(out, "dur", to_ns - from_ns);
    buf_putc(out, '}');
}
