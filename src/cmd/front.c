/* SPDX-License-Identifier: MIT */
#include "cmd/front.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "cmd/start.h"
#include "http/listen.h"

/* START, until its first line: libraries, certificates, and a check of each kind of password hash.
 * SILENCE: then it says something each second. BACKOFF: the pause before a new start doubles from
 * the first to the last; HEALTHY: after so long it begins anew. */
enum {
    START_MS = 30000,
    SILENCE_MS = 10000,
    BACKOFF_FIRST_MS = 100,
    BACKOFF_LAST_MS = 30000,
    HEALTHY_MS = 30000,
    GRACE_MS = 1500,
};

static const char default_port[] = "19400", default_dcgm[] = ":9400", default_dcgm_port[] = "9400";

struct front {
    const struct options *options;
    struct listener web, dcgm;
    char folder[300];
    struct proc proc;
    int64_t started_ns, heard_ns, restart_ns; /* monotonic */
    bool has_spoken;                          /* since its start */
    int backoff_ms;
    char said[300]; /* a reason that it gave itself */
    char told[300]; /* the last reason that was told */
};

/* ---- options ---- */

static const char *dcgm_address(const struct options *o)
{
    return o->dcgm_listen ? o->dcgm_listen : o->dcgm_compat ? default_dcgm : NULL;
}

static enum status check_compat(const char *names, struct error *err)
{
    if (!names || strcmp(names, "legacy") == 0 || strcmp(names, "current") == 0 ||
        strcmp(names, "both") == 0)
        return OK;
    return fail(err, ERR_USAGE, 0, "--dcgm-compat is legacy, current or both, not \"%s\"", names);
}

enum status front_check(const struct options *o, struct error *err)
{
    const char *dcgm = dcgm_address(o);
    bool serves = o->listen || dcgm;
    enum status st = check_compat(o->dcgm_compat, err);
    if (!st && o->listen)
        st = listen_check("listen", o->listen, err);
    if (!st && dcgm)
        st = listen_check("dcgm-listen", dcgm, err);
    if (!st && !o->tls_cert != !o->tls_key)
        st = fail(err, ERR_USAGE, 0, "--tls-cert and --tls-key go together");
    if (!st && !serves && (o->tls_cert || o->web_token || o->web_users))
        st = fail(err, ERR_USAGE, 0, "--tls-cert, --web-token and --web-users are for --listen");
    return st;
}

enum status front_open(struct front **out, const struct options *o, struct error *err)
{
    const char *dcgm = dcgm_address(o);
    *out = NULL;
    if (!o->listen && !dcgm)
        return OK;
    struct front *f = calloc(1, sizeof *f);
    if (!f)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    *f = (struct front){.options = o, .proc = PROC_INIT, .backoff_ms = BACKOFF_FIRST_MS};
    enum status st = OK;
    if (o->listen)
        st = listen_open(&f->web, "listen", o->listen, default_port, err);
    if (!st && dcgm)
        st = listen_open(&f->dcgm, "dcgm-listen", dcgm, default_dcgm_port, err);
    if (st) {
        front_close(f);
        return st;
    }
    if ((f->web.is_public || f->dcgm.is_public) && !o->web_token && !o->web_users)
        complain("http: whoever reaches this address can read; --web-users and --web-token ask for "
                 "a password");
    *out = f;
    return OK;
}

void front_close(struct front *f)
{
    if (!f)
        return;
    proc_stop(&f->proc, GRACE_MS);
    listen_close(&f->web);
    listen_close(&f->dcgm);
    free(f);
}

/* ---- the process ---- */

/* doors: a letter for each descriptor, w of --listen, d of --dcgm-listen. */
static size_t gather(const struct front *f, int fds[2 * LISTEN_SOCKETS_MAX],
                     char doors[2 * LISTEN_SOCKETS_MAX + 1])
{
    size_t n = 0;
    for (size_t i = 0; i < f->web.n; i++) {
        fds[n] = f->web.fd[i];
        doors[n++] = 'w';
    }
    for (size_t i = 0; i < f->dcgm.n; i++) {
        fds[n] = f->dcgm.fd[i];
        doors[n++] = 'd';
    }
    doors[n] = '\0';
    return n;
}

static enum status begin(struct front *f, struct error *err)
{
    int fds[2 * LISTEN_SOCKETS_MAX];
    char doors[2 * LISTEN_SOCKETS_MAX + 1], exe[1024];
    size_t n = gather(f, fds, doors);
    struct child_argv a;
    enum status st = own_program(exe, sizeof exe, err);
    if (st)
        return st;
    child_argv_begin(&a, "http", doors);
    child_argv_option(&a, "--run-dir", f->folder);
    child_argv_option(&a, "--tls-cert", f->options->tls_cert);
    child_argv_option(&a, "--tls-key", f->options->tls_key);
    child_argv_option(&a, "--web-token", f->options->web_token);
    child_argv_option(&a, "--web-users", f->options->web_users);
    child_argv_option(&a, "--dcgm-compat", f->options->dcgm_compat);
    f->said[0] = '\0';
    f->has_spoken = false;
    st = proc_start_with(&f->proc, exe, a.word, true, fds, n, err);
    f->started_ns = f->heard_ns = clock_monotonic_ns();
    return st;
}

/* Its first line: "ready", or why not. It has that many milliseconds. */
static bool hear_line(struct front *f, char *dst, size_t size, int most_ms)
{
    int64_t deadline_ns = clock_monotonic_ns() + most_ms * INT64_C(1000000);
    size_t n = 0;
    while (n + 1 < size) {
        int left_ms = (int)((deadline_ns - clock_monotonic_ns()) / 1000000);
        struct pollfd p = {f->proc.out, POLLIN, 0};
        if (left_ms <= 0 || poll(&p, 1, left_ms) < 0)
            break;
        ssize_t got = p.revents ? read(f->proc.out, dst + n, 1) : -1;
        if (got == 0)
            break;
        if (got > 0 && dst[n] == '\n') {
            dst[n] = '\0';
            return true;
        }
        n += got > 0;
    }
    dst[n] = '\0';
    return false;
}

enum status front_start(struct front *f, const char *folder, struct error *err)
{
    char line[400];
    if (!f)
        return OK;
    snprintf(f->folder, sizeof f->folder, "%s", folder);
    enum status st = begin(f, err);
    if (st)
        return st;
    if (!hear_line(f, line, sizeof line, START_MS))
        return fail(err, ERR_IO, 0, "the HTTP process %s",
                    *line ? line : "ended or hung at its start");
    f->has_spoken = true;
    f->heard_ns = clock_monotonic_ns();
    return strcmp(line, "ready") == 0 ? OK : fail(err, ERR_IO, 0, "%s", line);
}

/* ---- supervision ---- */

/* The same again and again is said once. */
static void tell(struct front *f, const char *why)
{
    if (strcmp(f->told, why) != 0)
        complain("http: %s; starting it again", why);
    snprintf(f->told, sizeof f->told, "%s", why);
}

static void plan_restart(struct front *f, const char *why)
{
    int64_t now_ns = clock_monotonic_ns();
    proc_stop(&f->proc, 0);
    if (f->has_spoken && now_ns - f->started_ns > HEALTHY_MS * INT64_C(1000000)) {
        f->backoff_ms = BACKOFF_FIRST_MS;
        f->told[0] = '\0';
    }
    tell(f, why);
    f->restart_ns = now_ns + f->backoff_ms * INT64_C(1000000);
    f->backoff_ms = 2 * f->backoff_ms < BACKOFF_LAST_MS ? 2 * f->backoff_ms : BACKOFF_LAST_MS;
}

/* "." each second says that it lives, "ready" that it serves; another line is why it does not. */
static void hear(struct front *f)
{
    char text[sizeof f->said];
    ssize_t n = read(f->proc.out, text, sizeof text - 1);
    if (n <= 0)
        return;
    text[n] = '\0';
    text[strcspn(text, "\n")] = '\0';
    f->has_spoken = true;
    f->heard_ns = clock_monotonic_ns();
    if (text[strspn(text, ".")] && strcmp(text, "ready") != 0)
        snprintf(f->said, sizeof f->said, "%s", text);
}

static int patience_ms(const struct front *f)
{
    return f->has_spoken ? SILENCE_MS : START_MS;
}

void front_waits(const struct front *f, struct waits *w)
{
    if (!f)
        return;
    int64_t due_ns = f->proc.pid ? f->heard_ns + patience_ms(f) * INT64_C(1000000) : f->restart_ns;
    waits_within(w, (due_ns - clock_monotonic_ns()) / 1000000 + 1);
    waits_add(w, f->proc.out, POLLIN);
}

void front_step(struct front *f)
{
    int wait_status;
    char death[100];
    struct error err = ERROR_INIT;
    if (!f)
        return;
    int64_t now_ns = clock_monotonic_ns();
    if (!f->proc.pid) {
        if (now_ns >= f->restart_ns && begin(f, &err))
            plan_restart(f, err.text);
        return;
    }
    hear(f);
    if (proc_ended(&f->proc, &wait_status))
        plan_restart(f, *f->said ? f->said : proc_death_text(death, sizeof death, wait_status));
    else if (now_ns - f->heard_ns > patience_ms(f) * INT64_C(1000000))
        plan_restart(f, f->has_spoken ? "it said nothing for 10 s" : "it said nothing for 30 s");
}
