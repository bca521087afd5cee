/* SPDX-License-Identifier: MIT */
/* smeff stream: the events of this machine as JSON lines on standard output. */
#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/live.h"
#include "cmd/output.h"
#include "cmd/serverwatch.h"

/* A servers' window: long enough for slow counters, short enough to see a change. */
static const double window_s = 5;

enum { POLL_MS = 1000 };

struct streaming {
    const struct event_sink *out;
    struct serverwatch *servers; /* NULL = none */
};

static enum status take(void *self, const struct event *ev, struct error *err)
{
    const struct streaming *s = self;
    serverwatch_see(s->servers, ev);
    return event_push(s->out, ev, err);
}

static int run(const struct request *r, const struct options *o, const struct event_sink *out)
{
    struct streaming s = {.out = out};
    struct event_sink sink = {take, &s};
    struct live *live = NULL;
    struct error err = ERROR_INIT;
    enum status ended = OK;
    const char *reason = "";
    enum status st = live_open(&live, r, &sink, &err);
    if (!st)
        st = serverwatch_open(&s.servers, o, window_s, out, &err);
    while (!st && !interrupt_raised() && !live_over(live, &ended, &reason)) {
        st = live_poll(live, serverwatch_wait_ms(s.servers, POLL_MS), &err);
        if (!st)
            st = serverwatch_step(s.servers, &err);
    }
    if (!st && ended)
        st = fail(&err, ended, 0, "%s", reason);
    if (st)
        complain("%s", err.text);
    live_close(live);
    serverwatch_close(s.servers);
    struct event end = {.kind = EVENT_END, .u.end = {st, st ? err.text : ""}};
    event_push(out, &end, NULL);
    return (int)exit_code_of(st);
}

static int stream(const struct options *o, int argc, char **argv)
{
    (void)argv;
    struct request request;
    struct error err = ERROR_INIT;
    if (argc)
        return usage_error(&command_stream, "no arguments are taken");
    if (request_parse(o, &request, &err))
        return usage_error(&command_stream, "%s", err.text);
    struct output_events out;
    if (output_events_init(&out, &err)) {
        complain("%s", err.text);
        return EXIT_CODE_FAILURE;
    }
    interrupt_catch();
    struct event_sink sink = output_events_sink(&out);
    int code = run(&request, o, &sink);
    output_events_fini(&out);
    return code;
}

const struct command command_stream = {
    .name = "stream",
    .arguments = "",
    .summary = "live events as JSON lines on stdout, until stopped",
    .details =
        "Samples hardware counters and the driver's readings and prints every event as one\n"
        "JSON object a line (docs/events.md), until Ctrl-C or until nobody reads. With it\n"
        "comes what inference servers say of themselves: those of --server, else those that\n"
        "smeff servers finds at the start; --server none asks nobody.",
    .example = "smeff stream --rate 100 | jq -c 'select(.source==\"pm\" and "
               ".event==\"samples\").values.dram_read'",
    .options = OPTION(GPU) | OPTION(BACKEND) | OPTION(RATE) | OPTION(SET) | OPTION(METRIC) |
               OPTION(CUPTI) | OPTION(SERVER) | OPTION(TOKEN_FILE),
    .run = stream,
};
