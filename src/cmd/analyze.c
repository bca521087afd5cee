/* SPDX-License-Identifier: MIT */
/* smeff analyze: from nsys exports and recordings to tables and verdicts. */
#include "cmd/cmd.h"
#include "cmd/csv_files.h"
#include "cmd/infile.h"
#include "cmd/output.h"
#include "show/show.h"

static int show_snapshot(const struct options *o, const char *path, const struct snapshot *s,
                         bool separate)
{
    struct error err = ERROR_INIT;
    struct buf out = BUF_INIT;
    struct show_style style = output_style(o);
    enum status st = OK;
    complain_notes(path, s);
    if (o->json) {
        st = show_json(&out, s, path, &err);
    } else {
        if (separate)
            buf_putc(&out, '\n');
        show_text(&out, s, path, &style);
    }
    if (!st)
        st = output_write(&out, &err);
    buf_fini(&out);
    if (st)
        complain("%s", err.text);
    return st ? EXIT_CODE_FAILURE : EXIT_CODE_OK;
}

static int analyze_snapshots(const struct options *o, struct reports *reports, int argc,
                             char **argv)
{
    int code = EXIT_CODE_OK;
    bool shown = false;
    for (int i = 0; i < argc; i++) {
        struct error err = ERROR_INIT;
        struct snapshot *s = NULL;
        const struct infile file = {reports, i, argv[i], o->all};
        if (infile_snapshot(&file, &s, &err)) {
            code = infile_worse(code, infile_failed(&err));
            continue;
        }
        int result = show_snapshot(o, argv[i], s, shown);
        snapshot_destroy(s);
        shown = true;
        if (result)
            return result;
    }
    return code;
}

static int analyze(const struct options *o, int argc, char **argv)
{
    if (argc == 0)
        return usage_error(&command_analyze, "no file given");
    if (o->json && o->csv)
        return usage_error(&command_analyze, "--json and --csv exclude each other");
    struct reports *reports = NULL;
    struct error err = ERROR_INIT;
    if (reports_open(&reports, argc, argv, o->nsys, &err)) {
        complain("%s", err.text);
        return EXIT_CODE_FAILURE;
    }
    int code = o->csv ? csv_files_print(o, reports, argc, argv)
                      : analyze_snapshots(o, reports, argc, argv);
    reports_close(reports);
    return code;
}

const struct command command_analyze = {
    .name = "analyze",
    .arguments = "FILE...",
    .summary = "table and verdict from recordings, and from exports and reports of nsys",
    .details =
        "Reads the GPU metrics of each FILE, a recording of smeff record (or events.jsonl of\n"
        "measure --out) or an SQLite export of Nsight Systems (nsys), and prints every metric\n"
        "that it holds (mean, min, p50, p95, max over the whole time), why the others have no\n"
        "number, and what limits the GPU.\n"
        "\n"
        "An .nsys-rep is exported first, by the nsys of this machine (--nsys), into a folder\n"
        "that is removed again.\n"
        "A file that cannot be used is named on stderr; the others are shown, and the exit\n"
        "code is 7.",
    .example = "smeff analyze data/h200/decode.sqlite --json | jq '.gpus[0].verdict.kind'",
    .options = OPTION(JSON) | OPTION(CSV) | OPTION(ALL) | OPTION(NO_COLOR) | OPTION(NSYS),
    .run = analyze,
};
