/* SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"

static const struct {
    const char *name, *env;
    bool has_value;
} table[] = {
#define X(bit, field, name, has_value, env, help) {name, env, has_value},
    OPTIONS(X)
#undef X
};

static const char **field_of(struct options *o, int index)
{
    switch (index) {
#define X(bit, field, name, has_value, env, help)                                                  \
    case OPTION_INDEX_##bit:                                                                       \
        return &o->field;
        OPTIONS(X)
#undef X
    default:
        return NULL;
    }
}

/* A switch in the environment is on unless it is empty, 0, no or false. */
static bool is_off(const char *value)
{
    return !*value || strcmp(value, "0") == 0 || strcmp(value, "no") == 0 ||
           strcmp(value, "false") == 0;
}

/* What other tools for nsys call the same. Ours wins. */
static void from_others(const struct command *c, struct options *o)
{
    const char *set = getenv("METRICS_SET"), *gpu = getenv("GPU_DEVICE");
    if (set && *set && (c->options & OPTION(METRICS_SET)))
        o->metrics_set = set;
    if (gpu && *gpu && (c->options & OPTION(GPU)))
        o->gpu = gpu;
}

/* These are told everything by the smeff that starts them, which has read the environment. */
static bool is_told(const struct command *c)
{
    return c == &command_sampler || c == &command_http;
}

static void from_environment(const struct command *c, struct options *o)
{
    if (is_told(c))
        return;
    from_others(c, o);
    for (int i = 0; i < OPTION_INDEX_COUNT; i++) {
        const char *value = getenv(table[i].env);
        if (value && (c->options & UINT64_C(1) << i) &&
            (table[i].has_value ? *value : !is_off(value)))
            *field_of(o, i) = value;
    }
    /* https://no-color.org: set and not empty */
    const char *no_color = getenv("NO_COLOR");
    if (no_color && *no_color)
        o->no_color = no_color;
}

/* Forms of the output: one excludes the others. */
static bool is_format(int index)
{
    return index == OPTION_INDEX_JSON || index == OPTION_INDEX_CSV ||
           index == OPTION_INDEX_PERFETTO || index == OPTION_INDEX_REPORT;
}

/* --metric and --server may come several times: their values become one list. */
static bool is_list(int index)
{
    return index == OPTION_INDEX_METRIC || index == OPTION_INDEX_SERVER;
}

static bool join(struct options *o, int index, const char *value)
{
    static char lists[OPTION_INDEX_COUNT][4096];
    char *list = lists[index];
    size_t used = strlen(list);
    int n = snprintf(list + used, sizeof lists[0] - used, "%s%s", used ? "," : "", value);
    *field_of(o, index) = list;
    return n >= 0 && (size_t)n < sizeof lists[0] - used;
}

/* getopt knows a wrong short option by its letter only: argv may hold several in one word. */
static enum status wrong_option(bool needs_value, char **argv, struct error *err)
{
    const char *what = needs_value ? "option needs a value" : "unknown option";
    bool is_short = optopt > 32 && optopt < 127; /* long ones have small numbers */
    return is_short ? fail(err, ERR_USAGE, 0, "%s: -%c", what, optopt)
                    : fail(err, ERR_USAGE, 0, "%s: %s", what, argv[optind - 1]);
}

enum status options_parse(const struct command *c, int argc, char **argv, struct options *out,
                          bool *help, int *rest, struct error *err)
{
    enum { HELP = 1000 };
    struct option long_options[OPTION_INDEX_COUNT + 2];
    int n = 0;
    for (int i = 0; i < OPTION_INDEX_COUNT; i++)
        if (c->options & UINT64_C(1) << i)
            long_options[n++] = (struct option){
                table[i].name, table[i].has_value ? required_argument : no_argument, NULL, i};
    long_options[n++] = (struct option){"help", no_argument, NULL, HELP};
    long_options[n] = (struct option){0};
    struct options o = {0};
    bool has_format = false;
    from_environment(c, &o);
    *help = false;
    opterr = 0;
    optind = 1;
    for (int k; (k = getopt_long(argc, argv, ":h", long_options, NULL)) != -1;) {
        if (k == '?' || k == ':')
            return wrong_option(k == ':', argv, err);
        if (is_format(k) && !has_format) {
            o.json = o.csv = o.perfetto = o.report = NULL; /* whichever the environment asks for */
            has_format = true;
        }
        if (k == HELP || k == 'h')
            *help = true;
        else if (is_list(k) && !join(&o, k, optarg))
            return fail(err, ERR_USAGE, 0, "--%s comes too often", table[k].name);
        else if (!is_list(k))
            *field_of(&o, k) = optarg ? optarg : "1";
    }
    *rest = optind;
    *out = o;
    return OK;
}
