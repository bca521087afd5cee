/* SPDX-License-Identifier: MIT */
/* Writes the catalogue as the live page needs it: web_catalogue FILE. A script of one constant,
 * `CATALOGUE`: key → label, group, help, and whether it has a trace (src/collect/trace.h). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "metric/metric.h"

/* A string of JavaScript that can stand inside <script>. */
static void put_text(struct buf *out, const char *text)
{
    buf_putc(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            buf_putc(out, '\\');
        if (*text == '<')
            buf_puts(out, "\\u003c");
        else
            buf_putc(out, *text);
    }
    buf_putc(out, '"');
}

static void put_catalogue(struct buf *out)
{
    buf_puts(out, "const CATALOGUE = {\n");
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct metric_info *info = metric_info((enum metric)m);
        buf_printf(out, "  %s: { label: ", info->key);
        put_text(out, info->label);
        buf_puts(out, ", group: ");
        put_text(out, metric_group_title(info->group));
        buf_puts(out, ", help: ");
        put_text(out, info->help);
        bool has_trace = info->kind == KIND_GAUGE && info->unit != UNIT_FLAGS;
        buf_printf(out, ", hasTrace: %s },\n", has_trace ? "true" : "false");
    }
    buf_puts(out, "};\n");
}

int main(int argc, char **argv)
{
    struct buf text = BUF_INIT;
    if (argc != 2) {
        fprintf(stderr, "usage: web_catalogue FILE\n");
        return 2;
    }
    put_catalogue(&text);
    FILE *f = text.failed ? NULL : fopen(argv[1], "w");
    bool good = f && fwrite(text.data, 1, text.len, f) == text.len;
    if (f && fclose(f) != 0)
        good = false;
    if (!good)
        fprintf(stderr, "web_catalogue: %s: %s\n", argv[1], strerror(errno));
    buf_fini(&text);
    return good ? 0 : 1;
}
