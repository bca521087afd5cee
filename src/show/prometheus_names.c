/* SPDX-License-Identifier: MIT */
/* The names of /metrics, made from the catalogue's keys and units. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "show/prometheus.h"

/* Does text end with the first n bytes of suffix, as whole words? */
static bool ends_with(const char *text, const char *suffix, size_t n)
{
    size_t len = strlen(text);
    return len > n && text[len - n - 1] == '_' && memcmp(text + len - n, suffix, n) == 0;
}

/* How much of the suffix the key says already: "bytes" of dram_read_bytes and bytes_per_second. */
static size_t said_already(const char *key, const char *suffix)
{
    for (size_t n = strlen(suffix); n > 0; n--)
        if ((suffix[n] == '_' || suffix[n] == '\0') && ends_with(key, suffix, n))
            return n;
    return 0;
}

const char *prometheus_gauge_name(char dst[PROMETHEUS_NAME_SIZE], enum metric m)
{
    const struct metric_info *info = metric_info(m);
    const char *suffix = unit_prometheus_suffix(info->unit);
    const char *room = info->scope == SCOPE_GPU ? "" : "server_";
    if (info->scope == SCOPE_DERIVED) /* bytes_per_output_token says its unit itself */
        suffix = "";
    suffix += said_already(info->key, suffix);
    snprintf(dst, PROMETHEUS_NAME_SIZE, "smeff_%s%s%s%s", room, info->key,
             *suffix && *suffix != '_' ? "_" : "", suffix);
    return dst;
}

/* Shares of time, the time that they are shares of apart. A hit rate is a share of requests; a
 * fan's speed one of its maximum. */
static bool is_share_of_time(const struct metric_info *info, enum metric m)
{
    return info->unit == UNIT_RATIO && m != METRIC_L2_HIT && m != METRIC_FAN;
}

const char *prometheus_counter_name(char dst[PROMETHEUS_NAME_SIZE], enum metric m)
{
    const struct metric_info *info = metric_info(m);
    const char *unit = "";
    size_t len = strlen(info->key);
    dst[0] = '\0';
    if (info->scope != SCOPE_GPU)
        return dst;
    if (info->unit == UNIT_BYTES_PER_SECOND) {
        unit = "_bytes";
        len -= ends_with(info->key, "bytes", 5) ? strlen(unit) : 0;
    } else if (info->kind == KIND_COUNTER) {
        unit = info->unit == UNIT_JOULES ? "_joules" : "";
    } else if (is_share_of_time(info, m)) {
        unit = "_seconds";
    } else {
        return dst;
    }
    snprintf(dst, PROMETHEUS_NAME_SIZE, "smeff_%.*s%s_total", (int)len, info->key, unit);
    return dst;
}

static bool in_number(char c)
{
    return isdigit((unsigned char)c) || c == '.' || c == ',';
}

/* Where the number that begins at p ends; p when it is a part of a word ("GH100", "0x20"). */
static const char *number_end(const char *p, const char *begin)
{
    const char *end = p;
    if (!isdigit((unsigned char)*p) ||
        (p > begin && (isalnum((unsigned char)p[-1]) || p[-1] == '_' || in_number(p[-1]))))
        return p;
    while (in_number(*end))
        end++;
    while (!isdigit((unsigned char)end[-1])) /* a full stop behind it */
        end--;
    return isalpha((unsigned char)*end) || *end == '_' ? p : end;
}

const char *prometheus_reason(char dst[VALUE_REASON_SIZE], const char *reason)
{
    size_t n = 0;
    for (const char *p = reason; *p && n + 1 < VALUE_REASON_SIZE;) {
        const char *end = number_end(p, reason);
        dst[n++] = end > p ? 'N' : *p;
        p = end > p ? end : p + 1;
    }
    dst[n] = '\0';
    return dst;
}
