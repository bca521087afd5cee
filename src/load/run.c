/* SPDX-License-Identifier: MIT */
/* A load from its request to its report. */
#include <math.h>

#include "base/clock.h"
#include "load/expect.h"
#include "load/work.h"

/* No entry: idle, which takes nothing of the GPU. */
static const struct load_ops *const kinds[LOAD_KINDS] = {
    [LOAD_COPY] = &load_ops_copy, [LOAD_READ] = &load_ops_read,
    [LOAD_GEMV] = &load_ops_gemv, [LOAD_MMA] = &load_ops_mma,
    [LOAD_FMA] = &load_ops_fma,   [LOAD_OCCUPANCY] = &load_ops_occupancy,
    [LOAD_H2D] = &load_ops_h2d,   [LOAD_D2H] = &load_ops_d2h,
    [LOAD_DUTY] = &load_ops_duty, [LOAD_TAIL] = &load_ops_tail,
};

static enum status run_idle(struct load *l, struct error *err)
{
    int64_t begin_ns = clock_monotonic_ns();
    enum status st = load_begin(l, err);
    if (st)
        return st;
    load_sleep_until(l, begin_ns + (int64_t)(l->request->seconds * 1e9));
    l->report->seconds = (double)(clock_monotonic_ns() - begin_ns) * 1e-9;
    l->report->end_ns = clock_unix_ns();
    return OK;
}

static enum status run_kind(struct load *l, struct error *err)
{
    const struct load_ops *ops = kinds[l->request->choice.kind];
    if (!ops)
        return run_idle(l, err);
    enum status st = load_device_open(&l->device, ops->image, err);
    if (!st)
        st = ops->prepare(l, err);
    if (st || load_is_stopped(l))
        return st;
    return ops->run ? ops->run(l, err) : load_run_batches(l, ops, err);
}

enum status load_run(const struct load_request *request, const struct load_hooks *hooks,
                     struct load_report *report, struct error *err)
{
    static const struct load_hooks none;
    struct load_report r = {
        .choice = request->choice,
        .seconds = NAN,
        .rate = NAN,
        .busy = NAN,
        .sm_clock_hz = NAN,
    };
    struct load l = {.request = request, .hooks = hooks ? hooks : &none, .report = &r};
    enum status st = load_device_find(&l.device, request->library, request->gpu, err);
    r.gpu = l.device.gpu;
    if (!st)
        st = run_kind(&l, err);
    load_device_close(&l.device);
    if (st)
        return st;
    if (r.choice.kind == LOAD_GEMV && r.seconds > 0)
        r.rate = (double)r.passes / r.seconds;
    load_expect(&r);
    *report = r;
    return OK;
}
