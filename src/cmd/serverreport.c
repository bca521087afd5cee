/* SPDX-License-Identifier: MIT */
#include "cmd/serverreport.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "llm/discover.h"

enum { ANCESTORS_MAX = 8 };

bool server_descends(int pid, int from)
{
    for (int up = 0; pid > 0 && up <= ANCESTORS_MAX; up++, pid = discover_parent("", pid))
        if (pid == from)
            return true;
    return false;
}

bool server_is_there(int64_t pid)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%lld", (long long)pid);
    return access(path, F_OK) == 0;
}

/* A process with those that started it, up to a number of them. */
struct line {
    int pid[ANCESTORS_MAX + 1];
    int n;
};

static void read_line(struct line *out, int pid)
{
    for (out->n = 0; pid > 0 && out->n <= ANCESTORS_MAX; pid = discover_parent("", pid))
        out->pid[out->n++] = pid;
}

static bool has(const struct line *l, int pid)
{
    for (int i = 0; i < l->n; i++)
        if (l->pid[i] == pid)
            return true;
    return false;
}

void server_relate(struct server_relation *out, int server, const struct on_gpus *on)
{
    struct line servers;
    out->n_pids = 0;
    out->has_strangers = false;
    read_line(&servers, server);
    for (size_t g = 0; server && g < SOURCE_GPUS_MAX; g++) {
        out->has_strangers |= on->gpu[g].is_cut;
        for (size_t i = 0; i < on->gpu[g].n; i++) {
            int pid = (int)on->gpu[g].pid[i];
            if (!has(&servers, pid) && !server_descends(pid, server))
                out->has_strangers |= server_is_there(pid);
            else if (out->n_pids < REPORT_PIDS_MAX)
                out->pids[out->n_pids++] = pid;
            else
                out->has_strangers = true;
        }
    }
}

void server_report_fill(struct server_report *out, const struct server_place *place,
                        const struct watch_view *v, const struct server_relation *relation)
{
    int64_t t1_ns = v->unix_ns ? v->unix_ns : clock_unix_ns();
    *out = (struct server_report){
        .place = *place,
        .signals = v->signals,
        .state = v->state,
        .is_front = v->is_router || v->signals.dialect == DIALECT_DYNAMO,
        .is_loopback = v->target->is_loopback,
        .t0_ns = t1_ns - (int64_t)(v->signals.seconds * 1e9),
        .t1_ns = t1_ns,
    };
    str_clean(out->model, sizeof out->model, v->model, strlen(v->model));
    str_clean(out->reason, sizeof out->reason, v->reason, strlen(v->reason));
    if (!out->is_front)
        out->relation = *relation;
}

static size_t fill_metrics(const struct server_report *r, struct event_server_metric *out)
{
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        const struct signal *s = &r->signals.list[i];
        out[i] = (struct event_server_metric){
            .metric = (enum metric)(SIGNAL_FIRST + i),
            .state = s->value.state,
            .v = value_has_number(&s->value) ? s->value.v : NAN,
            .reason = s->value.reason,
            .series = s->series,
            .freshness = s->series[0] && s->fresh != FRESH_LIVE ? freshness_name(s->fresh) : "",
        };
    }
    return SIGNAL_COUNT;
}

enum status server_report_push(const struct server_report *r, bool all_gpus,
                               const struct event_sink *sink, struct error *err)
{
    struct event_server_metric metrics[SIGNAL_COUNT];
    int d = r->signals.dialect;
    bool is_local =
        r->is_loopback && all_gpus && !r->relation.has_strangers && !r->place.holds_no_gpu;
    struct event ev = {
        .kind = EVENT_SERVER,
        .u.server = {.url = r->place.url,
                     .kind = d == DIALECT_NONE ? "" : dialect_get((enum dialect_id)d)->name,
                     .model = r->model,
                     .pid = r->is_front ? 0 : r->place.pid,
                     .is_local = is_local && !r->is_front,
                     .n_gpu_pids = r->relation.n_pids,
                     .gpu_pids = r->relation.pids,
                     .state = r->state,
                     .reason = r->reason,
                     .is_gone = r->is_gone,
                     .t0_ns = r->t0_ns,
                     .t1_ns = r->t1_ns,
                     .n = fill_metrics(r, metrics),
                     .metrics = metrics}};
    return event_push(sink, &ev, err);
}
