/* SPDX-License-Identifier: MIT */
#include "script.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "defaults.h"
#include "fault.h"

static struct {
    struct section common;
    struct gpu gpus[SCRIPT_GPUS];
    unsigned n;
    int64_t born_ns;
} script;

/* Which keys there are. Those of all GPUs, and those that a GPU may have of its own; a '*' stands
 * for anything. */
static const char *const common_keys[] = {
    "driver", "nvml_version", "cuda_version", "cupti_version", "gpus", "cuda_order", "lock",
};
static const char *const gpu_keys[] = {
    "name",         "uuid",        "pci",           "chip",
    "capability",   "memory",      "memory.used",   "memory.reserved",
    "process",      "gpm",         "lost",          "busy",
    "denied",       "image_full",  "setup",         "lag",
    "sample_bytes", "stop_reason", "corrupt_first", "corrupt_newest",
    "kernel", /* these three: how libcuda works */
    "copy",         "gemv",        "nvmlDevice*",   "attribute.*",
    "supported.*",  "gpm.*",       "field.*",       "pm.*",
    "passes.*",     "group.*",
};

__attribute__((noreturn)) static void give_up(const char *where, int line, const char *what,
                                              const char *text)
{
    fprintf(stderr, "fake GPU: %s:%d: %s: %s\n", where, line, what, text);
    abort();
}

int64_t script_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool is_in(const char *key, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(list[i]);
        bool prefix = list[i][len - 1] == '*';
        if (strncmp(key, list[i], prefix ? len - 1 : len + 1) == 0)
            return true;
    }
    return false;
}

/* Cuts blanks at both ends, in place. */
static char *trim(char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    size_t n = strlen(s);
    while (n > 0 && isspace((unsigned char)s[n - 1]))
        s[--n] = '\0';
    return s;
}

static void set(struct section *section, const char *key, const char *text, const char *where,
                int line)
{
    bool common = section == &script.common;
    if (common && fault_add(key, text))
        return;
    if (!(common && is_in(key, common_keys, sizeof common_keys / sizeof common_keys[0])) &&
        !is_in(key, gpu_keys, sizeof gpu_keys / sizeof gpu_keys[0]))
        give_up(where, line, "no such key here", key);
    if (section->n == SCRIPT_SETTINGS)
        give_up(where, line, "too many settings", key);
    struct setting *s = &section->list[section->n++];
    if (strlen(key) >= sizeof s->key || strlen(text) >= sizeof s->text)
        give_up(where, line, "too long", key);
    snprintf(s->key, sizeof s->key, "%s", key);
    snprintf(s->text, sizeof s->text, "%s", text);
    wave_parse(&s->wave, s->text);
}

static void parse_line(char *line, struct section **section, const char *where, int number)
{
    char *comment = strchr(line, '#');
    if (comment)
        *comment = '\0';
    line = trim(line);
    char *equals = strchr(line, '=');
    if (*line == '\0')
        return;
    if (strcmp(line, "[gpu]") == 0) {
        if (script.n == SCRIPT_GPUS)
            give_up(where, number, "too many GPUs", line);
        *section = &script.gpus[script.n++].own;
    } else if (equals) {
        *equals = '\0';
        set(*section, trim(line), trim(equals + 1), where, number);
    } else {
        give_up(where, number, "neither [gpu] nor key = value", line);
    }
}

static void read_file(const char *path)
{
    FILE *f = fopen(path, "re");
    if (!f)
        give_up(path, 0, "cannot be opened", "see FAKE_GPU");
    struct section *section = &script.common;
    char line[512];
    for (int number = 1; fgets(line, sizeof line, f); number++) {
        if (!strchr(line, '\n') && !feof(f))
            give_up(path, number, "too long a line", line);
        parse_line(line, &section, path, number);
    }
    fclose(f);
}

static void load(void)
{
    for (size_t i = 0; i < sizeof fake_defaults / sizeof fake_defaults[0]; i++)
        set(&script.common, fake_defaults[i][0], fake_defaults[i][1], "defaults", (int)i);
    const char *path = getenv("FAKE_GPU");
    if (path && *path)
        read_file(path);
    if (script.n == 0)
        script.n = (unsigned)script_number(NULL, "gpus", 1);
    if (script.n > SCRIPT_GPUS)
        give_up("gpus", 0, "too many GPUs", "");
    for (unsigned i = 0; i < SCRIPT_GPUS; i++)
        script.gpus[i].index = i;
    script.born_ns = script_now_ns();
}

static void need(void)
{
    static bool loading, loaded;
    static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    pthread_mutex_lock(&mutex);
    if (!loaded && !loading) {
        loading = true; /* load itself looks settings up */
        load();
        loaded = true;
    }
    pthread_mutex_unlock(&mutex);
}

unsigned script_gpus(void)
{
    need();
    return script.n;
}

struct gpu *script_gpu(unsigned index)
{
    need();
    return index < script.n ? &script.gpus[index] : NULL;
}

const struct section *script_common(void)
{
    need();
    return &script.common;
}

static const struct setting *find_in(const struct section *section, const char *key)
{
    for (size_t i = section->n; i-- > 0;)
        if (strcmp(section->list[i].key, key) == 0)
            return &section->list[i];
    return NULL;
}

const struct setting *script_find(const struct gpu *gpu, const char *key)
{
    need();
    const struct setting *s = gpu ? find_in(&gpu->own, key) : NULL;
    return s ? s : find_in(&script.common, key);
}

const char *script_text(const struct gpu *gpu, const char *key, const char *otherwise)
{
    const struct setting *s = script_find(gpu, key);
    return s ? s->text : otherwise;
}

double script_number(const struct gpu *gpu, const char *key, double otherwise)
{
    const struct setting *s = script_find(gpu, key);
    return s ? wave_at(&s->wave, script_now_ns()) : otherwise;
}

bool script_holds(const struct gpu *gpu, const char *key)
{
    const char *text = script_text(gpu, key, "no");
    struct wave w;
    if (strcmp(text, "yes") == 0)
        return true;
    if (strncmp(text, "file ", 5) == 0)
        return access(text + 5, F_OK) == 0;
    if (strncmp(text, "after ", 6) == 0 && wave_parse(&w, text + 6))
        return (double)(script_now_ns() - script.born_ns) >= w.a * 1e9;
    if (strcmp(text, "no") != 0)
        give_up(key, 0, "is none of yes, no, after SECONDS, file PATH", text);
    return false;
}

/* The n-th number of a list divided by blanks or commas; -1 = there is none, or it is no number. */
static long nth(const char *list, int n)
{
    char *end = NULL;
    for (;; list = end, n--) {
        list += strspn(list, " ,");
        long value = strtol(list, &end, 10);
        if (end == list)
            return -1;
        if (n == 0)
            return value;
    }
}

struct gpu *script_cuda_gpu(int ordinal)
{
    need();
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    long i = visible ? nth(visible, ordinal) : ordinal;
    const char *order = script_text(NULL, "cuda_order", NULL);
    if (order && i >= 0)
        i = nth(order, (int)i);
    return i >= 0 && i < (long)script.n ? &script.gpus[i] : NULL;
}

int script_enter(const char *function)
{
    need();
    return fault_play(function);
}
