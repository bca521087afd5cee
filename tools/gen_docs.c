/* SPDX-License-Identifier: MIT */
/* Writes the documentation of the catalogue: gen_docs markdown|man [FILE]. Without FILE to stdout.
 * The build target `docs` renews both files in the source tree. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "docs_text.h"

static int write_all(const struct buf *b, const char *path)
{
    FILE *f = path ? fopen(path, "w") : stdout;
    if (!f) {
        fprintf(stderr, "gen_docs: %s: %s\n", path, strerror(errno));
        return 1;
    }
    int bad = fwrite(b->data, 1, b->len, f) != b->len;
    bad |= path ? fclose(f) != 0 : fflush(f) != 0;
    if (bad)
        fprintf(stderr, "gen_docs: %s: %s\n", path ? path : "stdout", strerror(errno));
    return bad;
}

int main(int argc, char **argv)
{
    struct buf b = BUF_INIT;
    if (argc == 2 || argc == 3) {
        if (strcmp(argv[1], "markdown") == 0)
            docs_markdown(&b);
        else if (strcmp(argv[1], "man") == 0)
            docs_man(&b);
    }
    if (b.len == 0 && !b.failed) {
        fprintf(stderr, "usage: gen_docs markdown|man [FILE]\n");
        return 2;
    }
    int rc = 1;
    if (b.failed)
        fprintf(stderr, "gen_docs: out of memory\n");
    else
        rc = write_all(&b, argc == 3 ? argv[2] : NULL);
    buf_fini(&b);
    return rc;
}
