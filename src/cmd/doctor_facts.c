/* SPDX-License-Identifier: MIT */
/* smeff doctor: what the files below /proc, /sys, /dev and /etc say. */
#include <dirent.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "base/str.h"
#include "cmd/doctor.h"
#include "vendor/driver.h"

unsigned doctor_driver_major(const char *driver)
{
    char digits[8] = "";
    uint64_t major = 0;
    size_t n = strspn(driver, "0123456789");
    if (n > 0 && n < sizeof digits)
        memcpy(digits, driver, n);
    return num_parse_u64(digits, &major) ? (unsigned)major : 0;
}

static void read_driver(const char *root, struct doctor_facts *f)
{
    static const char key[] = "RmProfilingAdminOnly: ";
    char text[8192];
    struct driver_info driver;
    driver_read(root, &driver);
    f->module = driver.loaded;
    f->open_module = driver.open;
    memcpy(f->driver, driver.version, sizeof f->driver);
    f->admin_only = -1;
    if (os_read(root, "/proc/driver/nvidia/params", text, sizeof text)) {
        const char *at = strstr(text, key);
        if (at && (at[sizeof key - 1] == '0' || at[sizeof key - 1] == '1'))
            f->admin_only = at[sizeof key - 1] - '0';
    }
}

/* Display controllers (class 03) of NVIDIA (10de). */
static void count_gpus(const char *root, struct doctor_facts *f)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/sys/bus/pci/devices", root);
    DIR *d = opendir(path);
    for (const struct dirent *e; d && (e = readdir(d));) {
        char name[128], text[32];
        snprintf(name, sizeof name, "/sys/bus/pci/devices/%.60s/vendor", e->d_name);
        if (e->d_name[0] == '.' || !os_read(root, name, text, sizeof text) ||
            !str_starts_with(text, "0x10de"))
            continue;
        snprintf(name, sizeof name, "/sys/bus/pci/devices/%.60s/class", e->d_name);
        if (os_read(root, name, text, sizeof text) && str_starts_with(text, "0x03"))
            f->pci_gpus++;
    }
    if (d)
        closedir(d);
}

/* The name of a group in /etc/group: "video:x:44:alice". */
static void find_group(const char *root, unsigned gid, char *dst, size_t size)
{
    char path[PATH_MAX], line[512];
    snprintf(path, sizeof path, "%s/etc/group", root);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        char name[64];
        unsigned id;
        if (sscanf(line, "%63[^:]:%*[^:]:%u", name, &id) == 2 && id == gid)
            snprintf(dst, size, "%.31s", name);
    }
    if (f)
        fclose(f);
}

static void look_at_nodes(const char *root, struct doctor_facts *f)
{
    static const char *const nodes[] = {"/dev/nvidiactl", "/dev/nvidia0"};
    f->nodes = NODES_ABSENT;
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        char path[PATH_MAX];
        struct stat s;
        snprintf(path, sizeof path, "%s%s", root, nodes[i]);
        if (stat(path, &s) != 0)
            continue;
        bool open = access(path, R_OK | W_OK) == 0;
        if (f->nodes != NODES_DENIED)
            f->nodes = open ? NODES_OPEN : NODES_DENIED;
        if (!open && s.st_gid != 0)
            find_group(root, s.st_gid, f->nodes_group, sizeof f->nodes_group);
    }
}

static bool has_cuda_packages(const char *root)
{
    static const char *const patterns[] = {"/etc/apt/sources.list.d/cuda*",
                                           "/etc/yum.repos.d/cuda*.repo",
                                           "/etc/zypp/repos.d/cuda*.repo"};
    bool any = false;
    for (size_t i = 0; !any && i < sizeof patterns / sizeof patterns[0]; i++) {
        char pattern[PATH_MAX];
        glob_t found;
        snprintf(pattern, sizeof pattern, "%s%s", root, patterns[i]);
        any = glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc > 0;
        globfree(&found);
    }
    return any;
}

/* ---- who may hold the counters ---- */

static const struct {
    const char *name; /* a prefix of the process's or the program's name */
    bool whole;
    const char *what, *remedy;
} known_holders[] = {
    {"nsys", false, "Nsight Systems", "stop it, or wait until its capture ends"},
    {"ncu", true, "Nsight Compute", "stop it, or wait until it ends"},
    {"nv-nsight-cu-cli", true, "Nsight Compute", "stop it, or wait until it ends"},
    {"nv-hostengine", true, "NVIDIA DCGM",
     "dcgmi profile --pause (and --resume afterwards): up to Ada it reads profiling fields with "
     "the same counters"},
    {"dcgm-exporter", true, "NVIDIA DCGM's exporter",
     "dcgmi profile --pause (and --resume afterwards), or take the DCGM_FI_PROF_ fields out of its "
     "list: up to Ada they need the same counters"},
    {"dcgmproftester", false, "DCGM's test program", "stop it, or wait until it ends"},
    {"smeff", true, "another smeff",
     "stop it (a daemon: smeff daemon stop, or smeff yield -- COMMAND): one process at a time can "
     "hold a GPU's counters"},
};

struct search {
    struct doctor_facts *facts;
    int self, parents[64]; /* processes called smeff, ourselves among them */
    size_t n_parents;
};

static bool fits(const struct os_process *p, size_t kind)
{
    const char *name = known_holders[kind].name;
    if (!known_holders[kind].whole)
        return str_starts_with(p->name, name) || str_starts_with(p->exe, name);
    /* the kernel cuts names after 15 bytes */
    return strcmp(p->exe, name) == 0 || strncmp(p->name, name, 15) == 0;
}

static void see_parent(void *self, const struct os_process *p)
{
    struct search *s = self;
    if (strcmp(p->name, "smeff") == 0 && s->n_parents < sizeof s->parents / sizeof s->parents[0])
        s->parents[s->n_parents++] = p->pid;
}

/* The samplers of a smeff, and our own, are no holders of their own. */
static bool is_family(const struct search *s, const struct os_process *p)
{
    if (p->pid == s->self || p->parent == s->self)
        return true;
    for (size_t i = 0; i < s->n_parents; i++)
        if (s->parents[i] == p->parent)
            return true;
    return false;
}

static void see_holder(void *self, const struct os_process *p)
{
    struct search *s = self;
    struct doctor_facts *f = s->facts;
    for (size_t i = 0; i < sizeof known_holders / sizeof known_holders[0]; i++) {
        if (!fits(p, i))
            continue;
        if (f->n_holders < DOCTOR_HOLDERS_MAX && !is_family(s, p)) {
            struct doctor_holder *h = &f->holders[f->n_holders++];
            *h = (struct doctor_holder){
                .pid = p->pid, .what = known_holders[i].what, .remedy = known_holders[i].remedy};
            snprintf(h->name, sizeof h->name, "%s", p->exe[0] ? p->exe : p->name);
        }
        return;
    }
}

/* Toolkits link their folders to one another: each real folder once, under its first name. */
static void drop_links(struct pm_folders *folders)
{
    size_t n = 0;
    for (size_t i = 0; i < folders->n; i++) {
        struct stat one, other;
        bool again = false;
        for (size_t k = 0; k < n && !again; k++)
            again = stat(folders->list[i].path, &one) == 0 &&
                    stat(folders->list[k].path, &other) == 0 && one.st_dev == other.st_dev &&
                    one.st_ino == other.st_ino;
        if (!again)
            folders->list[n++] = folders->list[i];
    }
    folders->n = n;
}

void doctor_facts_read(const struct pm_places *places, int self, struct doctor_facts *out)
{
    const char *root = places->root;
    struct search search = {.facts = out, .self = self};
    *out = (struct doctor_facts){0};
    os_release_read(root, &out->release);
    os_rights_read(root, &out->rights);
    out->container = os_container(root);
    out->wsl = os_exists(root, "/dev/dxg");
    read_driver(root, out);
    count_gpus(root, out);
    look_at_nodes(root, out);
    out->cuda_packages = has_cuda_packages(root);
    pm_find(places, &out->folders);
    drop_links(&out->folders);
    os_each_process(root, see_parent, &search);
    os_each_process(root, see_holder, &search);
}
