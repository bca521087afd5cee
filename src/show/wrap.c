/* SPDX-License-Identifier: MIT */
#include "show/wrap.h"

#include <string.h>

#include "base/str.h"

/* What unit_format, the catalogue and the renderers write beyond ASCII. */
static const struct {
    const char *utf8, *ascii;
} stand_ins[] = {
    {"–", "-"}, {"—", "-"}, {"…", "..."}, {"·", "."},  {"µ", "u"},
    {"°", ""},  {"×", "x"}, {"÷", "/"},   {"≥", ">="}, {"≤", "<="},
};

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* The length of the character at p, which is not ASCII, and its stand-in. */
static size_t stand_in(const char *p, const char **ascii)
{
    for (size_t i = 0; i < sizeof stand_ins / sizeof stand_ins[0]; i++)
        if (str_starts_with(p, stand_ins[i].utf8)) {
            *ascii = stand_ins[i].ascii;
            return strlen(stand_ins[i].utf8);
        }
    size_t len = 1;
    while (is_continuation(p[len]))
        len++;
    *ascii = "?";
    return len;
}

void wrap_plain(struct buf *out, const struct show_style *style, const char *text)
{
    if (style->utf8) {
        buf_puts(out, text);
        return;
    }
    while (*text) {
        const char *ascii = "";
        if ((unsigned char)*text < 0x80) {
            buf_putc(out, *text++);
            continue;
        }
        text += stand_in(text, &ascii);
        buf_puts(out, ascii);
    }
}

static size_t columns_of(const char *word, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += !is_continuation(word[i]);
    return n;
}

void wrap_words(struct buf *out, const struct show_style *style, const char *lead, const char *text)
{
    struct buf plain = BUF_INIT;
    wrap_plain(&plain, style, text);
    size_t indent = str_columns(lead), width = (size_t)style->columns, column = indent;
    buf_puts(out, lead);
    for (const char *p = buf_str(&plain); *(p += strspn(p, " "));) {
        size_t len = strcspn(p, " "), columns = columns_of(p, len);
        bool first = column == indent;
        if (!first && column + 1 + columns > width) {
            buf_putc(out, '\n');
            buf_repeat(out, " ", indent);
            column = indent;
        } else if (!first) {
            buf_putc(out, ' ');
            column++;
        }
        buf_add(out, p, len);
        column += columns;
        p += len;
    }
    buf_putc(out, '\n');
    out->failed |= plain.failed;
    buf_fini(&plain);
}
