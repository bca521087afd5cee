/* SPDX-License-Identifier: MIT */
#include "show/json_out.h"

#include <math.h>
#include <stdlib.h>

json_t *json_out_number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

enum status json_out_line(struct buf *out, json_t *o, size_t flags, struct error *err)
{
    char *text = o ? json_dumps(o, JSON_COMPACT | flags) : NULL;
    json_decref(o);
    if (!text)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    buf_printf(out, "%s\n", text);
    free(text);
    return out->failed ? fail(err, ERR_NOMEM, 0, "out of memory") : OK;
}
