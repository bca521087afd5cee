/* SPDX-License-Identifier: MIT */
/* The subcommands' common ground: their table, options and exit codes. */
#ifndef SMEFF_CMD_CMD_H
#define SMEFF_CMD_CMD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* What scripts may rely on (docs/interface.md). */
enum exit_code {
    EXIT_CODE_OK = 0,
    EXIT_CODE_FAILURE = 1,
    EXIT_CODE_USAGE = 2,
    EXIT_CODE_NO_GPU = 3,
    EXIT_CODE_NO_PERMISSION = 4,
    EXIT_CODE_BUSY = 5,
    EXIT_CODE_NO_DAEMON = 6,
    EXIT_CODE_BAD_FILE = 7,
};

/* X(BIT, field, "name", value?, "environment", "help"). Every option of every command. */
#define OPTIONS(X)                                                                                 \
    X(JSON, json, "json", false, "SMEFF_JSON", "print JSON (schema 1), one object a line")         \
    X(CSV, csv, "csv", false, "SMEFF_CSV", "print CSV, one row a sample")                          \
    X(PERFETTO, perfetto, "perfetto", false, "SMEFF_PERFETTO",                                     \
      "print counter tracks for ui.perfetto.dev and chrome://tracing")                             \
    X(REPORT, report, "report", false, "SMEFF_REPORT", "print one HTML page that stands alone")    \
    X(OVER, over, "over", true, "SMEFF_OVER", "TRACE of PyTorch, to lay the tracks over")          \
    X(ALL, all, "all", false, "SMEFF_ALL", "also what is not in smeff's catalogue")                \
    X(NO_COLOR, no_color, "no-color", false, "SMEFF_NO_COLOR", "no colours (also NO_COLOR)")       \
    X(GPU, gpu, "gpu", true, "SMEFF_GPU",                                                          \
      "LIST of indices or UUIDs, or all; load and selftest take one")                              \
    X(BACKEND, backend, "backend", true, "SMEFF_BACKEND", "auto, pm, gpm, nsys or nvml")           \
    X(RATE, rate, "rate", true, "SMEFF_RATE", "HZ: counter samples a second")                      \
    X(SET, set, "set", true, "SMEFF_SET", "core or wide")                                          \
    X(METRIC, metric, "metric", true, "SMEFF_METRIC", "KEY to add to the set; repeatable")         \
    X(CUPTI, cupti, "cupti", true, "SMEFF_CUPTI", "DIR with libcupti and libnvperf_*")             \
    X(CHIP, chip, "chip", true, "SMEFF_CHIP", "NAME, such as GB202: the counters there")           \
    X(PROGRESS, progress, "progress", false, "SMEFF_PROGRESS",                                     \
      "with --json: an event for each batch")                                                      \
    X(NSYS, nsys, "nsys", true, "SMEFF_NSYS",                                                      \
      "PROGRAM of Nsight Systems: a path, or a name in PATH")                                      \
    X(METRICS_SET, metrics_set, "metrics-set", true, "SMEFF_METRICS_SET",                          \
      "NAME of a metric set of nsys")                                                              \
    X(WINDOW, window, "window", true, "SMEFF_WINDOW", "SECONDS that a capture of nsys takes")      \
    X(ONE_CAPTURE, one_capture, "one-capture", false, "SMEFF_ONE_CAPTURE",                         \
      "one capture of nsys, then the end")                                                         \
    X(KEEP, keep, "keep", true, "SMEFF_KEEP", "DIR: keep what nsys wrote there")                   \
    X(QUICK, quick, "quick", false, "SMEFF_QUICK", "fewer loads, for less time")                   \
    X(OUT, out, "out", true, "SMEFF_OUT", "DIR: also keep the evidence there")                     \
    X(SERVER, server, "server", true, "SMEFF_SERVER", "URL of an inference server; repeatable")    \
    X(REPLAY, replay, "replay", true, "SMEFF_REPLAY", "FILE of smeff record, instead of a card")   \
    X(SPEED, speed, "speed", true, "SMEFF_SPEED", "N times as fast (with --replay)")               \
    X(LOOP, loop, "loop", false, "SMEFF_LOOP", "again and again (with --replay)")                  \
    X(FOR, for_s, "for", true, "SMEFF_FOR", "SECONDS, then end")                                   \
    X(OWN, own, "own", false, "SMEFF_OWN", "sample here even if a daemon runs")                    \
    X(RUN_DIR, run_dir, "run-dir", true, "SMEFF_RUN_DIR", "DIR of the daemon's files")             \
    X(FROM, from, "from", true, "SMEFF_FROM", "SOCKET of a daemon, or - for standard input")       \
    X(HOST, host, "host", true, "SMEFF_HOST", "USER@HOST: the GPUs there, over ssh")               \
    X(PROMETHEUS, prometheus, "prometheus", true, "SMEFF_PROMETHEUS",                              \
      "URL of a Prometheus server: the GPUs of all its hosts")                                     \
    X(ONCE, once, "once", false, "SMEFF_ONCE", "print one frame as text, then end")                \
    X(GROUP, group, "group", true, "SMEFF_GROUP", "NAME whose members may read, too")              \
    X(TOKEN_FILE, token_file, "token-file", true, "SMEFF_TOKEN_FILE",                              \
      "FILE with the servers' key")                                                                \
    X(LISTEN, listen, "listen", true, "SMEFF_LISTEN", "ADDR:PORT for HTTP; :PORT is loopback")     \
    X(TLS_CERT, tls_cert, "tls-cert", true, "SMEFF_TLS_CERT",                                      \
      "FILE: certificates for --listen (PEM)")                                                     \
    X(TLS_KEY, tls_key, "tls-key", true, "SMEFF_TLS_KEY", "FILE: their key (PEM)")                 \
    X(WEB_TOKEN, web_token, "web-token", true, "SMEFF_WEB_TOKEN",                                  \
      "FILE with the key that HTTP clients must show")                                             \
    X(WEB_USERS, web_users, "web-users", true, "SMEFF_WEB_USERS",                                  \
      "FILE of lines USER:HASH as htpasswd -B makes")                                              \
    X(DCGM_LISTEN, dcgm_listen, "dcgm-listen", true, "SMEFF_DCGM_LISTEN",                          \
      "ADDR:PORT for metrics under DCGM's names")                                                  \
    X(DCGM_COMPAT, dcgm_compat, "dcgm-compat", true, "SMEFF_DCGM_COMPAT",                          \
      "legacy, current or both generations of them")

struct options {
#define X(bit, field, name, has_value, env, help) const char *field;
    OPTIONS(X)
#undef X
};

enum option_bit {
#define X(bit, field, name, has_value, env, help) OPTION_INDEX_##bit,
    OPTIONS(X)
#undef X
        OPTION_INDEX_COUNT
};

#define OPTION(bit) (UINT64_C(1) << OPTION_INDEX_##bit)

struct command {
    const char *name, *arguments;
    const char *summary;           /* NULL: not listed by --help */
    const char *details, *example; /* for --help: paragraphs and one example */
    uint64_t options;              /* OPTION() bits that it takes */
    int (*run)(const struct options *o, int argc,
               char **argv); /* argv: what is left; an exit code */
};

/* Ends with NULL. */
extern const struct command *const commands[];

/* NULL when there is no such command. */
const struct command *command_find(const char *name);

extern const struct command command_analyze, command_chip, command_daemon, command_doctor,
    command_export, command_http, command_load, command_measure, command_metrics, command_record,
    command_sampler, command_selftest, command_servers, command_stream, command_top, command_yield;

/* The exit code that a status means, 0 for OK. */
enum exit_code exit_code_of(enum status status);

/* Takes the options of c out of argv and the environment. On success *rest is the index of the
 * first argument. */
enum status options_parse(const struct command *c, int argc, char **argv, struct options *out,
                          bool *help, int *rest, struct error *err);

/* "smeff: text" on stderr. */
__attribute__((format(printf, 1, 2))) void complain(const char *fmt, ...);

/* A usage error of c: the text and where to look; returns EXIT_CODE_USAGE. */
__attribute__((format(printf, 2, 3))) int usage_error(const struct command *c, const char *fmt,
                                                      ...);

#endif
