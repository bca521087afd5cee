/* SPDX-License-Identifier: MIT */
/* The daemon's folder has one owner. That its status is always whole: faults/status_kills.c. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "support.h"

#include "daemon/place.h"

static struct place place;

static int set_up(void **state)
{
    char path[200];
    if (make_folder(state) != 0)
        return -1;
    snprintf(path, sizeof path, "%s/run", folder);
    assert_int_equal(place_choose(&place, path, NULL), OK);
    return 0;
}

static int tear_down(void **state)
{
    place_leave(&place);
    return remove_folder(state);
}

static mode_t mode_of(const char *path)
{
    struct stat there;
    return stat(path, &there) == 0 ? there.st_mode & 0777 : 0;
}

static void the_folder_is_ours_alone(void **state)
{
    (void)state;
    assert_int_equal(place_take(&place, NULL, NULL), OK);
    assert_int_equal(mode_of(place.folder), 0700);
    assert_int_equal(place_write_status(&place, "{}", 2, NULL), OK);
    assert_int_equal(mode_of(place.status), 0600);
    place_leave(&place);
    assert_int_equal(mode_of(place.status), 0);
    chmod(place.folder, 0777);
    struct error err = ERROR_INIT;
    assert_int_equal(place_take(&place, NULL, &err), ERR_PERMISSION);
    assert_contains(err.text, "others may write there");
}

static void only_one_has_it(void **state)
{
    (void)state;
    struct place other = place;
    struct error err = ERROR_INIT;
    assert_false(place_is_taken(&place));
    assert_int_equal(place_take(&place, NULL, NULL), OK);
    assert_true(place_is_taken(&other));
    assert_int_equal(place_take(&other, NULL, &err), ERR_BUSY);
    assert_contains(err.text, "a daemon runs already");
    place_leave(&place);
    assert_false(place_is_taken(&other));
    assert_int_equal(place_take(&other, NULL, NULL), OK);
    place_leave(&other);
}

static void the_kernel_frees_the_lock_of_the_dead(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        place_take(&place, NULL, NULL);
        raise(SIGKILL);
    }
    waitpid(pid, NULL, 0);
    assert_int_equal(place_take(&place, NULL, NULL), OK);
}

static void a_folder_that_was_removed_is_noticed(void **state)
{
    (void)state;
    assert_int_equal(place_take(&place, NULL, NULL), OK);
    assert_true(place_is_ours(&place));
    unlink(place.lock);
    assert_false(place_is_ours(&place));
}

static void long_paths_are_refused(void **state)
{
    (void)state;
    char path[300] = "/tmp/";
    memset(path + 5, 'x', sizeof path - 6);
    path[sizeof path - 1] = '\0';
    struct place p;
    assert_int_equal(place_choose(&p, path, NULL), ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_folder_is_ours_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_one_has_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_kernel_frees_the_lock_of_the_dead, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_folder_that_was_removed_is_noticed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_paths_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
