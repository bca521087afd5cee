/* SPDX-License-Identifier: MIT */
/* smeff servers: which inference servers are there, and what their metrics say. */
#include "cmd/servers.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/output.h"
#include "cmd/places.h"
#include "cmd/token.h"

/* Between the two scrapes; a server that prints its counters once a second moves in it. */
static const int64_t window_ns = INT64_C(1500000000);

enum { STEP_MS = 50 };

/* One scrape of each, or as many as come before their deadline. */
static void scrape_all(struct watch *w)
{
    watch_begin(w);
    while (watch_step(w, STEP_MS) && !interrupt_raised())
        ;
}

static void wait_until(struct watch *w, int64_t mono_ns)
{
    while (clock_monotonic_ns() < mono_ns && !interrupt_raised()) {
        int64_t left = (mono_ns - clock_monotonic_ns()) / 1000000 + 1;
        struct timespec pause = {0, (left < STEP_MS ? left : STEP_MS) * 1000000};
        watch_step(w, 0);
        nanosleep(&pause, NULL);
    }
}

static enum status show(const struct watch *w, const struct options *o, enum exit_code *code,
                        struct error *err)
{
    struct buf out = BUF_INIT;
    struct show_style style = output_style(o);
    size_t n = 0;
    enum status st = OK;
    struct watch_view *list = calloc(watch_count(w) + 1, sizeof *list);
    if (!list)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    for (size_t i = 0; i < watch_count(w); i++) {
        watch_view(w, i, &list[n]);
        if (list[n].is_named && list[n].state != VALUE_OK && *code != EXIT_CODE_FAILURE)
            *code =
                list[n].state == VALUE_NO_PERMISSION ? EXIT_CODE_NO_PERMISSION : EXIT_CODE_FAILURE;
        n += places_is_shown(&list[n]);
    }
    if (o->json)
        st = servers_json(&out, list, n, clock_unix_ns(), err);
    else
        servers_text(&out, list, n, &style);
    if (!st)
        st = output_write(&out, err);
    buf_fini(&out);
    free(list);
    return st;
}

static int run_watch(struct watch *w, const struct options *o)
{
    struct error err = ERROR_INIT;
    enum exit_code code = EXIT_CODE_OK;
    interrupt_catch();
    int64_t began = clock_monotonic_ns();
    scrape_all(w);
    wait_until(w, began + window_ns);
    scrape_all(w);
    if (interrupt_raised())
        return 128 + interrupt_raised();
    enum status st = show(w, o, &code, &err);
    if (!st)
        return (int)code;
    complain("%s", err.text);
    return (int)exit_code_of(st);
}

static int servers(const struct options *o, int argc, char **argv)
{
    struct error err = ERROR_INIT;
    struct watch *w = NULL;
    char token[TOKEN_SIZE];
    enum status st = token_read(o->token_file, token, &err);
    if (!st)
        st = watch_create(&w, &err);
    if (!st)
        st = places_add_list(w, o->server, token, &err);
    for (int i = 0; i < argc && !st; i++)
        st = places_add_named(w, argv[i], token, &err);
    if (!st && watch_count(w) == 0) {
        struct discover_place found[DISCOVER_MAX];
        st = places_add_found(w, found, places_find(found), &err);
    }
    explicit_bzero(token, sizeof token);
    int code = EXIT_CODE_OK;
    if (st == ERR_USAGE) {
        code = usage_error(&command_servers, "%s", err.text);
    } else if (st) {
        complain("%s", err.text);
        code = (int)exit_code_of(st);
    } else {
        code = run_watch(w, o);
    }
    watch_destroy(w);
    return code;
}

const struct command command_servers = {
    .name = "servers",
    .arguments = "[URL...]",
    .summary = "which inference servers run here, and what their metrics say",
    .details =
        "Asks each server twice, 1.5 s apart, and shows every signal with its state and the\n"
        "series that it comes from: vLLM, SGLang, llama.cpp, TensorRT-LLM, TGI, Triton,\n"
        "LMDeploy, Dynamo.\n\n"
        "URL is http(s)://HOST:PORT[/PATH], HOST:PORT, or unix:/SOCKET; the path is /metrics when\n"
        "none is given. Without URL: processes that hold a GPU and listen on this machine, and\n"
        "whoever listens at the usual ports; these are asked by loopback alone.\n\n"
        "A key is read from the first line of --token-file, else from SMEFF_TOKEN, and only sent\n"
        "to servers that are named. Exit code: 0, 4 when a named server wants a key, 1 when\n"
        "one shows no metrics for another reason.",
    .example = "smeff servers localhost:8000 --json | jq '.servers[].signals.running'",
    .options = OPTION(JSON) | OPTION(NO_COLOR) | OPTION(SERVER) | OPTION(TOKEN_FILE),
    .run = servers,
};
