/* SPDX-License-Identifier: MIT */
/* One capture: nsys samples for some seconds, then makes a report, then an SQLite export of it. It
 * holds the counters in the first part only, so that the next capture can follow while this one is
 * being finished. Never waits: step it every few milliseconds. */
#ifndef SMEFF_SOURCE_NSYS_CAPTURE_H
#define SMEFF_SOURCE_NSYS_CAPTURE_H

#include "source/nsys/tool.h"

/* How long nsys may take to start sampling, and to make the report or the export of it. */
struct nsys_patience {
    int start_ms, finish_ms;
};
extern const struct nsys_patience nsys_patience_default;

struct nsys_wish {
    double seconds;    /* the program that nsys waits for; nsys samples 0.1 to 0.3 s longer */
    double rate_hz;    /* 10 to 200,000 */
    char devices[256]; /* nsys's own ids, with commas */
    char set[256];     /* an alias or file:PATH; "" = nsys's choice for the chip */
    struct nsys_patience patience;
};

enum nsys_phase {
    NSYS_IDLE,
    NSYS_SAMPLING,  /* nsys starts, or samples: it holds the counters, or will */
    NSYS_FINISHING, /* it has let go of them, or is about to, and makes its report */
    NSYS_EXPORTING,
    NSYS_DONE, /* report and sqlite are there, until nsys_capture_clear */
};

struct nsys_capture {
    enum nsys_phase phase;
    struct nsys_task task;
    const struct nsys_tool *tool;
    const struct nsys_wish *wish;
    bool plain; /* the export was tried with all its options, and is tried without */
    char folder[NSYS_PATH_SIZE];
    char report[NSYS_PATH_SIZE + 16], sqlite[NSYS_PATH_SIZE + 16], over[NSYS_PATH_SIZE + 16];
};

/* c is idle (zeroed). number: of this capture, unique within the tool's life. tool and wish must
 * live as long as the capture. */
enum status nsys_capture_start(struct nsys_capture *c, const struct nsys_tool *tool,
                               const struct nsys_wish *wish, unsigned number, struct error *err);

/* Goes on. On failure c is idle, nothing of it is left, and err says what to do: ERR_BUSY another
 * program holds the counters; ERR_PERMISSION; ERR_NO_GPU; ERR_UNSUPPORTED; ERR_NOT_FOUND its
 * importer is missing; ERR_IO (disk full, no report, killed); ERR_TIMEOUT it hung. */
enum status nsys_capture_step(struct nsys_capture *c, struct error *err);

/* Stops it and removes its files; c is idle then. Accepts a zeroed one. */
void nsys_capture_clear(struct nsys_capture *c);

#endif
