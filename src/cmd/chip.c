/* SPDX-License-Identifier: MIT */
#include "cmd/chip.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "cmd/doctor_cupti.h"
#include "cmd/output.h"
#include "cmd/request.h"
#include "cmd/start.h"
#include "show/json_out.h"
#include "show/wrap.h"
#include "source/pm/pm.h"
#include "source/pm/tell.h"

/* Packing a wide set takes a second on a slow machine. */
enum { ANSWER_MS = 15000, POLL_MS = 200 };

/* ---- asking ---- */

struct series {
    bool there; /* in the plan */
    enum value_state state;
    char reason[VALUE_REASON_SIZE], counter[160];
};

struct answer {
    char chip[32], set[8];
    struct cupti_taken cupti;
    struct series series[METRIC_COUNT];
    bool wanted[METRIC_COUNT];
    bool by_name; /* the wanted ones were asked for by name: what is not a counter says so */
    bool planned;
};

static void take_plan(struct answer *a, const struct event_plan *plan)
{
    for (size_t i = 0; i < plan->n; i++) {
        const struct plan_series *s = &plan->series[i];
        if (s->metric == METRIC_NONE)
            continue;
        struct series *to = &a->series[s->metric];
        to->there = true;
        to->state = s->state;
        snprintf(to->reason, sizeof to->reason, "%s", s->reason);
        snprintf(to->counter, sizeof to->counter, "%s", s->counter);
    }
    a->planned = true;
}

static enum status take(void *self, const struct event *ev, struct error *err)
{
    (void)err;
    struct answer *a = self;
    if (ev->kind == EVENT_PLAN)
        take_plan(a, &ev->u.plan);
    else if (ev->kind == EVENT_NOTE)
        cupti_parse_note(ev->u.note.text, &a->cupti);
    return OK;
}

/* Until the first end: a crash is an answer, too. */
static enum status wait_for_end(struct samplers *s, struct error *err)
{
    const char *reason = "";
    int64_t deadline_ns = clock_monotonic_ns() + ANSWER_MS * INT64_C(1000000);
    enum status st = OK;
    while (!st && !samplers_end(s, 0, &reason) && samplers_alive(s)) {
        if (clock_monotonic_ns() > deadline_ns)
            return fail(err, ERR_TIMEOUT, 0, "CUPTI did not answer within %d s", ANSWER_MS / 1000);
        st = samplers_poll(s, POLL_MS, err);
    }
    enum status ended = st ? OK : samplers_end(s, 0, &reason);
    if (ended == ERR_IO) /* it told no end */
        return fail(err, ended, 0, "the process that asks CUPTI: %s", reason);
    return ended ? fail(err, ended, 0, "%s", reason) : st;
}

static enum status ask(struct answer *a, const struct options *o, struct error *err)
{
    struct child_argv argv;
    child_argv_begin(&argv, "chip", NULL);
    child_argv_option(&argv, "--chip", a->chip);
    child_argv_option(&argv, "--set", a->set);
    child_argv_option(&argv, "--metric", o->metric);
    child_argv_option(&argv, "--cupti", o->cupti);
    struct event_sink sink = {take, a};
    struct samplers *s = NULL;
    enum status st = start_samplers(&s, &sink, err);
    if (!st)
        st = samplers_add(s, "chip", argv.word, err);
    if (!st)
        st = wait_for_end(s, err);
    samplers_destroy(s);
    for (int m = 0; m < METRIC_COUNT; m++)
        if (!a->series[m].there) {
            a->series[m].state = VALUE_UNSUPPORTED;
            snprintf(a->series[m].reason, sizeof a->series[m].reason,
                     "PM sampling does not give it on any chip");
        }
    return !st && !a->planned ? fail(err, ERR_IO, 0, "CUPTI gave no answer") : st;
}

/* ---- showing ---- */

/* The cost class of the expression that is taken, else of the one that is tried first. */
static char cost_of(const struct answer *a, enum metric m)
{
    const struct pm_candidate *first = NULL;
    for (const struct pm_candidate *c = metric_info(m)->pm; c && c->expression; c++) {
        if (!metric_chip_matches(c->chips, a->chip))
            continue;
        if (strcmp(c->expression, a->series[m].counter) == 0)
            return c->cost;
        first = first ? first : c;
    }
    return first ? first->cost : '-';
}

static const char *cost_name(char cost)
{
    return cost == 'l' ? "low" : cost == 'm' ? "mid" : cost == 'h' ? "high" : "-";
}

static bool is_shown(const struct answer *a, enum metric m)
{
    return a->wanted[m] && (a->series[m].there || a->by_name);
}

static size_t count_taken(const struct answer *a)
{
    size_t n = 0;
    for (int m = 0; m < METRIC_COUNT; m++)
        n += a->series[m].there && a->series[m].state == VALUE_OK;
    return n;
}

static void put_head(struct buf *out, const struct answer *a, const struct show_style *style)
{
    char version[CUPTI_RELEASE_SIZE];
    struct buf text = BUF_INIT;
    buf_printf(&text, "%s with the %s set: %zu counters in one pass.", a->chip, a->set,
               count_taken(a));
    wrap_words(out, style, "", buf_str(&text));
    buf_clear(&text);
    buf_printf(&text,
               "Told by CUPTI %s (%s, %s) without a GPU: what a single GPU lacks, such as NVLink, "
               "only that GPU can tell.",
               cupti_release(version, a->cupti.version), a->cupti.path, a->cupti.from);
    wrap_words(out, style, "", buf_str(&text));
    out->failed |= text.failed;
    buf_fini(&text);
}

static void put_text(struct buf *out, const struct answer *a, const struct show_style *style)
{
    put_head(out, a, style);
    buf_printf(out, "\n  %-20s %-5s %s\n", "metric", "cost", "counter, or why there is none");
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct series *s = &a->series[m];
        char lead[64];
        if (!is_shown(a, (enum metric)m))
            continue;
        snprintf(lead, sizeof lead, "  %-20s %-5s ", metric_info((enum metric)m)->key,
                 cost_name(cost_of(a, (enum metric)m)));
        if (s->state == VALUE_OK) {
            buf_printf(out, "%s%s\n", lead, s->counter);
            continue;
        }
        struct buf text = BUF_INIT;
        buf_printf(&text, "– %s", s->reason);
        wrap_words(out, style, lead, buf_str(&text));
        out->failed |= text.failed;
        buf_fini(&text);
    }
}

static json_t *metrics_json(const struct answer *a)
{
    json_t *list = json_object();
    for (int m = 0; list && m < METRIC_COUNT; m++) {
        const struct series *s = &a->series[m];
        const char *cost = cost_name(cost_of(a, (enum metric)m));
        if (!is_shown(a, (enum metric)m))
            continue;
        json_object_set_new(
            list, metric_info((enum metric)m)->key,
            json_pack("{s:s, s:s?, s:s?, s:s?}", "state", value_state_name(s->state), "counter",
                      s->counter[0] ? s->counter : NULL, "reason", s->reason[0] ? s->reason : NULL,
                      "cost", cost[0] == '-' ? NULL : cost));
    }
    return list;
}

static void put_json(struct buf *out, const struct answer *a)
{
    char version[CUPTI_RELEASE_SIZE];
    json_t *o = json_pack("{s:i, s:s, s:s, s:{s:i, s:s, s:s, s:s}, s:o}", "schema", 1, "chip",
                          a->chip, "set", a->set, "cupti", "interface", (int)a->cupti.version,
                          "version", cupti_release(version, a->cupti.version), "path",
                          a->cupti.path, "from", a->cupti.from, "metrics", metrics_json(a));
    if (json_out_line(out, o, 0, NULL))
        out->failed = true;
}

/* ---- the command ---- */

static int show(const struct answer *a, const struct options *o)
{
    struct buf out = BUF_INIT;
    struct error err = ERROR_INIT;
    struct show_style style = output_style(o);
    if (o->json)
        put_json(&out, a);
    else
        put_text(&out, a, &style);
    enum status st = output_write(&out, &err);
    buf_fini(&out);
    if (st)
        complain("%s", err.text);
    return (int)exit_code_of(st);
}

int chip_metrics(const struct options *o, int argc, char **argv)
{
    struct answer answer = {0};
    struct request request;
    struct error err = ERROR_INIT;
    if (request_parse(o, &request, &err))
        return usage_error(&command_metrics, "%s", err.text);
    for (int i = 0; i < argc; i++) {
        int m = metric_by_key(argv[i]);
        if (m == METRIC_NONE)
            return usage_error(&command_metrics, "no such metric: %s", argv[i]);
        answer.wanted[m] = answer.by_name = true;
    }
    for (int m = 0; argc == 0 && m < METRIC_COUNT; m++)
        answer.wanted[m] = true;
    if (!o->chip || !*o->chip || strlen(o->chip) >= sizeof answer.chip)
        return usage_error(&command_metrics, "--chip is a name such as GB202");
    for (size_t i = 0; o->chip[i]; i++) /* CUPTI knows them in capitals only */
        answer.chip[i] = (char)toupper((unsigned char)o->chip[i]);
    snprintf(answer.set, sizeof answer.set, "%s", request.set == SET_WIDE ? "wide" : "core");
    enum status st = ask(&answer, o, &err);
    if (st == ERR_USAGE)
        return usage_error(&command_metrics, "%s", err.text);
    if (st) {
        complain("%s", err.text);
        return (int)exit_code_of(st);
    }
    return show(&answer, o);
}

/* ---- the process that asks CUPTI ---- */

/* Never unloaded: that has crashed for others. Static, so that it counts as reachable. */
static struct cupti_api cupti;

/* "GH100 GB202 …" of all that this CUPTI knows; *known: is chip among them? */
static enum status list_chips(const char *chip, struct buf *list, bool *known, struct error *err)
{
    struct cupti_host_supported_chips chips = CUPTI_INIT(host_supported_chips);
    *known = true;
    if (!cupti.cuptiProfilerHostGetSupportedChips) /* packing then says it */
        return OK;
    CUptiResult rc = cupti.cuptiProfilerHostGetSupportedChips(&chips);
    if (rc)
        return cupti_fail(err, "cuptiProfilerHostGetSupportedChips", rc);
    *known = false;
    for (size_t i = 0; i < chips.numChips; i++) {
        *known |= strcmp(chips.ppChipNames[i], chip) == 0;
        buf_printf(list, "%s%s", i ? " " : "", chips.ppChipNames[i]);
    }
    return OK;
}

static enum status pack_and_send(const char *chip, const struct request *request, const char *from,
                                 const struct event_sink *sink, struct error *err)
{
    const struct source_request r = {
        .set = request->set, .extra = request->extra, .n_extra = request->n_extra};
    struct pm_pack pack;
    struct buf list = BUF_INIT;
    bool known = false;
    enum status st = list_chips(chip, &list, &known, err);
    if (!st && !known)
        st = fail(err, ERR_USAGE, 0, "no chip \"%s\"; this CUPTI knows %s", chip, buf_str(&list));
    buf_fini(&list);
    if (!st)
        st = pm_pack_build(&cupti, chip, NULL, &r, &pack, err);
    if (st)
        return st;
    st = pm_tell_cupti(&cupti, from, pack.n_names, -1, sink, err);
    if (!st)
        st = pm_tell_plan(&pack, 0, 0, sink, err);
    pm_pack_fini(&pack);
    return st;
}

static int chip(const struct options *o, int argc, char **argv)
{
    (void)argv;
    struct request request;
    struct error err = ERROR_INIT;
    const char *from = "";
    if (argc)
        return usage_error(&command_chip, "no arguments are taken");
    if (request_parse(o, &request, &err))
        return usage_error(&command_chip, "%s", err.text);
    struct output_events out;
    if (output_events_init(&out, &err)) {
        complain("%s", err.text);
        return EXIT_CODE_FAILURE;
    }
    struct event_sink sink = output_events_sink(&out);
    struct event hello = {.kind = EVENT_HELLO,
                          .u.hello = {EVENT_SCHEMA, "smeff " SMEFF_VERSION, "", false}};
    enum status st = event_push(&sink, &hello, &err);
    if (!st)
        st = pm_cupti_load(&cupti, o->cupti, &from, &err);
    if (!st && o->chip && *o->chip)
        st = pack_and_send(o->chip, &request, from, &sink, &err);
    else if (!st)
        st = pm_tell_cupti(&cupti, from, 0, -1, &sink, &err);
    struct event end = {.kind = EVENT_END, .u.end = {st, st ? err.text : ""}};
    event_push(&sink, &end, NULL);
    output_events_fini(&out);
    return EXIT_CODE_OK;
}

const struct command command_chip = {
    .name = "chip",
    .arguments = "",
    .summary = NULL, /* not listed: smeff starts it itself */
    .details = "Which CUPTI is taken, and with --chip the plan that PM sampling would have there,\n"
               "as events on standard output.",
    .example = "smeff chip --chip GB202 --set wide",
    .options = OPTION(CHIP) | OPTION(CUPTI) | OPTION(SET) | OPTION(METRIC),
    .run = chip,
};
