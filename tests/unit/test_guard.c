/* SPDX-License-Identifier: MIT */
/* Guards: a program's whole family ends with it, and with us, and our folders go then. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "folder.h"
#include "support.h"

#include "base/guard.h"
#include "base/os.h"

static struct error err;
static const char *const environment[] = {"PATH=/usr/bin:/bin", "MARK=1", NULL};

static void start(struct proc *p, const char *script)
{
    const char *const argv[] = {"sh", "-c", script, folder, NULL};
    assert_int_equal(guard_start(p, "/bin/sh", argv, environment, &err), OK);
}

static int wait_for(struct proc *p)
{
    const struct timespec tick = {0, 2000000};
    int status = -1;
    for (int i = 0; i < 5000 && !proc_ended(p, &status); i++)
        nanosleep(&tick, NULL);
    return status;
}

static bool there(const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

/* A process of the test wrote its id into this file. Is it alive? */
static bool alive(const char *name)
{
    char text[32];
    if (!os_read(folder, name, text, sizeof text))
        return false;
    pid_t pid = (pid_t)strtol(text, NULL, 10);
    return pid > 0 && (kill(pid, 0) == 0 || errno != ESRCH);
}

static void until(bool (*is)(const char *), const char *name, bool expected)
{
    const struct timespec tick = {0, 5000000};
    for (int i = 0; i < 1000 && is(name) != expected; i++)
        nanosleep(&tick, NULL);
    if (is(name) != expected)
        fail_msg("%s: still %s", name, expected ? "not there" : "there");
}

static void ends_as_the_program(void **state)
{
    (void)state;
    struct proc p = PROC_INIT;
    char text[64] = "";
    start(&p, "echo $MARK$HOME; echo to stderr >&2; exit 7");
    int status = wait_for(&p);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_true(read(p.out, text, sizeof text - 1) > 0);
    assert_string_equal(text, "1\nto stderr\n");
    proc_stop(&p, GUARD_GRACE_MS);
    start(&p, "kill -9 $$");
    status = wait_for(&p);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
    proc_stop(&p, GUARD_GRACE_MS);
}

static const char family[] = "setsid sh -c 'echo $$ >\"$0\"/daemon; trap \"\" TERM; while :; do "
                             "sleep 1; done' \"$0\" & echo $$ >\"$0\"/program; ";

/* What it left behind goes before the guard does. */
static void leaves_nobody(void **state)
{
    (void)state;
    struct proc p = PROC_INIT;
    char script[400];
    snprintf(script, sizeof script, "%swhile [ ! -s \"$0\"/daemon ]; do sleep 0.01; done", family);
    start(&p, script);
    assert_int_equal(wait_for(&p), 0);
    assert_true(there("daemon"));
    assert_false(alive("/daemon"));
    proc_stop(&p, GUARD_GRACE_MS);
}

static void is_stopped(void **state)
{
    (void)state;
    struct proc p = PROC_INIT;
    char script[400];
    snprintf(script, sizeof script, "%strap '' TERM; while :; do sleep 1; done", family);
    start(&p, script);
    until(alive, "/daemon", true);
    proc_stop(&p, GUARD_GRACE_MS);
    assert_false(alive("/daemon") || alive("/program"));
}

/* We die without a word; the guard, its family and the folder follow. */
static void dies_with_us(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        struct guard_folder f = GUARD_FOLDER_INIT;
        struct proc p = PROC_INIT;
        char script[2400];
        setenv("TMPDIR", folder, 1);
        if (guard_folder_make(&f, "own", NULL))
            _exit(1);
        snprintf(script, sizeof script,
                 "echo x >%s/file; mkdir %s/sub; echo x >%s/sub/file; "
                 "%swhile :; do sleep 1; done",
                 f.path, f.path, f.path, family);
        const char *const argv[] = {"sh", "-c", script, folder, NULL};
        if (guard_start(&p, "/bin/sh", argv, environment, NULL))
            _exit(1);
        for (;;)
            pause();
    }
    until(alive, "/daemon", true);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    until(alive, "/daemon", false);
    until(alive, "/program", false);
    const struct timespec tick = {0, 5000000};
    struct stat info;
    for (int i = 0; i < 1000 && stat(folder, &info) == 0 && info.st_nlink > 2; i++)
        nanosleep(&tick, NULL);
    assert_int_equal(info.st_nlink, 2); /* no folder in it any more */
}

static void folders(void **state)
{
    (void)state;
    struct guard_folder f = GUARD_FOLDER_INIT;
    struct stat info;
    setenv("TMPDIR", folder, 1);
    assert_int_equal(guard_folder_make(&f, "name", &err), OK);
    assert_true(strncmp(f.path, folder, strlen(folder)) == 0);
    assert_int_equal(stat(f.path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    char was[512], link[600];
    snprintf(was, sizeof was, "%s", f.path);
    snprintf(link, sizeof link, "%s/link", was);
    assert_int_equal(symlink("/etc", link), 0); /* is not followed */
    guard_folder_remove(&f);
    assert_int_not_equal(stat(was, &info), 0);
    assert_int_equal(access("/etc/passwd", F_OK), 0);
    guard_folder_remove(&f);
    setenv("TMPDIR", "/no/such/folder", 1);
    assert_int_equal(guard_folder_make(&f, "name", &err), ERR_IO);
    assert_contains(err.text, "/no/such/folder/name-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ends_as_the_program, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(leaves_nobody, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(is_stopped, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(dies_with_us, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(folders, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
