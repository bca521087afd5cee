/* SPDX-License-Identifier: MIT */
#include "source/nvml_pci.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

#define DEVICES "/sys/bus/pci/devices"

/* The first word of a device's attribute, "" when it cannot be read. */
static void read_word(const char *root, const char *id, const char *name, char word[32])
{
    char path[PATH_MAX];
    word[0] = '\0';
    snprintf(path, sizeof path, "%s" DEVICES "/%s/%s", root, id, name);
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    if (fscanf(f, "%31s", word) != 1)
        word[0] = '\0';
    fclose(f);
}

static bool has_nvidia_driver(const char *root, const char *id)
{
    char path[PATH_MAX], target[PATH_MAX];
    snprintf(path, sizeof path, "%s" DEVICES "/%s/driver", root, id);
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0)
        return false;
    target[n] = '\0';
    const char *name = strrchr(target, '/');
    return strcmp(name ? name + 1 : target, "nvidia") == 0;
}

/* Class 03 = display controller; such a card's sound device has another one. */
static bool is_gpu(const char *root, const char *id)
{
    char vendor[32], class[32];
    read_word(root, id, "vendor", vendor);
    read_word(root, id, "class", class);
    return strcmp(vendor, "0x10de") == 0 && str_starts_with(class, "0x03") &&
           has_nvidia_driver(root, id);
}

/* A domain beyond ffff has more digits. */
static int compare(const void *a, const void *b)
{
    const struct nvml_pci *x = a, *y = b;
    size_t n = strlen(x->id), m = strlen(y->id);
    return n != m ? (n < m ? -1 : 1) : strcmp(x->id, y->id);
}

size_t nvml_pci_list(const char *root, struct nvml_pci list[NVML_PCI_MAX])
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s" DEVICES, root);
    DIR *dir = opendir(path);
    if (!dir)
        return 0;
    size_t n = 0;
    for (const struct dirent *e; n < NVML_PCI_MAX && (e = readdir(dir));) {
        size_t len = strlen(e->d_name);
        if (e->d_name[0] == '.' || len >= NVML_PCI_SIZE || !is_gpu(root, e->d_name))
            continue;
        memcpy(list[n++].id, e->d_name, len + 1);
    }
    closedir(dir);
    qsort(list, n, sizeof *list, compare);
    return n;
}

size_t nvml_pci_nodes(const char *root)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/dev", root);
    DIR *dir = opendir(path);
    if (!dir)
        return 0;
    size_t n = 0;
    for (const struct dirent *e; (e = readdir(dir));) {
        const char *digits = e->d_name + strlen("nvidia");
        if (str_starts_with(e->d_name, "nvidia") && *digits &&
            digits[strspn(digits, "0123456789")] == '\0')
            n++;
    }
    closedir(dir);
    return n;
}

bool nvml_pci_sleeps(const char *root, const char *id)
{
    char word[32];
    read_word(root, id, "power/runtime_status", word);
    return strcmp(word, "suspended") == 0 || strcmp(word, "suspending") == 0;
}
