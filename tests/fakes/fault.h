/* SPDX-License-Identifier: MIT */
/* A script's planned faults: fail, hang, crash, abort, delay. */
#ifndef FAKES_FAULT_H
#define FAKES_FAULT_H

#include <stdbool.h>

/* Takes a setting. False when key is none of the above; ends the process when text is wrong. */
bool fault_add(const char *key, const char *text);

/* A call of function: waits, hangs or dies as planned, or returns the code to fail with; 0 = go on.
 */
int fault_play(const char *function);

#endif
