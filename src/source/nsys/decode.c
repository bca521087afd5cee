/* SPDX-License-Identifier: MIT */
#include "source/nsys/decode.h"

#include <math.h>
#include <stdio.h>
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
static bool plausible(const struct nsys_raw *r, double v)
{
    if (r->percent)
        return v >= 0;
    if (r->clock)
        return v == 0 || (v >= 1e6 && v <= 1e10);
    return true;
}

bool nsys_decode(const struct nsys_raw *r, int64_t payload, double *out)
{
    int type = r->has_field ? r->type : FIELD_UNSIGNED;
    int size = r->has_field ? r->size : r->percent ? 1 : 4;
    double v = 0;
    bool ok = type == FIELD_UNSIGNED ? decode_unsigned(payload, size, &v)
              : type == FIELD_SIGNED ? decode_signed(payload, size, &v)
              : type == FIELD_FLOAT  ? decode_float(payload, &v)
                                     : decode_double(payload, &v);
    if (!ok || !plausible(r, v))
        return false;
    *out = v;
    return true;
}

static const struct nsys_raw *find(const struct nsys_gpu *g, const char *name)
{
    for (size_t i = 0; i < g->n_raw; i++)
        if (strcmp(g->raw[i].name, name) == 0)
            return g->raw[i].rows ? &g->raw[i] : NULL;
    return NULL;
}

static double mean(const struct nsys_raw *r)
{
    return r->sum / (double)r->rows;
}

bool nsys_wrapped(struct nsys_gpu *g, const struct nsys_raw *r, char *reason, size_t size)
{
    if (!r->has_field || r->type != FIELD_UNSIGNED || r->size != 4 || r->rows == 0)
        return false;
    const char *bracket = strstr(r->name, " [");
    const char *unit = bracket ? bracket : "";
    if (r->clock)
        return false; /* plausible() bounds it */
    const struct nsys_raw *clock = find(g, "GPC Clock Frequency [MHz]");
    if (strcmp(unit, " [Avg]") == 0 && clock && g->period_ns > 0) {
        char sibling[NSYS_NAME_SIZE];
        snprintf(sibling, sizeof sibling, "%.*s [Avg Warps per Cycle]", (int)(bracket - r->name),
                 r->name);
        const struct nsys_raw *per_cycle = find(g, sibling);
        if (per_cycle) {
            double cycles = mean(clock) * (double)g->period_ns * 1e-9;
            double expected = mean(per_cycle) * cycles;
            /* the sibling is rounded to a whole number: one of it is the tolerance, and 5 % */
            if (fabs(mean(r) - expected) <= cycles + 0.05 * expected)
                return false;
            snprintf(reason, size, "a 32-bit count that ran over: mean %.4g, but %.4g by \"%s\"",
                     mean(r), expected, sibling);
            return true;
        }
    }
    if (r->max < 2147483648.0)
        return false;
    snprintf(reason, size, "a 32-bit count above 2^31 that may have run over");
    return true;
}
