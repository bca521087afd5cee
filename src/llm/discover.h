/* SPDX-License-Identifier: MIT */
/* Finding inference servers of this machine without asking anybody: from /proc alone. What is found
 * is reached by loopback. root is put in front of every path ("" = none), so that tests can make a
 * machine up. */
#ifndef SMEFF_LLM_DISCOVER_H
#define SMEFF_LLM_DISCOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Places, and processes that hold a GPU, of one machine. */
enum { DISCOVER_URL_SIZE = 40, DISCOVER_MAX = 256, DISCOVER_HOLDERS_MAX = 4096 };

struct discover_place {
    char url[DISCOVER_URL_SIZE]; /* "http://127.0.0.1:8000" */
    int pid;                     /* whose socket it is; 0 = not known */
};

/* Where the given processes, or those that started them, listen: at a usual port or the one of
 * their command line, or, when the command line is that of an inference server, at any. A training
 * job's own sockets are left alone. Then every usual port at which somebody listens. */
size_t discover_places(const char *root, const int *pids, size_t n, struct discover_place *out,
                       size_t max);

/* Processes that have a GPU's device file open, as far as we may see; max of them: maybe more. */
size_t discover_gpu_holders(const char *root, int *pids, size_t max);

/* The process that listens at this port of loopback or of every address; 0 = none that we may see.
 */
int discover_listener(const char *root, unsigned port);

/* Does this process listen there? */
bool discover_listens(const char *root, int pid, unsigned port);

/* Of the sockets that listen at this port where loopback reaches them, or at any (0): another
 * number after one came or went. 0 = nobody listens. */
uint64_t discover_mark(const char *root, unsigned port);

/* The process that started this one; 0 = none, or the machine's first process. */
int discover_parent(const char *root, int pid);

#endif
