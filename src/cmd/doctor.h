/* SPDX-License-Identifier: MIT */
/* smeff doctor: what the files of this machine say (facts), what really starting the sources shows
 * (findings), and what follows from both: one remedy and an exit code. */
#ifndef SMEFF_CMD_DOCTOR_H
#define SMEFF_CMD_DOCTOR_H

#include "base/buf.h"
#include "base/os.h"
#include "cmd/doctor_cupti.h"
#include "cmd/doctor_nsys.h"
#include "cmd/request.h"
#include "metric/value.h"
#include "show/show.h"
#include "source/pm/find.h"

/* ---- facts ---- */

/* A process that may hold the counters. */
struct doctor_holder {
    int pid;
    char name[64];
    const char *what;   /* static: "NVIDIA DCGM" */
    const char *remedy; /* static: what makes it let go */
};

enum doctor_nodes { NODES_ABSENT, NODES_DENIED, NODES_OPEN };

enum { DOCTOR_HOLDERS_MAX = 16 };

struct doctor_facts {
    struct os_release release;
    struct os_rights rights;
    const char *container; /* as os_container */
    bool wsl;
    bool module;             /* the NVIDIA kernel module is loaded */
    char driver[32];         /* its version; "" = not known */
    int open_module;         /* 1 the open one, 0 the closed one, -1 not known */
    int admin_only;          /* RmProfilingAdminOnly: 1, 0, -1 not visible */
    unsigned pci_gpus;       /* NVIDIA GPUs on the bus */
    enum doctor_nodes nodes; /* /dev/nvidiactl, /dev/nvidia0 */
    char nodes_group[32];    /* that owns them; "" = not known, or root */
    bool cuda_packages;      /* NVIDIA's package repository is set up */
    struct pm_folders folders;
    struct doctor_holder holders[DOCTOR_HOLDERS_MAX];
    size_t n_holders;
};

/* Reads files below places->root; self is our process id, whose family is no holder. */
void doctor_facts_read(const struct pm_places *places, int self, struct doctor_facts *out);

/* 580 of "580.159.03", 0 when not known. */
unsigned doctor_driver_major(const char *driver);

/* ---- findings ---- */

/* What a backend gives, on one GPU or on the best of all. */
struct doctor_backend {
    bool usable;        /* values came */
    enum status status; /* why not */
    char reason[400];   /* "" = not known, or usable */
    unsigned metrics;   /* series with values */
    double rate_hz;
};

enum doctor_source { DOCTOR_PM, DOCTOR_GPM, DOCTOR_NVML, DOCTOR_SOURCES };

struct doctor_gpu {
    unsigned index;
    char name[96], uuid[64], chip[32], pci_bus[32]; /* "" = not known */
    struct doctor_backend backends[DOCTOR_SOURCES];
};

struct doctor_findings {
    struct doctor_gpu *gpus; /* those that were asked for; owned */
    size_t n_gpus;
    struct doctor_backend backends[DOCTOR_SOURCES]; /* of the best GPU, or why there is none */
    char driver[32];                                /* as NVML tells it; "" = not known */
    struct cupti_taken cupti;                       /* path "": none */
    enum status cupti_status;                       /* why there is none */
    char cupti_reason[400];
    struct doctor_nsys nsys; /* filled by doctor_nsys_look, not by doctor_probe */
    bool none_asked_for;     /* there are GPUs, but not those that were asked for */
};

/* Starts the sources for some seconds, each in its own process. ERR_IO: that is not possible. */
enum status doctor_probe(const struct request *r, struct doctor_findings *out, struct error *err);
void doctor_findings_fini(struct doctor_findings *f); /* accepts a zeroed one */

const char *doctor_source_name(enum doctor_source source);

/* Are there hardware counters: from PM sampling or GPM, on one GPU at least? */
bool doctor_has_counters(const struct doctor_findings *f);

/* ---- what follows ---- */

enum { DOCTOR_COMMANDS_MAX = 4 };

struct doctor_remedy {
    const char *kind; /* static, for scripts: "none", "capability", "module_option", … */
    char text[700];
    char commands[DOCTOR_COMMANDS_MAX][320]; /* in this order */
    size_t n_commands;
    char caution[320]; /* "" = none */
};

/* The one thing to do, with the least privilege. Pure. */
void doctor_remedy_choose(const struct doctor_facts *facts, const struct doctor_findings *f,
                          struct doctor_remedy *out);

/* 0 counters can be read, 3 no GPU or driver, 4 no permission, 5 busy, 1 otherwise. Pure. */
enum exit_code doctor_exit_code(const struct doctor_findings *f);

/* ---- showing ---- */

struct doctor_report {
    const struct doctor_facts *facts;
    const struct doctor_findings *findings;
    const struct doctor_remedy *remedy;
    enum exit_code code;
};

/* Pure. */
void doctor_text(struct buf *out, const struct doctor_report *r, const struct show_style *style);
enum status doctor_json(struct buf *out, const struct doctor_report *r, struct error *err);

/* The driver's version as the kernel module or else NVML tells it; "" = not known. */
const char *doctor_driver(const struct doctor_facts *facts, const struct doctor_findings *f);

#endif
