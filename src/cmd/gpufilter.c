/* SPDX-License-Identifier: MIT */
#include "cmd/gpufilter.h"

/* The GPU that an event is about; -1 = none. */
static int gpu_of(const struct event *ev)
{
    switch (ev->kind) {
    case EVENT_GPU:
        return (int)ev->u.gpu.gpu;
    case EVENT_PLAN:
        return (int)ev->u.plan.gpu;
    case EVENT_SAMPLES:
        return (int)ev->u.samples.gpu;
    case EVENT_PROCESSES:
        return (int)ev->u.processes.gpu;
    case EVENT_NOTE:
        return ev->u.note.gpu;
    default:
        return -1;
    }
}

static enum status take(void *self, const struct event *ev, struct error *err)
{
    struct gpufilter *f = self;
    int gpu = gpu_of(ev);
    if (gpu >= SOURCE_GPUS_MAX) { /* what is not shown is said, once */
        bool said = f->said;
        f->said = true;
        return said ? OK
                    : event_push_note(f->sink, NOTE_WARNING, -1, err,
                                      "only the first %d GPUs are shown", SOURCE_GPUS_MAX);
    }
    if (ev->kind == EVENT_GPU)
        f->unwanted[gpu] = !request_wants(f->request, ev->u.gpu.gpu, ev->u.gpu.uuid);
    return gpu >= 0 && f->unwanted[gpu] ? OK : event_push(f->sink, ev, err);
}

struct event_sink gpufilter_sink(struct gpufilter *f)
{
    return (struct event_sink){take, f};
}
