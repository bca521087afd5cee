/* SPDX-License-Identifier: MIT */
/* smeff doctor: the report as text. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd/doctor.h"
#include "show/wrap.h"

static const char *const bold = "\033[1m", *const green = "\033[32m", *const yellow = "\033[33m",
                         *const off = "\033[0m";

struct page {
    struct buf *out;
    const struct show_style *style;
};

/* "label       text", wrapped; an empty label continues the one above. */
__attribute__((format(printf, 3, 4))) static void line(const struct page *p, const char *label,
                                                       const char *fmt, ...)
{
    char lead[80], text[1200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    snprintf(lead, sizeof lead, "%-11s ", label);
    wrap_words(p->out, p->style, lead, text);
}

static void heading(const struct page *p, const char *colour, const char *text)
{
    if (p->style->colour)
        buf_puts(p->out, colour);
    wrap_plain(p->out, p->style, text);
    if (p->style->colour)
        buf_puts(p->out, off);
    buf_putc(p->out, '\n');
}

static const char *verdict(const struct doctor_report *r)
{
    const struct doctor_backend *b = r->findings->backends;
    if (b[DOCTOR_PM].usable)
        return "Hardware counters can be read here: by PM sampling.";
    if (b[DOCTOR_GPM].usable)
        return "Hardware counters can be read here: by GPM, but not by PM sampling.";
    if (r->findings->none_asked_for)
        return "The GPU that was asked for is not here.";
    if (r->findings->n_gpus == 0 && b[DOCTOR_NVML].status == ERR_TIMEOUT)
        return "No hardware counters: the NVIDIA driver does not answer.";
    if (r->findings->n_gpus == 0 && r->code == EXIT_CODE_NO_PERMISSION)
        return "No hardware counters: you may not use the GPU.";
    if (r->findings->n_gpus == 0 && doctor_driver(r->facts, r->findings)[0])
        return "No hardware counters: the NVIDIA driver gives no GPU.";
    if (r->findings->n_gpus == 0)
        return "No hardware counters: there is no NVIDIA driver here.";
    if (r->code == EXIT_CODE_NO_PERMISSION)
        return "No hardware counters: no permission.";
    if (r->code == EXIT_CODE_BUSY)
        return "No hardware counters: another program holds them.";
    return "No hardware counters, only the driver's readings.";
}

/* ---- the machine ---- */

static void put_machine(const struct page *p, const struct doctor_report *r)
{
    const struct doctor_facts *facts = r->facts;
    const char *driver = doctor_driver(facts, r->findings);
    if (driver[0])
        line(p, "driver", "%s%s", driver,
             facts->open_module == 1   ? ", open kernel module"
             : facts->open_module == 0 ? ", closed kernel module"
                                       : "");
    else if (facts->pci_gpus)
        line(p, "driver", "none, but %u NVIDIA GPU%s on the bus", facts->pci_gpus,
             facts->pci_gpus > 1 ? "s" : "");
    else
        line(p, "driver", "none, and no NVIDIA GPU on the bus");
    for (size_t i = 0; i < r->findings->n_gpus; i++) {
        const struct doctor_gpu *g = &r->findings->gpus[i];
        char label[16];
        snprintf(label, sizeof label, "GPU %u", g->index);
        line(p, label, "%s%s%s%s%s, %s", g->name[0] ? g->name : "?", g->chip[0] ? ", chip " : "",
             g->chip, g->pci_bus[0] ? ", " : "", g->pci_bus, g->uuid[0] ? g->uuid : "no UUID");
    }
    if (r->findings->n_gpus == 0)
        line(p, "GPU", "none: %s", r->findings->backends[DOCTOR_NVML].reason);
}

/* The folder of a path. */
static bool is_folder_of(const char *folder, const char *path)
{
    size_t n = strlen(folder);
    return strncmp(folder, path, n) == 0 && path[n] == '/' && !strchr(path + n + 1, '/');
}

static void put_cupti(const struct page *p, const struct doctor_report *r)
{
    const struct cupti_taken *c = &r->findings->cupti;
    char release[CUPTI_RELEASE_SIZE];
    if (c->path[0])
        line(p, "CUPTI", "%s: %s (%s)", cupti_release(release, c->version), c->path, c->from);
    else
        line(p, "CUPTI", "none: %s", r->findings->cupti_reason);
    for (size_t i = 0; i < r->facts->folders.n; i++) {
        const struct pm_folder *f = &r->facts->folders.list[i];
        if (!is_folder_of(f->path, c->path))
            line(p, "", "also in %s (%s)", f->path, f->from);
    }
}

static void put_rights(const struct page *p, const struct doctor_report *r)
{
    const struct doctor_facts *facts = r->facts;
    const struct os_rights *rights = &facts->rights;
    line(p, "permission", "%s",
         facts->admin_only == 1   ? "RmProfilingAdminOnly is 1: counters for administrators only"
         : facts->admin_only == 0 ? "RmProfilingAdminOnly is 0: counters for every user"
                                  : "RmProfilingAdminOnly is not visible here");
    if (rights->known)
        line(p, "", "you are %s, with%s CAP_PERFMON, with%s CAP_SYS_ADMIN%s",
             rights->uid == 0 ? "root" : "an ordinary user",
             os_can(rights, OS_CAP_PERFMON) ? "" : "out",
             os_can(rights, OS_CAP_SYS_ADMIN) ? "" : "out",
             rights->user_namespace ? ", in a user namespace, where these do not count" : "");
    line(p, "system", "%s%s%s%s", facts->release.name[0] ? facts->release.name : "unknown",
         facts->container[0] ? ", in a container: " : "", facts->container,
         facts->wsl ? ", under WSL" : "");
    if (facts->nodes == NODES_DENIED)
        line(p, "", "the GPU's device files may not be opened by you");
    for (size_t i = 0; i < facts->n_holders; i++)
        line(p, i ? "" : "beside us", "%s: %s, process %d", facts->holders[i].what,
             facts->holders[i].name, facts->holders[i].pid);
}

/* ---- the sources ---- */

static void put_backend(const struct page *p, const char *name, const struct doctor_backend *b)
{
    char label[64];
    snprintf(label, sizeof label, "%-11s %-5s", name, b->usable ? "yes" : "no");
    if (b->usable)
        line(p, label, "%u metrics, %g times a second", b->metrics, b->rate_hz);
    else
        line(p, label, "%s", b->reason[0] ? b->reason : status_text(b->status));
}

/* It is not started for a moment: a capture takes seconds. */
static void put_nsys(const struct page *p, const struct doctor_nsys *n)
{
    if (n->usable)
        line(p, "nsys        yes", "%s, %s: windows of seconds, with gaps (--backend nsys)",
             n->version, n->path);
    else if (n->path[0])
        line(p, "nsys        no", "%s, %s: %s", n->version, n->path, n->reason);
    else
        line(p, "nsys        no", "%s", n->reason);
}

static void put_backends(const struct page *p, const struct doctor_report *r)
{
    const struct doctor_findings *f = r->findings;
    buf_putc(p->out, '\n');
    heading(p, bold, "Sources, each started for a moment");
    for (int s = 0; s < DOCTOR_SOURCES; s++) {
        const char *name = doctor_source_name((enum doctor_source)s);
        if (f->n_gpus == 0)
            put_backend(p, name, &f->backends[s]);
        for (size_t i = 0; i < f->n_gpus; i++) {
            char label[24];
            snprintf(label, sizeof label, "%s GPU %u", name, f->gpus[i].index);
            put_backend(p, f->n_gpus > 1 ? label : name, &f->gpus[i].backends[s]);
        }
    }
    put_nsys(p, &f->nsys);
}

static void put_remedy(const struct page *p, const struct doctor_remedy *r)
{
    buf_putc(p->out, '\n');
    heading(p, bold, "What to do");
    wrap_words(p->out, p->style, "", r->text);
    for (size_t i = 0; i < r->n_commands; i++) {
        buf_puts(p->out, "    "); /* not wrapped: to be copied */
        wrap_plain(p->out, p->style, r->commands[i]);
        buf_putc(p->out, '\n');
    }
    if (r->caution[0])
        wrap_words(p->out, p->style, "", r->caution);
}

void doctor_text(struct buf *out, const struct doctor_report *r, const struct show_style *style)
{
    const struct page page = {out, style}, *p = &page;
    heading(p, doctor_has_counters(r->findings) ? green : yellow, verdict(r));
    buf_putc(out, '\n');
    put_machine(p, r);
    put_cupti(p, r);
    put_rights(p, r);
    put_backends(p, r);
    put_remedy(p, r->remedy);
}
