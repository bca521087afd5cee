/* SPDX-License-Identifier: MIT */
#include "source/nsys/decode.h"

#include <math.h>
#include <string.h>

/* Storage as measured on exports of nsys 2025.3.1: a 4-byte unsigned value is sign-extended into
 * the 64-bit cell, floats are bit patterns. */

static bool decode_unsigned(int64_t payload, int size, double *out)
{
    if (size == 8) {
        *out = (double)payload;
        return payload >= 0;
    }
    int64_t limit = (int64_t)1 << (8 * size);
    /* only 4-byte values were seen sign-extended; a negative byte or short is a fault */
    if (payload < (size == 4 ? -(limit / 2) : 0) || payload >= limit)
        return false;
    *out = (double)(payload & (limit - 1));
    return true;
}

static bool decode_signed(int64_t payload, int size, double *out)
{
    if (size < 8) {
        int64_t limit = (int64_t)1 << (8 * size - 1);
        if (payload < -limit || payload >= limit)
            return false;
    }
    *out = (double)payload;
    return true;
}

static bool decode_float(int64_t payload, double *out)
{
    if (payload < INT32_MIN || payload > (int64_t)UINT32_MAX) /* more than 32 bits, and a sign */
        return false;
    uint32_t bits = (uint32_t)((uint64_t)payload & UINT32_MAX);
    float f;
    memcpy(&f, &bits, sizeof f);
    *out = (double)f;
    return isfinite(f);
}

static bool decode_double(int64_t payload, double *out)
{
    memcpy(out, &payload, sizeof *out);
    return isfinite(*out);
}

/* A share cannot be negative; a clock row holds hertz under its "[MHz]" label, so that anything
 * but 0 below 1 MHz or above 10 GHz has another unit than the one that was verified. */
static bool plausible(enum nsys_meaning means, double v)
{
    if (means == MEANS_PERCENT)
        return v >= 0;
    if (means == MEANS_HERTZ)
        return v == 0 || (v >= 1e6 && v <= 1e10);
    return true;
}

bool nsys_decode(const struct nsys_file_metric *m, int64_t payload, double *out)
{
    int type = m->has_storage ? m->type : FIELD_UNSIGNED;
    int size = m->has_storage ? m->size : m->means == MEANS_PERCENT ? 1 : 4;
    double v = 0;
    bool ok = type == FIELD_UNSIGNED ? decode_unsigned(payload, size, &v)
              : type == FIELD_SIGNED ? decode_signed(payload, size, &v)
              : type == FIELD_FLOAT  ? decode_float(payload, &v)
                                     : decode_double(payload, &v);
    if (!ok || !plausible(m->means, v))
        return false;
    *out = v;
    return true;
}
