/* SPDX-License-Identifier: MIT */
/* smeff selftest: do the counters of this very GPU tell the truth? Known loads, and what each
 * counter must have read meanwhile. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/borrow.h"
#include "cmd/cmd.h"
#include "cmd/doubts.h"
#include "cmd/interrupt.h"
#include "cmd/nsys_trial.h"
#include "cmd/output.h"
#include "cmd/trial.h"
#include "vendor/cuda_gpu.h"
#include "vendor/driver.h"

struct step {
    const char *load;
    double seconds;
};

static const struct step quick[] = {{"idle", 0.7}, {"gemv", 0.7}, {"mma", 0.7},        {"fma", 0.7},
                                    {"h2d", 0.7},  {"tail", 0.7}, {"occupancy:8", 0.7}};
static const struct step full[] = {{"idle", 3}, {"copy", 3},    {"read", 3},         {"gemv", 3},
                                   {"mma", 3},  {"fma", 3},     {"occupancy:4", 3},  {"h2d", 3},
                                   {"d2h", 3},  {"duty:25", 3}, {"occupancy:32", 3}, {"duty:75", 3},
                                   {"tail", 3}};

enum { PROOFS_MAX = 512, STEPS_MAX = 16 };

/* More than this without a load of ours is another program's work. */
static const double busy_share = 0.02, watch_s = 0.6, watch_between_s = 0.2;

struct selftest {
    const struct options *options;
    struct trial_bench *bench;
    const struct step *steps;
    size_t n_steps;
    struct proof proofs[PROOFS_MAX];
    size_t n;
    char *reports[STEPS_MAX]; /* owned */
    size_t n_reports;
    struct snapshot *before; /* who the GPU is, and who uses it; owned */
};

static const struct gpu_snapshot *the_gpu(const struct selftest *t, unsigned gpu)
{
    for (size_t i = 0; i < t->before->n_gpus; i++)
        if (t->before->gpus[i].index == gpu)
            return &t->before->gpus[i];
    return NULL;
}

/* ---- another program on the card ---- */

static enum status busy(const struct gpu_snapshot *g, double share, struct error *err)
{
    char who[160] = "";
    for (size_t i = 0; g && i < g->n_processes && strlen(who) < 100; i++)
        snprintf(who + strlen(who), sizeof who - strlen(who), "%s%.40s (pid %lld)",
                 who[0] ? ", " : "; on the GPU: ", g->processes[i].name,
                 (long long)g->processes[i].pid);
    return fail(err, ERR_IO, 0,
                "another program uses this GPU (GR active %.0f %%%s): the numbers cannot be "
                "compared with known ones",
                100 * share, who);
}

static enum status check_idle(struct selftest *t, unsigned gpu, double seconds, struct error *err)
{
    double gr_active = NAN;
    struct snapshot *s = NULL;
    enum status st = trial_watch(t->bench, seconds, &gr_active, &s, err);
    if (st)
        return st;
    snapshot_destroy(t->before);
    t->before = s;
    if (!the_gpu(t, gpu))
        return fail(err, ERR_NO_GPU, 0, "no GPU %u", gpu);
    if (isnan(gr_active))
        return fail(err, ERR_IO, 0,
                    "whether another program uses this GPU is not known: GR active was not read");
    return gr_active > busy_share ? busy(the_gpu(t, gpu), gr_active, err) : OK;
}

/* ---- the loads ---- */

static void show_progress(const struct selftest *t, size_t step)
{
    if (!isatty(STDERR_FILENO))
        return;
    if (step == t->n_steps)
        fputs("\r\033[K", stderr);
    else
        fprintf(stderr, "\r\033[K[%zu of %zu] %s", step + 1, t->n_steps, t->steps[step].load);
}

static enum status run_step(struct selftest *t, const struct step *step, struct error *err)
{
    struct trial trial;
    enum status st = trial_run(t->bench, step->load, step->seconds, &trial, err);
    if (st)
        return st;
    for (size_t i = 0; i < trial.n && t->n < PROOFS_MAX; i++)
        t->proofs[t->n++] = trial.proofs[i];
    t->reports[t->n_reports++] = trial.report;
    trial.report = NULL;
    trial_fini(&trial);
    return OK;
}

/* A load that cannot run here (no memory left, an old GPU) leaves its metrics unchecked. */
static enum status run_steps(struct selftest *t, unsigned gpu, struct error *err)
{
    enum status idle = OK;
    for (size_t i = 0; i < t->n_steps && !idle; i++) {
        struct error why = ERROR_INIT;
        show_progress(t, i);
        enum status st = run_step(t, &t->steps[i], &why);
        if (st && (interrupt_raised() || st == ERR_TIMEOUT)) /* the next one would hang, too */
            idle = fail(err, st, why.native, "%s", why.text);
        else if (st)
            complain("%s", why.text);
        else if (!t->options->quick) /* the short one has no time for that */
            idle = check_idle(t, gpu, watch_between_s, err);
    }
    show_progress(t, t->n_steps);
    if (idle)
        return idle;
    return t->n_reports ? OK : fail(err, ERR_IO, 0, "no load could run");
}

/* ---- Nsight Systems ---- */

static const double capture_s = 2;

/* Once more, with nsys in the place of our samplers: it needs the counters for itself. */
static enum status ask_nsys(struct selftest *t, const struct step *step, unsigned gpu,
                            struct error *err)
{
    struct snapshot *s = NULL;
    enum status st = nsys_trial_run(t->options->nsys, gpu, step->load, capture_s, &s, err);
    if (st)
        return st;
    for (size_t i = 0; i < t->n; i++) {
        struct proof *p = &t->proofs[i];
        if (strcmp(p->load, step->load) != 0)
            continue;
        trial_value(s, s->n_gpus == 1 ? s->gpus[0].index : gpu, p->metric,
                    &p->by[PROOF_NSYS].value);
        proof_judge(p);
    }
    snapshot_destroy(s);
    return OK;
}

static enum status ask_nsys_all(struct selftest *t, unsigned gpu, struct error *err)
{
    enum status st = OK;
    for (size_t i = 0; !st && i < t->n_steps && t->options->nsys; i++) {
        show_progress(t, i);
        st = ask_nsys(t, &t->steps[i], gpu, err);
    }
    show_progress(t, t->n_steps);
    return st;
}

/* ---- the result ---- */

static bool any(const struct selftest *t, enum proof_verdict verdict)
{
    for (size_t i = 0; i < t->n; i++)
        if (proof_verdict(&t->proofs[i]) == verdict)
            return true;
    return false;
}

/* The first reason why PM sampling gave nothing at all; NULL when it gave something. */
static const char *pm_missing(const struct selftest *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (value_has_number(&t->proofs[i].by[PROOF_PM].value))
            return NULL;
    return t->n ? t->proofs[0].by[PROOF_PM].value.reason : "no load could run";
}

/* Passing means that something was proved and nothing failed, all loads having run and PM sampling
 * having been read. */
static const char *verdict(const struct selftest *t)
{
    if (any(t, PROOF_FAIL))
        return "fail";
    return any(t, PROOF_PASS) && t->n_reports == t->n_steps && !pm_missing(t) ? "pass"
                                                                              : "incomplete";
}

static bool passed(const struct selftest *t)
{
    return strcmp(verdict(t), "pass") == 0;
}

static enum status show(const struct selftest *t, unsigned gpu, struct error *err)
{
    struct driver_info driver;
    struct buf out = BUF_INIT;
    struct show_style style = output_style(t->options);
    driver_read("", &driver);
    const struct show_selftest s = {
        the_gpu(t, gpu), driver.version, clock_unix_ns(),
        t->proofs,       t->n,           (const char *const *)t->reports,
        t->n_reports,    verdict(t),     t->options->nsys != NULL};
    enum status st = OK;
    if (t->options->json)
        st = show_selftest_json(&out, &s, err);
    else
        show_selftest_text(&out, &s, &style);
    if (!st)
        st = output_write(&out, err);
    buf_fini(&out);
    return st;
}

static enum status remember(const struct selftest *t, unsigned gpu, struct error *err)
{
    struct doubts *d = calloc(1, sizeof *d);
    if (!d)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    doubts_load(d, the_gpu(t, gpu)->uuid);
    doubts_update(d, t->proofs, t->n);
    enum status st = doubts_save(d, the_gpu(t, gpu)->uuid, err);
    free(d);
    return st;
}

static enum status run(struct selftest *t, const struct request *r, unsigned gpu, struct error *err)
{
    enum status st = trial_bench_open(&t->bench, r, gpu, err);
    if (!st)
        st = check_idle(t, gpu, watch_s, err);
    if (!st)
        st = run_steps(t, gpu, err);
    if (!st)
        st = check_idle(t, gpu, watch_s, err);
    trial_bench_close(t->bench);
    if (t->before)
        complain_notes("", t->before);
    if (!st)
        st = ask_nsys_all(t, gpu, err);
    if (st)
        return st;
    if (pm_missing(t))
        complain("PM sampling was not put to the test: %s", pm_missing(t));
    /* that it could not be kept is said, and no failure of the counters */
    struct error why = ERROR_INIT;
    if (remember(t, gpu, &why))
        complain("warning: the result is not remembered: %s", why.text);
    return show(t, gpu, err);
}

/* A daemon lends its counters meanwhile. */
static enum status run_borrowed(struct selftest *t, const struct request *r, unsigned gpu,
                                struct error *err)
{
    int fd = -1;
    /* one that does not let us in is like any other holder: the trial says that they are busy */
    borrow(t->options->run_dir, "smeff selftest", &fd, NULL);
    enum status st = run(t, r, gpu, err);
    borrow_end(fd);
    return st;
}

static enum status one_gpu(struct request *r, bool given, unsigned *gpu, struct error *err)
{
    if (r->n_uuids || r->n_gpus > 1 || (given && r->n_gpus == 0))
        return fail(err, ERR_USAGE, 0, "--gpu takes one index here");
    if (!given && cuda_restricted())
        return fail(err, ERR_USAGE, 0, CUDA_RESTRICTED_TEXT);
    *gpu = r->n_gpus ? r->gpus[0] : 0;
    r->gpus[0] = *gpu;
    r->n_gpus = 1;
    r->backend = BACKEND_AUTO;
    r->set = SET_WIDE;
    r->gpm_hz = 4;
    r->no_nsys = true;
    r->no_doubts = true;
    return OK;
}

static int selftest(const struct options *o, int argc, char **argv)
{
    (void)argv;
    struct request request;
    struct error err = ERROR_INIT;
    unsigned gpu = 0;
    if (argc)
        return usage_error(&command_selftest, "no arguments are taken");
    if (request_parse(o, &request, &err) || one_gpu(&request, o->gpu != NULL, &gpu, &err))
        return usage_error(&command_selftest, "%s", err.text);
    struct selftest *t = calloc(1, sizeof *t);
    if (!t) {
        complain("out of memory");
        return EXIT_CODE_FAILURE;
    }
    t->options = o;
    t->steps = o->quick ? quick : full;
    t->n_steps = o->quick ? sizeof quick / sizeof quick[0] : sizeof full / sizeof full[0];
    interrupt_catch();
    enum status st = run_borrowed(t, &request, gpu, &err);
    int code = st ? (int)exit_code_of(st) : passed(t) ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
    if (interrupt_raised())
        code = 128 + interrupt_raised();
    else if (st)
        complain("%s", err.text);
    for (size_t i = 0; i < t->n_reports; i++)
        free(t->reports[i]);
    snapshot_destroy(t->before);
    free(t);
    return code;
}

const struct command command_selftest = {
    .name = "selftest",
    .arguments = "",
    .summary = "known loads, and whether this GPU's counters read what they must",
    .details =
        "Runs known loads (smeff load) one after another on an idle GPU, samples all counters,\n"
        "and compares them with the values that they must have and with each other. What fails\n"
        "is remembered for this GPU and driver, and shown as suspect by the other commands until\n"
        "a self-test passes. About 60 seconds; --quick: about 14, fewer loads. Exit code 0: all\n"
        "that could be read passed; 1: something failed, or the GPU was not idle. --nsys runs "
        "every\n"
        "load once more and compares a capture of Nsight Systems, too (about 8 seconds a load).",
    .example = "smeff selftest --json | jq '.proofs[] | select(.verdict==\"fail\")'",
    .options = OPTION(JSON) | OPTION(NO_COLOR) | OPTION(GPU) | OPTION(QUICK) | OPTION(NSYS) |
               OPTION(CUPTI) | OPTION(RUN_DIR),
    .run = selftest,
};
