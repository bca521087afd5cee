/* SPDX-License-Identifier: MIT */
/* smeff load: a known load on a GPU. This is the process that runs the vendor's code. */
#include "load/load.h"

#include "base/clock.h"
#include "base/num.h"
#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/load_show.h"
#include "cmd/output.h"
#include "cmd/request.h"
#include "vendor/cuda_gpu.h"

enum { SECONDS_DEFAULT = 10, END_S = 3 };

static bool stopped(void *self)
{
    (void)self;
    return interrupt_raised() != 0;
}

/* Whoever reads the JSON may begin to sample now. */
static enum status tell_begin(void *self, const struct load_report *r, struct error *err)
{
    const struct options *o = self;
    struct buf out = BUF_INIT;
    enum status st = o->json ? load_show_begin_json(&out, r, err) : OK;
    if (!st)
        st = output_write(&out, err);
    buf_fini(&out);
    return st;
}

/* For who wants the rate of moments: bench/overhead.sh. */
static enum status tell_progress(void *self, double seconds, uint64_t units, struct error *err)
{
    struct buf out = BUF_INIT;
    (void)self;
    buf_printf(&out,
               "{\"event\":\"load_progress\",\"unix_ns\":%lld,\"seconds\":%.6f,\"units\":%llu}\n",
               (long long)clock_unix_ns(), seconds, (unsigned long long)units);
    enum status st = output_write(&out, err);
    buf_fini(&out);
    return st;
}

static enum status show(const struct options *o, const struct load_report *r, struct error *err)
{
    struct buf out = BUF_INIT;
    enum status st = OK;
    if (o->json)
        st = load_show_json(&out, r, err);
    else
        load_show_text(&out, r);
    if (!st)
        st = output_write(&out, err);
    buf_fini(&out);
    return st;
}

static int run(const struct options *o, const struct load_request *request)
{
    struct load_report report;
    struct error err = ERROR_INIT;
    struct load_hooks hooks = {
        .self = (void *)(uintptr_t)o, .stopped = stopped, .begun = tell_begin};
    if (o->progress && o->json)
        hooks.progress = tell_progress;
    interrupt_limit(END_S);
    interrupt_catch();
    enum status st = load_run(request, &hooks, &report, &err);
    if (!st)
        st = show(o, &report, &err);
    if (st == ERR_USAGE)
        return usage_error(&command_load, "%s", err.text);
    if (st) {
        complain("%s", err.text);
        return (int)exit_code_of(st);
    }
    return interrupt_raised() ? 128 + interrupt_raised() : EXIT_CODE_OK;
}

static int load(const struct options *o, int argc, char **argv)
{
    struct error err = ERROR_INIT;
    struct load_request request = {.seconds = SECONDS_DEFAULT, .gpu = o->gpu};
    if (argc < 1 || argc > 2)
        return usage_error(&command_load, "a KIND, and SECONDS where %d are not right",
                           SECONDS_DEFAULT);
    if (!o->gpu && cuda_restricted())
        return usage_error(&command_load, CUDA_RESTRICTED_TEXT);
    if (load_parse(argv[0], &request.choice, &err))
        return usage_error(&command_load, "%s", err.text);
    if (argc == 2 && !num_parse(argv[1], &request.seconds))
        return usage_error(&command_load, "SECONDS is a number, not \"%s\"", argv[1]);
    if (request_check_seconds(request.seconds, &err))
        return usage_error(&command_load, "%s", err.text);
    return run(o, &request);
}

const struct command command_load = {
    .name = "load",
    .arguments = "KIND [SECONDS]",
    .summary = "a known load on one GPU, and what counters must read",
    .details =
        "Keeps a GPU busy in a known way for SECONDS (default 10), counts what it did, and says\n"
        "what hardware counters must have read meanwhile. --gpu takes one index or UUID.\n\n"
        "kinds:"
#define X(id, name, help) "\n  " name "  " help
    LOAD_LIST(X),
#undef X
    .example = "smeff load gemv 10 --json | jq '.rate // empty'",
    .options = OPTION(JSON) | OPTION(GPU) | OPTION(PROGRESS),
    .run = load,
};
