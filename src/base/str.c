/* SPDX-License-Identifier: MIT */
#include "base/str.h"

#include <stdlib.h>
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

/* Characters that nobody sees and that move others: they turn the direction of a line (U+200E and
 * F, U+202A to E, U+2066 to 9, U+061C), break it (U+2028, U+2029) or take no room (U+200B to D,
 * U+2060, U+FEFF), so that a name can look like another one. */
static bool is_invisible(const unsigned char *s, size_t len)
{
    if (len == 2)
        return s[0] == 0xD8 && s[1] == 0x9C;
    if (len != 3)
        return false;
    unsigned c = (unsigned)(s[0] & 0x0F) << 12 | (unsigned)(s[1] & 0x3F) << 6 | (s[2] & 0x3F);
    return (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
           (c >= 0x2060 && c <= 0x2069) || c == 0xFEFF;
}

static bool is_control(const unsigned char *s, size_t len)
{
    return (len == 1 && (s[0] < 0x20 || s[0] == 0x7F)) ||
           (len == 2 && s[0] == 0xC2 && s[1] < 0xA0) || is_invisible(s, len);
}

/* A byte that a terminal may take for a control character although it belongs to no character. */
static bool is_stray_control(unsigned char byte)
{
    return byte >= 0x80 && byte < 0xA0;
}

/* What a fixed buffer left of a sequence at the end of s (at most three bytes) is cut off. */
static size_t without_cut_end(char *s)
{
    size_t n = strlen(s), back = 0;
    while (back < 3 && back < n && ((unsigned char)s[n - 1 - back] & 0xC0) == 0x80)
        back++;
    if (back < n && (unsigned char)s[n - 1 - back] >= 0xC0) {
        size_t start = n - 1 - back;
        if (utf8_len((const unsigned char *)s + start, n - start) != n - start) {
            s[start] = '\0';
            n = start;
        }
    }
    return n;
}

void str_one_line(char *s)
{
    size_t n = without_cut_end(s), out = 0;
    for (size_t i = 0; i < n;) {
        const unsigned char *at = (const unsigned char *)s + i;
        size_t len = utf8_len(at, n - i);
        bool control = len ? is_control(at, len) : is_stray_control(*at);
        len = len ? len : 1;
        if (control)
            s[out] = '?';
        else
            memmove(s + out, at, len);
        out += control ? 1 : len;
        i += len;
    }
    s[out] = '\0';
}

void str_shorten(char *dst, size_t size, const char *src)
{
    static const char between[] = "...";
    size_t len = strlen(src);
    if (len < size) {
        memcpy(dst, src, len + 1);
        return;
    }
    if (size < sizeof between) {
        if (size > 0)
            dst[0] = '\0';
        return;
    }
    size_t room = size - sizeof between; /* what is kept of src, without the NUL */
    size_t head = room / 3, tail = len - (room - head);
    while (head > 0 && ((unsigned char)src[head] & 0xC0) == 0x80)
        head--;
    while (tail < len && ((unsigned char)src[tail] & 0xC0) == 0x80)
        tail++;
    memcpy(dst, src, head);
    memcpy(dst + head, between, sizeof between - 1);
    memcpy(dst + head + sizeof between - 1, src + tail, len - tail + 1);
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

char *str_clean_copy(const char *src)
{
    size_t size = 3 * strlen(src) + 1;
    char *copy = malloc(size);
    if (copy)
        str_clean(copy, size, src, strlen(src));
    return copy;
}

size_t str_utf8(char dst[5], uint32_t c)
{
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n; i-- > 0; c >>= 6)
        dst[i] = (char)(i ? 0x80 | (c & 0x3F) : lead[n] | c);
    dst[n] = '\0';
    return n;
}

size_t str_encode(char dst[5], uint32_t c)
{
    const unsigned char *s = (const unsigned char *)dst;
    size_t n = c <= 0x10FFFF ? str_utf8(dst, c) : 0;
    if (n == 0 || utf8_len(s, n) != n || is_control(s, n))
        n = 0;
    dst[n] = '\0';
    return n;
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
