/* SPDX-License-Identifier: MIT */
#include "panel/filter.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "panel/keys.h"

static void type_char(struct filter *f, uint32_t key)
{
    char utf8[5];
    size_t n = strlen(f->text), len = str_encode(utf8, key);
    if (len && n + len < sizeof f->text)
        memcpy(f->text + n, utf8, len + 1);
}

static void erase_char(struct filter *f)
{
    size_t n = strlen(f->text);
    while (n > 0 && ((unsigned char)f->text[--n] & 0xC0) == 0x80)
        ;
    f->text[n] = '\0';
}

void filter_type(struct filter *f, uint32_t key)
{
    if (key == PANEL_KEY_ESC || key == PANEL_KEY_CLEAR)
        f->text[0] = '\0';
    if (key == PANEL_KEY_ESC || key == PANEL_KEY_ENTER)
        f->is_typing = false;
    else if (key == PANEL_KEY_BACKSPACE)
        erase_char(f);
    else if (key >= ' ')
        type_char(f, key);
}

bool filter_matches(const struct filter *f, const char *text)
{
    size_t n = strlen(f->text);
    for (; strlen(text) >= n; text++) {
        size_t i = 0;
        while (i < n && tolower((unsigned char)text[i]) == tolower((unsigned char)f->text[i]))
            i++;
        if (i == n)
            return true;
        if (!*text)
            break;
    }
    return false;
}
