/* SPDX-License-Identifier: MIT */
/* What nsys says of itself and of its failures, where it is found, and what is chosen of it. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "folder.h"
#include "support.h"

#include "base/clock.h"
#include "base/file.h"
#include "source/nsys/capture.h"
#include "source/nsys/choose.h"
#include "source/nsys/message.h"

static struct error err;

/* ---- parsers ---- */

static void versions(void **state)
{
    (void)state;
    struct nsys_version v, w;
    assert_true(
        nsys_version_parse("NVIDIA Nsight Systems version 2025.3.1.90-253135822126v0\n", &v));
    assert_string_equal(v.text, "2025.3.1");
    assert_true(nsys_version_parse("NVIDIA Nsight Systems version 2023.4.4.54-234433681190v0", &w));
    assert_true(nsys_version_compare(&v, &w) > 0 && nsys_version_compare(&w, &v) < 0);
    assert_int_equal(nsys_version_compare(&v, &v), 0);
    assert_true(nsys_version_usable(&w));
    assert_true(nsys_version_parse("NVIDIA Nsight Systems version 2023.3.3.42", &w));
    assert_false(nsys_version_usable(&w));
    assert_true(nsys_version_parse("NVIDIA Nsight Systems version 2025.10.1", &w));
    assert_true(nsys_version_compare(&w, &v) > 0);
    static const char *const wrong[] = {"", "2025.3.1", "nsys version 2025.3",
                                        "NVIDIA Nsight Systems version x",
                                        "NVIDIA Nsight Systems version 3.1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(nsys_version_parse(wrong[i], &w));
}

static void options(void **state)
{
    (void)state;
    struct nsys_options o;
    nsys_options_parse("\t--gpu-metrics-device=\n\t--gpu-metrics-set=\n", &o);
    assert_string_equal(o.devices, "--gpu-metrics-device");
    assert_string_equal(o.set, "--gpu-metrics-set");
    assert_false(o.discard_environment);
    nsys_options_parse("--gpu-metrics-devices= --gpu-metrics-sets= --discard-environment=", &o);
    assert_string_equal(o.devices, "--gpu-metrics-devices");
    assert_string_equal(o.set, "--gpu-metrics-sets");
    assert_true(o.discard_environment);
    nsys_options_parse("--gpu-metrics-device=, --gpu-metrics-devices=", &o); /* one that has both */
    assert_string_equal(o.devices, "--gpu-metrics-devices");
    nsys_options_parse("--gpu-metrics-frequency= --trace=", &o);
    assert_true(!o.devices && !o.set);
}

static void devices(void **state)
{
    (void)state;
    struct nsys_device list[NSYS_DEVICES_MAX];
    size_t n = nsys_devices_parse("Possible --gpu-metrics-devices values are:\n"
                                  "\t0: Hopper GH100 | NVIDIA H200 PCI[0000:00:06.0]\r\n"
                                  "    12: Ada Lovelace AD102 | NVIDIA L40S PCI[0000:81:00.0]\n"
                                  "    3: Turing TU104 | Tesla T4\n"
                                  "    all\n    cuda-visible\n    none\n",
                                  list);
    assert_int_equal(n, 3);
    assert_int_equal(list[0].id, 0);
    assert_string_equal(list[0].chip, "GH100");
    assert_string_equal(list[0].name, "NVIDIA H200");
    assert_string_equal(list[0].bus, "0000:00:06.0");
    assert_int_equal(list[1].id, 12);
    assert_string_equal(list[1].chip, "AD102");
    assert_string_equal(list[1].bus, "0000:81:00.0");
    assert_string_equal(list[2].name, "Tesla T4");
    assert_string_equal(list[2].bus, "");
    assert_int_equal(nsys_devices_parse("NVIDIA GPUs not found.\n", list), 0);
    assert_int_equal(nsys_devices_parse("", list), 0);
}

static void sets(void **state)
{
    (void)state;
    struct nsys_set list[NSYS_SETS_MAX];
    size_t n = nsys_sets_parse("Possible --gpu-metrics-set values are:\n"
                               "    gh100: General Metrics for NVIDIA GH100 (any frequency)\n"
                               "    gb20x-top: Top-Level for NVIDIA GB20x\n"
                               "    file:<file name>\n",
                               list);
    assert_int_equal(n, 2);
    assert_string_equal(list[0].alias, "gh100");
    assert_string_equal(list[1].alias, "gb20x-top");
}

static void messages(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum status status;
        const char *part;
    } cases[] = {
        {"Illegal --gpu-metrics-devices argument: 0.\nAlready under profiling.", ERR_BUSY,
         "another program holds"},
        {"Performance counters are already in use by another instance, container or VM", ERR_BUSY,
         "another program holds"},
        {"GPU 0: Insufficient privilege", ERR_PERMISSION, "NVreg_RestrictProfilingToAdminUsers=0"},
        {"see https://developer.nvidia.com/ERR_NVGPUCTRPERM", ERR_PERMISSION, "CAP_SYS_ADMIN"},
        {"None of the installed GPUs are supported", ERR_UNSUPPORTED, "Turing"},
        {"Illegal --gpu-metrics-devices argument: 7.\nNo such GPU", ERR_NO_GPU, "GPU"},
        {"NVIDIA GPUs not found", ERR_NO_GPU, "no GPU"},
        {"Metric set is not supported by GPU", ERR_UNSUPPORTED, "another chip"},
        {"MIG instances found", ERR_UNSUPPORTED, "MIG"},
        {"unrecognised option '--gpu-metrics-devices'", ERR_UNSUPPORTED, "option"},
        {"Importer error status: …\nskipping importation", ERR_NOT_FOUND, "libdw1"},
        {"QdstrmImporter and nsys file versions must match", ERR_UNSUPPORTED, "another build"},
        {"write: No space left on device", ERR_IO, "TMPDIR"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        err = (struct error)ERROR_INIT;
        assert_int_equal(nsys_message_find(cases[i].text, &err), cases[i].status);
        assert_contains(err.text, cases[i].part);
    }
    char last[32];
    assert_int_equal(nsys_message_find("Generating 'x.qdstrm'\nProcessing", NULL), OK);
    assert_string_equal(nsys_message_last("a\n  b c\r\n \n", last, sizeof last), "b c");
    assert_string_equal(nsys_message_last("", last, sizeof last), "");
}

/* ---- choosing ---- */

static void choosing(void **state)
{
    (void)state;
    static struct nvml_cards cards;
    const struct nsys_device *chosen[NVML_PCI_MAX];
    struct nsys_device list[] = {{0, "GB202", "x", "00000000:81:00.0"},
                                 {4, "GB203", "x", "0000:01:00.0"}};
    static const struct nsys_set all[] = {{"gb20x"}, {"gb20x-top"}};
    char ids[64], set[64];
    size_t n = 0;
    cards.n = 2;
    snprintf(cards.list[0].pci, sizeof cards.list[0].pci, "0000:01:00.0");
    snprintf(cards.list[1].pci, sizeof cards.list[1].pci, "0000:81:00.0");
    assert_int_equal(nsys_choose_devices(&cards, list, 2, ids, sizeof ids, chosen, &n, &err), OK);
    assert_string_equal(ids, "4,0");
    assert_int_equal(nsys_choose_set(NULL, chosen, n, all, 2, set, sizeof set, &err), OK);
    assert_string_equal(set, "gb20x-top");
    assert_int_equal(nsys_choose_set("gb20x", chosen, n, all, 2, set, sizeof set, &err), OK);
    assert_string_equal(set, "gb20x");
    assert_int_equal(nsys_choose_set("file:/x", chosen, n, all, 2, set, sizeof set, &err), OK);
    assert_int_equal(nsys_choose_set("gh100", chosen, n, all, 2, set, sizeof set, &err),
                     ERR_UNSUPPORTED);
    snprintf(list[0].chip, sizeof list[0].chip, "GH100"); /* one of them is another chip */
    assert_int_equal(nsys_choose_set(NULL, chosen, n, all, 2, set, sizeof set, &err), OK);
    assert_string_equal(set, "");
    assert_int_equal(nsys_choose_devices(&cards, list, 1, ids, sizeof ids, chosen, &n, &err),
                     ERR_NO_GPU);
    cards.n = 1; /* the only GPU of both, where nsys does not say where it is */
    list[0].bus[0] = '\0';
    assert_int_equal(nsys_choose_devices(&cards, list, 1, ids, sizeof ids, chosen, &n, &err), OK);
    list[0].bus[0] = '9'; /* but not when it is said to be elsewhere */
    assert_int_equal(nsys_choose_devices(&cards, list, 1, ids, sizeof ids, chosen, &n, &err),
                     ERR_NO_GPU);
}

/* ---- finding ---- */

static void put_script(const char *path, const char *text)
{
    char whole[PATH_MAX], above[PATH_MAX];
    snprintf(whole, sizeof whole, "%s%s", folder, path);
    snprintf(above, sizeof above, "%.*s", (int)(strrchr(whole, '/') - whole), whole);
    assert_int_equal(file_make_folders(above, 0755, &err), OK);
    assert_int_equal(file_replace(whole, text, strlen(text), 0755, &err), OK);
}

#define SAYS(version) "#!/bin/sh\necho NVIDIA Nsight Systems version " version ".1-x\n"

static void finding(void **state)
{
    (void)state;
    struct nsys_candidates c;
    struct nsys_tool tool;
    struct nsys_places places = {folder, "/usr/bin:/opt/bin"};
    assert_int_equal(nsys_find(&places, NULL, &c, &err), ERR_NOT_FOUND);
    assert_contains(err.text, "--nsys PROGRAM");
    put_script("/opt/bin/nsys", SAYS("2023.4.4"));
    put_script("/opt/nvidia/nsight-systems/2025.3.1/target-linux-x64/nsys", SAYS("2025.3.1"));
    put_script("/opt/nvidia/nsight-systems/2024.2.1/target-linux-x64/nsys", SAYS("2024.2.1"));
    put_script("/opt/nvidia/nsight-compute/2025.1.0/host/target-linux-x64/nsys", SAYS("2025.2.1"));
    put_script("/opt/nvidia/nsight-systems/2026.9.9/target-linux-x64/nsys", "#!/bin/sh\nexit 1\n");
    assert_int_equal(nsys_find(&places, NULL, &c, &err), OK);
    assert_int_equal(c.n, 5);
    assert_int_equal(nsys_tool_open(&tool, &places, NULL, &err), OK); /* the newest that works */
    assert_string_equal(tool.version.text, "2025.3.1");
    assert_contains(tool.found, "/nsight-systems/2025.3.1/target-linux-x64/nsys");
    assert_string_equal(tool.found, tool.program);
    char was[512];
    snprintf(was, sizeof was, "%s", tool.folder.path);
    struct stat info;
    assert_int_equal(stat(was, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    nsys_tool_close(&tool);
    assert_int_not_equal(stat(was, &info), 0);
    assert_int_equal(nsys_tool_open(&tool, &places, "nsys", &err), OK); /* as PATH has it */
    assert_string_equal(tool.version.text, "2023.4.4");
    nsys_tool_close(&tool);
    assert_int_equal(nsys_find(&places, "other", &c, &err), ERR_NOT_FOUND);
    assert_int_equal(nsys_find(&places, "/no/such/nsys", &c, &err), ERR_NOT_FOUND);
}

/* ---- deadlines ---- */

static enum status run_capture(struct nsys_capture *c, const struct nsys_tool *tool,
                               const struct nsys_wish *wish)
{
    const struct timespec tick = {0, 5000000};
    err = (struct error)ERROR_INIT;
    enum status st = nsys_capture_start(c, tool, wish, 1, &err);
    while (!st && c->phase != NSYS_DONE && !(st = nsys_capture_step(c, &err)))
        nanosleep(&tick, NULL);
    return st;
}

/* At each step of a capture. $last is the mark that the window is over. */
static void hanging(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        "#!/bin/sh\nsleep 100\n",
        "#!/bin/sh\nfor last; do :; done\necho >\"$last\"\nsleep 100 & sleep 100\n",
        "#!/bin/sh\ntrap '' TERM\nsetsid sleep 100 &\nwhile :; do sleep 1; done\n",
    };
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        struct nsys_tool tool = {.folder = GUARD_FOLDER_INIT,
                                 .options = {.devices = "--gpu-metrics-devices"}};
        struct nsys_wish wish = {.seconds = 0.1, .rate_hz = 50, .patience = {300, 300}};
        struct nsys_capture c = {0};
        char was[512];
        put_script("/hanging", scripts[i]);
        snprintf(tool.program, sizeof tool.program, "%s/hanging", folder);
        assert_int_equal(guard_folder_make(&tool.folder, "smeff-test", &err), OK);
        snprintf(was, sizeof was, "%s", tool.folder.path);
        nsys_environment_make(&tool.environment, was);
        int64_t begin_ns = clock_monotonic_ns();
        assert_int_equal(run_capture(&c, &tool, &wish), ERR_TIMEOUT);
        assert_true(clock_monotonic_ns() - begin_ns < INT64_C(8000000000));
        assert_contains(err.text, "hung");
        assert_int_equal(c.phase, NSYS_IDLE);
        guard_folder_remove(&tool.folder);
        assert_int_not_equal(access(was, F_OK), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions),
        cmocka_unit_test(options),
        cmocka_unit_test(devices),
        cmocka_unit_test(sets),
        cmocka_unit_test(messages),
        cmocka_unit_test(choosing),
        cmocka_unit_test_setup_teardown(finding, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(hanging, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
