/* SPDX-License-Identifier: MIT */
/* A device's configuration space, made by hand. */
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "support.h"

#include "base/error.h"
#include "base/file.h"
#include "folder.h"
#include "vendor/pcie.h"

static uint8_t config[256];

static unsigned payload_of(size_t bytes)
{
    char path[200];
    snprintf(path, sizeof path, "%s/sys/bus/pci/devices/0000:01:00.0", folder);
    assert_int_equal(file_make_folders(path, 0755, NULL), OK);
    snprintf(path, sizeof path, "%s/sys/bus/pci/devices/0000:01:00.0/config", folder);
    assert_int_equal(file_replace(path, config, bytes, 0644, NULL), OK);
    return pcie_max_payload(folder, "0000:01:00.0");
}

static void of_the_list_of_capabilities(void **state)
{
    (void)state;
    assert_int_equal(pcie_max_payload(folder, "0000:02:00.0"), 0); /* no such device */
    config[0x34] = 0x60;
    config[0x60] = 1; /* power management */
    config[0x61] = 0x78;
    config[0x78] = 0x10;     /* PCI Express */
    config[0x78 + 8] = 0x3f; /* 256 bytes, and bits that mean other things */
    assert_int_equal(payload_of(256), 256);
    config[0x78 + 8] = 0x10;
    assert_int_equal(payload_of(256), 128);
    config[0x78 + 8] = 0xe0; /* reserved */
    assert_int_equal(payload_of(256), 0);
    config[0x78 + 8] = 0x20;
    assert_int_equal(payload_of(64), 0); /* who is not root reads 64 bytes */
}

static void of_a_broken_list(void **state)
{
    (void)state;
    config[0x78] = 5;
    config[0x79] = 0x60; /* a ring without PCI Express */
    assert_int_equal(payload_of(256), 0);
    config[0x34] = 0xfc; /* the last place, where nothing fits */
    config[0xfc] = 0x10;
    assert_int_equal(payload_of(256), 0);
    config[0x34] = 0;
    assert_int_equal(payload_of(256), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_the_list_of_capabilities),
                                       cmocka_unit_test(of_a_broken_list)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
