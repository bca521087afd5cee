/* SPDX-License-Identifier: MIT */
#include "cmd/request.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"

static enum status parse_backend(const char *text, enum backend *out, struct error *err)
{
    static const char *const names[] = {"auto", "pm", "gpm", "nvml", "nsys"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (enum backend)i;
            return OK;
        }
    return fail(err, ERR_USAGE, 0, "--backend is auto, pm, gpm, nsys or nvml, not \"%s\"", text);
}

static enum status parse_window(const char *text, double *out, struct error *err)
{
    if (!num_parse(text, out) || *out < 0.1 || *out > NSYS_CAPTURE_MAX_S)
        return fail(err, ERR_USAGE, 0, "--window is 0.1 to %d seconds, not \"%s\"",
                    NSYS_CAPTURE_MAX_S, text);
    return OK;
}

static enum status parse_rate(const char *text, double *out, struct error *err)
{
    if (!num_parse(text, out) || *out < 0.1 || *out > 20000)
        return fail(err, ERR_USAGE, 0, "--rate is 0.1 to 20000 samples a second, not \"%s\"", text);
    return OK;
}

/* One item of a list separated by commas; *rest is what follows, NULL at the end. */
static void next_item(const char *list, char *item, size_t size, const char **rest)
{
    size_t n = strcspn(list, ",");
    snprintf(item, size, "%.*s", (int)n, list);
    *rest = list[n] ? list + n + 1 : NULL;
}

static enum status parse_metrics(struct request *r, const char *list, struct error *err)
{
    r->metric_list = list;
    for (const char *rest = list; rest;) {
        char key[64];
        next_item(rest, key, sizeof key, &rest);
        int m = metric_by_key(key);
        if (m == METRIC_NONE || metric_info((enum metric)m)->scope != SCOPE_GPU)
            return fail(err, ERR_USAGE, 0, "no GPU metric \"%s\"", key);
        if (r->n_extra < METRIC_COUNT)
            r->extra[r->n_extra++] = (enum metric)m;
    }
    return OK;
}

static enum status parse_gpus(struct request *r, const char *list, struct error *err)
{
    if (strcmp(list, "all") == 0)
        return OK;
    size_t used = 0;
    for (const char *rest = list; rest;) {
        uint64_t index;
        char *item = r->gpu_text + used;
        next_item(rest, item, sizeof r->gpu_text - used, &rest);
        used += strlen(item) + 1;
        if (used + 1 >= sizeof r->gpu_text || r->n_gpus + r->n_uuids >= SOURCE_GPUS_MAX)
            return fail(err, ERR_USAGE, 0, "--gpu names more than %d GPUs", SOURCE_GPUS_MAX);
        if (num_parse_u64(item, &index) && index < SOURCE_GPUS_MAX)
            r->gpus[r->n_gpus++] = (unsigned)index;
        else if (str_starts_with(item, "GPU-") || str_starts_with(item, "MIG-"))
            r->uuids[r->n_uuids++] = item;
        else
            return fail(err, ERR_USAGE, 0,
                        "--gpu is a list of indices or UUIDs, or all, not \"%s\"", item);
    }
    return OK;
}

static enum status parse_replay(const struct options *o, struct request *r, struct error *err)
{
    r->replay = o->replay;
    r->loop = o->loop != NULL;
    if (!o->replay && (o->loop || o->speed))
        return fail(err, ERR_USAGE, 0, "--speed and --loop belong to --replay");
    if (o->speed && (!num_parse(o->speed, &r->speed) || r->speed < 0.01 || r->speed > 1000))
        return fail(err, ERR_USAGE, 0, "--speed is 0.01 to 1000, not \"%s\"", o->speed);
    if (o->replay &&
        (o->backend || o->rate || o->set || o->metric || o->cupti || o->nsys || o->metrics_set))
        return fail(err, ERR_USAGE, 0,
                    "a recording (--replay) is as it was recorded: without --backend, --rate, "
                    "--set, --metric, --cupti, --nsys and --metrics-set");
    return OK;
}

enum status request_parse(const struct options *o, struct request *out, struct error *err)
{
    *out = (struct request){.cupti_dir = o->cupti,
                            .nsys = o->nsys,
                            .metrics_set = o->metrics_set,
                            .keep_dir = o->keep,
                            .once = o->one_capture != NULL};
    enum status st = parse_replay(o, out, err);
    if (!st && o->backend)
        st = parse_backend(o->backend, &out->backend, err);
    if (!st && o->rate)
        st = parse_rate(o->rate, &out->rate_hz, err);
    if (!st && o->window)
        st = parse_window(o->window, &out->window_s, err);
    if (!st && o->metric)
        st = parse_metrics(out, o->metric, err);
    if (!st && o->gpu)
        st = parse_gpus(out, o->gpu, err);
    if (!st && o->set && strcmp(o->set, "wide") == 0)
        out->set = SET_WIDE;
    else if (!st && o->set && strcmp(o->set, "core") != 0)
        st = fail(err, ERR_USAGE, 0, "--set is core or wide, not \"%s\"", o->set);
    return st;
}

enum status request_check_seconds(double seconds, struct error *err)
{
    if (seconds > 0 && seconds <= 86400)
        return OK;
    return fail(err, ERR_USAGE, 0, "SECONDS is more than 0 and at most 86400");
}

void request_gpu_list(const struct request *r, char *dst, size_t size)
{
    size_t used = 0;
    dst[0] = '\0';
    for (size_t i = 0; i < r->n_gpus && r->n_uuids == 0 && used < size; i++)
        used += (size_t)snprintf(dst + used, size - used, "%s%u", i ? "," : "", r->gpus[i]);
}

bool request_wants(const struct request *r, unsigned index, const char *uuid)
{
    for (size_t i = 0; i < r->n_gpus; i++)
        if (r->gpus[i] == index)
            return true;
    for (size_t i = 0; i < r->n_uuids; i++)
        if (*uuid &&
            str_starts_with(uuid, r->uuids[i])) /* nvidia-smi takes a unique beginning, too */
            return true;
    return r->n_gpus + r->n_uuids == 0;
}
