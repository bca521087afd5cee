/* SPDX-License-Identifier: MIT */
/* The daemon's folder: its lock, its socket, its status file. One daemon a folder: the kernel holds
 * the lock for the process, so that no file that was left behind can pretend to be one. */
#ifndef SMEFF_DAEMON_PLACE_H
#define SMEFF_DAEMON_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

enum { PLACE_PATH_SIZE = 256 };

struct place {
    char folder[PLACE_PATH_SIZE];
    char lock[PLACE_PATH_SIZE + 16], socket[PLACE_PATH_SIZE + 16], status[PLACE_PATH_SIZE + 16],
        log[PLACE_PATH_SIZE + 16];
    int lock_fd; /* -1 = not held by us */
    gid_t group; /* whose members may read, too; (gid_t)-1 = nobody */
};

/* named: a folder, or NULL: /run/smeff for root, else $XDG_RUNTIME_DIR/smeff. Under systemd
 * $RUNTIME_DIRECTORY comes before that. Touches nothing. ERR_NOT_FOUND: there is no such folder for
 * this user; ERR_USAGE: too long for a socket. */
enum status place_choose(struct place *p, const char *named, struct error *err);

/* Where others' daemons may be: number 0, 1, … until false. What named or the environment says is
 * the only one; else this user's, then the machine's. */
bool place_candidate(struct place *p, const char *named, unsigned number);

/* Makes the folder, if it is not there. ERR_PERMISSION: others may write there, or it is not
 * smeff's: it has other files and no lock. */
enum status place_prepare(const struct place *p, struct error *err);

/* The same, takes the lock, gives the folder its mode (0700, with a group 0750), and removes what a
 * dead daemon left. ERR_BUSY: another daemon has it. */
enum status place_take(struct place *p, const char *group, struct error *err);

/* Opens the log for appending; *fd is the caller's. Not a file that somebody else put there. */
enum status place_open_log(const struct place *p, int *fd, struct error *err);

/* Empties the log, if fd is that: whoever has the lock begins a new one. */
void place_clear_log(const struct place *p, int fd);

/* Is the folder still there, and the lock in it ours? */
bool place_is_ours(const struct place *p);

/* Puts the status file in place, whole. */
enum status place_write_status(const struct place *p, const char *text, size_t len,
                               struct error *err);

/* Removes socket and status file, and lets go of the lock. */
void place_leave(struct place *p);

/* Is the lock held by somebody? Then a daemon runs, or is just starting or ending. */
bool place_is_taken(const struct place *p);

#endif
