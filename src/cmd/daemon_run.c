/* SPDX-License-Identifier: MIT */
/* smeff daemon run: one owner of the counters, many viewers.
 *
 * Events go to the collector, which makes a snapshot each second, and as lines into the history,
 * which is what viewers read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os.h"
#include "base/str.h"
#include "cmd/daemon.h"
#include "cmd/front.h"
#include "cmd/interrupt.h"
#include "cmd/live.h"
#include "cmd/serverwatch.h"
#include "cmd/token.h"
#include "collect/collect.h"
#include "daemon/hub.h"
#include "daemon/notify.h"
#include "daemon/place.h"
#include "event/wire.h"
#include "show/show.h"

/* Ten minutes of eight GPUs at 50 Hz were 50 MiB of lines (docs/architecture.md). */
enum { HISTORY_BYTES = 64 << 20, HISTORY_S = 600, TICK_MS = 1000, HOLDERS_MAX = 16 };

static const double window_s = 1, servers_window_s = 5;

struct holder {
    struct hub_client *client;
    char name[80];
};

struct daemon {
    const struct options *options;
    const struct request *request;
    struct place place;
    struct event_sink sink; /* for the sources */
    struct live *live;
    struct serverwatch *servers; /* NULL = none */
    struct collector *collector;
    struct event_encoder *encoder;
    struct history *history;
    struct hub *hub;
    struct front *front;       /* HTTP; NULL = none */
    struct snapshot *snapshot; /* the newest */
    struct buf line, status;   /* an event's line; the newest status as JSON */
    struct holder holders[HOLDERS_MAX];
    size_t n_holders;
    bool is_ready, is_paused, is_held, stop, status_failed;
    char reason[200]; /* why the counters are lent */
    int64_t started_ns, tick_ns;
};

/* ---- events ---- */

/* What people want to read in a log. */
static void log_note(const struct event *ev)
{
    if (ev->kind == EVENT_NOTE && ev->u.note.level != NOTE_INFO)
        complain("%s", ev->u.note.text);
}

static enum status take(void *self, const struct event *ev, struct error *err)
{
    struct daemon *d = self;
    const struct event_sink collector = collector_sink(d->collector);
    serverwatch_see(d->servers, ev);
    log_note(ev);
    enum status st = event_push(&collector, ev, err);
    buf_clear(&d->line);
    if (!st)
        st = event_encode(d->encoder, &d->line, ev, err);
    if (!st)
        st = history_add(d->history, ev, d->line.data, d->line.len, clock_monotonic_ns(), err);
    return st;
}

/* ---- lending the counters ---- */

static void tell_holders(struct daemon *d)
{
    if (d->n_holders)
        snprintf(d->reason, sizeof d->reason, "lent to %s (smeff yield)", d->holders[0].name);
    else if (d->is_paused)
        snprintf(d->reason, sizeof d->reason, "paused (smeff daemon resume takes them back)");
    else
        d->reason[0] = '\0';
}

/* Takes or gives back the counters, whichever is due; who has them now is told again when that
 * changes. */
static void settle_hold(struct daemon *d)
{
    char before[sizeof d->reason];
    struct error err = ERROR_INIT;
    enum status st = OK;
    bool wanted = d->is_paused || d->n_holders > 0;
    memcpy(before, d->reason, sizeof before);
    tell_holders(d);
    if (wanted && (!d->is_held || strcmp(before, d->reason) != 0))
        st = live_hold(d->live, d->reason, &err);
    else if (!wanted && d->is_held)
        st = live_release(d->live, &err);
    d->is_held = wanted;
    if (st)
        complain("%s", err.text);
}

static void gone(void *self, struct hub_client *c)
{
    struct daemon *d = self;
    for (size_t i = 0; i < d->n_holders; i++)
        if (d->holders[i].client == c)
            d->holders[i--] = d->holders[--d->n_holders];
    settle_hold(d);
}

/* ---- requests ---- */

static void say(struct hub_client *c, const char *text)
{
    hub_answer(c, text, strlen(text));
}

static void answer_events(struct daemon *d, struct hub_client *c, double seconds)
{
    struct buf preamble = BUF_INIT;
    if (!(seconds >= 0)) /* not a number, too */
        seconds = 0;
    if (seconds > HISTORY_S)
        seconds = HISTORY_S;
    uint64_t from = seconds > 0 ? history_since(d->history, seconds, clock_monotonic_ns())
                                : history_end(d->history);
    if (history_preamble(d->history, from, &preamble, NULL) == OK) {
        hub_answer(c, preamble.data, preamble.len);
        hub_watch(c, from);
    }
    buf_fini(&preamble);
}

static void fill_daemon(const struct daemon *d, struct show_daemon *out)
{
    struct timespec cpu;
    char statm[128];
    long long pages = 0, resident = 0;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    bool known = os_read("", "/proc/self/statm", statm, sizeof statm) &&
                 sscanf(statm, "%lld %lld", &pages, &resident) == 2;
    *out = (struct show_daemon){.pid = getpid(),
                                .started_ns = d->started_ns,
                                .is_paused = d->is_held,
                                .reason = d->reason,
                                .run_dir = d->place.folder,
                                .replay = d->request->replay,
                                .viewers = hub_viewers(d->hub),
                                .dropped = hub_dropped(d->hub),
                                .history_s = history_seconds(d->history, clock_monotonic_ns()),
                                .history_bytes = history_bytes(d->history),
                                .history_limit_bytes = HISTORY_BYTES,
                                .cpu_s = (double)cpu.tv_sec + 1e-9 * (double)cpu.tv_nsec,
                                .memory_bytes =
                                    known ? (double)resident * (double)sysconf(_SC_PAGESIZE) : NAN};
}

/* "status", or "status text COLUMNS UTF8 COLOUR" */
static void answer_status(struct daemon *d, struct hub_client *c, const char *how)
{
    struct buf text = BUF_INIT;
    struct show_daemon about;
    int columns = 0, utf8 = 0, colour = 0;
    if (!d->snapshot) {
        say(c, "error nothing is known yet\n");
        return;
    }
    fill_daemon(d, &about);
    if (sscanf(how, " text %d %d %d", &columns, &utf8, &colour) == 3 && columns >= 40 &&
        columns <= 1000) {
        const struct show_style style = {columns, colour != 0, utf8 != 0};
        show_status_text(&text, d->snapshot, &about, &style);
    } else {
        show_status_json(&text, d->snapshot, &about, NULL);
    }
    hub_answer(c, buf_str(&text), text.len);
    buf_fini(&text);
}

/* A recording has no counters that could be lent. */
static bool has_nothing_to_lend(const struct daemon *d, struct hub_client *c)
{
    if (d->request->replay)
        say(c, "error it plays a recording, and holds no counters\n");
    return d->request->replay != NULL;
}

static void answer_hold(struct daemon *d, struct hub_client *c, const char *name)
{
    if (has_nothing_to_lend(d, c))
        return;
    if (d->n_holders == HOLDERS_MAX) {
        say(c, "error too many have asked for the counters\n");
        return;
    }
    struct holder *h = &d->holders[d->n_holders++];
    h->client = c;
    str_clean(h->name, sizeof h->name, name, strlen(name));
    hub_keep(c);
    settle_hold(d);
    say(c, "ok\n");
}

/* Whoever may connect may look, and borrow the counters; ending the daemon is its owner's. */
static void answer_stop(struct daemon *d, struct hub_client *c)
{
    uid_t who = hub_client_user(c);
    if (who != 0 && who != geteuid()) {
        say(c, "error permission only root and the daemon's own user may stop it\n");
        return;
    }
    d->stop = true;
    say(c, "ok\n");
}

/* "ok", and behind it who has the counters still. */
static void answer_pause(struct daemon *d, struct hub_client *c, bool pause)
{
    char text[sizeof d->reason + 8];
    if (has_nothing_to_lend(d, c))
        return;
    d->is_paused = pause;
    settle_hold(d);
    snprintf(text, sizeof text, "ok%s%s\n", !pause && d->is_held ? " " : "",
             pause ? "" : d->reason);
    say(c, text);
}

static void request(void *self, struct hub_client *c, const char *line)
{
    struct daemon *d = self;
    double seconds = 0;
    if (strcmp(line, "events") == 0 || sscanf(line, "events %lf", &seconds) == 1)
        answer_events(d, c, seconds);
    else if (str_starts_with(line, "status"))
        answer_status(d, c, line + strlen("status"));
    else if (str_starts_with(line, "hold "))
        answer_hold(d, c, line + strlen("hold "));
    else if (strcmp(line, "pause") == 0 || strcmp(line, "resume") == 0)
        answer_pause(d, c, line[0] == 'p');
    else if (strcmp(line, "ready") == 0)
        say(c, d->is_ready ? "ok\n" : "error it is starting\n");
    else if (strcmp(line, "stop") == 0)
        answer_stop(d, c);
    else
        say(c, "error no such request\n");
}

static const struct hub_ops hub_ops = {request, gone};

/* ---- once a second ---- */

/* A status that cannot be written is said once, and does not end the daemon. */
static void write_status(struct daemon *d)
{
    struct show_daemon about;
    struct error err = ERROR_INIT;
    fill_daemon(d, &about);
    buf_clear(&d->status);
    enum status st = show_status_json(&d->status, d->snapshot, &about, &err);
    if (!st)
        st = place_write_status(&d->place, d->status.data, d->status.len, &err);
    if (st && !d->status_failed)
        complain("%s", err.text);
    if (!st && d->status_failed)
        complain("%s is written again", d->place.status);
    d->status_failed = st != OK;
}

/* Folder, lock or socket may have been removed by somebody who tidied up. */
static enum status check_place(struct daemon *d, struct error *err)
{
    enum status st = OK;
    if (!place_is_ours(&d->place)) {
        complain("%s was removed; it is made again", d->place.folder);
        place_leave(&d->place);
        st = place_take(&d->place, d->options->group, err);
    }
    return st ? st : hub_check(d->hub, err);
}

static enum status tick(struct daemon *d, struct error *err)
{
    struct snapshot *fresh = NULL;
    int64_t now_ns = clock_monotonic_ns();
    if (now_ns < d->tick_ns)
        return OK;
    d->tick_ns += TICK_MS * INT64_C(1000000);
    if (d->tick_ns < now_ns) /* the machine slept */
        d->tick_ns = now_ns + TICK_MS * INT64_C(1000000);
    enum status st = check_place(d, err);
    if (st)
        return st;
    collector_roll(d->collector, window_s);
    st = collector_snapshot(d->collector, &fresh, err);
    if (st)
        return st;
    snapshot_destroy(d->snapshot);
    d->snapshot = fresh;
    write_status(d);
    return OK;
}

/* ---- the loop ---- */

static void wait(struct daemon *d)
{
    struct waits w;
    waits_init(&w, serverwatch_wait_ms(d->servers, TICK_MS));
    waits_within(&w, (d->tick_ns - clock_monotonic_ns()) / 1000000 + 1);
    live_waits(d->live, &w);
    hub_waits(d->hub, &w);
    front_waits(d->front, &w);
    waits_poll(&w);
}

/* When it is clear what can be sampled, not before: systemd's READY and `daemon start` mean that.
 */
static void be_ready(struct daemon *d)
{
    enum status ended = OK;
    const char *reason;
    if (d->is_ready || !live_settled(d->live) || live_over(d->live, &ended, &reason))
        return;
    d->is_ready = true;
    notify("READY=1\nSTATUS=sampling");
}

static enum status loop(struct daemon *d, struct error *err)
{
    enum status st = OK, ended = OK;
    const char *reason = "";
    int64_t alive_ns = 0, watchdog_ns = notify_watchdog_ms() * INT64_C(1000000);
    d->tick_ns = clock_monotonic_ns();
    while (!st && !d->stop && !interrupt_raised() && !live_over(d->live, &ended, &reason)) {
        wait(d);
        st = live_poll(d->live, 0, err);
        if (!st)
            st = serverwatch_step(d->servers, err);
        if (!st)
            st = tick(d, err);
        be_ready(d);
        hub_step(d->hub);
        front_step(d->front);
        if (watchdog_ns && clock_monotonic_ns() - alive_ns > watchdog_ns) {
            alive_ns = clock_monotonic_ns();
            notify("WATCHDOG=1");
        }
    }
    return !st && ended ? fail(err, ended, 0, "%s", reason) : st;
}

/* Viewers are told that this was the end. */
static void say_end(struct daemon *d, enum status st, const struct error *err)
{
    struct event end = {.kind = EVENT_END, .u.end = {st, st ? err->text : ""}};
    if (d->hub && take(d, &end, NULL) == OK)
        hub_step(d->hub);
}

static enum status open_all(struct daemon *d, struct error *err)
{
    d->sink = (struct event_sink){take, d};
    enum status st = place_choose(&d->place, d->options->run_dir, err);
    if (!st)
        st = place_take(&d->place, d->options->group, err);
    if (!st)
        place_clear_log(&d->place, STDERR_FILENO);
    if (!st)
        st = front_open(&d->front, d->options, err);
    if (!st)
        st = collector_create(&d->collector, err);
    if (!st)
        st = event_encoder_create(&d->encoder, err);
    if (!st)
        st = history_create(&d->history, HISTORY_BYTES, HISTORY_S, err);
    if (!st)
        st = hub_open(&d->hub, d->place.socket, d->place.group, d->history, &hub_ops, d, err);
    if (!st)
        st = front_start(d->front, d->place.folder, err);
    if (!st)
        st = live_open(&d->live, d->request, &d->sink, err);
    if (!st && !d->request->replay)
        st = serverwatch_open(&d->servers, d->options, servers_window_s, &d->sink, err);
    return st;
}

static void close_all(struct daemon *d)
{
    live_close(d->live);
    serverwatch_close(d->servers);
    front_close(d->front);
    hub_close(d->hub);
    place_leave(&d->place);
    snapshot_destroy(d->snapshot);
    history_destroy(d->history);
    event_encoder_destroy(d->encoder);
    collector_destroy(d->collector);
    buf_fini(&d->line);
    buf_fini(&d->status);
}

int daemon_run(const struct options *o, const struct request *r)
{
    struct daemon d = {
        .options = o, .request = r, .place = {.lock_fd = -1}, .started_ns = clock_unix_ns()};
    struct error err = ERROR_INIT;
    interrupt_catch();
    token_hide(); /* whether it is needed or not */
    enum status st = open_all(&d, &err);
    if (!st) {
        complain("daemon: %s (process %d)", d.place.folder, (int)getpid());
        st = loop(&d, &err);
        notify("STOPPING=1");
    }
    if (st)
        complain("%s", err.text);
    say_end(&d, st, &err);
    close_all(&d);
    /* a second daemon is a failure: 5 would mean the counters */
    return (int)exit_code_of(st == ERR_USAGE || st == ERR_BUSY ? ERR_IO : st);
}
