/* SPDX-License-Identifier: MIT */
/* Which descriptors the programs get that we start. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "support.h"

#include "base/buf.h"
#include "base/fds.h"
#include "base/guard.h"
#include "cmd/work.h"

/* Numbers that nothing else here takes. */
enum { GIVEN = 200, OURS = 201, ALSO_GIVEN = 202, HIGH = 900 };

static void open_all(void **state)
{
    (void)state;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    assert_int_equal(dup2(null, GIVEN), GIVEN);
    assert_int_equal(dup2(null, ALSO_GIVEN), ALSO_GIVEN);
    fds_remember();
    assert_int_equal(dup2(null, OURS), OURS); /* as libcurl opens its sockets: not closed on exec */
    assert_int_equal(dup2(null, HIGH), HIGH);
    close(null);
}

static void close_all(void)
{
    static const int all[] = {GIVEN, OURS, ALSO_GIVEN, HIGH};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        close(all[i]);
    fds_remember();
}

/* Lists the descriptors above 2 of the shell itself. */
#define LIST "for f in 200 201 202 900; do [ -e /proc/$$/fd/$f ] && echo has $f; done; echo end"

static void a_command_gets_what_we_were_given(void **state)
{
    char path[600], script[900], text[200] = "";
    struct work w = {0};
    open_all(state);
    snprintf(path, sizeof path, "%s/out", folder);
    snprintf(script, sizeof script, "exec >%s; " LIST, path);
    char *argv[] = {"sh", "-c", script, NULL};
    assert_int_equal(work_start(&w, argv, NULL), OK);
    assert_int_equal(waitpid(w.pid, NULL, 0), w.pid);
    close_all();
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(text, "has 200\nhas 202\nend\n");
}

static void read_all(struct proc *p, struct buf *out)
{
    char piece[256];
    struct pollfd fd = {p->out, POLLIN, 0};
    for (ssize_t n = 1; n > 0 && poll(&fd, 1, 30000) > 0;)
        if ((n = read(p->out, piece, sizeof piece)) > 0)
            buf_add(out, piece, (size_t)n);
    proc_stop(p, 5000);
}

static void our_own_processes_get_nothing(void **state)
{
    static const char *const argv[] = {"sh", "-c", LIST, NULL};
    static const char *const environment[] = {"PATH=/usr/bin:/bin", NULL};
    struct buf out = BUF_INIT;
    struct proc p = PROC_INIT;
    open_all(state);
    assert_int_equal(proc_start(&p, "/bin/sh", argv, true, NULL), OK);
    read_all(&p, &out);
    assert_string_equal(buf_str(&out), "end\n");
    buf_clear(&out);
    assert_int_equal(guard_start(&p, "/bin/sh", argv, environment, NULL), OK);
    read_all(&p, &out);
    assert_string_equal(buf_str(&out), "end\n");
    close_all();
    buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_command_gets_what_we_were_given, make_folder,
                                        remove_folder),
        cmocka_unit_test(our_own_processes_get_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
