/* SPDX-License-Identifier: MIT */
#include "base/str.h"

#include <string.h>

/* Length of the valid UTF-8 sequence at s (n bytes left), 0 when there is none (RFC 3629). */
static size_t utf8_len(const unsigned char *s, size_t n)
{
    if (n == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    size_t len = s[0] >= 0xC2 && s[0] <= 0xDF   ? 2
                 : s[0] >= 0xE0 && s[0] <= 0xEF ? 3
                 : s[0] >= 0xF0 && s[0] <= 0xF4 ? 4
                                                : 0;
    if (len == 0 || len > n)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    /* overlong forms, surrogates, beyond U+10FFFF */
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
        (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
        return 0;
    return len;
}

static bool is_control(const unsigned char *s, size_t len)
{
    return (len == 1 && (s[0] < 0x20 || s[0] == 0x7F)) || (len == 2 && s[0] == 0xC2 && s[1] < 0xA0);
}

void str_one_line(char *s)
{
    size_t n = strlen(s);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] < 0x20 || s[i] == 0x7F)
            s[i] = '?';
    size_t back = 0; /* an incomplete sequence at the end is at most three bytes long */
    while (back < 3 && back < n && ((unsigned char)s[n - 1 - back] & 0xC0) == 0x80)
        back++;
    if (back < n && (unsigned char)s[n - 1 - back] >= 0xC0) {
        size_t start = n - 1 - back;
        if (utf8_len((const unsigned char *)s + start, n - start) != n - start)
            s[start] = '\0';
    }
}

bool str_clean(char *dst, size_t size, const char *src, size_t src_len)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    size_t out = 0;
    const unsigned char *s = (const unsigned char *)src;
    for (size_t i = 0; src && i < src_len;) {
        size_t len = utf8_len(s + i, src_len - i);
        bool bad = len == 0 || is_control(s + i, len);
        const char *piece = bad ? replacement : src + i;
        size_t piece_len = bad ? sizeof replacement - 1 : len;
        if (out + piece_len >= size) {
            dst[out] = '\0';
            return false;
        }
        memcpy(dst + out, piece, piece_len);
        out += piece_len;
        i += len ? len : 1;
    }
    dst[out] = '\0';
    return true;
}

size_t str_columns(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xC0) != 0x80;
    return n;
}

bool str_starts_with(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}
