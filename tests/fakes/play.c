/* SPDX-License-Identifier: MIT */
#include "play.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/smeff-test-fakes-XXXXXX";
static int made;

const char *play_path(const char *name)
{
    static char path[sizeof folder + 300];
    if (!made && !mkdtemp(folder))
        abort();
    made = 1;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

void play(const char *text)
{
    const char *path = play_path("script");
    FILE *f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0 || setenv("FAKE_GPU", path, 1) != 0)
        abort();
}

void play_end(void)
{
    DIR *d = made ? opendir(folder) : NULL;
    for (const struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.')
            unlink(play_path(e->d_name));
    if (d)
        closedir(d);
    rmdir(folder);
}

int in_child(int (*f)(void))
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        static const int signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE};
        for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
            signal(signals[i], SIG_DFL); /* the test frame catches them */
        alarm(2);
        _exit(f());
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        abort();
    return status;
}
