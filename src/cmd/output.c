/* SPDX-License-Identifier: MIT */
#include "cmd/output.h"

#include <errno.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/num.h"

enum { COLUMNS_MIN = 40, COLUMNS_DEFAULT = 100, COLUMNS_MAX = 140 };

static int terminal_columns(void)
{
    const char *columns = getenv("COLUMNS");
    uint64_t n;
    if (columns && num_parse_u64(columns, &n) && n > 0 && n < 10000)
        return (int)n;
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    return COLUMNS_DEFAULT;
}

struct show_style output_style(const struct options *o)
{
    const char *term = getenv("TERM");
    bool terminal = isatty(STDOUT_FILENO) == 1;
    int columns = terminal_columns();
    return (struct show_style){
        .columns = columns < COLUMNS_MIN   ? COLUMNS_MIN
                   : columns > COLUMNS_MAX ? COLUMNS_MAX
                                           : columns,
        .colour = terminal && !o->no_color && term && strcmp(term, "dumb") != 0,
        .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
    };
}

enum status output_write(struct buf *b, struct error *err)
{
    if (b->failed)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    errno = 0;
    if (b->len && (fwrite(b->data, 1, b->len, stdout) != b->len || fflush(stdout) != 0))
        return fail(err, ERR_IO, errno, "standard output: %s", strerror(errno));
    buf_clear(b);
    return OK;
}
