/* SPDX-License-Identifier: MIT */
#include "event/event.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/str.h"

enum status event_push(const struct event_sink *sink, const struct event *event, struct error *err)
{
    return sink->push(sink->self, event, err);
}

enum status event_push_note(const struct event_sink *sink, enum note_level level, int gpu,
                            struct error *err, const char *fmt, ...)
{
    char text[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    str_one_line(text);
    struct event ev = {.kind = EVENT_NOTE, .u.note = {level, gpu, text}};
    return event_push(sink, &ev, err);
}

const char *note_level_name(enum note_level level)
{
    return level == NOTE_ERROR ? "error" : level == NOTE_WARNING ? "warning" : "info";
}
