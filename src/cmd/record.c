/* SPDX-License-Identifier: MIT */
/* smeff record: the events of this machine into a file. */
#include <unistd.h>

#include "base/num.h"
#include "cmd/interrupt.h"
#include "cmd/streaming.h"
#include "event/file.h"

struct recorded {
    struct event_writer *writer;
    bool has_samples;
};

static enum status push(void *self, const struct event *ev, struct error *err)
{
    struct recorded *r = self;
    r->has_samples |= ev->kind == EVENT_SAMPLES;
    return event_writer_push(r->writer, ev, err);
}

static int record(const struct options *o, int argc, char **argv)
{
    struct request request;
    struct error err = ERROR_INIT;
    double seconds = 0;
    if (argc != 1)
        return usage_error(&command_record, "one FILE, such as run.jsonl.gz");
    if (o->for_s && (!num_parse(o->for_s, &seconds) || request_check_seconds(seconds, NULL)))
        return usage_error(&command_record, "--for is more than 0 and at most 86400 seconds");
    if (request_parse(o, &request, &err))
        return usage_error(&command_record, "%s", err.text);
    struct recorded r = {0};
    if (event_writer_create(&r.writer, argv[0], &err)) {
        complain("%s", err.text);
        return EXIT_CODE_FAILURE;
    }
    interrupt_catch();
    const struct event_sink sink = {push, &r};
    int code = streaming_run(o, &request, seconds, &sink);
    if (event_writer_finish(r.writer, &err) && code == EXIT_CODE_OK) {
        complain("%s", err.text);
        code = EXIT_CODE_FAILURE;
    }
    event_writer_destroy(r.writer);
    if (code != EXIT_CODE_OK && !r.has_samples) /* it failed before there was anything */
        unlink(argv[0]);
    return code;
}

const struct command command_record = {
    .name = "record",
    .arguments = "FILE",
    .summary = "live events into a file, to be played or analysed later",
    .details =
        "Writes what smeff stream prints into FILE, which must not exist yet; a name that ends\n"
        "in .gz is compressed. Ends after --for SECONDS, or on Ctrl-C. What happens to smeff\n"
        "does not matter: the file is good up to two seconds before. `smeff analyze FILE` gives\n"
        "table and verdict, `smeff top --replay FILE` plays it.",
    .example = "smeff record run.jsonl.gz --for 60",
    .options = STREAMING_OPTIONS | OPTION(FOR),
    .run = record,
};
