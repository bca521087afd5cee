/* SPDX-License-Identifier: MIT */
#include "cmd/doubts.h"

#include <ctype.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "cmd/cmd.h"
#include "vendor/driver.h"

enum { FILE_MAX = 1 << 20 };

static const char system_folder[] = "/var/lib/smeff";

/* ---- where ---- */

static void own_folder(char dst[PATH_MAX])
{
    const char *state = getenv("SMEFF_STATE"), *xdg = getenv("XDG_STATE_HOME"),
               *home = getenv("HOME");
    if (state && *state)
        snprintf(dst, PATH_MAX, "%s", state);
    else if (geteuid() != 0 && xdg && *xdg == '/') /* a relative one is to be ignored */
        snprintf(dst, PATH_MAX, "%s/smeff", xdg);
    else if (geteuid() != 0 && home && *home == '/')
        snprintf(dst, PATH_MAX, "%s/.local/state/smeff", home);
    else
        snprintf(dst, PATH_MAX, "%s", system_folder);
}

/* A UUID comes from the driver: it must not lead out of the folder. */
static bool file_in(char dst[PATH_MAX], const char *folder, const char *uuid)
{
    for (const char *p = uuid; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '-')
            return false;
    int n = snprintf(dst, PATH_MAX, "%s/selftest-%s.json", folder, uuid);
    return *uuid && n > 0 && n < PATH_MAX;
}

/* ---- reading ---- */

static int source_by_name(const char *name)
{
    for (int i = 0; i < PROOF_LIVE; i++)
        if (name && strcmp(name, source_name(proof_source(i))) == 0)
            return (int)proof_source(i);
    return -1;
}

static void add(struct doubts *d, enum source_id source, enum metric metric, const char *load,
                const char *reason)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->list[i].source == source && d->list[i].metric == metric)
            return;
    if (d->n == sizeof d->list / sizeof d->list[0])
        return;
    struct doubt *new = &d->list[d->n++];
    new->source = source;
    new->metric = metric;
    str_clean(new->load, sizeof new->load, load, strlen(load));
    str_clean(new->reason, sizeof new->reason, reason, strlen(reason));
}

static void take_failed(struct doubts *d, json_t *failed)
{
    size_t i;
    json_t *o;
    json_array_foreach(failed, i, o)
    {
        const char *metric = json_string_value(json_object_get(o, "metric"));
        const char *reason = json_string_value(json_object_get(o, "reason"));
        const char *load = json_string_value(json_object_get(o, "load"));
        int m = metric ? metric_by_key(metric) : METRIC_NONE;
        int source = source_by_name(json_string_value(json_object_get(o, "source")));
        if (m != METRIC_NONE && source >= 0 && reason && *reason && load)
            add(d, (enum source_id)source, (enum metric)m, load, reason);
    }
}

/* SMEFF_PROC is put in front of /proc and /sys, for tests. "" = not known. */
static void driver_version(char dst[DRIVER_VERSION_SIZE])
{
    struct driver_info driver;
    const char *root = getenv("SMEFF_PROC");
    driver_read(root ? root : "", &driver);
    memcpy(dst, driver.version, DRIVER_VERSION_SIZE);
}

/* Returns false where there is no file that holds for this GPU and driver. */
static bool read_file(struct doubts *d, const char *path, const char *uuid)
{
    char version[DRIVER_VERSION_SIZE];
    struct stat s;
    bool is_there = stat(path, &s) == 0;
    bool is_file = is_there && S_ISREG(s.st_mode) && s.st_size <= FILE_MAX;
    json_t *o = is_file ? json_load_file(path, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (is_there && json_integer_value(json_object_get(o, "schema")) != 1)
        complain("warning: %s cannot be understood: what a self-test found is not known", path);
    driver_version(version);
    const char *its_uuid = json_string_value(json_object_get(o, "uuid"));
    const char *its_driver = json_string_value(json_object_get(o, "driver"));
    bool holds = version[0] && its_uuid && its_driver && strcmp(its_uuid, uuid) == 0 &&
                 strcmp(its_driver, version) == 0;
    if (holds)
        take_failed(d, json_object_get(o, "failed"));
    json_decref(o);
    return holds;
}

void doubts_load(struct doubts *d, const char *uuid)
{
    char folder[PATH_MAX], path[PATH_MAX];
    const char *state = getenv("SMEFF_STATE");
    d->n = 0;
    own_folder(folder);
    if (file_in(path, folder, uuid) && read_file(d, path, uuid))
        return;
    if (!(state && *state) && file_in(path, system_folder, uuid))
        read_file(d, path, uuid);
}

/* ---- writing ---- */

static bool is_of(const struct doubt *d, const struct proof *p, int by)
{
    return d->source == proof_source(by) && d->metric == p->metric && strcmp(d->load, p->load) == 0;
}

/* Read, during the same load, and not wrong any more? */
static bool is_taken_back(const struct doubt *d, const struct proof *list, size_t n)
{
    bool right = false;
    for (size_t i = 0; i < n; i++)
        for (int by = 0; by < PROOF_LIVE; by++) {
            if (!is_of(d, &list[i], by))
                continue;
            if (list[i].by[by].verdict == PROOF_FAIL)
                return false;
            right |= list[i].by[by].verdict != PROOF_UNCHECKED;
        }
    return right;
}

void doubts_update(struct doubts *d, const struct proof *list, size_t n)
{
    struct doubts old = *d;
    d->n = 0;
    for (size_t i = 0; i < n; i++)
        for (int by = 0; by < PROOF_LIVE; by++)
            if (list[i].by[by].verdict == PROOF_FAIL) {
                char reason[PROOF_REASON_SIZE + 20];
                snprintf(reason, sizeof reason, "self-test: %s", list[i].by[by].reason);
                add(d, proof_source(by), list[i].metric, list[i].load, reason);
            }
    for (size_t i = 0; i < old.n; i++)
        if (!is_taken_back(&old.list[i], list, n))
            add(d, old.list[i].source, old.list[i].metric, old.list[i].load, old.list[i].reason);
}

static json_t *to_json(const struct doubts *d, const char *uuid)
{
    char now[CLOCK_TEXT_SIZE], version[DRIVER_VERSION_SIZE];
    driver_version(version);
    json_t *failed = json_array();
    for (size_t i = 0; i < d->n; i++)
        json_array_append_new(failed, json_pack("{s:s, s:s, s:s, s:s}", "metric",
                                                metric_info(d->list[i].metric)->key, "source",
                                                source_name(d->list[i].source), "load",
                                                d->list[i].load, "reason", d->list[i].reason));
    return json_pack("{s:i, s:s, s:s, s:s, s:o}", "schema", 1, "uuid", uuid, "driver", version,
                     "time", clock_iso8601(now, clock_unix_ns(), 0), "failed", failed);
}

enum status doubts_save(const struct doubts *d, const char *uuid, struct error *err)
{
    char folder[PATH_MAX], path[PATH_MAX], version[DRIVER_VERSION_SIZE];
    own_folder(folder);
    driver_version(version);
    if (!version[0])
        return fail(err, ERR_NOT_FOUND, 0, "the driver's version is not known here");
    if (!file_in(path, folder, uuid))
        return fail(err, ERR_IO, 0, "the result cannot be kept: \"%.40s\" is no UUID", uuid);
    json_t *o = to_json(d, uuid);
    char *text = o ? json_dumps(o, JSON_INDENT(1)) : NULL;
    json_decref(o);
    if (!text)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    enum status st = file_make_folders(folder, 0755, err);
    if (!st)
        st = file_replace(path, text, strlen(text), 0644, err);
    free(text);
    return st;
}

/* ---- applying ---- */

static const struct doubt *find(const struct doubts *d, enum source_id source, int metric)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->list[i].source == source && (int)d->list[i].metric == metric)
            return &d->list[i];
    return NULL;
}

struct event_plan doubts_apply(const struct doubts *d, const struct event_plan *plan,
                               struct plan_series *series)
{
    struct event_plan out = *plan;
    if (d->n == 0 || plan->n > METRIC_COUNT)
        return out;
    memcpy(series, plan->series, plan->n * sizeof *series);
    out.series = series;
    for (size_t i = 0; i < plan->n; i++) {
        const struct doubt *doubt = find(d, plan->source, series[i].metric);
        if (!doubt || series[i].state != VALUE_OK)
            continue;
        series[i].state = VALUE_SUSPECT;
        series[i].reason = doubt->reason;
    }
    return out;
}
