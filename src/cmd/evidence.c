/* SPDX-License-Identifier: MIT */
#include "cmd/evidence.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/timeline.h"
#include "event/wire.h"
#include "show/report.h"
#include "show/show.h"

static const char *const names[] = {"events.jsonl", "summary.json", "summary.txt", "report.html"};

struct evidence {
    char folder[1024];
    bool is_made; /* the folder is ours: it was not there before */
    struct event_encoder *encoder;
    struct timeline *timeline; /* for the page */
    FILE *events;
    bool has_samples;
    struct buf text;
};

enum { PATH_SIZE = 1200 };

static const char *path_in(char path[PATH_SIZE], const char *folder, const char *name)
{
    snprintf(path, PATH_SIZE, "%s/%s", folder, name);
    return path;
}

static enum status open_in(const char *folder, const char *name, FILE **out, struct error *err)
{
    char path[PATH_SIZE];
    path_in(path, folder, name);
    *out = fopen(path, "we");
    return *out ? OK : fail(err, ERR_IO, errno, "%s: %s", path, strerror(errno));
}

static enum status write_text(FILE *f, struct buf *text, const char *folder, struct error *err)
{
    errno = 0;
    if (text->len && fwrite(text->data, 1, text->len, f) != text->len)
        return fail(err, ERR_IO, errno, "%s: %s", folder, strerror(errno));
    buf_clear(text);
    return OK;
}

static enum status close_file(FILE *f, const char *folder, struct error *err)
{
    errno = 0;
    return fclose(f) == 0 ? OK : fail(err, ERR_IO, errno, "%s: %s", folder, strerror(errno));
}

/* Evidence of an earlier measurement is never overwritten. */
static enum status refuse_old(const char *folder, struct error *err)
{
    char path[PATH_SIZE];
    struct stat there;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (lstat(path_in(path, folder, names[i]), &there) == 0)
            return fail(err, ERR_IO, EEXIST, "%s: exists already: take another folder", path);
    return OK;
}

enum status evidence_create(struct evidence **out, const char *folder, struct error *err)
{
    struct evidence *e = calloc(1, sizeof *e);
    if (!e)
        return fail(err, ERR_NOMEM, 0, "out of memory");
    snprintf(e->folder, sizeof e->folder, "%s", folder);
    enum status st = OK;
    e->is_made = mkdir(folder, 0777) == 0;
    if (!e->is_made && errno != EEXIST)
        st = fail(err, ERR_IO, errno, "%s: %s", folder, strerror(errno));
    if (!st)
        st = refuse_old(folder, err);
    if (!st)
        st = event_encoder_create(&e->encoder, err);
    if (!st)
        st = timeline_create(&e->timeline, err);
    if (!st)
        st = open_in(folder, names[0], &e->events, err);
    if (st) {
        evidence_destroy(e);
        return st;
    }
    *out = e;
    return OK;
}

enum status evidence_push(struct evidence *e, const struct event *ev, struct error *err)
{
    const struct event_sink timeline = timeline_sink(e->timeline);
    e->has_samples |= ev->kind == EVENT_SAMPLES;
    enum status st = event_push(&timeline, ev, err);
    if (!st)
        st = event_encode(e->encoder, &e->text, ev, err);
    return st ? st : write_text(e->events, &e->text, e->folder, err);
}

static enum status write_file(struct evidence *e, const char *name, struct error *err)
{
    FILE *f = NULL;
    enum status st = open_in(e->folder, name, &f, err);
    if (st)
        return st;
    st = write_text(f, &e->text, e->folder, err);
    enum status closed = close_file(f, e->folder, st ? NULL : err);
    return st ? st : closed;
}

enum status evidence_finish(struct evidence *e, const struct snapshot *s, struct error *err)
{
    const struct show_style style = {.columns = 100, .utf8 = true};
    struct event end = {.kind = EVENT_END, .u.end = {OK, ""}};
    enum status st = evidence_push(e, &end, err);
    FILE *events = e->events;
    e->events = NULL;
    enum status closed = close_file(events, e->folder, st ? NULL : err);
    st = st ? st : closed;
    if (!st)
        st = show_json(&e->text, s, NULL, err);
    if (!st)
        st = write_file(e, names[1], err);
    if (st)
        return st;
    show_text(&e->text, s, "", &style);
    st = write_file(e, names[2], err);
    if (!st)
        st = show_report(&e->text, s, e->timeline, "", err);
    return st ? st : write_file(e, names[3], err);
}

void evidence_destroy(struct evidence *e)
{
    if (!e)
        return;
    if (e->events) { /* not finished */
        char path[PATH_SIZE];
        fclose(e->events);
        if (!e->has_samples)
            unlink(path_in(path, e->folder, names[0]));
    }
    if (e->is_made)
        rmdir(e->folder); /* does nothing when it holds something */
    event_encoder_destroy(e->encoder);
    timeline_destroy(e->timeline);
    buf_fini(&e->text);
    free(e);
}
