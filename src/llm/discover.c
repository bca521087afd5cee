/* SPDX-License-Identifier: MIT */
#include "llm/discover.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"

enum { LISTENERS_MAX = 4096, ANCESTORS_MAX = 4, COMMAND_SIZE = 8192 };

/* vLLM and others, SGLang, llama.cpp, TGI (launcher, container), LMDeploy, Triton, mistral.rs,
 * Dynamo's workers, Aphrodite. */
static const unsigned usual_ports[] = {8000, 30000, 8080, 3000, 80, 23333, 8002, 1234, 8081, 2242};

static const char *const server_words[] = {
    "vllm",         "sglang",   "llama-server", "text-generation", "trtllm",
    "tritonserver", "lmdeploy", "dynamo",       "aphrodite",       "tgi"};

/* A socket of our network namespace that listens at loopback or everywhere. */
struct listener {
    char host[24]; /* as in a URL */
    unsigned port;
    uint64_t inode;
    bool taken;
};

struct listeners {
    size_t n;
    struct listener list[LISTENERS_MAX];
};

static bool is_usual(unsigned port)
{
    for (size_t i = 0; i < sizeof usual_ports / sizeof usual_ports[0]; i++)
        if (usual_ports[i] == port)
            return true;
    return false;
}

/* The address as /proc/net/tcp writes it: words of 4 bytes in this machine's order. */
static bool reachable(const char *hex, char *host, size_t size)
{
    unsigned long v4 = strtoul(hex + (strlen(hex) > 8 ? 24 : 0), NULL, 16);
    unsigned a = (unsigned)(v4 & 0xff), b = (unsigned)(v4 >> 8 & 0xff),
             c = (unsigned)(v4 >> 16 & 0xff), d = (unsigned)(v4 >> 24 & 0xff);
    bool is_v6 = strlen(hex) > 8,
         is_mapped = is_v6 && strncmp(hex, "0000000000000000FFFF0000", 24) == 0;
    if (is_v6 && !is_mapped) {
        snprintf(host, size, "[::1]");
        return strspn(hex, "0") == 32 || strcmp(hex, "00000000000000000000000001000000") == 0;
    }
    if (v4 == 0)
        snprintf(host, size, "127.0.0.1");
    else
        snprintf(host, size, "%u.%u.%u.%u", a, b, c, d);
    return v4 == 0 || a == 127;
}

static void read_listeners(const char *root, const char *name, struct listeners *out)
{
    enum { LISTEN = 0x0A };
    char path[PATH_MAX], line[512], address[40];
    snprintf(path, sizeof path, "%s%s", root, name);
    FILE *f = fopen(path, "re");
    while (f && out->n < LISTENERS_MAX && fgets(line, sizeof line, f)) {
        unsigned port = 0, state = 0;
        unsigned long long inode = 0;
        struct listener *l = &out->list[out->n];
        if (sscanf(line, " %*u: %39[0-9A-F]:%X %*[0-9A-F]:%*X %X %*X:%*X %*X:%*X %*X %*u %*u %llu",
                   address, &port, &state, &inode) != 4 ||
            state != LISTEN || !reachable(address, l->host, sizeof l->host))
            continue;
        l->port = port;
        l->inode = inode;
        l->taken = false;
        out->n++;
    }
    if (f)
        fclose(f);
}

/* port 0 = every one. NULL when memory ran out; free() is the caller's. */
static struct listeners *listeners_at(const char *root, unsigned port)
{
    struct listeners *all = calloc(1, sizeof *all);
    size_t n = 0;
    if (!all)
        return NULL;
    read_listeners(root, "/proc/self/net/tcp", all);
    read_listeners(root, "/proc/self/net/tcp6", all);
    for (size_t i = 0; i < all->n; i++)
        if (port == 0 || all->list[i].port == port)
            all->list[n++] = all->list[i];
    all->n = n;
    return all;
}

/* ---- a process ---- */

/* Calls see for the target of every open file, until it returns false. */
static void each_file(const char *root, int pid, bool (*see)(void *self, const char *target),
                      void *self)
{
    char folder[PATH_MAX], link[PATH_MAX + 300], target[256];
    snprintf(folder, sizeof folder, "%s/proc/%d/fd", root, pid);
    DIR *d = opendir(folder);
    bool more = true;
    for (const struct dirent *e; d && more && (e = readdir(d));) {
        snprintf(link, sizeof link, "%s/%s", folder, e->d_name);
        ssize_t n = readlink(link, target, sizeof target - 1);
        if (n <= 0)
            continue;
        target[n] = '\0';
        more = see(self, target);
    }
    if (d)
        closedir(d);
}

struct owner {
    struct listeners *all;
    bool has[LISTENERS_MAX];
};

static bool see_socket(void *self, const char *target)
{
    struct owner *o = self;
    unsigned long long inode;
    if (sscanf(target, "socket:[%llu]", &inode) == 1)
        for (size_t i = 0; i < o->all->n; i++)
            o->has[i] |= o->all->list[i].inode == inode;
    return true;
}

struct command_line {
    bool is_server; /* of one that we know */
    unsigned port;  /* behind --port; 0 = none */
};

static void read_command(const char *root, int pid, struct command_line *out)
{
    char path[64], text[COMMAND_SIZE];
    *out = (struct command_line){false, 0};
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    FILE *f = NULL;
    char full[PATH_MAX];
    snprintf(full, sizeof full, "%s%s", root, path);
    f = fopen(full, "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = '\0';
    for (const char *word = text; word < text + n; word += strlen(word) + 1) {
        const char *next = word + strlen(word) + 1;
        const char *value = strcmp(word, "--port") == 0 && next < text + n ? next
                            : strncmp(word, "--port=", 7) == 0             ? word + 7
                                                                           : "";
        if (*value)
            out->port = (unsigned)strtoul(value, NULL, 10);
        for (size_t i = 0; i < sizeof server_words / sizeof server_words[0]; i++)
            out->is_server |= strstr(word, server_words[i]) != NULL;
    }
}

int discover_parent(const char *root, int pid)
{
    char path[64], text[1024];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    os_read(root, path, text, sizeof text);
    const char *close = strrchr(text, ')');
    return close && sscanf(close + 1, " %*c %d", &parent) == 1 && parent > 1 ? parent : 0;
}

/* ---- places ---- */

struct places {
    struct discover_place *list;
    size_t n, max;
};

static void add(struct places *p, struct listener *l, int pid)
{
    if (l->taken || p->n == p->max)
        return;
    /* the same port over IPv4 and IPv6 is one server */
    for (size_t i = 0; i < p->n; i++) {
        const char *port = strrchr(p->list[i].url, ':');
        if (strtoul(port + 1, NULL, 10) == l->port)
            return;
    }
    l->taken = true;
    struct discover_place *place = &p->list[p->n++];
    snprintf(place->url, sizeof place->url, "http://%s:%u", l->host, l->port);
    place->pid = pid;
}

static void add_process(const char *root, int pid, struct listeners *all, struct places *out)
{
    struct owner owner = {.all = all};
    struct command_line command;
    bool has_known_port = false;
    each_file(root, pid, see_socket, &owner);
    read_command(root, pid, &command);
    for (size_t i = 0; i < all->n; i++) {
        unsigned port = all->list[i].port;
        if (owner.has[i] && (port == command.port || (!command.port && is_usual(port)))) {
            has_known_port = true;
            add(out, &all->list[i], pid);
        }
    }
    for (size_t i = 0; i < all->n && command.is_server && !has_known_port; i++)
        if (owner.has[i])
            add(out, &all->list[i], pid);
}

/* Inference servers at the usual ports that hold no GPU that we see: by their command line. */
struct search {
    const char *root;
    struct listeners *all;
    struct places *out;
};

static void see_server(void *self, const struct os_process *p)
{
    struct search *s = self;
    struct command_line command;
    struct owner owner = {.all = s->all};
    read_command(s->root, p->pid, &command);
    if (command.is_server)
        each_file(s->root, p->pid, see_socket, &owner);
    for (size_t i = 0; i < s->all->n; i++)
        if (owner.has[i] && is_usual(s->all->list[i].port))
            add(s->out, &s->all->list[i], p->pid);
}

size_t discover_places(const char *root, const int *pids, size_t n, struct discover_place *out,
                       size_t max)
{
    struct places places = {out, 0, max};
    struct listeners *all = listeners_at(root, 0);
    if (!all)
        return 0;
    for (size_t i = 0; i < n; i++) {
        int pid = pids[i];
        for (int up = 0; pid > 0 && up <= ANCESTORS_MAX; up++, pid = discover_parent(root, pid))
            add_process(root, pid, all, &places);
    }
    struct search search = {root, all, &places};
    os_each_process(root, see_server, &search);
    for (size_t i = 0; i < all->n; i++)
        if (is_usual(all->list[i].port))
            add(&places, &all->list[i], 0);
    free(all);
    return places.n;
}

/* ---- who holds a GPU ---- */

static bool see_device(void *self, const char *target)
{
    bool *holds = self;
    *holds = strncmp(target, "/dev/nvidia", 11) == 0 && isdigit((unsigned char)target[11]);
    return !*holds;
}

struct holders {
    const char *root;
    int *pids;
    size_t n, max;
};

static void see_process(void *self, const struct os_process *p)
{
    struct holders *h = self;
    bool holds = false;
    each_file(h->root, p->pid, see_device, &holds);
    if (holds && h->n < h->max)
        h->pids[h->n++] = p->pid;
}

size_t discover_gpu_holders(const char *root, int *pids, size_t max)
{
    struct holders h = {root, pids, 0, max};
    os_each_process(root, see_process, &h);
    return h.n;
}

/* ---- who listens ---- */

struct port_search {
    const char *root;
    struct listeners *all; /* at this port alone */
    int pid;               /* the first: those that inherited the socket are its children */
};

static void see_listener(void *self, const struct os_process *p)
{
    struct port_search *s = self;
    struct owner owner = {.all = s->all};
    if (s->pid && s->pid < p->pid)
        return;
    each_file(s->root, p->pid, see_socket, &owner);
    for (size_t i = 0; i < s->all->n; i++)
        if (owner.has[i])
            s->pid = p->pid;
}

int discover_listener(const char *root, unsigned port)
{
    struct listeners *all = listeners_at(root, port);
    struct port_search search = {root, all, 0};
    if (all && all->n)
        os_each_process(root, see_listener, &search);
    free(all);
    return search.pid;
}

bool discover_listens(const char *root, int pid, unsigned port)
{
    struct listeners *all = listeners_at(root, port);
    struct owner owner = {.all = all};
    bool listens = false;
    if (all && all->n && pid > 0)
        each_file(root, pid, see_socket, &owner);
    for (size_t i = 0; all && i < all->n; i++)
        listens |= owner.has[i];
    free(all);
    return listens;
}

uint64_t discover_mark(const char *root, unsigned port)
{
    struct listeners *all = listeners_at(root, port);
    uint64_t mark = 0;
    for (size_t i = 0; all && i < all->n; i++) /* in whatever order the kernel has them */
        mark += (all->list[i].inode + 1) * UINT64_C(0x9E3779B97F4A7C15) ^ all->list[i].port;
    free(all);
    return mark;
}
