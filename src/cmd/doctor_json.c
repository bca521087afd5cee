/* SPDX-License-Identifier: MIT */
/* smeff doctor: the report as JSON, one object in one line. */
#include <jansson.h>

#include "cmd/doctor.h"
#include "show/json_out.h"

/* jansson steals references here, and NULL from a failed allocation makes the whole pack fail, so
 * that one check at the end is enough. */

static const char *or_null(const char *text)
{
    return text[0] ? text : NULL;
}

static json_t *flag(int known)
{
    return known < 0 ? json_null() : json_boolean(known);
}

static const char *state_name(const struct doctor_backend *b)
{
    return value_state_name(b->usable ? VALUE_OK : source_state_of(b->status));
}

static json_t *backend_json(const struct doctor_backend *b)
{
    return json_pack("{s:b, s:s, s:s?, s:o, s:o}", "usable", b->usable, "state", state_name(b),
                     "reason", or_null(b->reason), "metrics",
                     b->usable ? json_integer((json_int_t)b->metrics) : json_null(), "rate_hz",
                     b->usable ? json_real(b->rate_hz) : json_null());
}

static json_t *backends_json(const struct doctor_backend *list)
{
    json_t *o = json_object();
    for (int s = 0; s < DOCTOR_SOURCES; s++)
        json_object_set_new(o, doctor_source_name((enum doctor_source)s), backend_json(&list[s]));
    return o;
}

static json_t *gpus_json(const struct doctor_findings *f)
{
    json_t *list = json_array();
    for (size_t i = 0; i < f->n_gpus; i++) {
        const struct doctor_gpu *g = &f->gpus[i];
        json_array_append_new(list, json_pack("{s:i, s:s?, s:s?, s:s?, s:s?, s:o}", "index",
                                              (int)g->index, "name", or_null(g->name), "uuid",
                                              or_null(g->uuid), "chip", or_null(g->chip), "pci_bus",
                                              or_null(g->pci_bus), "backends",
                                              backends_json(g->backends)));
    }
    return list;
}

static json_t *cupti_json(const struct doctor_report *r)
{
    const struct doctor_findings *f = r->findings;
    char release[CUPTI_RELEASE_SIZE];
    json_t *folders = json_array(), *taken = json_null();
    for (size_t i = 0; i < r->facts->folders.n; i++)
        json_array_append_new(folders,
                              json_pack("{s:s, s:s}", "path", r->facts->folders.list[i].path,
                                        "from", r->facts->folders.list[i].from));
    if (f->cupti.path[0])
        taken = json_pack("{s:s, s:s, s:i, s:s}", "path", f->cupti.path, "from", f->cupti.from,
                          "interface", (int)f->cupti.version, "version",
                          cupti_release(release, f->cupti.version));
    return json_pack("{s:o, s:s?, s:o}", "taken", taken, "reason",
                     f->cupti.path[0] ? NULL : f->cupti_reason, "folders", folders);
}

static json_t *permission_json(const struct doctor_facts *f)
{
    const struct os_rights *r = &f->rights;
    int known = r->known ? 0 : -2; /* plus 0 or 1: still negative */
    return json_pack("{s:o, s:o, s:o, s:o, s:b}", "admin_only", flag(f->admin_only), "root",
                     flag(known + (r->uid == 0)), "cap_perfmon",
                     flag(known + os_can(r, OS_CAP_PERFMON)), "cap_sys_admin",
                     flag(known + os_can(r, OS_CAP_SYS_ADMIN)), "user_namespace",
                     r->user_namespace);
}

static json_t *system_json(const struct doctor_facts *f)
{
    static const char *const nodes[] = {"absent", "denied", "open"};
    return json_pack("{s:s?, s:s?, s:s?, s:b, s:i, s:s}", "id", or_null(f->release.id), "name",
                     or_null(f->release.name), "container", or_null(f->container), "wsl", f->wsl,
                     "pci_gpus", (int)f->pci_gpus, "device_files", nodes[f->nodes]);
}

static json_t *holders_json(const struct doctor_facts *f)
{
    json_t *list = json_array();
    for (size_t i = 0; i < f->n_holders; i++)
        json_array_append_new(list, json_pack("{s:i, s:s, s:s, s:s}", "pid", f->holders[i].pid,
                                              "name", f->holders[i].name, "what",
                                              f->holders[i].what, "remedy", f->holders[i].remedy));
    return list;
}

static json_t *remedy_json(const struct doctor_remedy *r)
{
    json_t *steps = json_array();
    for (size_t i = 0; i < r->n_commands; i++)
        json_array_append_new(steps, json_string(r->commands[i]));
    return json_pack("{s:s, s:s, s:o, s:s?}", "kind", r->kind, "text", r->text, "commands", steps,
                     "caution", or_null(r->caution));
}

static json_t *nsys_json(const struct doctor_nsys *n)
{
    enum value_state state = n->usable ? VALUE_OK : source_state_of(n->status);
    return json_pack("{s:b, s:s, s:s?, s:s?, s:s?}", "usable", n->usable, "state",
                     value_state_name(state), "reason", or_null(n->reason), "program",
                     or_null(n->path), "version", or_null(n->version));
}

static json_t *all_backends_json(const struct doctor_findings *f)
{
    json_t *o = backends_json(f->backends);
    json_object_set_new(o, "nsys", nsys_json(&f->nsys));
    return o;
}

enum status doctor_json(struct buf *out, const struct doctor_report *r, struct error *err)
{
    json_t *o = json_pack("{s:i, s:s, s:b, s:i, s:{s:s?, s:o}, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                          "schema", 1, "tool", "smeff " SMEFF_VERSION, "counters",
                          doctor_has_counters(r->findings), "exit_code", (int)r->code, "driver",
                          "version", or_null(doctor_driver(r->facts, r->findings)), "open_module",
                          flag(r->facts->open_module), "gpus", gpus_json(r->findings), "cupti",
                          cupti_json(r), "permission", permission_json(r->facts), "system",
                          system_json(r->facts), "holders", holders_json(r->facts), "backends",
                          all_backends_json(r->findings), "remedy", remedy_json(r->remedy));
    return json_out_line(out, o, 0, err);
}
