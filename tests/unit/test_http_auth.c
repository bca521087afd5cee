/* SPDX-License-Identifier: MIT */
/* Passwords and tokens: what is let in, what a users file may hold, that one check runs at a time.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

#include "http/auth.h"
#include "http/secret.h"
#include "http/users.h"

/* Of "secret", by bcrypt ($2b$, 2^4 rounds: for tests), and by SHA-512; of "geheim" by yescrypt.
 * Made with crypt(3) of libxcrypt 4.4.33. */
static const char bcrypt_line[] =
    "ann:$2b$04$z71zgYEpqaG8WVJxC7VsvOnh4Nq08V9S4HsXOFfXBFpWz/hubsOb.\n";
static const char sha_line[] = "bob:$6$rounds=1000$2x3B9NeOiaQmTWpJ$CGpv5qtSJL0xaiOVdumr8."
                               "jQeaDFCU2utmIFIrotRzKgN57zzJAhSHGPfM3nrA669arEHP8yERXpOT3wOT1xl/";
static const char yescrypt_line[] =
    "eve:$y$j75$tMYPb6p3yvOzBDsejHuNj0$AXGGU3bfRXI5hZ7IrG9KfYdhXBZcsjayRaT000RNid0\n";
static char path[] = "/tmp/test_http_auth.XXXXXX";

static void write_users(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void test_secrets(void **state)
{
    (void)state;
    char out[16];
    assert_true(secret_equal("abc", "abc"));
    assert_true(secret_equal("", ""));
    assert_false(secret_equal("abc", "abd"));
    assert_false(secret_equal("abc", "ab"));
    assert_false(secret_equal("ab", "abc"));
    assert_false(secret_equal("", "a"));
    assert_false(secret_equal("a", ""));
    assert_false(secret_equal("abab", "ab"));
    assert_string_equal(secret_of_scheme("bAsIc  eDp5", "Basic"), "eDp5");
    assert_null(secret_of_scheme("Basic", "Basic"));
    assert_null(secret_of_scheme("Basics eDp5", "Basic"));
    assert_null(secret_of_scheme(NULL, "Basic"));
    assert_true(secret_decode("eDp5", out, sizeof out));
    assert_string_equal(out, "x:y");
    assert_true(secret_decode("eA==", out, sizeof out));
    assert_string_equal(out, "x");
    assert_true(secret_decode("eDo=", out, sizeof out));
    assert_string_equal(out, "x:");
    assert_true(secret_decode("w7zDtg==", out, sizeof out));
    assert_string_equal(out, "üö");
    assert_true(secret_decode("", out, sizeof out));
    static const char *const bad[] = {"e",
                                      "eDp",
                                      "eDp5e",
                                      "eD=5",
                                      "e===",
                                      "====",
                                      "eA==eDp5",
                                      "eDp5\n",
                                      "AAAA" /* NULs */,
                                      "eD!5",
                                      "eDp5eDp5eDp5eDp5eDp5eDp5"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (secret_decode(bad[i], out, sizeof out))
            fail_msg("%s is taken", bad[i]);
}

static void test_users_file(void **state)
{
    (void)state;
    char text[800];
    struct users *u = NULL;
    struct error err = ERROR_INIT;
    snprintf(text, sizeof text, "# who may read\n\n%s\n%s\r\n%s", bcrypt_line, sha_line,
             yescrypt_line);
    write_users(text);
    assert_int_equal(users_read(&u, path, &err), OK);
    assert_true(users_check(u, "ann:secret"));
    assert_true(users_check(u, "bob:secret"));
    assert_true(users_check(u, "eve:geheim"));
    assert_false(users_check(u, "ann:geheim"));
    assert_false(users_check(u, "eve:secret"));
    assert_false(users_check(u, "ann:secret "));
    assert_false(users_check(u, "ann:"));
    assert_false(users_check(u, "an:secret"));
    assert_false(users_check(u, ":secret"));
    assert_false(users_check(u, "zoe:secret"));
    assert_false(users_check(u, "ann"));
    assert_false(users_check(u, ""));
    users_destroy(u);
}

/* Each of these hashes costs 2^12 rounds of bcrypt, about a quarter of a second: the start must not
 * wait for 256 of them. Among those that are like another, one that is none is still found. */
static void test_many_users(void **state)
{
    (void)state;
    struct users *u = NULL;
    struct error err = ERROR_INIT;
    static const char *const bad[] = {"last:$2b$12$short\n",
                                      "last:$2b$99$u000AAAAAAAAAAAAAAAAAOnh4Nq08V9S4HsXOFfXBFpWz/hu"
                                      "bsOb.\n",
                                      "last:$2b$12$!000AAAAAAAAAAAAAAAAAOnh4Nq08V9S4HsXOFfXBFpWz/hu"
                                      "bsOb.\n"};
    for (size_t b = 0; b < 4; b++) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        for (int i = 0; i < 255; i++)
            fprintf(f, "u%d:$2b$12$u%03dAAAAAAAAAAAAAAAAAOnh4Nq08V9S4HsXOFfXBFpWz/hubsOb.\n", i, i);
        if (b < 3)
            fputs(bad[b], f);
        assert_int_equal(fclose(f), 0);
        clock_t begin = clock();
        enum status st = users_read(&u, path, &err);
        assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 10);
        if (b == 3) {
            assert_int_equal(st, OK);
            users_destroy(u);
        } else {
            assert_int_equal(st, ERR_USAGE);
            assert_contains(err.text, ":256: not USER:HASH");
        }
    }
}

static void test_bad_users_files(void **state)
{
    (void)state;
    static const struct {
        const char *text, *what;
    } bad[] = {{"", "no user"},
               {"# nobody\n", "no user"},
               {"ann\n", ":1: not USER:HASH"},
               {":$2b$04$abc\n", ":1: not USER:HASH"},
               {"\n\nann:secret\n", ":3: not USER:HASH"},
               {"ann:$2b$99$nonsense\n", ":1: not USER:HASH"},
               {"ann:abJnggxhB/yWI\n", ":1: not USER:HASH"} /* the old DES */};
    struct users *u = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct error err = ERROR_INIT;
        write_users(bad[i].text);
        assert_int_equal(users_read(&u, path, &err), ERR_USAGE);
        assert_contains(err.text, bad[i].what);
        assert_null(strstr(err.text, "secret"));
    }
    struct error err = ERROR_INIT;
    assert_int_equal(users_read(&u, "/no/such/file", &err), ERR_USAGE);
    assert_contains(err.text, "/no/such/file");
    char longer[3000];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    write_users(longer);
    assert_int_equal(users_read(&u, path, &err), ERR_USAGE);
    assert_contains(err.text, "too long");
}

static void test_token(void **state)
{
    (void)state;
    struct auth *a = NULL;
    assert_int_equal(auth_create(&a, "", NULL, NULL), OK);
    assert_null(a); /* everybody may read */
    assert_int_equal(auth_create(&a, "tok", NULL, NULL), OK);
    assert_int_equal(auth_start(a, NULL), OK);
    assert_int_equal(auth_ask(a, "Bearer tok", NULL, true), AUTH_YES);
    assert_int_equal(auth_ask(a, "bearer tok", NULL, true), AUTH_YES);
    static const char *const no[] = {NULL,
                                     "",
                                     "Bearer",
                                     "Bearer ",
                                     "Bearer to",
                                     "Bearer tokk",
                                     "tok",
                                     "Basic dG9rOnRvaw==",
                                     "Bearer tok tok",
                                     "Bearer TOK"};
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        assert_int_equal(auth_ask(a, no[i], NULL, true), AUTH_NO);
    assert_contains(auth_challenge(a), "Bearer");
    auth_destroy(a);
}

/* Waits for one answer. */
static bool next(struct auth *a, void **who)
{
    bool is_right = false;
    static int nobody;
    *who = &nobody;
    struct pollfd p = {auth_fd(a), POLLIN, 0};
    for (int i = 0; i < 100 && !auth_next(a, who, &is_right); i++)
        assert_int_equal(poll(&p, 1, 10000), 1);
    return is_right;
}

static void test_checks(void **state)
{
    (void)state;
    struct auth *a = NULL;
    int one, two, three;
    void *who;
    bool is_right;
    write_users(bcrypt_line);
    assert_int_equal(auth_create(&a, "tok", path, NULL), OK);
    assert_int_equal(auth_start(a, NULL), OK);
    assert_contains(auth_challenge(a), "Basic");
    assert_int_equal(auth_ask(a, "Bearer tok", &one, true), AUTH_YES);
    assert_false(auth_next(a, &who, &is_right));
    assert_int_equal(auth_ask(a, "Basic YW5uOnNlY3JldA==", &one, true),
                     AUTH_LATER); /* ann:secret */
    assert_int_equal(auth_ask(a, "Basic YW5uOnNlY3JlVA==", &two, true),
                     AUTH_LATER); /* ann:secreT */
    assert_true(next(a, &who));
    assert_ptr_equal(who, &one);
    assert_false(next(a, &who));
    assert_ptr_equal(who, &two);
    assert_false(auth_next(a, &who, &is_right));
    struct pollfd p = {auth_fd(a), POLLIN, 0};
    assert_int_equal(poll(&p, 1, 0), 0); /* nothing is left to be told */
    /* what was right is known; what was wrong is checked again */
    assert_int_equal(auth_ask(a, "Basic YW5uOnNlY3JldA==", &one, true), AUTH_YES);
    assert_int_equal(auth_ask(a, "Basic YW5uOnNlY3JlVA==", &three, true), AUTH_LATER);
    assert_int_equal(auth_ask(a, "Basic YW5uOnNlY3JlVA==", &two, false), AUTH_FULL);
    assert_int_equal(auth_ask(a, "Basic YW5uOnNlY3JldA==", &two, false), AUTH_YES);
    assert_int_equal(auth_ask(a, "Bearer tok", &two, false), AUTH_YES);
    assert_int_equal(auth_ask(a, "Bearer to", &two, false), AUTH_NO);
    assert_false(next(a, &who));
    assert_ptr_equal(who, &three);
    assert_int_equal(auth_ask(a, "Basic YW5u", &one, true), AUTH_NO); /* no colon */
    assert_int_equal(auth_ask(a, "Basic !", &one, true), AUTH_NO);
    auth_destroy(a);
}

/* So many at once that the queue is full; those that wait at the end are not waited for. */
static void test_full(void **state)
{
    (void)state;
    struct auth *a = NULL;
    int later = 0, full = 0;
    write_users(bcrypt_line);
    assert_int_equal(auth_create(&a, NULL, path, NULL), OK);
    for (int i = 0; i < 40; i++) { /* before the thread runs */
        enum auth_answer answer = auth_ask(a, "Basic YW5uOnNlY3JlVA==", &later, true);
        later += answer == AUTH_LATER;
        full += answer == AUTH_FULL;
    }
    assert_int_equal(later, 16);
    assert_int_equal(full, 24);
    auth_forget(a, &later); /* who goes leaves its places to others */
    for (int i = 0; i < 16; i++)
        assert_int_equal(auth_ask(a, "Basic YW5uOnNlY3JlVA==", &full, true), AUTH_LATER);
    assert_int_equal(auth_ask(a, "Basic YW5uOnNlY3JlVA==", &full, true), AUTH_FULL);
    assert_int_equal(auth_start(a, NULL), OK);
    void *who;
    for (int i = 0; i < 16; i++) {
        assert_false(next(a, &who));
        assert_ptr_equal(who, &full);
    }
    assert_int_equal(auth_ask(a, "Basic YW5uOnNlY3JldA==", &later, true), AUTH_LATER);
    auth_destroy(a);
}

static int set_up(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    close(fd);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secrets),    cmocka_unit_test(test_users_file),
        cmocka_unit_test(test_many_users), cmocka_unit_test(test_bad_users_files),
        cmocka_unit_test(test_token),      cmocka_unit_test(test_checks),
        cmocka_unit_test(test_full),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
