/* SPDX-License-Identifier: MIT */
#include "show/html.h"

void html_text(struct buf *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            buf_puts(out, "&amp;");
            break;
        case '<':
            buf_puts(out, "&lt;");
            break;
        case '>':
            buf_puts(out, "&gt;");
            break;
        case '"':
            buf_puts(out, "&quot;");
            break;
        case '\'':
            buf_puts(out, "&#39;");
            break;
        default:
            buf_putc(out, *text);
        }
}

void html_json(struct buf *out, const char *json)
{
    for (; *json; json++)
        if (*json == '<')
            buf_puts(out, "\\u003c");
        else
            buf_putc(out, *json);
}
