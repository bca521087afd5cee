/* SPDX-License-Identifier: MIT */
#include "cmd/panel.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/str.h"

/* How long something is said, and how far charts stay behind the newest time: batches come every
 * 150 ms. */
static const int64_t message_ns = INT64_C(8000000000), behind_ns = INT64_C(250000000);
static const int64_t s1 = INT64_C(1000000000);

/* ---- messages ---- */

void panel_say(struct panel *p, bool bad, int64_t now_ns, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(p->model.message, sizeof p->model.message, fmt, ap);
    va_end(ap);
    str_one_line(p->model.message);
    p->model.message_is_bad = bad;
    p->said_ns = now_ns;
}

void panel_end(struct panel *p, int64_t now_ns, const char *reason)
{
    p->model.is_over = true;
    panel_say(p, false, now_ns, "no more comes: %s (q quits, ←→ looks back)",
              *reason         ? reason
              : *p->last_note ? p->last_note
                              : "the stream has ended");
}

void panel_toggle_recording(struct panel *p, int64_t now_ns)
{
    struct error err = ERROR_INIT;
    bool began = !p->recorder.writer;
    if (began && p->model.is_over) {
        panel_say(p, true, now_ns, "not recorded: the stream has ended, nothing more comes");
        return;
    }
    enum status st = began ? recorder_begin(&p->recorder, &err) : recorder_end(&p->recorder, &err);
    p->model.is_recording = p->recorder.writer != NULL;
    if (st)
        panel_say(p, true, now_ns, "not recorded: %s", err.text);
    else
        panel_say(p, false, now_ns, began ? "recording to %s (r ends it)" : "recorded: %s",
                  p->recorder.path);
}

/* ---- events ---- */

/* Windows go by the stream's own time, so that ten minutes of history that come at once are as many
 * windows as if they had been watched. */
static enum status roll(struct panel *p, struct error *err)
{
    struct snapshot *s = NULL;
    int64_t t_ns = trace_newest_ns(p->trace);
    if (t_ns < p->rolled_ns) /* the clock was set back */
        p->rolled_ns = p->calm_ns = t_ns;
    if (t_ns - p->rolled_ns < s1)
        return OK;
    collector_roll(p->second, 1);
    p->rolled_ns = t_ns;
    p->looked_ns = 0;
    if (t_ns - p->calm_ns < (int64_t)(VERDICTS_WINDOW_S * 1e9))
        return OK;
    p->calm_ns = t_ns;
    collector_roll(p->calm, VERDICTS_WINDOW_S);
    enum status st = collector_snapshot(p->calm, &s, err);
    if (st)
        return st;
    p->verdicts.frozen_ns = p->model.is_frozen ? p->model.at_ns : 0;
    verdicts_take(&p->verdicts, s, false);
    snapshot_destroy(p->judged);
    p->judged = s;
    return OK;
}

static void take_note(struct panel *p, const struct event_note *n)
{
    snprintf(p->last_note, sizeof p->last_note, "%s", n->text);
    str_one_line(p->last_note);
    if (n->level != NOTE_INFO)
        panel_say(p, n->level == NOTE_ERROR, clock_monotonic_ns(), "%s", n->text);
}

static void record(struct panel *p, const struct event *ev)
{
    struct error err = ERROR_INIT;
    if (recorder_take(&p->recorder, ev, &err) == OK)
        return;
    p->model.is_recording = false;
    panel_say(p, true, clock_monotonic_ns(), "the recording ended: %s", err.text);
}

static enum status take(void *self, const struct event *ev, struct error *err)
{
    struct panel *p = self;
    const struct event_sink second = collector_sink(p->second), calm = collector_sink(p->calm),
                            trace = trace_sink(p->trace);
    enum status st = event_push(&second, ev, err);
    if (!st)
        st = event_push(&calm, ev, err);
    if (!st)
        st = event_push(&trace, ev, err);
    if (st)
        return st;
    record(p, ev);
    if (ev->kind == EVENT_NOTE)
        take_note(p, &ev->u.note);
    return ev->kind == EVENT_SAMPLES ? roll(p, err) : OK;
}

/* ---- the model ---- */

enum status panel_init(struct panel *p, struct error *err)
{
    enum status st = collector_create(&p->second, err);
    if (!st)
        st = collector_create(&p->calm, err);
    if (!st)
        st = trace_create(&p->trace, err);
    if (st)
        return st;
    /* nothing is shown before its window is closed */
    collector_roll(p->second, 1);
    collector_roll(p->calm, VERDICTS_WINDOW_S);
    p->sink = (struct event_sink){take, p};
    p->model.trace = p->trace;
    p->model.verdicts = &p->verdicts;
    return OK;
}

void panel_fini(struct panel *p)
{
    collector_destroy(p->second);
    collector_destroy(p->calm);
    trace_destroy(p->trace);
    verdicts_fini(&p->verdicts);
    snapshot_destroy(p->shown);
    snapshot_destroy(p->judged);
    recorder_fini(&p->recorder);
}

static int offset_of(int64_t t_ns)
{
    struct tm tm;
    time_t t = (time_t)(t_ns / s1);
    return localtime_r(&t, &tm) ? (int)tm.tm_gmtoff : 0;
}

/* The time that charts end at. The stream's clock is taken from its newest sample, since another
 * host's, or a recording's, is not ours; while nothing comes it goes on, and charts show the gap.
 */
static void set_edge(struct panel *p, int64_t now_ns)
{
    int64_t newest_ns = trace_newest_ns(p->trace);
    if (newest_ns == 0)
        return;
    if (newest_ns != p->newest_ns &&
        (newest_ns - now_ns > p->ahead_ns || newest_ns < p->newest_ns || p->newest_ns == 0))
        p->ahead_ns = newest_ns - now_ns;
    if (p->newest_ns == 0 || newest_ns < p->newest_ns)
        p->model.utc_offset_s = offset_of(newest_ns);
    p->newest_ns = newest_ns;
    p->model.edge_ns = p->model.is_over ? newest_ns : now_ns + p->ahead_ns - behind_ns;
    if (p->model.edge_ns > newest_ns && p->model.edge_ns < newest_ns + s1)
        p->model.edge_ns = newest_ns;
}

static bool has_counters(const struct snapshot *s)
{
    for (size_t i = 0; i < s->n_gpus; i++)
        if (s->gpus[i].samples && s->gpus[i].backend != SOURCE_NVML)
            return true;
    return false;
}

/* One GPU is shown at once, several as an overview, until somebody chooses: GPUs become known one
 * by one. */
static void choose_view(struct model *m)
{
    if (m->is_chosen || m->now->n_gpus == 0)
        return;
    m->gpu = m->now->gpus[0].index;
    m->view = m->now->n_gpus == 1 ? VIEW_GPU : VIEW_OVERVIEW;
}

enum status panel_look(struct panel *p, int64_t now_ns, struct error *err)
{
    struct snapshot *s = NULL;
    set_edge(p, now_ns);
    /* as long as nothing is known the last words are all there is to say */
    bool keeps = p->model.is_over || !p->model.now || p->model.now->n_gpus == 0;
    if (p->said_ns && now_ns - p->said_ns > message_ns && !keeps) {
        p->model.message[0] = '\0';
        p->said_ns = 0;
    }
    /* a window that closes asks for it; without one, stale values have to be seen as such */
    bool due = p->looked_ns == 0 || now_ns - p->looked_ns >= 2 * s1;
    if (p->model.is_frozen || !due)
        return OK;
    if (!p->has_window || now_ns - p->looked_ns >= 2 * s1)
        collector_roll(p->second, 1);
    enum status st = collector_snapshot(p->second, &s, err);
    if (st)
        return st;
    p->looked_ns = p->has_window ? now_ns : 0;
    p->has_window = has_counters(s);
    verdicts_take(&p->verdicts, s, true);
    p->model.now = s;
    choose_view(&p->model);
    snapshot_destroy(p->shown);
    p->shown = s;
    return OK;
}
