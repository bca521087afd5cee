/* SPDX-License-Identifier: MIT */
/* A folder for the files of a test, or of all tests of a program. */
#ifndef SMEFF_TESTS_FOLDER_H
#define SMEFF_TESTS_FOLDER_H

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOLDER_NAME "/tmp/smeff-test-XXXXXX"

static char folder[sizeof FOLDER_NAME];

/* Set-up and tear-down of cmocka. */
static inline int make_folder(void **state)
{
    (void)state;
    memcpy(folder, FOLDER_NAME, sizeof folder);
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0)
        execlp("rm", "rm", "-r", folder, (char *)NULL);
    int status = 0;
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? 0 : -1;
}

#endif
