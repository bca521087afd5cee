/* SPDX-License-Identifier: MIT */
#include "llm/exposition.h"

#include "llm/number.h"

enum { NAME_FIRST = 1, NAME_REST = 2, BLANK = 4 };

#define LETTERS(X, flags)                                                                          \
    [X + 0] = flags, [X + 1] = flags, [X + 2] = flags, [X + 3] = flags, [X + 4] = flags,           \
         [X + 5] = flags, [X + 6] = flags, [X + 7] = flags, [X + 8] = flags, [X + 9] = flags

static const unsigned char classes[256] = {
    ['\t'] = BLANK,
    [' '] = BLANK,
    ['\r'] = BLANK, /* of CRLF */
    [':'] = NAME_FIRST | NAME_REST,
    ['_'] = NAME_FIRST | NAME_REST,
    LETTERS('0', NAME_REST),
    LETTERS('A', NAME_FIRST | NAME_REST),
    LETTERS('K', NAME_FIRST | NAME_REST),
    ['U'] = NAME_FIRST | NAME_REST,
    ['V'] = NAME_FIRST | NAME_REST,
    ['W'] = NAME_FIRST | NAME_REST,
    ['X'] = NAME_FIRST | NAME_REST,
    ['Y'] = NAME_FIRST | NAME_REST,
    ['Z'] = NAME_FIRST | NAME_REST,
    LETTERS('a', NAME_FIRST | NAME_REST),
    LETTERS('k', NAME_FIRST | NAME_REST),
    ['u'] = NAME_FIRST | NAME_REST,
    ['v'] = NAME_FIRST | NAME_REST,
    ['w'] = NAME_FIRST | NAME_REST,
    ['x'] = NAME_FIRST | NAME_REST,
    ['y'] = NAME_FIRST | NAME_REST,
    ['z'] = NAME_FIRST | NAME_REST,
};

static bool is(char c, int class)
{
    return classes[(unsigned char)c] & class;
}

/* Where reading a line stands, and what is wrong with it (static text). */
struct cursor {
    const char *p, *end;
    const char *wrong;
};

static void skip_blanks(struct cursor *c)
{
    while (c->p < c->end && is(*c->p, BLANK))
        c->p++;
}

static bool wrong(struct cursor *c, const char *what)
{
    c->wrong = what;
    return false;
}

static struct slice take_name(struct cursor *c)
{
    const char *first = c->p;
    if (c->p < c->end && is(*c->p, NAME_FIRST))
        while (c->p < c->end && is(*c->p, NAME_REST))
            c->p++;
    return (struct slice){first, (size_t)(c->p - first)};
}

/* A quoted string with the cursor at its first quote; a backslash takes the next byte along. */
static bool take_quoted(struct cursor *c, struct slice *out)
{
    const char *first = ++c->p;
    for (const char *from = first;;) {
        const char *quote = memchr(from, '"', (size_t)(c->end - from));
        if (!quote)
            return wrong(c, "a quote is not closed");
        size_t backslashes = 0;
        while (quote - backslashes > first && quote[-(ptrdiff_t)backslashes - 1] == '\\')
            backslashes++;
        from = quote + 1;
        if (backslashes % 2 == 0) {
            *out = (struct slice){first, (size_t)(quote - first)};
            c->p = from;
            return true;
        }
    }
}

/* One label and what divides it from the next. A quoted string alone is the sample's name, as
 * Prometheus 3 writes names with other characters. */
static bool take_label(struct cursor *c, struct exposition_label *out)
{
    bool quoted = c->p < c->end && *c->p == '"';
    *out = (struct exposition_label){{c->p, 0}, {NULL, 0}};
    if (quoted && !take_quoted(c, &out->name))
        return false;
    if (!quoted)
        out->name = take_name(c);
    if (!quoted && out->name.n == 0)
        return wrong(c, "a label has no name");
    skip_blanks(c);
    if (c->p < c->end && *c->p == '=') {
        c->p++;
        skip_blanks(c);
        if (c->p == c->end || *c->p != '"')
            return wrong(c, "a label's value is not quoted");
        if (!take_quoted(c, &out->value))
            return false;
        skip_blanks(c);
    } else if (!quoted) {
        return wrong(c, "a label has no value");
    }
    if (c->p < c->end && *c->p == ',')
        c->p++;
    else if (c->p < c->end && *c->p != '}')
        return wrong(c, "no comma between two labels");
    return true;
}

/* From behind "{" to behind "}". */
static bool take_labels(struct cursor *c, struct exposition_sample *s)
{
    const char *first = c->p;
    struct exposition_label label;
    for (;;) {
        skip_blanks(c);
        if (c->p == c->end)
            return wrong(c, "the labels are not closed");
        if (*c->p == '}')
            break;
        if (!take_label(c, &label))
            return false;
        if (!label.value.s) {
            if (s->name.n)
                return wrong(c, "two names");
            s->name = label.name;
        }
    }
    s->labels = (struct slice){first, (size_t)(c->p - first)};
    c->p++;
    return true;
}

static struct slice take_word(struct cursor *c)
{
    skip_blanks(c);
    const char *first = c->p;
    while (c->p < c->end && !is(*c->p, BLANK))
        c->p++;
    return (struct slice){first, (size_t)(c->p - first)};
}

/* The value, and behind it perhaps a timestamp and an exemplar, which nobody needs here. */
static bool take_value(struct cursor *c, struct exposition_sample *s)
{
    double time;
    struct slice word = take_word(c);
    if (word.n == 0)
        return wrong(c, "no value");
    if (!number_parse(word, &s->value))
        return wrong(c, "the value is no number");
    word = take_word(c);
    if (word.n && !slice_is(word, "#")) {
        if (!number_parse(word, &time))
            return wrong(c, "what follows the value is no time");
        word = take_word(c);
    }
    if (word.n == 0)
        return true;
    skip_blanks(c);
    if (!slice_is(word, "#") || c->p == c->end || *c->p != '{')
        return wrong(c, "more behind the value");
    return true;
}

static bool take_sample(struct cursor *c, struct exposition_sample *s)
{
    *s = (struct exposition_sample){.name = take_name(c)};
    bool blank = c->p < c->end && is(*c->p, BLANK);
    skip_blanks(c);
    if (c->p < c->end && *c->p == '{') {
        c->p++;
        if (!take_labels(c, s))
            return false;
    } else if (!blank && s->name.n) {
        return wrong(c, c->p == c->end ? "no value" : "an odd character in a name");
    }
    return s->name.n ? take_value(c, s) : wrong(c, "no metric name");
}

enum status exposition_parse(struct slice body,
                             bool (*see)(void *self, const struct exposition_sample *sample),
                             void *self, struct error *err)
{
    const char *p = body.s, *end = body.n ? body.s + body.n : body.s;
    bool ended = false; /* "# EOF" was there */
    for (size_t line = 1; p < end; line++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        struct cursor c = {p, newline ? newline : end, NULL};
        p = newline ? newline + 1 : end;
        skip_blanks(&c);
        if (c.p == c.end)
            continue;
        if (*c.p == '#') {
            struct slice comment = {c.p, (size_t)(c.end - c.p)};
            ended |= slice_is(comment, "# EOF") || slice_is(comment, "# EOF\r");
            continue;
        }
        struct exposition_sample sample;
        if (ended)
            c.wrong = "more behind \"# EOF\"";
        else if (c.end - c.p > EXPOSITION_LINE_MAX)
            c.wrong = "longer than 64 KiB";
        else if (take_sample(&c, &sample) && !see(self, &sample))
            return OK;
        if (c.wrong)
            return fail(err, ERR_BAD_INPUT, 0, "line %zu: %s", line, c.wrong);
    }
    return OK;
}

bool labels_next(struct slice *labels, struct exposition_label *out)
{
    if (labels->n == 0)
        return false;
    struct cursor c = {labels->s, labels->s + labels->n, NULL};
    do {
        skip_blanks(&c);
        if (c.p == c.end || !take_label(&c, out))
            return false;
    } while (!out->value.s); /* the sample's own name */
    *labels = (struct slice){c.p, (size_t)(c.end - c.p)};
    return true;
}

bool labels_find(struct slice labels, const char *name, struct slice *value)
{
    struct exposition_label label;
    while (labels_next(&labels, &label))
        if (slice_is(label.name, name)) {
            *value = label.value;
            return true;
        }
    return false;
}

const char *exposition_what_else(struct slice body)
{
    if (body.n == 0)
        return "empty";
    struct cursor c = {body.s, body.s + body.n, NULL};
    while (c.p < c.end && (is(*c.p, BLANK) || *c.p == '\n'))
        c.p++;
    if (c.p == c.end)
        return "empty";
    struct slice rest = {c.p, (size_t)(c.end - c.p)};
    switch (*c.p) {
    case '<':
        return "an HTML page";
    case '[':
        return "JSON";
    case '{': /* Prometheus 3 writes {"a name"} 1 */
        return rest.n > 2 && memchr(rest.s, '}', rest.n) && !memchr(rest.s, ':', rest.n) ? NULL
                                                                                         : "JSON";
    case '"':
        return "text as a JSON string, as llama.cpp builds around b7010 send it";
    default:
        return NULL;
    }
}
