/* SPDX-License-Identifier: MIT */
/* smeff measure: one precise measurement, for some seconds or as long as a command runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "cmd/cmd.h"
#include "cmd/evidence.h"
#include "cmd/intake.h"
#include "cmd/interrupt.h"
#include "cmd/output.h"
#include "cmd/readings.h"
#include "cmd/rows.h"
#include "cmd/serverwatch.h"
#include "cmd/work.h"
#include "collect/collect.h"

/* Loading CUPTI takes up to 2 s on a busy machine; a cold driver several. */
enum { SECONDS_DEFAULT = 10, SETTLE_MS = 25000, POLL_MS = 100 };

/* How long the beginning and the end wait for a look at the servers. Who answers later is not
 * waited for. */
enum { SERVERS_BEGIN_MS = 100, SERVERS_END_MS = 300 };

/* Of a daemon's past, for the driver's readings from before the beginning: some are taken every
 * five seconds only. */
static const double readings_s = 6;

struct measurement {
    const struct options *options;
    struct intake *intake;
    struct serverwatch *servers; /* NULL = none */
    struct collector *collector;
    struct evidence *evidence; /* NULL without --out */
    struct rows *rows;         /* NULL without --csv */
    struct readings readings;  /* the driver's, from before the beginning */
    int64_t to_ns;             /* its end */
    int64_t from_ns;           /* UNIX time; samples that began before are left out; 0 = not yet */
    struct work command;       /* the measured one */
    double captured_s; /* length of the one capture of nsys that this is; 0 = sampled as it goes */
};

/* ---- events ---- */

/* The part of a batch that lies after the beginning of the measurement. */
static bool cut(struct event_samples *s, int64_t from_ns)
{
    size_t skip = 0;
    while (skip < s->n && s->t0_ns[skip] < from_ns)
        skip++;
    s->n -= skip;
    s->t0_ns += skip;
    s->t1_ns += skip;
    s->values += skip;
    return s->n > 0;
}

static enum status take(void *self, const struct event *ev, struct error *err)
{
    struct measurement *m = self;
    struct event part = *ev;
    serverwatch_see(m->servers, ev);
    if (m->from_ns == 0)
        readings_take(&m->readings, ev);
    if (ev->kind == EVENT_SERVER && m->from_ns == 0)
        return OK;
    if (ev->kind == EVENT_SAMPLES && (m->from_ns == 0 || !cut(&part.u.samples, m->from_ns)))
        return OK;
    enum status st = m->evidence ? evidence_push(m->evidence, &part, err) : OK;
    if (!st && m->rows)
        st = rows_push(m->rows, &part, err);
    if (st)
        return st;
    struct event_sink sink = collector_sink(m->collector);
    return event_push(&sink, &part, err);
}

/* A daemon's servers are asked anew by us: its windows are not this measurement's. But those of a
 * recording belong to it. */
static enum status take_intake(void *self, const struct event *ev, struct error *err)
{
    struct measurement *m = self;
    bool is_other = ev->kind == EVENT_SERVER && m->intake && !intake_is_replay(m->intake);
    return is_other ? OK : take(self, ev, err);
}

/* ---- progress ---- */

/* Rows and the bar would get into each other's way. */
static bool rows_on_terminal(const struct measurement *m)
{
    return m->rows && isatty(STDOUT_FILENO);
}

static void show_progress(double done_s, double total_s, bool clear)
{
    if (!isatty(STDERR_FILENO))
        return;
    if (clear) {
        fputs("\r\033[K", stderr);
        return;
    }
    if (total_s <= 0) {
        fprintf(stderr, "\r\033[Kmeasuring … %.0f s", done_s);
        return;
    }
    char bar[31];
    int full = (int)(30 * (done_s < total_s ? done_s / total_s : 1));
    memset(bar, '-', 30);
    memset(bar, '#', (size_t)full);
    bar[30] = '\0';
    fprintf(stderr, "\r\033[K[%s] %.0f of %.0f s", bar, done_s, total_s);
}

/* ---- the measurement ---- */

/* Counters and servers, for at most timeout_ms. */
static enum status poll_all(struct measurement *m, int timeout_ms, struct error *err)
{
    enum status st = intake_poll(m->intake, serverwatch_wait_ms(m->servers, timeout_ms), err);
    return st ? st : serverwatch_step(m->servers, err);
}

/* A look at every server now, and the counters meanwhile. */
static enum status look_at_servers(struct measurement *m, int most_ms, struct error *err)
{
    int64_t deadline_ns = clock_monotonic_ns() + most_ms * INT64_C(1000000);
    enum status st = OK;
    serverwatch_ask(m->servers);
    while (!st && serverwatch_is_waiting(m->servers) && clock_monotonic_ns() < deadline_ns)
        st = poll_all(m, POLL_MS, err);
    return st;
}

static enum status wait_until_settled(struct measurement *m, enum status *ended,
                                      const char **reason, struct error *err)
{
    int64_t deadline_ns = clock_monotonic_ns() + SETTLE_MS * INT64_C(1000000);
    enum status st = OK;
    while (!st && !interrupt_raised() && !intake_over(m->intake, ended, reason) &&
           !intake_settled(m->intake) && clock_monotonic_ns() < deadline_ns)
        st = poll_all(m, POLL_MS, err);
    return st;
}

static enum status sample(struct measurement *m, double seconds, char **command, struct error *err)
{
    struct event_sink sink = {take, m};
    enum status ended = OK;
    const char *reason = "";
    enum status st = look_at_servers(m, SERVERS_BEGIN_MS, err);
    if (st)
        return st;
    serverwatch_mark(m->servers);
    m->from_ns = clock_unix_ns();
    st = readings_push(&m->readings, m->from_ns, &sink, err);
    if (!st && command)
        st = work_start(&m->command, command, err);
    int64_t begin_ns = clock_monotonic_ns();
    while (!st && !interrupt_raised()) {
        double done_s = (double)(clock_monotonic_ns() - begin_ns) * 1e-9;
        if (!rows_on_terminal(m))
            show_progress(done_s, command ? 0 : seconds, false);
        work_check(&m->command);
        if (intake_over(m->intake, &ended, &reason)) {
            st = event_push_note(&sink, NOTE_WARNING, -1, err,
                                 "the counters ended before the measurement: %s", reason);
            break;
        }
        bool timed = !command && m->captured_s <= 0;
        if (timed ? done_s >= seconds : command ? m->command.ended : intake_captured(m->intake))
            break;
        double left_ms = timed ? 1000 * (seconds - done_s) + 1 : (double)POLL_MS;
        st = poll_all(m, left_ms < (double)POLL_MS ? (int)left_ms : POLL_MS, err);
    }
    if (!st)
        st = look_at_servers(m, SERVERS_END_MS, err);
    m->to_ns = clock_unix_ns();
    if (!st)
        st = serverwatch_finish(m->servers, err);
    /* what is on the way still belongs to the measurement */
    if (!st)
        st = intake_poll(m->intake, 2 * POLL_MS, err);
    if (!rows_on_terminal(m))
        show_progress(0, 0, true);
    work_end(&m->command);
    return st;
}

/* What a table would show, where there is none; and a source that was lost on the way. */
static void complain_gaps(const struct measurement *m, const struct snapshot *s)
{
    /* nsys takes its time before and after */
    double asked_s = m->captured_s > 0 ? m->captured_s : (double)(m->to_ns - m->from_ns) * 1e-9;
    for (size_t i = 0; i < s->n_gpus; i++) {
        const struct gpu_snapshot *g = &s->gpus[i];
        double window_s = gpu_snapshot_window_s(g);
        if (window_s < 0.8 * asked_s - 0.5)
            complain("warning: GPU %u: counters were sampled in %.1f of %.1f s", g->index, window_s,
                     asked_s);
        for (int k = 0; k < METRIC_COUNT && m->rows; k++)
            if (g->metrics[k].value.state == VALUE_SUSPECT)
                complain("warning: GPU %u: %s is suspect: %s", g->index,
                         metric_info((enum metric)k)->key, g->metrics[k].value.reason);
    }
}

static enum status show(struct measurement *m, struct error *err)
{
    struct snapshot *s = NULL;
    struct buf out = BUF_INIT;
    enum status st = collector_snapshot(m->collector, &s, err);
    if (st)
        return st;
    complain_notes("", s);
    complain_gaps(m, s);
    struct show_style style = output_style(m->options);
    if (m->evidence)
        st = evidence_finish(m->evidence, s, err);
    if (!st && m->options->json)
        st = show_json(&out, s, NULL, err);
    else if (!st && !m->rows)
        show_text(&out, s, "", &style);
    if (!st)
        st = output_write(&out, err);
    buf_fini(&out);
    snapshot_destroy(s);
    return st;
}

/* Without counters the driver's readings are shown, plainly labelled; only a backend that was asked
 * for by name must not fail silently. */
static enum status counters_status(const struct measurement *m, const struct request *r,
                                   struct error *err)
{
    const char *reason = "";
    enum status st = intake_counters(m->intake, &reason);
    if (st == OK || r->backend == BACKEND_NVML)
        return OK;
    complain("no hardware counters: %s", reason);
    return r->backend == BACKEND_AUTO ? OK : fail(err, st, 0, "%s", reason);
}

/* A daemon that plays a recording: its numbers are of no command, and not of this machine. */
static enum status accept_recording(struct measurement *m, char **command, struct error *err)
{
    const struct event_sink sink = {take, m};
    if (command)
        return fail(err, ERR_UNSUPPORTED, 0,
                    "the daemon plays a recording, which says nothing about a command: --own");
    return event_push_note(
        &sink, NOTE_WARNING, -1, err,
        "the daemon plays a recording; nothing of this is measured here and now");
}

static int run(struct measurement *m, const struct request *r, double seconds, char **command)
{
    struct error err = ERROR_INIT;
    struct event_sink sink = {take, m}, intake_sink = {take_intake, m};
    const char *reason = "";
    enum status ended = OK, counters = OK;
    enum status st = intake_open(&m->intake, m->options, r, readings_s, &intake_sink, &err);
    if (!st && intake_is_replay(m->intake))
        st = accept_recording(m, command, &err);
    bool has_place = !m->rows || m->evidence; /* a row has none for servers */
    if (!st && has_place && !intake_is_replay(m->intake))
        st = serverwatch_open(&m->servers, m->options, 0, &sink, &err);
    if (!st)
        st = wait_until_settled(m, &ended, &reason, &err);
    if (!st && ended)
        st = fail(&err, ended, 0, "%s", reason);
    if (!st && !r->once)
        counters = counters_status(m, r, &err);
    if (!st && !counters)
        st = sample(m, seconds, command, &err);
    if (!st && r->once) /* only now is it known */
        counters = counters_status(m, r, &err);
    intake_close(m->intake);
    serverwatch_close(m->servers);
    m->servers = NULL;
    if (!st && !counters)
        st = show(m, &err);
    if (st && err.text[0])
        complain("%s", err.text);
    if (st || counters)
        return (int)exit_code_of(st ? st : counters);
    return command              ? work_code(&m->command)
           : interrupt_raised() ? 128 + interrupt_raised()
                                : EXIT_CODE_OK;
}

/* [SECONDS | -- COMMAND...]. Before argv[0] stands an option, the command's name, or the "--". */
static enum status take_arguments(int argc, char **argv, double *seconds, char ***command,
                                  struct error *err)
{
    bool has_dashes = strcmp(argv[-1], "--") == 0;
    bool has_seconds = argc > 0 && num_parse(argv[0], seconds);
    if (has_seconds && (argc > 1 || has_dashes))
        return fail(err, ERR_USAGE, 0, "either SECONDS alone, or -- and a command");
    if (argc > 0 && !has_seconds && !has_dashes)
        return fail(err, ERR_USAGE, 0, "SECONDS is a number, not \"%s\"; a command comes after --",
                    argv[0]);
    if (has_dashes && argc == 0)
        return fail(err, ERR_USAGE, 0, "no command after --");
    *command = has_dashes ? argv : NULL;
    return request_check_seconds(*seconds, err);
}

/* Of nsys one capture has it all, as long as nsys vouches for such a long one. */
static void choose_windows(struct request *r, const struct options *o, double seconds, bool command)
{
    static const double long_window_s = 10;
    r->keep_dir = o->out;
    if (r->backend != BACKEND_NSYS || command)
        return;
    r->once = seconds <= NSYS_CAPTURE_MAX_S;
    r->window_s = r->once ? seconds : long_window_s;
}

static int measure(const struct options *o, int argc, char **argv)
{
    struct request request;
    struct error err = ERROR_INIT;
    double seconds = SECONDS_DEFAULT;
    char **command = NULL;
    if (request_parse(o, &request, &err) || take_arguments(argc, argv, &seconds, &command, &err))
        return usage_error(&command_measure, "%s", err.text);
    if (o->json && o->csv)
        return usage_error(&command_measure, "--json and --csv exclude each other");
    interrupt_catch();
    choose_windows(&request, o, seconds, command != NULL);
    struct measurement m = {.options = o, .captured_s = request.once ? request.window_s : 0};
    enum status st = collector_create(&m.collector, &err);
    if (!st && o->out)
        st = evidence_create(&m.evidence, o->out, &err);
    if (!st && o->csv)
        st = rows_create(&m.rows, &err);
    if (st)
        complain("%s", err.text);
    int code = st ? (int)exit_code_of(st) : run(&m, &request, seconds, command);
    evidence_destroy(m.evidence);
    rows_destroy(m.rows);
    collector_destroy(m.collector);
    return code;
}

const struct command command_measure = {
    .name = "measure",
    .arguments = "[SECONDS | -- COMMAND...]",
    .summary = "one precise measurement of this machine's GPUs",
    .details =
        "Samples hardware counters and the driver's readings for SECONDS (default 10), or\n"
        "while COMMAND runs, and prints every metric (mean, min, p50, p95, max), why the\n"
        "others have no number, and what limits the GPU. With COMMAND its exit code is\n"
        "passed on. --csv prints the samples instead, a row each, as they come. --out DIR\n"
        "keeps the samples and the summary in a folder of their own.\n\n"
        "Inference servers are watched beside it, over the same time: those of --server, else\n"
        "those that smeff servers finds; --server none asks nobody. With them come bytes and\n"
        "joules per output token, and what their queue says of the verdict.\n\n"
        "With --backend nsys it is one capture of Nsight Systems, and --out keeps that, too.",
    .example = "smeff measure 10 --json | jq '.gpus[0].verdict'",
    .options = OPTION(JSON) | OPTION(CSV) | OPTION(NO_COLOR) | OPTION(GPU) | OPTION(BACKEND) |
               OPTION(RATE) | OPTION(SET) | OPTION(METRIC) | OPTION(CUPTI) | OPTION(OUT) |
               OPTION(NSYS) | OPTION(METRICS_SET) | OPTION(OWN) | OPTION(RUN_DIR) | OPTION(SERVER) |
               OPTION(TOKEN_FILE),
    .run = measure,
};
