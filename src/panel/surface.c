/* SPDX-License-Identifier: MIT */
#include "panel/surface.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { SIDE_MAX = 1000, TEXT_MAX = 1200, ELLIPSIS = 0x2026, DEGREE = 0xB0 };

enum status surface_init(struct surface *s, int width, int height, bool ascii, struct error *err)
{
    width = width < 1 ? 1 : width > SIDE_MAX ? SIDE_MAX : width;
    height = height < 1 ? 1 : height > SIDE_MAX ? SIDE_MAX : height;
    struct cell *cells = calloc((size_t)width * (size_t)height, sizeof *cells);
    if (!cells)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    *s = (struct surface){cells, width, height, ascii};
    return OK;
}

void surface_fini(struct surface *s)
{
    free(s->cells);
    *s = (struct surface){0};
}

enum status surface_fit(struct surface *s, int width, int height, bool ascii, struct error *err)
{
    if (s->width == width && s->height == height)
        return OK;
    surface_fini(s);
    return surface_init(s, width, height, ascii, err);
}

void surface_clear(struct surface *s)
{
    memset(s->cells, 0, (size_t)s->width * (size_t)s->height * sizeof *s->cells);
}

struct area surface_area(struct surface *s)
{
    return (struct area){s, 0, 0, s->width, s->height};
}

struct area area_part(struct area a, int x, int y, int width, int height)
{
    int right = x + width < a.width ? x + width : a.width;
    int bottom = y + height < a.height ? y + height : a.height;
    x = x < 0 ? 0 : x;
    y = y < 0 ? 0 : y;
    return (struct area){a.s, a.x + x, a.y + y, right > x ? right - x : 0,
                         bottom > y ? bottom - y : 0};
}

/* ---- characters ---- */

/* The next code point of valid UTF-8; a byte that is none counts as U+FFFD. */
static uint32_t next_code(const char **text)
{
    const unsigned char *s = (const unsigned char *)*text;
    int more = *s < 0x80 ? 0 : *s >= 0xF0 ? 3 : *s >= 0xE0 ? 2 : *s >= 0xC2 ? 1 : -1;
    uint32_t c = more <= 0 ? *s : *s & (0x3Fu >> more);
    for (int i = 1; i <= more; i++) {
        if ((s[i] & 0xC0) != 0x80) {
            more = -1;
            break;
        }
        c = c << 6 | (s[i] & 0x3Fu);
    }
    *text += more < 0 ? 1 : more + 1;
    return more < 0 ? 0xFFFD : c;
}

/* Wide and zero-width characters (Unicode 15, in coarse blocks) would move what stands beside them.
 */
static bool is_one_column(uint32_t c)
{
    static const uint32_t others[][2] = {
        {0x0000, 0x001F}, {0x007F, 0x009F},   {0x0300, 0x036F},   {0x0591, 0x05C7},
        {0x0610, 0x061A}, {0x064B, 0x065F},   {0x1100, 0x115F},   {0x200B, 0x200F},
        {0x2028, 0x202E}, {0x2060, 0x206F},   {0x2E80, 0xA4CF},   {0xAC00, 0xD7A3},
        {0xF900, 0xFAFF}, {0xFE00, 0xFE6F},   {0xFEFF, 0xFEFF},   {0xFF00, 0xFF60},
        {0xFFE0, 0xFFE6}, {0x1F000, 0x1FFFF}, {0x20000, 0x10FFFF}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (c >= others[i][0] && c <= others[i][1])
            return false;
    return true;
}

/* What stands for a character where only ASCII can be shown. */
static uint32_t ascii_of(uint32_t c)
{
    static const struct {
        uint32_t c;
        char instead;
    } table[] = {{0x2013, '-'}, {0x2014, '-'}, {0x2500, '-'}, {0x2502, '|'}, {0x2026, '~'},
                 {0xB7, '.'},   {0x25B8, '>'}, {0x25CF, '*'}, {0xB5, 'u'},   {0x2588, '#'},
                 {0x2591, '.'}, {0x2192, '>'}, {0x2190, '<'}, {0x2191, '^'}, {0x2193, 'v'},
                 {0x2265, '>'}, {0x2264, '<'}, {0xD7, 'x'},   {0x2502, '|'}, {0x25C6, '*'},
                 {0x25B2, '^'}, {0x25BC, 'v'}};
    if (c < 0x80)
        return c;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].c == c)
            return (uint32_t)(unsigned char)table[i].instead;
    return '?';
}

void area_cell(struct area a, int x, int y, enum role role, uint32_t c)
{
    if (x < 0 || y < 0 || x >= a.width || y >= a.height)
        return;
    if (!is_one_column(c))
        c = '?';
    struct cell *at = &a.s->cells[(size_t)(a.y + y) * (size_t)a.s->width + (size_t)(a.x + x)];
    *at = (struct cell){a.s->ascii ? ascii_of(c) : c, (uint8_t)role};
}

void area_fill(struct area a, int x, int y, int width, enum role role, uint32_t c)
{
    for (int i = 0; i < width; i++)
        area_cell(a, x + i, y, role, c);
}

void area_paint(struct area a, int y, enum role role)
{
    for (int x = 0; x < a.width && y >= 0 && y < a.height; x++)
        a.s->cells[(size_t)(a.y + y) * (size_t)a.s->width + (size_t)(a.x + x)].role = (uint8_t)role;
}

/* ---- text ---- */

int area_text(struct area a, int x, int y, enum role role, const char *text)
{
    while (*text) {
        uint32_t c = next_code(&text);
        if (!a.s->ascii || c != DEGREE) /* "50 C" */
            area_cell(a, x++, y, role, c);
    }
    return x;
}

int area_printf(struct area a, int x, int y, enum role role, const char *fmt, ...)
{
    char text[TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return area_text(a, x, y, role, text);
}

int area_right(struct area a, int right, int y, enum role role, const char *text)
{
    int x = right - (int)str_columns(text);
    area_text(a, x, y, role, text);
    return x;
}

int area_fit(struct area a, int x, int y, int width, enum role role, const char *text)
{
    bool cut = (int)str_columns(text) > width;
    int end = x + width;
    while (*text && x < end) {
        uint32_t c = next_code(&text);
        area_cell(a, x, y, role, cut && x == end - 1 ? ELLIPSIS : c);
        x++;
    }
    return x;
}

/* Bytes and columns of the next word. */
static size_t word_of(const char *text, int *columns)
{
    size_t n = 0;
    *columns = 0;
    for (; text[n] && text[n] != ' '; n++)
        *columns += ((unsigned char)text[n] & 0xC0) != 0x80;
    return n;
}

int area_words(struct area a, int x, int y, int indent, int rows, enum role role, const char *text)
{
    int at = x, row = y, columns;
    if (rows <= 0)
        return y;
    for (;;) {
        while (*text == ' ')
            text++;
        size_t n = word_of(text, &columns);
        if (n == 0)
            return row + 1;
        bool first = at == (row == y ? x : x + indent);
        if (!first && at + 1 + columns > a.width) {
            if (row + 1 >= y + rows) {
                area_cell(a, at < a.width ? at : a.width - 1, row, role, ELLIPSIS);
                return row + 1;
            }
            row++;
            at = x + indent;
            first = true;
        }
        at += first ? 0 : 1;
        const char *end = text + n;
        while (text < end)
            area_cell(a, at++, row, role, next_code(&text));
    }
}

void surface_text(const struct surface *s, struct buf *out)
{
    size_t empty = 0;
    for (int y = 0; y < s->height; y++) {
        const struct cell *row = s->cells + (size_t)y * (size_t)s->width;
        int width = s->width;
        while (width > 0 && (row[width - 1].c == 0 || row[width - 1].c == ' '))
            width--;
        if (width == 0) {
            empty++;
            continue;
        }
        for (; empty; empty--)
            buf_putc(out, '\n');
        for (int x = 0; x < width; x++) {
            uint32_t c = row[x].c ? row[x].c : ' ';
            char utf8[5];
            size_t n = str_utf8(utf8, c);
            buf_add(out, utf8, n);
        }
        buf_putc(out, '\n');
    }
}
