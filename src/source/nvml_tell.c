/* SPDX-License-Identifier: MIT */
#include "source/nvml_tell.h"

#include "base/clock.h"

enum status nvml_tell_gpu(const struct nvml_card *card, const struct event_sink *sink,
                          struct error *err)
{
    const struct event ev = {.kind = EVENT_GPU,
                             .u.gpu = {.gpu = card->index,
                                       .name = card->name,
                                       .uuid = card->uuid,
                                       .chip = "", /* NVML does not know it */
                                       .pci_bus = card->pci}};
    return event_push(sink, &ev, err);
}

enum status nvml_tell_versions(const struct nvml_cards *c, const struct event_sink *sink,
                               struct error *err)
{
    char nvml[NVML_VERSION_SIZE] = "", driver[NVML_VERSION_SIZE] = "";
    if (!c->api.nvmlSystemGetNVMLVersion ||
        c->api.nvmlSystemGetNVMLVersion(nvml, sizeof nvml) != NVML_SUCCESS)
        nvml[0] = '?';
    if (!c->api.nvmlSystemGetDriverVersion ||
        c->api.nvmlSystemGetDriverVersion(driver, sizeof driver) != NVML_SUCCESS)
        driver[0] = '?';
    return event_push_note(sink, NOTE_INFO, -1, err, "NVIDIA driver %s, NVML %s (%s)", driver, nvml,
                           c->api.lib.path);
}

void nvml_pace_set(struct nvml_pace *p, double asked_hz, double default_hz, double min_hz,
                   double max_hz)
{
    p->asked_hz = asked_hz > 0 ? asked_hz : default_hz;
    p->rate_hz = p->asked_hz < min_hz ? min_hz : p->asked_hz > max_hz ? max_hz : p->asked_hz;
    p->period_ns = (int64_t)(1e9 / p->rate_hz);
}

bool nvml_pace_is_as_asked(const struct nvml_pace *p)
{
    return p->rate_hz >= p->asked_hz && p->rate_hz <= p->asked_hz;
}

void nvml_pace_start(struct nvml_pace *p)
{
    p->due_ns = clock_monotonic_ns();
}

enum status nvml_pace_wait(struct nvml_pace *p, const struct event_sink *sink,
                           const struct source_stop *stop, struct error *err)
{
    int64_t now = clock_monotonic_ns();
    p->due_ns = p->due_ns + p->period_ns > now ? p->due_ns + p->period_ns : now;
    return source_wait(p->due_ns, sink, stop, err);
}

enum status nvml_tell_wait_awake(struct nvml_cards *c, const struct event_sink *sink,
                                 const struct source_stop *stop, struct error *err)
{
    while (!stop->raised) {
        if (!nvml_cards_sleep(c))
            return nvml_cards_start(c, err);
        enum status st = source_beat(sink, err);
        if (st)
            return st;
        source_sleep_until(clock_monotonic_ns() + SOURCE_BEAT_NS, stop);
    }
    return OK;
}
