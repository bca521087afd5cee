/* SPDX-License-Identifier: MIT */
/* smeff stream: the events of this machine as JSON lines on standard output. */
#include "cmd/interrupt.h"
#include "cmd/output.h"
#include "cmd/streaming.h"

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
    int code = streaming_run(o, &request, 0, &sink);
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
        "smeff servers finds, now or later; --server none asks nobody. Where a daemon runs its\n"
        "events are taken (--own: not). --replay plays a recording as if it happened now.\n"
        "With --backend nsys it captures windows of 1.5 s one after another, with gaps between\n"
        "them.",
    .example = "smeff stream --rate 100 | jq -c 'select(.source==\"pm\" and "
               ".event==\"samples\").values.dram_read'",
    .options = STREAMING_OPTIONS,
    .run = stream,
};
