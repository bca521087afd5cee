/* SPDX-License-Identifier: MIT */
#include "fleet/query.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"
#include "fleet/order.h"

/* Queries come as the list, the shares, and the rest. */
enum rest { WHO_IS_AWAY, WHO_IS_SCRAPED, VERDICT, STATE, POWER, MEM_USED, REST };

size_t fleet_queries(void)
{
    return 1 + FLEET_SHARE_COUNT + REST;
}

/* A share above this is no share; a little above 1 is one that rounding made. */
static const double share_max = 1.05;

#define BY "by (instance, gpu, uuid) "

const char *fleet_query(size_t i, char dst[FLEET_QUERY_SIZE])
{
    static const char *const rest[REST] = {
        [WHO_IS_AWAY] = "smeff_up == 0",
        [WHO_IS_SCRAPED] = "smeff_gpu_info",
        [VERDICT] = "smeff_verdict == 1",
        [STATE] = "smeff_metric_state{metric=\"sm_active\"}",
        [POWER] = "avg " BY "(avg_over_time(smeff_power_watts[" FLEET_RANGE "]))",
        [MEM_USED] = "max " BY "(smeff_mem_used_bytes)"};
    if (i == 0) {
        /* a host that cannot be scraped any more is still one of the fleet */
        snprintf(dst, FLEET_QUERY_SIZE, "last_over_time(smeff_gpu_info[1h])");
    } else if (i <= FLEET_SHARE_COUNT) {
        /* what happened between two scrapes is in the counters; measured_seconds takes out the time
         * that nobody measured (docs/http.md) */
        const char *key = metric_info(fleet_metric((enum fleet_share)(i - 1)))->key;
        snprintf(dst, FLEET_QUERY_SIZE,
                 "sum " BY "(rate(smeff_%s_seconds_total[" FLEET_RANGE "])) / "
                 "sum " BY "(rate(smeff_measured_seconds_total{metric=\"%s\"}[" FLEET_RANGE "]))",
                 key, key);
    } else {
        snprintf(dst, FLEET_QUERY_SIZE, "%s", rest[i - 1 - FLEET_SHARE_COUNT]);
    }
    return dst;
}

const char *fleet_query_path(size_t i, const char *prefix, int64_t at_ns, char dst[FLEET_PATH_SIZE])
{
    char query[FLEET_QUERY_SIZE];
    size_t n =
        (size_t)snprintf(dst, FLEET_PATH_SIZE, "%.64s/api/v1/query?time=%lld.%03d&query=", prefix,
                         (long long)(at_ns / 1000000000), (int)(at_ns / 1000000 % 1000));
    for (const char *c = fleet_query(i, query); *c && n + 4 < FLEET_PATH_SIZE; c++)
        if (strchr(" \"{}[]()=/,", *c))
            n += (size_t)snprintf(dst + n, FLEET_PATH_SIZE - n, "%%%02X", (unsigned)*c);
        else
            dst[n++] = *c;
    dst[n] = '\0';
    return dst;
}

/* ---- answers ---- */

static void copy(char *dst, size_t size, const json_t *labels, const char *key)
{
    const char *s = json_string_value(json_object_get(labels, key));
    str_clean(dst, size, s ? s : "", s ? strlen(s) : 0);
}

/* "value": [time, "number"] */
static double number_of(const json_t *sample)
{
    const char *s = json_string_value(json_array_get(json_object_get(sample, "value"), 1));
    double v;
    return s && num_parse(s, &v) && v >= 0 && v < 1e15 ? v : NAN; /* more is no amount of these */
}

static void name_gpu(struct fleet_gpu *g, const json_t *labels)
{
    *g = (struct fleet_gpu){.power_w = NAN, .mem_used = NAN};
    for (int i = 0; i < FLEET_SHARE_COUNT; i++)
        g->share[i] = NAN;
    copy(g->instance, sizeof g->instance, labels, "instance");
    copy(g->gpu, sizeof g->gpu, labels, "gpu");
    copy(g->uuid, sizeof g->uuid, labels, "uuid");
    copy(g->name, sizeof g->name, labels, "name");
}

/* A GPU that two jobs scrape, or whose labels changed lately, is one. */
static void drop_twins(struct fleet *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        if (!f->list[i].instance[0] || !f->list[i].gpu[0])
            continue; /* not of our exporter */
        else if (n == 0 || fleet_order(&f->list[n - 1], &f->list[i]) != 0)
            f->list[n++] = f->list[i];
    f->n = n;
}

static enum status take_list(struct fleet *f, const json_t *result, struct error *err)
{
    size_t n = json_array_size(result);
    struct fleet_gpu *list = calloc(n + 1, sizeof *list);
    if (!list)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    fleet_fini(f);
    *f = (struct fleet){list, n};
    for (size_t i = 0; i < n; i++)
        name_gpu(&list[i], json_object_get(json_array_get(result, i), "metric"));
    qsort(list, n, sizeof *list, fleet_order);
    drop_twins(f);
    return OK;
}

/* The label of an exporter without GPU labels: all of its GPUs. */
static void take_away(struct fleet *f, const json_t *labels)
{
    char instance[sizeof f->list->instance];
    size_t first = 0, end = f->n; /* of the rows that are not before it */
    copy(instance, sizeof instance, labels, "instance");
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (strcmp(f->list[middle].instance, instance) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    for (size_t i = first; i < f->n && strcmp(f->list[i].instance, instance) == 0; i++)
        f->list[i].is_away = true;
}

static struct fleet_gpu *gpu_of(const struct fleet *f, const json_t *labels)
{
    struct fleet_gpu key;
    name_gpu(&key, labels);
    return fleet_find(f, key.instance, key.gpu, key.uuid);
}

static void take_rest(struct fleet_gpu *g, enum rest what, const json_t *labels, double v)
{
    switch (what) {
    case WHO_IS_SCRAPED:
        g->is_scraped = true;
        break;
    case VERDICT:
        copy(g->verdict, sizeof g->verdict, labels, "verdict");
        break;
    case STATE:
        copy(g->state, sizeof g->state, labels, "state");
        copy(g->reason, sizeof g->reason, labels, "reason");
        break;
    case POWER:
        g->power_w = v;
        break;
    case MEM_USED:
        g->mem_used = v;
        break;
    default:
        break;
    }
}

static void take_sample(struct fleet *f, size_t i, const json_t *sample)
{
    const json_t *labels = json_object_get(sample, "metric");
    if (i == 1 + FLEET_SHARE_COUNT + WHO_IS_AWAY) {
        take_away(f, labels);
        return;
    }
    struct fleet_gpu *g = gpu_of(f, labels);
    if (!g)
        return;
    if (i <= FLEET_SHARE_COUNT)
        g->share[i - 1] = number_of(sample) <= share_max ? number_of(sample) : NAN;
    else
        take_rest(g, (enum rest)(i - 1 - FLEET_SHARE_COUNT), labels, number_of(sample));
}

static enum status take_answer(struct fleet *f, size_t i, const json_t *answer, struct error *err)
{
    const char *status = json_string_value(json_object_get(answer, "status"));
    const char *words = json_string_value(json_object_get(answer, "error"));
    const json_t *data = json_object_get(answer, "data");
    const json_t *result = json_object_get(data, "result");
    const char *type = json_string_value(json_object_get(data, "resultType"));
    if (status && strcmp(status, "error") == 0)
        return fail(err, ERR_BAD_INPUT, 0, "the server refused the query: %.200s",
                    words ? words : "no reason given");
    if (!status || !type || strcmp(type, "vector") != 0 || !json_is_array(result))
        return fail(err, ERR_BAD_INPUT, 0, "no answer of Prometheus' query API");
    if (json_array_size(result) > FLEET_GPUS_MAX)
        return fail(err, ERR_BAD_INPUT, 0, "%zu rows are more than can be shown",
                    json_array_size(result));
    if (i == 0)
        return take_list(f, result, err);
    for (size_t k = 0; k < json_array_size(result); k++)
        take_sample(f, i, json_array_get(result, k));
    return OK;
}

enum status fleet_take(struct fleet *f, size_t i, const char *body, size_t len, struct error *err)
{
    json_error_t why;
    json_t *answer = json_loadb(body, len, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(answer)) {
        json_decref(answer);
        return fail(err, ERR_BAD_INPUT, 0, "no answer of Prometheus' query API: %s",
                    answer ? "another type" : why.text);
    }
    enum status st = take_answer(f, i, answer, err);
    json_decref(answer);
    return st;
}
