/* SPDX-License-Identifier: MIT */
#include "source/nvml/nvml_processes.h"

#include <stdlib.h>

#include "base/clock.h"
#include "source/nvml/process_name.h"
#include "source/nvml/process_table.h"

enum { NAME_SIZE = 64 };

/* Utilisation that is older says nothing about now. */
#define USE_AGE_US UINT64_C(10000000)

static enum status push(const struct process_table *t, const struct nvml_gpu *g,
                        const struct nvml_api *api, const struct event_sink *sink,
                        struct error *err)
{
    struct event_process *list = calloc(t->n + 1, sizeof *list);
    char(*names)[NAME_SIZE] = calloc(t->n + 1, sizeof *names);
    enum status st = list && names ? OK : fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; !st && i < t->n; i++) {
        process_name(api, t->rows[i].pid, names[i], sizeof names[i]);
        list[i] = (struct event_process){.pid = t->rows[i].pid,
                                         .name = names[i],
                                         .gpu_memory_bytes = t->rows[i].memory_bytes,
                                         .sm_utilization = t->rows[i].sm};
    }
    const struct event ev = {
        .kind = EVENT_PROCESSES,
        .u.processes = {.gpu = g->card->index, .n = t->n, .list = list},
    };
    st = st ? st : event_push(sink, &ev, err);
    free(names);
    free(list);
    return st;
}

static enum status tell_why_not(struct nvml_gpu *g, const char *call, nvmlReturn_t rc,
                                const struct event_sink *sink, struct error *err)
{
    enum status st = nvml_cards_check(g->card, call, rc, err);
    if (st || g->told_processes)
        return st;
    g->told_processes = true;
    struct error words = ERROR_INIT;
    nvml_fail(&words, call, rc);
    return event_push_note(sink, NOTE_WARNING, (int)g->card->index, err,
                           "its processes cannot be listed: %s", words.text);
}

enum status nvml_processes_send(struct nvml_gpu *g, const struct nvml_api *api,
                                const struct event_sink *sink, struct error *err)
{
    struct process_table t = {0};
    const char *call = NULL;
    uint64_t now_us = (uint64_t)clock_unix_ns() / 1000;
    nvmlReturn_t rc = process_table_fill(&t, api, g->card->dev, &call);
    if (rc)
        return tell_why_not(g, call, rc, sink, err);
    /* who is there can be told without how much they do */
    rc = t.n ? process_table_use(&t, api, g->card->dev, now_us - USE_AGE_US, &call) : NVML_SUCCESS;
    enum status st = nvml_cards_check(g->card, call, rc, err);
    if (!st)
        st = push(&t, g, api, sink, err);
    process_table_fini(&t);
    return st;
}
