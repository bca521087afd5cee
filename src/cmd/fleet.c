/* SPDX-License-Identifier: MIT */
#include "cmd/fleet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/waits.h"
#include "cmd/interrupt.h"
#include "cmd/output.h"
#include "cmd/token.h"
#include "fleet/query.h"
#include "llm/fetch.h"
#include "panel/fleet.h"
#include "panel/screen.h"

/* A fleet of 10,000 GPUs is an answer of some MiB, and takes its time. The means go over minutes:
 * to ask more often would show nothing new. */
enum { ROUND_MS = 10000, DEADLINE_MS = 15000, STEP_MS = 100, BODY_MAX = 32 << 20 };
enum { ONCE_COLUMNS = 100, ONCE_LINES = 40 };

struct fleet_run {
    struct target base;
    char prefix[64]; /* what stands before the API's path */
    struct fetcher *fetcher;
    struct fleet next, shown; /* next grows while a round of questions is under way */
    struct fleet_model model;
    struct surface surface;
    struct screen *screen; /* NULL = one frame */
    size_t asked;          /* the query that is under way; fleet_queries() = none */
    int64_t round_ns;      /* when the round began, monotonic; 0 = one is due */
    int64_t at_ns;         /* the same, UNIX time: the moment that is asked for */
    int64_t known_ns;      /* when the round that is shown began; 0 = none is */
    bool ascii;
};

/* ---- questions ---- */

/* "/prometheus" of http://host/prometheus/: where the API begins. */
static void find_prefix(struct fleet_run *r)
{
    const char *host = strstr(r->base.url, "://");
    const char *path = host ? strchr(host + 3, '/') : NULL;
    if (r->base.has_path && path)
        snprintf(r->prefix, sizeof r->prefix, "%s", path);
    for (size_t n = strlen(r->prefix); n > 0 && r->prefix[n - 1] == '/'; n--)
        r->prefix[n - 1] = '\0';
}

/* The queries are asked one after another, so that a busy server has one question of ours at a
 * time.
 */
static enum status open_server(struct fleet_run *r, const struct options *o, struct error *err)
{
    char token[TOKEN_SIZE] = "";
    enum status st = target_parse(o->prometheus, &r->base, err);
    if (!st)
        st = token_read(o->token_file, token, err);
    if (!st)
        st = fetcher_create(&r->fetcher, err);
    if (!st) {
        find_prefix(r);
        fetcher_limit(r->fetcher, DEADLINE_MS, BODY_MAX);
        size_t index; /* 0: there is no other */
        r->asked = fleet_queries();
        st = fetcher_add(r->fetcher, &r->base, token[0] ? token : NULL, &index, err);
    }
    explicit_bzero(token, sizeof token);
    return st;
}

static void complain_in(struct fleet_run *r, const char *text)
{
    str_clean(r->model.message, sizeof r->model.message, text, strlen(text));
    r->asked = fleet_queries();
}

static void ask(struct fleet_run *r, size_t i)
{
    char path[FLEET_PATH_SIZE];
    struct target t;
    struct error err = ERROR_INIT;
    r->asked = i;
    enum status st =
        target_with_path(&r->base, fleet_query_path(i, r->prefix, r->at_ns, path), &t, &err);
    if (!st) {
        fetcher_change(r->fetcher, 0, &t);
        st = fetcher_begin(r->fetcher, 0, &err);
    }
    if (st)
        complain_in(r, err.text);
}

/* A whole round is shown at once, so that no row mixes two times. */
static void end_round(struct fleet_run *r)
{
    if (r->model.is_frozen) { /* not what is looked at */
        fleet_fini(&r->next);
        r->round_ns = 0;
        return;
    }
    fleet_fini(&r->shown);
    r->shown = r->next;
    r->next = (struct fleet){0};
    r->model.fleet = &r->shown;
    r->model.message[0] = '\0';
    r->known_ns = r->round_ns;
}

static void take_answer(struct fleet_run *r)
{
    const struct fetch_result *a = fetcher_result(r->fetcher, 0);
    struct error err = ERROR_INIT;
    if (a->status >= 400 && a->body->len &&
        fleet_take(&r->next, r->asked, buf_str(a->body), a->body->len, &err))
        complain_in(r, err.text); /* in the server's own words */
    else if (a->state != VALUE_OK)
        complain_in(r, a->reason);
    else if (fleet_take(&r->next, r->asked, buf_str(a->body), a->body->len, &err))
        complain_in(r, err.text);
    else if (r->asked + 1 < fleet_queries())
        ask(r, r->asked + 1);
    else {
        r->asked = fleet_queries();
        end_round(r);
    }
}

static void step(struct fleet_run *r, int timeout_ms)
{
    int64_t now_ns = clock_monotonic_ns();
    bool is_idle = r->asked == fleet_queries();
    if (is_idle && !r->model.is_frozen &&
        (r->round_ns == 0 || now_ns - r->round_ns >= ROUND_MS * INT64_C(1000000))) {
        r->round_ns = now_ns;
        r->at_ns = clock_unix_ns();
        ask(r, 0);
    }
    fetcher_step(r->fetcher, timeout_ms);
    if (r->asked < fleet_queries() && !fetcher_is_busy(r->fetcher, 0))
        take_answer(r);
    r->model.age_s = r->known_ns ? (clock_monotonic_ns() - r->known_ns) / 1000000000 : -1;
}

/* ---- one frame ---- */

static enum status show_once(struct fleet_run *r, struct error *err)
{
    struct buf text = BUF_INIT;
    interrupt_catch();
    while (!r->known_ns && !r->model.message[0] && !interrupt_raised())
        step(r, STEP_MS);
    if (r->model.message[0])
        return fail(err, ERR_IO, 0, "%s: %s", r->model.from, r->model.message);
    if (!r->known_ns)
        return fail(err, ERR_IO, 0, "no answer was waited for");
    if (r->shown.n == 0)
        return fail(err, ERR_NO_GPU, 0, "%s knows no GPU of smeff's exporter (smeff_gpu_info)",
                    r->model.from);
    enum status st = surface_init(&r->surface, output_size("COLUMNS", ONCE_COLUMNS),
                                  output_size("LINES", ONCE_LINES), r->ascii, err);
    if (st)
        return st;
    r->model.is_once = true;
    fleet_draw(&r->model, &r->surface);
    surface_text(&r->surface, &text);
    st = output_write(&text, err);
    buf_fini(&text);
    return st;
}

/* ---- the panel ---- */

static enum status draw(struct fleet_run *r, struct error *err)
{
    int width, height;
    screen_size(r->screen, &width, &height);
    enum status st = surface_fit(&r->surface, width, height, r->ascii, err);
    if (st)
        return st;
    fleet_draw(&r->model, &r->surface);
    screen_show(r->screen, &r->surface);
    return OK;
}

static bool take_keys(struct fleet_run *r, bool *pressed)
{
    uint32_t key;
    *pressed = false;
    while (screen_key(r->screen, &key)) {
        *pressed = true;
        switch (fleet_press(&r->model, key)) {
        case PANEL_QUIT:
            return true;
        case PANEL_REDRAW:
            screen_redraw(r->screen);
            break;
        default:
            break;
        }
    }
    return false;
}

static enum status show_panel(struct fleet_run *r, const struct options *o, struct error *err)
{
    int64_t drawn_s = -2;
    const int64_t *known = &r->known_ns;
    int64_t known_before = 0;
    enum status st = screen_open(&r->screen, o->no_color ? COLOURS_NONE : COLOURS_24BIT, err);
    while (!st && !screen_ended(r->screen)) {
        bool pressed;
        if (take_keys(r, &pressed))
            break;
        bool anew = screen_step(r->screen);
        step(r, 0);
        if (pressed || anew || r->model.age_s != drawn_s || *known != known_before ||
            r->model.message[0]) {
            st = draw(r, err);
            drawn_s = r->model.age_s;
            known_before = *known;
        }
        struct waits w;
        waits_init(&w, r->asked < fleet_queries() ? STEP_MS / 4 : STEP_MS);
        waits_add(&w, screen_fd(r->screen), POLLIN);
        waits_poll(&w);
    }
    screen_close(r->screen);
    return st;
}

int fleet_show(const struct options *o, bool once, enum glyphs glyphs, bool ascii)
{
    struct error err = ERROR_INIT;
    struct fleet_run r = {.model = {.glyphs = glyphs, .age_s = -1, .from = o->prometheus},
                          .ascii = ascii};
    enum status st = open_server(&r, o, &err);
    if (!st)
        st = once ? show_once(&r, &err) : show_panel(&r, o, &err);
    fetcher_destroy(r.fetcher);
    fleet_fini(&r.next);
    fleet_fini(&r.shown);
    surface_fini(&r.surface);
    if (st)
        complain("%s", err.text);
    return (int)exit_code_of(st);
}
