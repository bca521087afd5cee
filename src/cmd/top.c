/* SPDX-License-Identifier: MIT */
/* smeff top: the live panel. */
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/fleet.h"
#include "cmd/gpufilter.h"
#include "cmd/interrupt.h"
#include "cmd/origin.h"
#include "cmd/output.h"
#include "cmd/panel.h"
#include "panel/keys.h"
#include "panel/screen.h"
#include "panel/view.h"

/* Frames are so far apart at least. Events are gathered until the next one, since waking up for
 * each costs more than reading it; not where counters are so fast that a pipe (64 KiB) would fill:
 * a sample of the core set is 150 bytes. */
enum { FRAME_MS = 100, FAST_HZ = 2000, CALM_MS = 250 };

enum { ONCE_MS = 2500, ONCE_COLUMNS = 100, ONCE_LINES = 40 };

struct top {
    const struct options *options;
    struct request request;
    struct panel panel;
    struct gpufilter filter;
    struct event_sink sink; /* the panel's, for wanted GPUs */
    struct origin *origin;
    struct surface surface;
    struct screen *screen;          /* NULL = --once */
    int stderr_before, stderr_kept; /* -1 = standard error is as it was */
};

/* ---- what others write to standard error meanwhile ---- */

/* It would spoil the screen: kept, and written at the end. */
static void keep_stderr(struct top *t)
{
    fflush(stderr);
    t->stderr_kept = memfd_create("stderr", MFD_CLOEXEC);
    t->stderr_before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (t->stderr_kept >= 0 && t->stderr_before >= 0)
        dup2(t->stderr_kept, STDERR_FILENO);
}

static void release_stderr(struct top *t)
{
    char text[4096];
    if (t->stderr_before < 0 || t->stderr_kept < 0)
        return;
    fflush(stderr);
    dup2(t->stderr_before, STDERR_FILENO);
    close(t->stderr_before);
    lseek(t->stderr_kept, 0, SEEK_SET);
    for (ssize_t n; (n = read(t->stderr_kept, text, sizeof text)) > 0;)
        fwrite(text, 1, (size_t)n, stderr);
    close(t->stderr_kept);
    t->stderr_before = t->stderr_kept = -1;
}

/* ---- common ---- */

static void set_glyphs(struct model *m)
{
    const char *term = getenv("TERM");
    m->ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    /* the console of Linux has no braille in its font */
    bool console = term && strcmp(term, "linux") == 0;
    m->glyphs = m->ascii ? GLYPHS_ASCII : console ? GLYPHS_BLOCK : GLYPHS_BRAILLE;
}

static bool knows_a_gpu(const struct top *t)
{
    return t->panel.model.now && t->panel.model.now->n_gpus > 0;
}

/* Takes events until there is something to do. False: the stream has ended, and is no longer asked.
 */
static enum status take_events(struct top *t, int64_t now_ns, struct error *err)
{
    enum status ended = OK;
    const char *reason = "";
    struct error why = ERROR_INIT;
    if (t->panel.model.is_over)
        return OK;
    enum status st = origin_poll(t->origin, &why);
    if (!st && !origin_over(t->origin, &ended, &reason))
        return OK;
    if (st)
        ended = st, reason = why.text;
    enum status looked = panel_look(&t->panel, now_ns, err);
    if (looked)
        return looked;
    if (!knows_a_gpu(t)) /* there never was anything to show */
        return fail(err, ended ? ended : ERR_NO_GPU, 0, "%s",
                    *reason ? reason : "there was nothing to show");
    panel_end(&t->panel, now_ns, ended ? reason : "");
    return OK;
}

/* ssh takes its time, and may ask for a password: nothing is shown before something comes from
 * there. */
static enum status wait_for_host(struct top *t, struct error *err)
{
    enum status st = OK;
    while (!st && t->panel.recorder.holds.n == 0 && !interrupt_raised()) {
        struct waits w;
        waits_init(&w, CALM_MS);
        origin_waits(t->origin, &w);
        waits_poll(&w);
        st = take_events(t, clock_monotonic_ns(), err);
    }
    return st;
}

/* ---- one frame ---- */

/* The whole recording at once: a frame shows its end. */
static enum status read_recording(struct top *t, struct error *err)
{
    struct event_reader *reader = NULL;
    bool more = true;
    enum status st = event_reader_open(&reader, t->options->replay, err);
    while (!st && more)
        st = event_reader_next(reader, &t->sink, &more, err);
    if (!st && event_reader_was_cut(reader))
        panel_say(&t->panel, false, clock_monotonic_ns(),
                  "the recording was cut off: this is its last whole line");
    t->panel.model.is_over = true;
    event_reader_close(reader);
    if (!st)
        st = panel_look(&t->panel, clock_monotonic_ns(), err);
    if (!st && t->panel.model.now->n_gpus == 0 && t->options->gpu)
        st = fail(err, ERR_NO_GPU, 0,
                  "none of the recording's GPUs is one of those asked for (--gpu)");
    return st;
}

static enum status watch_a_moment(struct top *t, struct error *err)
{
    int64_t begin_ns = clock_monotonic_ns();
    enum status st = OK;
    while (!st && !interrupt_raised() && !t->panel.model.is_over) {
        int64_t now_ns = clock_monotonic_ns();
        struct waits w;
        waits_init(&w, FRAME_MS);
        origin_waits(t->origin, &w);
        waits_poll(&w);
        st = take_events(t, now_ns, err);
        if (!st)
            st = panel_look(&t->panel, now_ns, err);
        if (now_ns - begin_ns > ONCE_MS * INT64_C(1000000) || t->panel.has_window)
            break;
    }
    return st;
}

static enum status show_once(struct top *t, struct error *err)
{
    struct buf text = BUF_INIT;
    struct show_style style = output_style(t->options);
    int width = output_size("COLUMNS", isatty(STDOUT_FILENO) ? style.columns : ONCE_COLUMNS);
    interrupt_catch();
    enum status st = t->options->replay
                         ? read_recording(t, err)
                         : origin_open(&t->origin, t->options, &t->request, &t->sink, err);
    if (!st)
        origin_name(t->options, t->origin, t->panel.model.origin, sizeof t->panel.model.origin);
    if (!st && t->options->host)
        st = wait_for_host(t, err);
    if (!st && !t->options->replay)
        st = watch_a_moment(t, err);
    if (!st && !t->options->replay && !knows_a_gpu(t))
        st = fail(err, ERR_IO, 0, "no GPU was heard of within %.1f s", 1e-3 * ONCE_MS);
    if (!st)
        st = surface_init(&t->surface, width, output_size("LINES", ONCE_LINES),
                          t->panel.model.ascii, err);
    if (st)
        return st;
    t->panel.model.is_over = false; /* a frame is of now, whatever comes later */
    t->panel.model.is_once = true;
    view_draw(&t->panel.model, &t->surface);
    surface_text(&t->surface, &text);
    st = output_write(&text, err);
    buf_fini(&text);
    return st;
}

/* ---- the panel ---- */

static enum status draw(struct top *t, struct error *err)
{
    int width, height;
    screen_size(t->screen, &width, &height);
    enum status st = surface_fit(&t->surface, width, height, t->panel.model.ascii, err);
    if (st)
        return st;
    view_draw(&t->panel.model, &t->surface);
    screen_show(t->screen, &t->surface);
    return OK;
}

/* All keys that were pressed. True: quit. */
static bool take_keys(struct top *t, int64_t now_ns, bool *pressed)
{
    uint32_t key;
    *pressed = false;
    while (screen_key(t->screen, &key)) {
        *pressed = true;
        switch (keys_press(&t->panel.model, key)) {
        case PANEL_QUIT:
            return true;
        case PANEL_RECORD:
            panel_toggle_recording(&t->panel, now_ns);
            break;
        case PANEL_REDRAW:
            screen_redraw(t->screen);
            break;
        case PANEL_NOTHING:
            break;
        }
    }
    return false;
}

static bool is_fast(const struct top *t)
{
    const struct snapshot *now = t->panel.model.now;
    for (size_t i = 0; now && i < now->n_gpus; i++)
        if (now->gpus[i].rate_hz > FAST_HZ)
            return true;
    return false;
}

static void wait_for_something(const struct top *t, int64_t drawn_ns)
{
    struct waits w;
    bool gathers = t->panel.has_window && !is_fast(t);
    int64_t left_ns = drawn_ns + FRAME_MS * INT64_C(1000000) - clock_monotonic_ns();
    waits_init(&w, t->panel.model.is_over ? CALM_MS : FRAME_MS);
    waits_add(&w, screen_fd(t->screen), POLLIN);
    if (!t->panel.model.is_over && !gathers)
        origin_waits(t->origin, &w);
    if (!t->panel.model.is_over)
        waits_within(&w, left_ns / 1000000 + 1);
    waits_poll(&w);
}

static enum status run(struct top *t, struct error *err)
{
    int64_t drawn_ns = 0;
    bool knew_a_gpu = false;
    enum status st = OK;
    while (!st && !screen_ended(t->screen)) {
        bool pressed;
        int64_t now_ns = clock_monotonic_ns();
        if (take_keys(t, now_ns, &pressed))
            break;
        bool anew = screen_step(t->screen);
        st = take_events(t, now_ns, err);
        if (!st)
            st = panel_look(&t->panel, now_ns, err);
        anew |= knows_a_gpu(t) != knew_a_gpu;
        knew_a_gpu = knows_a_gpu(t);
        if (!st && (pressed || anew || now_ns - drawn_ns >= FRAME_MS * INT64_C(1000000))) {
            st = draw(t, err);
            drawn_ns = now_ns;
        }
        if (!st)
            wait_for_something(t, drawn_ns);
    }
    return st;
}

static enum status show_panel(struct top *t, struct error *err)
{
    if (t->options->host)
        complain("waiting for %s (ssh; Ctrl-C ends it)", t->options->host);
    keep_stderr(t);
    enum status st = origin_open(&t->origin, t->options, &t->request, &t->sink, err);
    if (!st && t->options->host)
        st = wait_for_host(t, err);
    if (st)
        return st;
    origin_name(t->options, t->origin, t->panel.model.origin, sizeof t->panel.model.origin);
    st = screen_open(&t->screen, t->options->no_color ? COLOURS_NONE : COLOURS_24BIT, err);
    if (!st)
        st = run(t, err);
    screen_close(t->screen);
    if (t->panel.recorder.writer && recorder_end(&t->panel.recorder, err) && !st)
        st = ERR_IO;
    return st;
}

static int top(const struct options *o, int argc, char **argv)
{
    struct top t = {.options = o, .stderr_before = -1, .stderr_kept = -1};
    struct error err = ERROR_INIT, why = ERROR_INIT;
    (void)argv;
    if (argc)
        return usage_error(&command_top, "no arguments are taken");
    if (request_parse(o, &t.request, &err))
        return usage_error(&command_top, "%s", err.text);
    if ((o->host != NULL) + (o->from != NULL) + (o->replay != NULL) + (o->prometheus != NULL) > 1)
        return usage_error(&command_top, "one of --host, --from, --replay and --prometheus");
    bool once = o->once != NULL || !isatty(STDOUT_FILENO);
    if (!once && screen_usable(&why)) {
        complain("one frame instead of the panel: %s", why.text);
        once = true;
    }
    set_glyphs(&t.panel.model);
    if (o->prometheus)
        return fleet_show(o, once, t.panel.model.glyphs, t.panel.model.ascii);
    enum status st = panel_init(&t.panel, &err);
    t.filter = (struct gpufilter){.request = &t.request, .sink = &t.panel.sink};
    t.sink = gpufilter_sink(&t.filter);
    if (!st)
        st = once ? show_once(&t, &err) : show_panel(&t, &err);
    origin_close(t.origin);
    panel_fini(&t.panel);
    surface_fini(&t.surface);
    release_stderr(&t);
    if (st)
        complain("%s", err.text);
    bool no_daemon = st == ERR_NOT_FOUND && o->from;
    return no_daemon ? EXIT_CODE_NO_DAEMON : (int)exit_code_of(st);
}

const struct command command_top = {
    .name = "top",
    .arguments = "",
    .summary = "the live panel: what GPU-Util says, and what the hardware did",
    .details =
        "Shows all GPUs, or one with its counters beside GPU-Util as bars and charts, the\n"
        "verdict with its evidence, inference servers and processes; ? in it tells the keys.\n"
        "Takes the events of a daemon where one runs, with its last ten minutes (--own: not),\n"
        "else samples by itself. --replay plays a recording; --from takes a daemon's SOCKET, or\n"
        "with - the events of standard input; --host runs smeff stream there over ssh.\n"
        "--prometheus lists the GPUs of all hosts that a Prometheus server scrapes (smeff daemon\n"
        "run --listen), those first that waste most.\n"
        "--once prints one frame as text, as does a standard output that is no terminal: of a\n"
        "recording its end, else what is known after 2.5 seconds at most; COLUMNS and LINES\n"
        "are its size (100 and 40). Where the locale is not UTF-8 everything is plain ASCII.",
    .example = "smeff top --replay data/h200/live/decode.jsonl.gz",
    .options = OPTION(GPU) | OPTION(BACKEND) | OPTION(RATE) | OPTION(SET) | OPTION(METRIC) |
               OPTION(CUPTI) | OPTION(NSYS) | OPTION(METRICS_SET) | OPTION(SERVER) |
               OPTION(TOKEN_FILE) | OPTION(OWN) | OPTION(RUN_DIR) | OPTION(REPLAY) | OPTION(SPEED) |
               OPTION(LOOP) | OPTION(FROM) | OPTION(HOST) | OPTION(PROMETHEUS) | OPTION(ONCE) |
               OPTION(NO_COLOR),
    .run = top,
};
