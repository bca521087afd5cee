/* SPDX-License-Identifier: MIT */
/* For tests that play a script through the fake libraries. */
#ifndef FAKES_PLAY_H
#define FAKES_PLAY_H

/* Writes a script into a folder of this test's own and names it in FAKE_GPU. Libraries that are
 * loaded afterwards play it. */
void play(const char *text);

/* A path in that folder; the text lives until the next call. */
const char *play_path(const char *name);

/* Removes the folder. */
void play_end(void);

/* Runs f in a child process and returns its wait status; ends the child after two seconds. */
int in_child(int (*f)(void));

#endif
