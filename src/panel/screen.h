/* SPDX-License-Identifier: MIT */
/* A surface on the terminal. The terminal is as it was before once this is closed, and also when a
 * signal ends the process, a crash included. Only one screen can be open. */
#ifndef SMEFF_PANEL_SCREEN_H
#define SMEFF_PANEL_SCREEN_H

#include <stdbool.h>

#include "base/error.h"
#include "panel/surface.h"

struct screen;

/* Can this terminal show one? ERR_UNSUPPORTED says why not: TERM is unknown or dumb, or there is no
 * terminal. */
enum status screen_usable(struct error *err);

/* Takes the terminal of standard output; keys come from standard input, or from the terminal where
 * that is something else. most: no more colours than that. From now on SIGINT, SIGTERM and SIGHUP
 * are kept for screen_ended; a second one ends the process. */
enum status screen_open(struct screen **out, enum colours most, struct error *err);
void screen_close(struct screen *s); /* accepts NULL */

/* Width and height now. */
void screen_size(struct screen *s, int *width, int *height);

/* Shows a surface of that size: writes only the cells that are not as they were. */
void screen_show(struct screen *s, const struct surface *surface);

/* Everything is written anew next time. */
void screen_redraw(struct screen *s);

/* Where keys come from, for a loop that waits. */
int screen_fd(const struct screen *s);

/* The next key (panel/keys.h) that was pressed; false: none. */
bool screen_key(struct screen *s, uint32_t *key);

/* Stops the process where Ctrl-Z asked for it. True: the size may be another, or all has to be
 * drawn anew. */
bool screen_step(struct screen *s);

/* The signal that asked for the end, SIGHUP where the terminal was closed; 0: none. */
int screen_ended(const struct screen *s);

#endif
