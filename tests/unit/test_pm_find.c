/* SPDX-License-Identifier: MIT */
/* Where CUPTI is looked for, in made-up trees of files. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "support.h"

#include "source/pm/find.h"

static struct pm_folders found;

/* A path below the folder; the text lives until the fourth call after this one. */
static const char *at(const char *path)
{
    static char paths[4][PATH_MAX];
    static unsigned next;
    char *to = paths[next++ % 4];
    snprintf(to, sizeof paths[0], "%s%s", folder, path);
    return to;
}

static void make_dir(const char *dir)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s/", folder, dir);
    for (char *p = path + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(path, 0755);
        *p = '/';
    }
}

static void make_file(const char *dir, const char *name, const char *text)
{
    char path[PATH_MAX];
    make_dir(dir);
    snprintf(path, sizeof path, "%s%s/%s", folder, dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* All three files. */
static void make_cupti(const char *dir, const char *libcupti)
{
    make_file(dir, libcupti, "");
    make_file(dir, "libnvperf_host.so", "");
    make_file(dir, "libnvperf_target.so", "");
}

static void find(const char *library_path, const char *virtual_env, const char *home)
{
    const struct pm_places places = {folder, library_path, virtual_env, home};
    pm_find(&places, &found);
}

static void expect(size_t i, const char *dir, const char *from)
{
    if (i >= found.n)
        fail_msg("only %zu folders, not %s", found.n, dir);
    assert_string_equal(found.list[i].path, at(dir));
    assert_string_equal(found.list[i].from, from);
}

static void an_empty_machine_has_none(void **state)
{
    (void)state;
    find(NULL, NULL, NULL);
    assert_int_equal(found.n, 0);
    find("", "/venv", "/home/me");
    assert_int_equal(found.n, 0);
}

static void toolkits_newest_first(void **state)
{
    (void)state;
    make_cupti("/usr/local/cuda-12.8/targets/x86_64-linux/lib", "libcupti.so.12");
    make_cupti("/usr/local/cuda-13.0/targets/x86_64-linux/lib", "libcupti.so.13");
    make_cupti("/usr/local/cuda-12.9/targets/sbsa-linux/lib", "libcupti.so.12");
    find(NULL, NULL, NULL);
    assert_int_equal(found.n, 3);
    expect(0, "/usr/local/cuda-13.0/targets/x86_64-linux/lib", "CUDA toolkit");
    expect(1, "/usr/local/cuda-12.9/targets/sbsa-linux/lib", "CUDA toolkit");
    expect(2, "/usr/local/cuda-12.8/targets/x86_64-linux/lib", "CUDA toolkit");
    /* the one that the administrator chose comes before all of them */
    make_cupti("/usr/local/cuda/lib64", "libcupti.so.12");
    find(NULL, NULL, NULL);
    assert_int_equal(found.n, 4);
    expect(0, "/usr/local/cuda/lib64", "CUDA toolkit");
}

static void the_older_layout_counts(void **state)
{
    (void)state;
    make_cupti("/usr/local/cuda-12.8/extras/CUPTI/lib64", "libcupti.so.12");
    make_cupti("/opt/cuda/extras/CUPTI/lib64", "libcupti.so.13");
    find(NULL, NULL, NULL);
    assert_int_equal(found.n, 2);
    expect(0, "/usr/local/cuda-12.8/extras/CUPTI/lib64", "CUDA toolkit");
    expect(1, "/opt/cuda/extras/CUPTI/lib64", "CUDA toolkit");
}

static void incomplete_folders_are_passed_over(void **state)
{
    (void)state;
    static const char cuda[] = "/usr/local/cuda/lib64";
    make_file(cuda, "libcupti.so.13", "");
    find(NULL, NULL, NULL);
    assert_int_equal(found.n, 0);
    make_file(cuda, "libnvperf_host.so", "");
    find(NULL, NULL, NULL);
    assert_int_equal(found.n, 0);
    make_file(cuda, "libnvperf_target.so", "");
    find(NULL, NULL, NULL);
    assert_int_equal(found.n, 1);
}

/* PM sampling came with CUDA 12; the developer's link and the file named after the year say nothing
 * of the interface. */
static void a_libcupti_too_old_is_none(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "libcupti.so",   "libcupti.so.11", "libcupti.so.10.2",          "libcupti.so.2025.3.1",
        "libcupti.so.x", "libcupti.so.",   "libcupti.so.1200000000000", "xlibcupti.so.12",
        "libcupti.so12",
    };
    static const char dir[] = "/usr/local/cuda/lib64";
    make_file(dir, "libnvperf_host.so", "");
    make_file(dir, "libnvperf_target.so", "");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        make_file(dir, wrong[i], "");
    assert_false(pm_folder_complete(at(dir)));
    make_file(dir, "libcupti.so.12.8", "");
    assert_true(pm_folder_complete(at(dir)));
    assert_false(pm_folder_complete(at("/usr/local/cuda/lib64/no/such")));
}

static void the_loaders_path_comes_first(void **state)
{
    (void)state;
    make_cupti("/usr/local/cuda/lib64", "libcupti.so.13");
    make_cupti("/one", "libcupti.so.12");
    make_cupti("/two", "libcupti.so.13");
    make_cupti("/three", "libcupti.so.13");
    make_file("/etc/ld.so.conf.d", "cuda.conf", "# a comment\n\n/three   # ours\nrelative\n");
    make_cupti("/usr/lib/x86_64-linux-gnu", "libcupti.so.12");
    find(":/two:/nothing::/one:", NULL, NULL);
    assert_int_equal(found.n, 5);
    expect(0, "/two", "LD_LIBRARY_PATH");
    expect(1, "/one", "LD_LIBRARY_PATH");
    expect(2, "/three", "the loader's path");
    expect(3, "/usr/lib/x86_64-linux-gnu", "the loader's path");
    expect(4, "/usr/local/cuda/lib64", "CUDA toolkit");
}

static void a_folder_is_listed_once(void **state)
{
    (void)state;
    make_cupti("/usr/local/cuda/lib64", "libcupti.so.13");
    make_file("/etc/ld.so.conf.d", "cuda.conf", "/usr/local/cuda/lib64\n");
    find("/usr/local/cuda/lib64:/usr/local/cuda/lib64", NULL, NULL);
    assert_int_equal(found.n, 1);
    expect(0, "/usr/local/cuda/lib64", "LD_LIBRARY_PATH");
}

static void python_packages_of_all_kinds(void **state)
{
    (void)state;
    make_cupti("/venv/lib/python3.12/site-packages/nvidia/cu13/lib", "libcupti.so.13");
    make_cupti("/home/me/.local/lib/python3.11/site-packages/nvidia/cuda_cupti/lib",
               "libcupti.so.12");
    make_cupti("/usr/local/lib/python3.11/dist-packages/triton/backends/nvidia/lib/cupti",
               "libcupti.so.12");
    make_cupti("/opt/conda/lib/python3.10/site-packages/nvidia/cu13/lib", "libcupti.so.13");
    make_cupti("/opt/vllm/.venv/lib/python3.12/site-packages/nvidia/cu13/lib", "libcupti.so.13");
    make_cupti("/opt/nvidia/nsight-compute/2025.3/host/target-linux-x64", "libcupti.so.13.0");
    find(NULL, "/venv", "/home/me");
    assert_int_equal(found.n, 6);
    expect(0, "/venv/lib/python3.12/site-packages/nvidia/cu13/lib", "the Python environment");
    expect(1, "/home/me/.local/lib/python3.11/site-packages/nvidia/cuda_cupti/lib",
           "Python packages");
    expect(2, "/usr/local/lib/python3.11/dist-packages/triton/backends/nvidia/lib/cupti",
           "Python packages");
    expect(3, "/opt/conda/lib/python3.10/site-packages/nvidia/cu13/lib", "Python packages");
    expect(4, "/opt/vllm/.venv/lib/python3.12/site-packages/nvidia/cu13/lib", "Python packages");
    expect(5, "/opt/nvidia/nsight-compute/2025.3/host/target-linux-x64", "Nsight Compute");
}

static void cuda_13_before_cuda_12_in_one_environment(void **state)
{
    (void)state;
    make_cupti("/venv/lib/python3.12/site-packages/nvidia/cuda_cupti/lib", "libcupti.so.12");
    make_cupti("/venv/lib/python3.12/site-packages/nvidia/cu13/lib", "libcupti.so.13");
    make_cupti("/venv/lib/python3.12/site-packages/nvidia/cu14/lib", "libcupti.so.14");
    find(NULL, "/venv", NULL);
    assert_int_equal(found.n, 3);
    expect(0, "/venv/lib/python3.12/site-packages/nvidia/cu14/lib", "the Python environment");
    expect(1, "/venv/lib/python3.12/site-packages/nvidia/cu13/lib", "the Python environment");
    expect(2, "/venv/lib/python3.12/site-packages/nvidia/cuda_cupti/lib", "the Python environment");
}

#define MAP(offset, path) "7f0000000000-7f00000" offset " r-xp 00000000 08:01 4711   " path "\n"

/* A server in a container: its files are seen through the root link of its /proc entry. */
static void a_server_in_a_container(void **state)
{
    (void)state;
    static const char wheel[] =
        "/proc/4242/root/app/.venv/lib/python3.12/site-packages/nvidia/cu13/lib";
    make_cupti(wheel, "libcupti.so.13");
    make_file("/proc/4242", "maps",
              MAP("1000", "/usr/lib/x86_64-linux-gnu/libc.so.6") MAP(
                  "2000", "/app/.venv/lib/python3.12/site-packages/nvidia/cublas/lib/libcublas.so")
                  MAP("3000", "[stack]"));
    find(NULL, NULL, NULL);
    assert_int_equal(found.n, 1);
    expect(0, wheel, "a running process");
    /* maps of all processes are read only where nothing else is known */
    make_cupti("/usr/local/cuda/lib64", "libcupti.so.13");
    find(NULL, NULL, NULL);
    assert_int_equal(found.n, 1);
    expect(0, "/usr/local/cuda/lib64", "CUDA toolkit");
}

/* The library itself is mapped, from a place that nobody would guess. */
static void a_server_that_has_cupti_mapped(void **state)
{
    (void)state;
    make_cupti("/proc/77/root/srv/odd place", "libcupti.so.12");
    make_file("/proc/77", "maps",
              MAP("1000", "/srv/odd place/libcupti.so.12")
                  MAP("2000", "/srv/odd place/libcupti.so.12"));
    make_file("/proc/78", "maps", MAP("1000", "/elsewhere/libcupti.so.12 (deleted)"));
    find(NULL, NULL, NULL);
    assert_int_equal(found.n, 1);
    expect(0, "/proc/77/root/srv/odd place", "a running process");
    /* the same path on this side of the container is preferred */
    make_cupti("/srv/odd place", "libcupti.so.12");
    find(NULL, NULL, NULL);
    assert_int_equal(found.n, 2);
    expect(0, "/srv/odd place", "a running process");
}

static void more_folders_than_room(void **state)
{
    (void)state;
    for (int i = 10; i < 10 + PM_FOLDERS_MAX + 8; i++) {
        char dir[128];
        snprintf(dir, sizeof dir, "/usr/local/cuda-13.%d/targets/x86_64-linux/lib", i);
        make_cupti(dir, "libcupti.so.13");
    }
    find(NULL, NULL, NULL);
    assert_int_equal(found.n, PM_FOLDERS_MAX);
    expect(0, "/usr/local/cuda-13.49/targets/x86_64-linux/lib", "CUDA toolkit");
}

/* Paths that do not fit are no reason to crash, or to look somewhere else. */
static void paths_that_are_too_long(void **state)
{
    (void)state;
    static char path[3 * PM_PATH_SIZE];
    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    find(path, path, path);
    assert_int_equal(found.n, 0);
    make_file("/etc/ld.so.conf.d", "long.conf", path);
    make_file("/proc/5", "maps", path);
    find(NULL, NULL, NULL);
    assert_int_equal(found.n, 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        T(an_empty_machine_has_none),
        T(toolkits_newest_first),
        T(the_older_layout_counts),
        T(incomplete_folders_are_passed_over),
        T(a_libcupti_too_old_is_none),
        T(the_loaders_path_comes_first),
        T(a_folder_is_listed_once),
        T(python_packages_of_all_kinds),
        T(cuda_13_before_cuda_12_in_one_environment),
        T(a_server_in_a_container),
        T(a_server_that_has_cupti_mapped),
        T(more_folders_than_room),
        T(paths_that_are_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
