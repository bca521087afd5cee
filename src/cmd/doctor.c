/* SPDX-License-Identifier: MIT */
#include "cmd/doctor.h"

#include <stdlib.h>
#include <unistd.h>

#include "cmd/borrow.h"
#include "cmd/interrupt.h"
#include "cmd/output.h"

static enum status show(const struct doctor_report *r, const struct options *o, struct error *err)
{
    struct buf out = BUF_INIT;
    struct show_style style = output_style(o);
    enum status st = OK;
    if (o->json)
        st = doctor_json(&out, r, err);
    else
        doctor_text(&out, r, &style);
    if (!st)
        st = output_write(&out, err);
    buf_fini(&out);
    return st;
}

/* The facts are read first: later our own samplers would stand among the processes. */
static int examine(const struct request *r, const struct options *o, struct doctor_facts *facts)
{
    const struct pm_places places = {"", getenv("LD_LIBRARY_PATH"), getenv("VIRTUAL_ENV"),
                                     getenv("HOME")};
    struct doctor_findings findings;
    struct doctor_remedy remedy;
    struct error err = ERROR_INIT;
    doctor_facts_read(&places, (int)getpid(), facts);
    int fd = -1; /* what a daemon has can be measured, too: it lends its counters for the moment */
    borrow(o->run_dir, "smeff doctor", &fd, NULL); /* one that does not let us in holds them */
    enum status st = doctor_probe(r, &findings, &err);
    borrow_end(fd);
    if (!st && interrupt_raised()) {
        doctor_findings_fini(&findings);
        return 128 + interrupt_raised();
    }
    if (!st) {
        doctor_nsys_look(o->nsys, &findings.nsys);
        doctor_remedy_choose(facts, &findings, &remedy);
        const struct doctor_report report = {facts, &findings, &remedy,
                                             doctor_exit_code(&findings)};
        st = show(&report, o, &err);
        doctor_findings_fini(&findings);
        if (!st)
            return (int)report.code;
    }
    complain("%s", err.text);
    return (int)exit_code_of(st);
}

static int doctor(const struct options *o, int argc, char **argv)
{
    (void)argv;
    struct request request;
    struct error err = ERROR_INIT;
    if (argc)
        return usage_error(&command_doctor, "no arguments are taken");
    if (request_parse(o, &request, &err))
        return usage_error(&command_doctor, "%s", err.text);
    struct doctor_facts *facts = calloc(1, sizeof *facts);
    if (!facts) {
        complain("out of memory");
        return EXIT_CODE_FAILURE;
    }
    interrupt_catch();
    int code = examine(&request, o, facts);
    free(facts);
    return code;
}

const struct command command_doctor = {
    .name = "doctor",
    .arguments = "",
    .summary = "what can be measured here, why not, and the one thing to do",
    .details = "Looks at the driver, the GPUs, CUPTI and your rights, starts every source for a\n"
               "moment, and names one remedy, with the least privilege that is enough. Exit code:\n"
               "0 hardware counters can be read, 3 no GPU or driver, 4 no permission, 5 another\n"
               "program holds them, 1 otherwise. A daemon of smeff lends its counters meanwhile.",
    .example = "smeff doctor --json | jq -r .remedy.text",
    .options = OPTION(JSON) | OPTION(NO_COLOR) | OPTION(GPU) | OPTION(CUPTI) | OPTION(NSYS) |
               OPTION(RUN_DIR),
    .run = doctor,
};
