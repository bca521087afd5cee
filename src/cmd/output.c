/* SPDX-License-Identifier: MIT */
#include "cmd/output.h"

#include <errno.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/num.h"
#include "base/str.h"

enum { COLUMNS_MIN = 40, COLUMNS_DEFAULT = 100, COLUMNS_MAX = 140 };

static int terminal_columns(void)
{
    const char *columns = getenv("COLUMNS");
    uint64_t n;
    if (columns && num_parse_u64(columns, &n) && n > 0 && n < 10000)
        return (int)n;
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    return COLUMNS_DEFAULT;
}

struct show_style output_style(const struct options *o)
{
    const char *term = getenv("TERM");
    bool terminal = isatty(STDOUT_FILENO) == 1;
    int columns = terminal_columns();
    return (struct show_style){
        .columns = columns < COLUMNS_MIN   ? COLUMNS_MIN
                   : columns > COLUMNS_MAX ? COLUMNS_MAX
                                           : columns,
        .colour = terminal && !o->no_color && term && strcmp(term, "dumb") != 0,
        .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
    };
}

int output_size(const char *name, int otherwise)
{
    uint64_t n;
    const char *text = getenv(name);
    return text && num_parse_u64(text, &n) && n > 0 && n <= 500 ? (int)n : otherwise;
}

enum status output_write(struct buf *b, struct error *err)
{
    if (b->failed)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    errno = 0;
    if (b->len && (fwrite(b->data, 1, b->len, stdout) != b->len || fflush(stdout) != 0))
        return fail(err, ERR_IO, errno, "standard output: %s", strerror(errno));
    buf_clear(b);
    return OK;
}

static enum status push(void *self, const struct event *ev, struct error *err)
{
    struct output_events *o = self;
    enum status st = event_encode(o->encoder, &o->text, ev, err);
    return st ? st : output_write(&o->text, err);
}

enum status output_events_init(struct output_events *o, struct error *err)
{
    *o = (struct output_events){.text = BUF_INIT};
    return event_encoder_create(&o->encoder, err);
}

void output_events_fini(struct output_events *o)
{
    event_encoder_destroy(o->encoder);
    buf_fini(&o->text);
}

struct event_sink output_events_sink(struct output_events *o)
{
    return (struct event_sink){push, o};
}

void complain(const char *fmt, ...)
{
    char text[8192]; /* a path and, with many metrics, what is wrong with each */
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    str_one_line(text);
    fprintf(stderr, "smeff: %s\n", text);
}

void complain_notes(const char *about, const struct snapshot *s)
{
    for (size_t i = 0; i < s->n_notes; i++)
        if (s->notes[i].level != NOTE_INFO)
            complain("%s%s%s: %s", about, *about ? ": " : "", note_level_name(s->notes[i].level),
                     s->notes[i].text);
}
