/* SPDX-License-Identifier: MIT */
/* Finding servers on made-up machines. */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "support.h"

#include "llm/discover.h"

static const char *path_of(const char *name)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s", folder, name);
    for (char *p = path + strlen(folder) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(path, 0755);
        *p = '/';
    }
    return path;
}

static void put_bytes(const char *name, const char *text, size_t n)
{
    FILE *f = fopen(path_of(name), "a");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    fclose(f);
}

static void put(const char *name, const char *text)
{
    put_bytes(name, text, strlen(text));
}

/* address and port as the kernel writes them */
static void put_socket(bool v6, const char *address, unsigned port, const char *state, int inode)
{
    char line[256];
    snprintf(line, sizeof line,
             "   0: %s:%04X 00000000:0000 %s 00000000:00000000 00:00000000 00000000  1000        0 "
             "%d 1 0000000000000000 100 0 0 10 0\n",
             address, port, state, inode);
    put(v6 ? "/proc/self/net/tcp6" : "/proc/self/net/tcp", line);
}

static void put_process(int pid, int parent, const char *command, size_t n, const char *file)
{
    char name[64], text[128];
    snprintf(name, sizeof name, "/proc/%d/stat", pid);
    snprintf(text, sizeof text, "%d (a) b) S %d 1 1", pid, parent);
    put(name, text);
    snprintf(name, sizeof name, "/proc/%d/cmdline", pid);
    put_bytes(name, command, n);
    snprintf(name, sizeof name, "/proc/%d/fd/3", pid);
    assert_int_equal(symlink(file, path_of(name)), 0);
}

static struct discover_place places[DISCOVER_MAX];

static size_t find(const int *pids, size_t n)
{
    return discover_places(folder, pids, n, places, DISCOVER_MAX);
}

static void the_parent_of_an_engine_serves(void **state)
{
    (void)state;
    put("/proc/self/net/tcp", "  sl  local_address rem_address   st tx_queue\n");
    put_socket(false, "00000000", 9123, "0A", 77);
    put_socket(false, "0100007F", 29500, "0A", 78); /* its own, not of the command line */
    put_process(20, 1,
                "python\0vllm\0serve\0--port\0"
                "9123",
                29, "socket:[77]");
    put_process(30, 20, "VLLM::EngineCore", 17, "/dev/nvidia0");
    const int pids[] = {30};
    assert_int_equal(find(pids, 1), 1);
    assert_string_equal(places[0].url, "http://127.0.0.1:9123");
    assert_int_equal(places[0].pid, 20);
    int holders[4];
    assert_int_equal(discover_gpu_holders(folder, holders, 4), 1);
    assert_int_equal(holders[0], 30);
}

static void a_training_job_is_left_alone(void **state)
{
    (void)state;
    put_socket(false, "0100007F", 29500, "0A", 77);
    put_process(20, 1, "python\0train.py", 16, "socket:[77]");
    const int pids[] = {20};
    assert_int_equal(find(pids, 1), 0);
}

static void a_server_at_any_port(void **state)
{
    (void)state;
    put_socket(false, "0100007F", 4711, "0A", 77);
    put_process(20, 1, "/opt/llama-server\0-m\0x", 23, "socket:[77]");
    const int pids[] = {20};
    assert_int_equal(find(pids, 1), 1);
    assert_string_equal(places[0].url, "http://127.0.0.1:4711");
}

static void usual_ports_that_loopback_reaches(void **state)
{
    (void)state;
    put_socket(false, "0200A8C0", 8000, "0A", 1);  /* 192.168.0.2: not by loopback */
    put_socket(false, "0100007F", 30000, "01", 2); /* a connection, not a listener */
    put_socket(false, "0100007F", 22, "0A", 3);    /* not a usual port */
    put_socket(false, "0801007F", 8080, "0A", 4);  /* 127.0.1.8 */
    put_socket(true, "00000000000000000000000001000000", 8002, "0A", 5);
    put_socket(true, "0000000000000000FFFF00000100007F", 3000, "0A", 6);
    put_socket(true, "B80D0120000000000000000001000000", 1234, "0A", 7);
    put_socket(false, "00000000", 8081, "0A", 8); /* one server, both families */
    put_socket(true, "00000000000000000000000000000000", 8081, "0A", 9);
    size_t n = find(NULL, 0);
    assert_int_equal(n, 4);
    assert_string_equal(places[0].url, "http://127.0.1.8:8080");
    assert_string_equal(places[1].url, "http://127.0.0.1:8081");
    assert_string_equal(places[2].url, "http://[::1]:8002");
    assert_string_equal(places[3].url, "http://127.0.0.1:3000");
}

/* Its process tells that a refusal there is a server's. */
static void a_server_without_a_gpu_is_known_by_its_command(void **state)
{
    (void)state;
    put_socket(false, "0100007F", 8080, "0A", 77);
    put_socket(false, "0100007F", 8000, "0A", 78);
    put_process(20, 1, "llama-server\0-m\0x", 18, "socket:[77]");
    put_process(21, 1, "nginx", 6, "socket:[78]");
    assert_int_equal(find(NULL, 0), 2);
    assert_string_equal(places[0].url, "http://127.0.0.1:8080");
    assert_int_equal(places[0].pid, 20);
    assert_string_equal(places[1].url, "http://127.0.0.1:8000");
    assert_int_equal(places[1].pid, 0);
}

static void who_listens_at_a_port(void **state)
{
    (void)state;
    put_socket(false, "0100007F", 9123, "0A", 77);
    put_socket(false, "0100007F", 9124, "0A", 78);
    put_process(31, 30, "worker", 6, "socket:[77]"); /* inherited it */
    put_process(30, 20, "python\0serve", 12, "socket:[77]");
    put_process(40, 1, "other", 5, "socket:[78]");
    assert_int_equal(discover_listener(folder, 9123), 30);
    assert_int_equal(discover_listener(folder, 9124), 40);
    assert_int_equal(discover_listener(folder, 9125), 0);
    assert_true(discover_listens(folder, 31, 9123));
    assert_false(discover_listens(folder, 40, 9123)); /* started anew: another's */
    assert_false(discover_listens(folder, 99, 9123));
    assert_false(discover_listens(folder, 0, 9123));
    assert_int_equal(discover_parent(folder, 31), 30);
    assert_int_equal(discover_parent(folder, 40), 0); /* the machine's first process is nobody's */
    assert_int_equal(discover_parent(folder, 99), 0);
}

static void an_empty_machine(void **state)
{
    (void)state;
    const int pids[] = {5};
    assert_int_equal(find(pids, 1), 0);
    put("/proc/self/net/tcp", "garbage\n0: x:y 0A\n\n");
    assert_int_equal(find(pids, 1), 0);
}

/* A search is only worth its time when this number is another one. */
static void sockets_that_come_change_the_mark(void **state)
{
    (void)state;
    uint64_t none = discover_mark(folder, 0);
    put_socket(false, "0100007F", 9123, "0A", 77);
    uint64_t one = discover_mark(folder, 0);
    assert_true(one != none);
    assert_true(discover_mark(folder, 0) == one);
    put_socket(false, "0200A8C0", 9124, "0A", 78); /* not by loopback */
    put_socket(false, "0100007F", 9125, "01", 79); /* a connection */
    assert_true(discover_mark(folder, 0) == one);
    put_socket(false, "0100007F", 9123, "0A", 80); /* the same port anew */
    assert_true(discover_mark(folder, 0) != one);
}

static void the_mark_of_one_port(void **state)
{
    (void)state;
    put_socket(false, "0100007F", 9123, "0A", 77);
    put_socket(false, "0100007F", 9124, "0A", 78);
    uint64_t one = discover_mark(folder, 9123);
    assert_true(one != 0);
    assert_true(discover_mark(folder, 9125) == 0); /* nobody listens */
    put_socket(false, "0100007F", 9126, "0A", 79);
    assert_true(discover_mark(folder, 9123) == one);
}

/* 600 sockets, 100 processes on GPUs: the last of them is the server. */
static void a_large_machine(void **state)
{
    (void)state;
    static const char command[] = "vllm\0serve\0--port\0"
                                  "9999";
    int holders[DISCOVER_HOLDERS_MAX];
    for (int i = 0; i < 600; i++)
        put_socket(false, "0100007F", (unsigned)(10000 + i), "0A", 1000 + i);
    put_socket(false, "0100007F", 9999, "0A", 77);
    for (int pid = 2000; pid < 2100; pid++)
        put_process(pid, 1, "python", 6, "/dev/nvidia0");
    put_process(2100, 1, command, sizeof command, "/dev/nvidia0");
    assert_int_equal(symlink("socket:[77]", path_of("/proc/2100/fd/4")), 0);
    size_t n = discover_gpu_holders(folder, holders, DISCOVER_HOLDERS_MAX);
    assert_int_equal(n, 101);
    assert_int_equal(find(holders, n), 1);
    assert_string_equal(places[0].url, "http://127.0.0.1:9999");
    assert_int_equal(places[0].pid, 2100);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(the_parent_of_an_engine_serves),
        TEST(a_training_job_is_left_alone),
        TEST(a_server_at_any_port),
        TEST(usual_ports_that_loopback_reaches),
        TEST(a_server_without_a_gpu_is_known_by_its_command),
        TEST(who_listens_at_a_port),
        TEST(sockets_that_come_change_the_mark),
        TEST(the_mark_of_one_port),
        TEST(a_large_machine),
        TEST(an_empty_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
