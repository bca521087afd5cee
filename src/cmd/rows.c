/* SPDX-License-Identifier: MIT */
#include "cmd/rows.h"

#include <stdlib.h>

#include "cmd/output.h"

struct rows {
    struct show_csv *csv;
    struct buf text;
    bool begun;
};

enum status rows_create(struct rows **out, struct error *err)
{
    struct rows *r = calloc(1, sizeof *r);
    if (!r)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    enum status st = show_csv_create(&r->csv, err);
    if (st)
        rows_destroy(r);
    else
        *out = r;
    return st;
}

void rows_destroy(struct rows *r)
{
    if (!r)
        return;
    show_csv_destroy(r->csv);
    buf_fini(&r->text);
    free(r);
}

enum status rows_push(struct rows *r, const struct event *ev, struct error *err)
{
    if (ev->kind != EVENT_SAMPLES)
        return show_csv_describe(r->csv, "", ev, err);
    if (!r->begun)
        show_csv_header(r->csv, &r->text);
    r->begun = true;
    enum status st = show_csv_rows(r->csv, 0, &ev->u.samples, &r->text, err);
    return st ? st : output_write(&r->text, err);
}
