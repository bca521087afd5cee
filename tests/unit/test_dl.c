/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/dl.h"
#include "support.h"

#define GOOD       FAKES_DIR "/dl/libgood.so.1"
#define HALF       FAKES_DIR "/dl/libhalf.so.1" /* as the good one, without good_two */
#define UNRESOLVED FAKES_DIR "/dl/libunresolved.so.1"

struct api {
    int before;
    int (*one)(void);
    int (*two)(void);
    int (*three)(void);
};

static const struct dl_symbol symbols[] = {
    {"good_one", offsetof(struct api, one), true},
    {"good_two", offsetof(struct api, two), true},
    {"good_three", offsetof(struct api, three), false},
};

static bool is_loaded(const char *path)
{
    void *lib = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (lib)
        dlclose(lib);
    return lib != NULL;
}

static enum status open_one(struct dl_lib *lib, const char *a, const char *b, struct api *api,
                            struct error *err)
{
    const char *const names[] = {a, b, NULL};
    return dl_open(lib, names, symbols, 3, api, err);
}

static void test_fills_the_struct(void **state)
{
    (void)state;
    struct dl_lib lib = {0};
    struct api api = {.before = 7, .three = (int (*)(void))abort};
    struct error err = ERROR_INIT;
    assert_int_equal(open_one(&lib, GOOD, NULL, &api, &err), OK);
    assert_int_equal(api.one(), 1);
    assert_int_equal(api.two(), 2);
    assert_null(api.three); /* optional and absent */
    assert_int_equal(api.before, 7);
    assert_string_equal(lib.path, GOOD);
    assert_string_equal(err.text, "");
    dl_close(&lib);
    assert_false(is_loaded(GOOD));
    assert_null(lib.handle);
    assert_string_equal(lib.path, "");
}

static void test_names_what_is_missing_and_leaves_nothing(void **state)
{
    (void)state;
    struct dl_lib lib = {0};
    struct api api = {.before = 7};
    struct error err = ERROR_INIT;
    assert_int_equal(open_one(&lib, HALF, NULL, &api, &err), ERR_UNSUPPORTED);
    assert_int_equal(err.status, ERR_UNSUPPORTED);
    assert_string_equal(err.text, HALF " lacks good_two");
    assert_null(lib.handle);
    assert_null(api.one);
    assert_int_equal(api.before, 7);
    assert_false(is_loaded(HALF));
}

static void test_names_all_that_is_missing(void **state)
{
    (void)state;
    static const struct dl_symbol list[] = {
        {"good_one", 0, true}, {"no_such_a", 0, true}, {"no_such_b", 0, true}};
    const char *const names[] = {GOOD, NULL};
    struct dl_lib lib = {0};
    void *field = NULL;
    struct error err = ERROR_INIT;
    assert_int_equal(dl_open(&lib, names, list, 3, &field, &err), ERR_UNSUPPORTED);
    assert_string_equal(err.text, GOOD " lacks no_such_a, no_such_b");
}

static void test_takes_the_next_name(void **state)
{
    (void)state;
    static const char *const bad[] = {"/no/such/file.so", HALF, UNRESOLVED};
    for (size_t i = 0; i < 3; i++) {
        struct dl_lib lib = {0};
        struct api api = {0};
        struct error err = ERROR_INIT;
        assert_int_equal(open_one(&lib, bad[i], GOOD, &api, &err), OK);
        assert_string_equal(lib.path, GOOD);
        assert_int_equal(api.two(), 2);
        assert_string_equal(err.text, ""); /* success leaves it alone */
        assert_false(is_loaded(bad[i]));
        dl_close(&lib);
    }
}

static void test_says_why_for_each_name(void **state)
{
    (void)state;
    struct dl_lib lib = {0};
    struct api api = {0};
    struct error err = ERROR_INIT;
    assert_int_equal(open_one(&lib, "/no/such/a.so", "/no/such/b.so", &api, &err), ERR_NOT_FOUND);
    assert_contains(err.text, "/no/such/a.so: ");
    assert_contains(err.text, "; /no/such/b.so: ");
    assert_int_equal(open_one(&lib, "/no/such/a.so", HALF, &api, &err), ERR_UNSUPPORTED);
    assert_contains(err.text, "/no/such/a.so: ");
    assert_contains(err.text, "lacks good_two");
    assert_int_equal(open_one(&lib, UNRESOLVED, NULL, &api, &err), ERR_NOT_FOUND);
    assert_contains(err.text, "nobody_has_this");
    assert_int_equal(open_one(&lib, NULL, NULL, &api, &err), ERR_NOT_FOUND);
    assert_string_equal(err.text, "no library was named");
    assert_int_equal(open_one(&lib, "/no/such/a.so", NULL, &api, NULL), ERR_NOT_FOUND);
}

static void test_refuses_what_is_no_library(void **state)
{
    (void)state;
    char path[] = "/tmp/smeff-test-dl-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "no library\n", 11), 11);
    close(fd);
    struct dl_lib lib = {0};
    struct api api = {0};
    struct error err = ERROR_INIT;
    assert_int_equal(open_one(&lib, path, NULL, &api, &err), ERR_NOT_FOUND);
    assert_contains(err.text, path);
    unlink(path);
}

static void test_reports_the_file_behind_a_soname(void **state)
{
    (void)state;
    struct dl_lib first = {0}, second = {0};
    const char *const path[] = {GOOD, NULL}, *const soname[] = {"libgood.so.1", NULL};
    assert_int_equal(dl_open(&first, path, NULL, 0, NULL, NULL), OK);
    assert_int_equal(dl_open(&second, soname, NULL, 0, NULL, NULL), OK); /* loaded, so found */
    assert_string_equal(second.path, GOOD);
    dl_close(&second);
    assert_true(is_loaded(GOOD));
    dl_close(&first);
    assert_false(is_loaded(GOOD));
}

static void test_close_accepts_anything(void **state)
{
    (void)state;
    dl_close(NULL);
    struct dl_lib lib = {0};
    dl_close(&lib);
    struct api api = {0};
    assert_int_equal(open_one(&lib, GOOD, NULL, &api, NULL), OK);
    dl_close(&lib);
    dl_close(&lib);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fills_the_struct),
        cmocka_unit_test(test_names_what_is_missing_and_leaves_nothing),
        cmocka_unit_test(test_names_all_that_is_missing),
        cmocka_unit_test(test_takes_the_next_name),
        cmocka_unit_test(test_says_why_for_each_name),
        cmocka_unit_test(test_refuses_what_is_no_library),
        cmocka_unit_test(test_reports_the_file_behind_a_soname),
        cmocka_unit_test(test_close_accepts_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
