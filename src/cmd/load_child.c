/* SPDX-License-Identifier: MIT */
#include "cmd/load_child.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/start.h"

enum { GRACE_MS = 3000 };

enum status load_child_start(struct load_child *l, unsigned number, const char *load,
                             double seconds, struct error *err)
{
    struct child_argv a;
    char gpu[16], text[32];
    snprintf(gpu, sizeof gpu, "%u", number);
    snprintf(text, sizeof text, "%.3f", seconds);
    child_argv_begin(&a, "load", load);
    child_argv_word(&a, text);
    child_argv_word(&a, "--json");
    child_argv_option(&a, "--gpu", gpu);
    return start_child(&l->proc, &a, true, err);
}

static void take_line(struct load_child *l, const char *line, size_t len)
{
    json_t *o = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
    const char *event = json_string_value(json_object_get(o, "event"));
    if (event && strcmp(event, "load_begin") == 0)
        l->begin_ns = json_integer_value(json_object_get(o, "begin_ns"));
    if (event && strcmp(event, "load") == 0 && !l->report)
        l->report = json_incref(o);
    json_decref(o);
}

void load_child_read(struct load_child *l)
{
    char chunk[4096];
    ssize_t n;
    l->ended |= l->proc.pid && proc_ended(&l->proc, &l->wait_status);
    while ((n = read(l->proc.out, chunk, sizeof chunk)) > 0)
        buf_add(&l->text, chunk, (size_t)n);
    size_t used = 0;
    for (const char *end; l->text.len > used &&
                          (end = memchr(l->text.data + used, '\n', l->text.len - used)) != NULL;) {
        size_t len = (size_t)(end - l->text.data) - used;
        take_line(l, l->text.data + used, len);
        used += len + 1;
    }
    if (used) {
        memmove(l->text.data, l->text.data + used, l->text.len - used);
        l->text.len -= used;
    }
}

void load_child_fini(struct load_child *l)
{
    proc_stop(&l->proc, GRACE_MS);
    json_decref(l->report);
    buf_fini(&l->text);
}
