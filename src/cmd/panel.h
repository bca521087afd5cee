/* SPDX-License-Identifier: MIT */
/* The state of a running panel: events go in, a model comes out. It reads clocks, but no terminal.
 */
#ifndef SMEFF_CMD_PANEL_H
#define SMEFF_CMD_PANEL_H

#include "cmd/recorder.h"
#include "collect/collect.h"
#include "panel/model.h"

/* Zeroed and then panel_init. */
struct panel {
    struct model model;
    struct event_sink sink; /* where events go */
    struct collector *second, *calm;
    struct trace *trace;
    struct verdicts verdicts;
    struct snapshot *shown, *judged; /* owned; judged: the windows of the newest verdicts */
    struct recorder recorder;
    int64_t rolled_ns, calm_ns;  /* stream time of the last rolls */
    int64_t looked_ns;           /* monotonic: of the last snapshot */
    int64_t ahead_ns, newest_ns; /* the stream's clock minus ours; its newest time */
    int64_t said_ns;             /* monotonic: of the message */
    char last_note[200];
    bool has_window; /* counters of a whole window are in the snapshot */
};

enum status panel_init(struct panel *p, struct error *err);
void panel_fini(struct panel *p);

/* Brings the model up to date: about ten times a second, and after a burst of events. now_ns:
 * monotonic. */
enum status panel_look(struct panel *p, int64_t now_ns, struct error *err);

/* Something to be said in the status line for a while. */
__attribute__((format(printf, 4, 5))) void panel_say(struct panel *p, bool bad, int64_t now_ns,
                                                     const char *fmt, ...);

/* No more events will come; until then it is as if time went on. reason "": as the last note said.
 */
void panel_end(struct panel *p, int64_t now_ns, const char *reason);

/* r was pressed. */
void panel_toggle_recording(struct panel *p, int64_t now_ns);

#endif
