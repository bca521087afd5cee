/* SPDX-License-Identifier: MIT */
#include "http/secret.h"

#include <string.h>
#include <strings.h>

bool secret_equal(const char *a, const char *b)
{
    size_t of_a = strlen(a), of_b = strlen(b);
    volatile unsigned char differs = of_a != of_b;
    for (size_t i = 0; i < of_a; i++)
        differs |= (unsigned char)(a[i] ^ b[of_b ? i % of_b : 0]);
    return !differs;
}

const char *secret_of_scheme(const char *authorization, const char *scheme)
{
    size_t n = strlen(scheme);
    if (!authorization || strncasecmp(authorization, scheme, n) != 0 || authorization[n] != ' ')
        return NULL;
    return authorization + n + strspn(authorization + n, " ");
}

static int value_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Four digits, up to two of them "=", make up to three bytes; 0 = they do not. */
static size_t decode_four(const char *four, char out[3])
{
    int v[4];
    for (int i = 0; i < 4; i++)
        v[i] = value_of(four[i]);
    if (v[0] < 0 || v[1] < 0 || (v[2] < 0 && (four[2] != '=' || four[3] != '=')) ||
        (v[3] < 0 && four[3] != '='))
        return 0;
    unsigned bits = (unsigned)v[0] << 18 | (unsigned)v[1] << 12 |
                    (v[2] < 0 ? 0 : (unsigned)v[2] << 6) | (v[3] < 0 ? 0 : (unsigned)v[3]);
    for (int i = 0; i < 3; i++)
        out[i] = (char)(bits >> (16 - 8 * i) & 255);
    return v[2] < 0 ? 1 : v[3] < 0 ? 2 : 3;
}

bool secret_decode(const char *base64, char *dst, size_t size)
{
    size_t used = 0, n = strlen(base64);
    if (n % 4 || n / 4 * 3 >= size)
        return false;
    for (size_t i = 0; i < n; i += 4) {
        char out[3];
        size_t got = decode_four(base64 + i, out);
        if (got == 0 || (got < 3 && i + 4 < n) || memchr(out, '\0', got))
            return false;
        memcpy(dst + used, out, got);
        used += got;
    }
    dst[used] = '\0';
    return true;
}

void secret_wipe(void *p, size_t size)
{
    explicit_bzero(p, size);
}
