/* SPDX-License-Identifier: MIT */
/* Streams through memory only take their time. gemv really computes, so that a program that checks
 * it finds it right, or, with "gemv = wrong", wrong. */
#include "cuda_kernels.h"

#include <math.h>
#include <string.h>

struct record {
    uint64_t clock_begin, clock_end, timer_begin, timer_end;
};

static void note(const struct gpu *gpu, struct record *r, int64_t begin_ns, int64_t ns)
{
    double per_ns = script_number(gpu, "attribute.13", 0) * 1e-6; /* kHz */
    *r = (struct record){
        .clock_begin = (uint64_t)((double)(begin_ns % 1000000000000) * per_ns),
        .timer_begin = (uint64_t)begin_ns,
        .timer_end = (uint64_t)(begin_ns + ns),
    };
    r->clock_end = r->clock_begin + (uint64_t)((double)ns * per_ns);
}

static uint64_t word(void **params, int i)
{
    uint64_t v;
    memcpy(&v, params[i], sizeof v);
    return v;
}

static uint32_t half_word(void **params, int i)
{
    uint32_t v;
    memcpy(&v, params[i], sizeof v);
    return v;
}

static void *pointer(void **params, int i)
{
    return (void *)(uintptr_t)word(params, i);
}

/* ---- 16-bit floats: normal numbers, zero and what is too small ---- */

static uint16_t to_half(double v)
{
    uint16_t sign = signbit(v) ? 0x8000 : 0;
    int exponent = 0;
    double fraction = frexp(fabs(v), &exponent); /* 0.5 … 1 */
    if (fraction == 0)
        return sign;
    if (exponent < -13) /* steps of 2^-24 */
        return (uint16_t)(sign | (unsigned)lrint(ldexp(fabs(v), 24)));
    /* the fraction's first bit, which is not stored, adds 1 to the exponent */
    return (uint16_t)(sign + ((unsigned)(exponent + 13) << 10) + (unsigned)lrint(fraction * 2048));
}

/* All of them, computed once. */
static const float *halves(void)
{
    static float table[1 << 16];
    bool done = table[1] > 0;
    for (unsigned h = 0; !done && h < 0x7c00; h++) {
        unsigned exponent = h >> 10, mantissa = h & 1023u;
        float v = exponent ? ldexpf(1024 + (float)mantissa, (int)exponent - 25)
                           : ldexpf((float)mantissa, -24);
        table[h] = v;
        table[h | 0x8000u] = -v;
    }
    return table;
}

static uint32_t scramble(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

static void weights(uint16_t *to, uint64_t quads)
{
    uint16_t of_bits[16];
    for (int k = 0; k < 16; k++)
        of_bits[k] = to_half((2 * k - 15) / 1024.0);
    for (uint64_t i = 0; i < quads; i++) {
        uint32_t bits = scramble((uint32_t)i);
        for (unsigned k = 0; k < 8; k++)
            to[8 * i + k] = of_bits[bits >> 4 * k & 15u];
    }
}

static void gemv(const struct gpu *gpu, uint16_t *y, const uint16_t *w, const uint16_t *x, size_t n)
{
    const float *value = halves();
    bool wrong = strcmp(script_text(gpu, "gemv", ""), "wrong") == 0;
    for (size_t row = 0; row < n; row++) {
        double sum = 0;
        for (size_t k = 0; k < n; k++)
            sum += (double)value[w[row * n + k]] * (double)value[x[k]];
        y[row] = to_half(wrong ? 1.01 * sum : sum);
    }
}

int64_t kernel_ns(const struct gpu *gpu)
{
    return (int64_t)(script_number(gpu, "kernel", 0.0025) * 1e9);
}

int64_t kernel_run(const struct gpu *gpu, const char *name, int64_t begin_ns, void **params)
{
    int64_t ns = kernel_ns(gpu);
    bool spins = strcmp(name, "spin") == 0;
    bool computes = strcmp(name, "fma") == 0 || strcmp(name, "mma") == 0;
    if (spins)
        ns = (int64_t)word(params, 1);
    if (computes)
        ns = ns * half_word(params, 2) / 1000;
    if (spins || computes)
        note(gpu, pointer(params, 0), begin_ns, ns);
    if (strcmp(name, "weights") == 0)
        weights(pointer(params, 0), word(params, 1));
    if (strcmp(name, "gemv") == 0)
        gemv(gpu, pointer(params, 0), pointer(params, 1), pointer(params, 2), half_word(params, 3));
    return ns;
}
