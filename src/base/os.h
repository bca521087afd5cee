/* SPDX-License-Identifier: MIT */
/* The operating system as its files tell it: distribution, our rights, container, processes.
 * root is put in front of every absolute path ("" = none), so that tests can make a machine up. */
#ifndef SMEFF_BASE_OS_H
#define SMEFF_BASE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads at most size - 1 bytes and terminates them; false (and "") when it cannot be read. */
bool os_read(const char *root, const char *path, char *dst, size_t size);
bool os_exists(const char *root, const char *path);

/* /etc/os-release; "" for what it does not say. */
struct os_release {
    char id[32], like[64], version[32], name[96];
};
void os_release_read(const char *root, struct os_release *out);

/* Is id the distribution's own id, or one that it is like? */
bool os_release_is(const struct os_release *r, const char *id);

enum { OS_CAP_SYS_ADMIN = 21, OS_CAP_PERFMON = 38 };

struct os_rights {
    bool known;          /* /proc/self/status could be read */
    unsigned uid;        /* effective */
    uint64_t effective;  /* capabilities, bit by number */
    bool user_namespace; /* not the initial one: the kernel's drivers then see no capability */
    unsigned kernel[2];  /* 6, 18; 0, 0 = not known */
};
void os_rights_read(const char *root, struct os_rights *out);
bool os_can(const struct os_rights *r, int capability);

/* "kubernetes", "docker", "podman", "lxc" or "container"; "" = none was seen. Static text. */
const char *os_container(const char *root);

struct os_process {
    int pid, parent;
    char name[32]; /* the kernel's short name, at most 15 bytes */
    char exe[64];  /* file name of the program, "" when that may not be read */
};
void os_each_process(const char *root, void (*see)(void *self, const struct os_process *p),
                     void *self);

#endif
