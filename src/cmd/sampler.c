/* SPDX-License-Identifier: MIT */
/* smeff sampler: the hidden command that is a sampler process. It loads one source, writes its
 * events to standard output, and ends when it is told to or when nobody reads any more. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/request.h"
#include "event/wire.h"
#include "source/gpm/gpm.h"
#include "source/nsys/relay.h"
#include "source/nvml/nvml.h"
#include "source/pm/pm.h"
#include "source/replay/replay.h"

static const struct source_ops *const sources[] = {&pm_ops, &gpm_ops, &nvml_ops, &replay_ops,
                                                   &nsys_ops};

static struct source_stop stop;

static void on_signal(int number)
{
    (void)number;
    stop.raised = 1;
}

struct output {
    struct event_encoder *encoder;
    struct buf text;
};

static enum status write_all(const char *data, size_t n, struct error *err)
{
    while (n) {
        ssize_t done = write(STDOUT_FILENO, data, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fail(err, ERR_IO, errno, "nobody reads: %s", strerror(errno));
        data += done;
        n -= (size_t)done;
    }
    return OK;
}

static enum status push(void *self, const struct event *ev, struct error *err)
{
    struct output *out = self;
    buf_clear(&out->text);
    enum status st = event_encode(out->encoder, &out->text, ev, err);
    return st ? st : write_all(out->text.data, out->text.len, err);
}

static enum status tell_failure(const struct source_ops *ops, const struct source_request *r,
                                const struct error *why, const struct event_sink *sink)
{
    enum status st = OK;
    for (size_t i = 0; !st && i < r->n_gpus; i++)
        st = source_describe_failure(ops, r->gpus[i], why, sink, NULL);
    return st;
}

static void run_source(const struct source_ops *ops, const struct source_request *r,
                       const struct event_sink *sink)
{
    struct source *source = NULL;
    struct error err = ERROR_INIT;
    struct event hello = {.kind = EVENT_HELLO,
                          .u.hello = {EVENT_SCHEMA, "smeff " SMEFF_VERSION, "", false}};
    enum status st = event_push(sink, &hello, &err);
    if (!st) {
        st = ops->open(&source, r, &err);
        if (st)
            tell_failure(ops, r, &err, sink);
    }
    if (!st)
        st = ops->describe(source, sink, &err);
    if (!st)
        st = ops->run(source, sink, &stop, &err);
    ops->close(source);
    struct event end = {.kind = EVENT_END, .u.end = {st, st ? err.text : ""}};
    event_push(sink, &end, NULL);
}

static const struct source_ops *find(const char *name)
{
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        if (strcmp(sources[i]->name, name) == 0)
            return sources[i];
    return NULL;
}

static int sampler(const struct options *o, int argc, char **argv)
{
    const struct source_ops *ops = argc == 1 ? find(argv[0]) : NULL;
    struct request request;
    struct error err = ERROR_INIT;
    if (!ops)
        return usage_error(&command_sampler, "which source?");
    if (request_parse(o, &request, &err))
        return usage_error(&command_sampler, "%s", err.text);
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
    signal(SIGINT, SIG_IGN); /* Ctrl-C is the parent's: it ends us in order */
    struct output out = {.text = BUF_INIT};
    if (event_encoder_create(&out.encoder, &err)) {
        complain("%s", err.text);
        return EXIT_CODE_FAILURE;
    }
    const struct source_request r = {.gpus = request.gpus,
                                     .n_gpus = request.n_gpus,
                                     .rate_hz = request.rate_hz,
                                     .set = request.set,
                                     .extra = request.extra,
                                     .n_extra = request.n_extra,
                                     .cupti_dir = request.cupti_dir,
                                     .file = request.replay,
                                     .speed = request.speed,
                                     .loop = request.loop,

                                     .nsys = request.nsys,
                                     .metrics_set = request.metrics_set,
                                     .window_s = request.window_s,
                                     .once = request.once,
                                     .keep_dir = request.keep_dir};
    struct event_sink sink = {push, &out};
    run_source(ops, &r, &sink);
    event_encoder_destroy(out.encoder);
    buf_fini(&out.text);
    return EXIT_CODE_OK;
}

const struct command command_sampler = {
    .name = "sampler",
    .arguments = "SOURCE",
    .summary = NULL, /* not listed: smeff starts it itself */
    .details = "One source's events as JSON lines on standard output: what smeff starts to read\n"
               "counters, so that vendor libraries stay out of its own process.",
    .example = "smeff sampler pm --gpu 0 --rate 50",
    .options = OPTION(GPU) | OPTION(RATE) | OPTION(SET) | OPTION(METRIC) | OPTION(CUPTI) |
               OPTION(REPLAY) | OPTION(SPEED) | OPTION(LOOP) | OPTION(NSYS) | OPTION(METRICS_SET) |
               OPTION(WINDOW) | OPTION(ONE_CAPTURE) | OPTION(KEEP),
    .run = sampler,
};
