/* SPDX-License-Identifier: MIT */
#include "show/prom_text.h"

#include <math.h>
#include <string.h>

#include "base/num.h"

/* quote: '"' in label values, '\0' in help texts, where quotation marks stand for themselves. */
static void add_escaped(struct buf *out, const char *s, char quote)
{
    for (; *s; s++) {
        if (*s == '\n')
            buf_puts(out, "\\n");
        else if (*s == '\\' || *s == quote)
            buf_add(out, (const char[]){'\\', *s}, 2);
        else
            buf_putc(out, *s);
    }
}

static void begin(struct prom_family *f)
{
    struct buf *out = f->out;
    f->begun = true;
    buf_puts(out, "# HELP ");
    buf_puts(out, f->name);
    buf_putc(out, ' ');
    add_escaped(out, f->help, '\0');
    buf_puts(out, "\n# TYPE ");
    buf_puts(out, f->name);
    buf_putc(out, ' ');
    buf_puts(out, f->type);
    buf_putc(out, '\n');
}

void prom_sample(struct prom_family *f, const struct prom_label *labels, double v)
{
    char number[NUM_TEXT_SIZE], next = '{';
    if (!isfinite(v))
        return;
    if (!f->begun)
        begin(f);
    buf_puts(f->out, f->name);
    for (size_t i = 0; labels && labels[i].key; i++) {
        if (!labels[i].value[0])
            continue;
        buf_putc(f->out, next);
        buf_puts(f->out, labels[i].key);
        buf_puts(f->out, "=\"");
        add_escaped(f->out, labels[i].value, '"');
        buf_putc(f->out, '"');
        next = ',';
    }
    if (next == ',')
        buf_putc(f->out, '}');
    buf_putc(f->out, ' ');
    buf_add(f->out, number, num_format(number, v));
    buf_putc(f->out, '\n');
}
