/* SPDX-License-Identifier: MIT */
#include "llm/scrape.h"

#include <math.h>
#include <stdlib.h>

#include "base/str.h"
#include "llm/exposition.h"
#include "llm/number.h"

/* What a name turned out to be; kept, since the samples of a family follow one another. */
struct meaning {
    struct slice name;
    int dialect; /* DIALECT_NONE: nobody's */
    unsigned n;  /* series of that name; those beyond select by a label */
    unsigned series[4];
    enum part part;
};

struct taking {
    struct scrape *s;
    struct meaning meaning;
    struct slice model; /* the last sample's; mostly the same */
    struct error *err;
    enum status status;
};

struct scrape *scrape_create(void)
{
    return calloc(1, sizeof(struct scrape));
}

void scrape_destroy(struct scrape *s)
{
    if (s)
        free(s->points);
    free(s);
}

static void look_up(struct meaning *m, struct slice name)
{
    struct slice rest = {NULL, 0};
    *m = (struct meaning){.name = name, .dialect = dialect_of_name(name, &rest)};
    if (m->dialect == DIALECT_NONE)
        return;
    const struct dialect *d = dialect_get((enum dialect_id)m->dialect);
    for (unsigned i = 0; i < d->n_series && m->n < 4; i++)
        if (dialect_matches(rest, d->series[i].name, &m->part))
            m->series[m->n++] = i;
}

/* FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/), with a stir at the end, since the hashes of
 * labels are added up: their order plays no part. */
static uint64_t hash(struct slice a, struct slice b)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < a.n; i++)
        h = (h ^ (unsigned char)a.s[i]) * UINT64_C(1099511628211);
    h = (h ^ 0xff) * UINT64_C(1099511628211);
    for (size_t i = 0; i < b.n; i++)
        h = (h ^ (unsigned char)b.s[i]) * UINT64_C(1099511628211);
    return h ^ h >> 29;
}

/* What a label tells apart. */
enum label_kind {
    LABEL_OTHER,  /* nobody knows: samples that differ in it are not put together */
    LABEL_PART,   /* parts of one whole: they are put together */
    LABEL_REPEAT, /* ranks inside one data-parallel rank: they repeat the same counts */
    LABEL_MODEL,  /* models, each with numbers of its own */
    LABEL_PLACE,  /* where one of Ray's workers is: with WorkerId it tells nothing apart */
};

/* engine, dp_rank: vLLM's, SGLang's and LMDeploy's data-parallel ranks. cache_source: SGLang's
 * kinds of caches. worker_type: Dynamo's queues. ReplicaId, WorkerId: vLLM on Ray. server,
 * worker_addr: the engines behind a router of vLLM's or SGLang's. version: of one of Triton's
 * models. pid and the like: Ray's agent adds them to what its workers tell
 * (https://github.com/ray-project/ray, python/ray/_private/metrics_agent.py: one component a
 * worker); of vLLM's several API servers a pid alone is not known to be a part, since each keeps
 * what it saw last. */
static enum label_kind kind_of_label(struct slice name)
{
    static const struct {
        const char *name;
        enum label_kind kind;
    } known[] = {
        {"model_name", LABEL_MODEL},   {"engine", LABEL_PART},      {"model", LABEL_MODEL},
        {"dp_rank", LABEL_PART},       {"tp_rank", LABEL_REPEAT},   {"pp_rank", LABEL_REPEAT},
        {"moe_ep_rank", LABEL_REPEAT}, {"version", LABEL_MODEL},    {"cache_source", LABEL_PART},
        {"worker_type", LABEL_PART},   {"ReplicaId", LABEL_PART},   {"WorkerId", LABEL_PART},
        {"server", LABEL_PART},        {"worker_addr", LABEL_PART}, {"pid", LABEL_PLACE},
        {"NodeAddress", LABEL_PLACE},  {"NodeId", LABEL_PLACE},     {"Component", LABEL_PLACE}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (slice_is(name, known[i].name))
            return known[i].kind;
    return LABEL_OTHER;
}

static void take_model(struct taking *t, struct slice model)
{
    char text[SCRAPE_MODEL_SIZE];
    struct scrape *s = t->s;
    if (s->models > 1 || model.n == 0 || slice_equal(model, t->model))
        return;
    t->model = model;
    str_clean(text, sizeof text, model.s, model.n);
    if (s->models == 0)
        memcpy(s->model, text, sizeof text);
    s->models = s->models == 0 || strcmp(s->model, text) == 0 ? 1 : 2;
}

/* Fills what the labels decide. False: not a sample to take. */
static bool read_labels(struct taking *t, const struct exposition_sample *sample, enum part part,
                        struct point *p)
{
    struct slice labels = sample->labels;
    struct exposition_label l;
    bool has_le = false, has_worker = false;
    uint64_t place = 0;
    while (labels_next(&labels, &l)) {
        if (slice_is(l.name, "le") && part == PART_BUCKET) {
            has_le = number_parse(l.value, &p->le) && !isnan(p->le);
            continue;
        }
        /* With priorities SGLang shows each one and, without a name, all together. */
        if (slice_is(l.name, "priority") && l.value.n)
            return false;
        enum label_kind kind = kind_of_label(l.name);
        t->s->is_router |= slice_is(l.name, "server");
        if (slice_is(l.name, "model_name") || slice_is(l.name, "model"))
            take_model(t, l.value);
        uint64_t h = hash(l.name, l.value);
        p->id += h;
        p->group += kind == LABEL_REPEAT ? 0 : h;
        p->model += kind == LABEL_MODEL ? h : 0;
        p->other += kind == LABEL_OTHER ? h : 0;
        place += kind == LABEL_PLACE ? h : 0;
        has_worker |= slice_is(l.name, "WorkerId");
    }
    p->other += has_worker ? 0 : place;
    return part != PART_BUCKET || has_le;
}

static bool is_selected(const struct dialect_series *series, struct slice labels)
{
    struct slice value = {NULL, 0};
    if (!series->label)
        return true;
    /* in Prometheus a label without a value is none */
    if (!labels_find(labels, series->label, &value) || value.n == 0)
        return series->value[0] == '\0';
    return slice_is(value, series->value);
}

static bool add(struct taking *t, const struct point *p)
{
    struct scrape *s = t->s;
    if (s->n_points == s->cap_points) {
        size_t cap = s->cap_points ? 2 * s->cap_points : 256;
        struct point *bigger =
            cap <= SCRAPE_POINTS_MAX ? realloc(s->points, cap * sizeof *bigger) : NULL;
        if (!bigger) {
            t->status = cap > SCRAPE_POINTS_MAX
                            ? fail(t->err, ERR_BAD_INPUT, 0, "more than %d series of the server's",
                                   SCRAPE_POINTS_MAX / 2)
                            : fail(t->err, ERR_NOMEM, 0, "out of memory");
            return false;
        }
        s->points = bigger;
        s->cap_points = cap;
    }
    s->points[s->n_points++] = *p;
    return true;
}

/* The name as the body has it; of a histogram that of the family. */
static void keep_name(struct scrape *s, const struct meaning *m, unsigned series, struct slice name)
{
    static const size_t suffix[] = {[PART_SUM] = sizeof "_sum" - 1,
                                    [PART_COUNT] = sizeof "_count" - 1,
                                    [PART_BUCKET] = sizeof "_bucket" - 1,
                                    [PART_CREATED] = sizeof "_created" - 1,
                                    [PART_VALUE] = 0};
    char *dst = s->names[m->dialect][series];
    if (!*dst || (m->part == PART_VALUE && name.n != strlen(dst)))
        str_clean(dst, SCRAPE_NAME_SIZE, name.s, name.n - suffix[m->part]);
}

static bool see(void *self, const struct exposition_sample *sample)
{
    struct taking *t = self;
    struct scrape *s = t->s;
    if (!slice_equal(sample->name, t->meaning.name))
        look_up(&t->meaning, sample->name);
    const struct meaning *m = &t->meaning;
    if (m->dialect == DIALECT_NONE) {
        if (slice_is(sample->name, "process_start_time_seconds"))
            s->process_start = sample->value;
        return true;
    }
    s->present |= 1u << m->dialect;
    const struct dialect *d = dialect_get((enum dialect_id)m->dialect);
    for (unsigned i = 0; i < m->n; i++) {
        struct point p = {.series = scrape_series(m->dialect, m->series[i]),
                          .part = (uint16_t)m->part,
                          .value = sample->value};
        if (!is_selected(&d->series[m->series[i]], sample->labels) ||
            !read_labels(t, sample, m->part, &p))
            continue;
        keep_name(s, m, m->series[i], sample->name);
        if (!add(t, &p))
            return false;
    }
    return true;
}

static int three_way(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare(const void *left, const void *right)
{
    const struct point *a = left, *b = right;
    if (a->series != b->series)
        return a->series < b->series ? -1 : 1;
    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return three_way(a->le, b->le);
}

static void clear(struct scrape *s)
{
    struct point *points = s->points;
    size_t cap = s->cap_points;
    memset(s, 0, sizeof *s);
    s->points = points;
    s->cap_points = cap;
}

enum status scrape_take(struct scrape *s, struct slice body, struct error *err)
{
    const char *else_ = exposition_what_else(body);
    clear(s);
    if (else_)
        return fail(err, ERR_BAD_INPUT, 0, "the answer is %s, not metrics", else_);
    struct taking t = {.s = s, .err = err};
    enum status st = exposition_parse(body, see, &t, err);
    st = st ? st : t.status;
    if (!st && !s->present)
        st = fail(err, ERR_UNSUPPORTED, 0, "metrics, but of no inference server that smeff knows");
    if (st)
        clear(s);
    else if (s->n_points)
        qsort(s->points, s->n_points, sizeof *s->points, compare);
    return st;
}

const struct point *scrape_find(const struct scrape *s, uint16_t series, enum part part, size_t *n)
{
    size_t low = 0, high = s->n_points;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct point *p = &s->points[middle];
        if (p->series < series || (p->series == series && p->part < (uint16_t)part))
            low = middle + 1;
        else
            high = middle;
    }
    for (high = low; high < s->n_points && s->points[high].series == series &&
                     s->points[high].part == (uint16_t)part;
         high++)
        ;
    *n = high - low;
    return s->points ? s->points + low : NULL;
}

int scrape_dialect(const struct scrape *s)
{
    for (int d = 0; d < DIALECT_COUNT; d++)
        if (s->present >> d & 1)
            return d;
    return DIALECT_NONE;
}
