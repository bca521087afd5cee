/* SPDX-License-Identifier: MIT */
#include "event/quick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 160 };

void quick_fini(struct quick *q)
{
    free(q->t0_ns);
    free(q->t1_ns);
    free(q->series);
    free(q->values);
    free(q->seen);
    *q = (struct quick){0};
}

/* What is left of a line. */
struct rest {
    const char *at, *end;
};

static bool take_char(struct rest *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_text(struct rest *r, const char *text)
{
    size_t n = strlen(text);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, text, n) != 0)
        return false;
    r->at += n;
    return true;
}

static bool is_digit(const struct rest *r)
{
    return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

/* Digits without a leading zero; at most 19, which 64 bits hold. */
static bool take_digits(struct rest *r, uint64_t *out)
{
    const char *begin = r->at;
    uint64_t v = 0;
    while (is_digit(r) && r->at - begin < 20)
        v = 10 * v + (uint64_t)(*r->at++ - '0');
    *out = v;
    size_t n = (size_t)(r->at - begin);
    return n > 0 && n < 20 && (n == 1 || *begin != '0');
}

static bool take_times(struct rest *r, const char *key, int64_t **list, size_t *room, size_t *n)
{
    if (!take_text(r, key))
        return false;
    for (*n = 0; *n < BOOK_SAMPLES_MAX; (*n)++) {
        uint64_t v;
        if (*n && take_char(r, ']'))
            return true;
        if ((*n && !take_char(r, ',')) || !take_digits(r, &v) || v > INT64_MAX / 2)
            return false;
        if (*n == *room) {
            size_t wanted = *room ? 2 * *room : 64;
            int64_t *more = realloc(*list, wanted * sizeof *more);
            if (!more)
                return false;
            *list = more;
            *room = wanted;
        }
        (*list)[*n] = (int64_t)v;
    }
    return false;
}

static bool take_all_times(struct quick *q, struct rest *r, size_t *n)
{
    size_t first = 0;
    if (!take_times(r, ",\"t0_ns\":[", &q->t0_ns, &q->room0, &first) ||
        !take_times(r, ",\"t1_ns\":[", &q->t1_ns, &q->room1, n) || first != *n)
        return false;
    for (size_t i = 0; i < *n; i++)
        if (q->t1_ns[i] < q->t0_ns[i])
            return false;
    return true;
}

/* A number whose digits and power of ten are exact in floating point: then one multiplication or
 * division rounds right (W. D. Clinger, "How to read floating point numbers accurately", 1990). */
static bool take_number(struct rest *r, double *out)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint64_t digits, more = 0;
    int power = 0;
    bool minus = take_char(r, '-'), is_real = false;
    if (!take_digits(r, &digits) || digits > 99999999999999)
        return false;
    if (take_char(r, '.')) {
        const char *begin = r->at;
        is_real = true;
        while (is_digit(r) && digits <= 99999999999999) {
            digits = 10 * digits + (uint64_t)(*r->at++ - '0');
            power--;
        }
        if (r->at == begin || is_digit(r))
            return false;
    }
    if (take_char(r, 'e')) {
        bool down = take_char(r, '-');
        is_real = true;
        if (!down)
            take_char(r, '+');
        const char *begin = r->at;
        while (is_digit(r) && r->at - begin < 4)
            more = 10 * more + (uint64_t)(*r->at++ - '0');
        if (r->at == begin || r->at - begin == 4)
            return false;
        power += down ? -(int)more : (int)more;
    }
    if (power < -22 || power > 22)
        return false;
    double v = power < 0 ? (double)digits / powers[-power] : (double)digits * powers[power];
    *out = minus && (is_real || digits) ? -v : v;
    return true;
}

static bool take_cell(struct rest *r, double *out)
{
    if (r->at < r->end && *r->at == 'n') {
        *out = NAN;
        return take_text(r, "null");
    }
    return take_number(r, out);
}

/* "name":[ – a name without escapes, of the plan. hint: where to look first. */
static bool take_name(struct rest *r, const struct book_plan *plan, size_t hint, long *index)
{
    char name[NAME_MAX_BYTES];
    size_t n = 0;
    if (!take_char(r, '"'))
        return false;
    while (r->at < r->end && *r->at != '"' && *r->at != '\\' && *r->at >= ' ' && *r->at < 127 &&
           n + 1 < sizeof name)
        name[n++] = *r->at++;
    name[n] = '\0';
    if (!take_text(r, "\":["))
        return false;
    *index = book_series_index(plan, name, hint);
    return *index >= 0;
}

/* No name comes twice in a line. */
static bool is_first(struct quick *q, const struct book_plan *plan, long index)
{
    if (plan->n > q->marks) {
        uint64_t *more = realloc(q->seen, plan->n * sizeof *more);
        if (!more)
            return false;
        memset(more + q->marks, 0, (plan->n - q->marks) * sizeof *more);
        q->seen = more;
        q->marks = plan->n;
    }
    bool first = q->seen[index] != q->line;
    q->seen[index] = q->line;
    return first;
}

static bool make_cells(struct quick *q, size_t cells)
{
    if (cells <= q->cells)
        return true;
    double *more = realloc(q->values, 2 * cells * sizeof *more);
    if (more) {
        q->values = more;
        q->cells = 2 * cells;
    }
    return more != NULL;
}

static bool make_columns(struct quick *q, size_t columns)
{
    if (columns <= q->columns)
        return true;
    uint32_t *more = realloc(q->series, 2 * columns * sizeof *more);
    if (more) {
        q->series = more;
        q->columns = 2 * columns;
    }
    return more != NULL;
}

static bool take_column(struct quick *q, struct rest *r, const struct book_plan *plan, size_t n,
                        size_t column, long *last)
{
    long index;
    if (!take_name(r, plan, (size_t)(*last + 1), &index) || !is_first(q, plan, index) ||
        !make_columns(q, column + 1) || !make_cells(q, (column + 1) * n))
        return false;
    q->series[column] = (uint32_t)index;
    *last = index;
    for (size_t i = 0; i < n; i++)
        if ((i && !take_char(r, ',')) || !take_cell(r, &q->values[column * n + i]))
            return false;
    return take_char(r, ']');
}

static bool take_source(struct rest *r, enum source_id *source)
{
    for (int i = 0; i < SOURCE_COUNT; i++) {
        struct rest before = *r;
        if (take_text(r, source_name((enum source_id)i)) && take_char(r, '"')) {
            *source = (enum source_id)i;
            return true;
        }
        *r = before;
    }
    return false;
}

bool quick_samples(struct quick *q, const struct book *book, const char *line, size_t len,
                   struct event_samples *out)
{
    struct rest r = {line, line + len};
    enum source_id source;
    uint64_t gpu;
    size_t n, columns = 0;
    long last = -1;
    if (!take_text(&r, "{\"event\":\"samples\",\"gpu\":") || !take_digits(&r, &gpu) ||
        gpu >= BOOK_GPUS_MAX || !take_text(&r, ",\"source\":\"") || !take_source(&r, &source))
        return false;
    const struct book_plan *plan = book_find(book, (unsigned)gpu, source);
    q->line++;
    if (!plan || !take_all_times(q, &r, &n) || !take_text(&r, ",\"values\":{"))
        return false;
    while (!(r.at < r.end && *r.at == '}') && columns < BOOK_SERIES_MAX) {
        if ((columns && !take_char(&r, ',')) || !take_column(q, &r, plan, n, columns, &last))
            return false;
        columns++;
    }
    if (!take_text(&r, "}}") || r.at != r.end || columns == 0)
        return false;
    *out = (struct event_samples){.gpu = (unsigned)gpu,
                                  .source = source,
                                  .n = n,
                                  .t0_ns = q->t0_ns,
                                  .t1_ns = q->t1_ns,
                                  .columns = columns,
                                  .series = q->series,
                                  .values = q->values,
                                  .stride = n};
    return true;
}
