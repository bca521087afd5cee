/* SPDX-License-Identifier: MIT */
/* How long drawing a frame takes: bench_panel FILE [WIDTH HEIGHT]. Reads a recording, then draws
 * each view many times into a surface, and says the median and the 95th percentile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/panel.h"
#include "panel/view.h"

enum { FRAMES = 400 };

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void measure(const struct model *m, struct surface *s, const char *name)
{
    static int64_t took[FRAMES];
    for (int i = 0; i < FRAMES; i++) {
        int64_t begin = clock_monotonic_ns();
        view_draw(m, s);
        took[i] = clock_monotonic_ns() - begin;
    }
    qsort(took, FRAMES, sizeof took[0], compare);
    printf("%-10s %dx%d  median %6.3f ms  p95 %6.3f ms\n", name, s->width, s->height,
           (double)took[FRAMES / 2] * 1e-6, (double)took[FRAMES * 95 / 100] * 1e-6);
}

static int fail_with(const struct error *err)
{
    fprintf(stderr, "bench_panel: %s\n", err->text);
    return 1;
}

int main(int argc, char **argv)
{
    static struct panel p;
    struct surface s;
    struct event_reader *reader = NULL;
    struct error err = ERROR_INIT;
    bool more = true;
    if (argc < 2)
        return 2;
    int width = argc > 3 ? (int)strtol(argv[2], NULL, 10) : 200;
    int height = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 60;
    if (panel_init(&p, &err) || surface_init(&s, width, height, false, &err) ||
        event_reader_open(&reader, argv[1], &err))
        return fail_with(&err);
    while (more)
        if (event_reader_next(reader, &p.sink, &more, &err))
            return fail_with(&err);
    p.model.is_over = true;
    if (panel_look(&p, clock_monotonic_ns(), &err))
        return fail_with(&err);
    static const char *const names[] = {"overview", "gpu", "metrics", "processes", "help"};
    for (int scale = 0; scale < MODEL_SCALES; scale += MODEL_SCALES - 1) {
        p.model.scale = scale;
        printf("%.2f s a column:\n", (double)model_column_ns(&p.model) * 1e-9);
        for (int v = 0; v < 5; v++) {
            p.model.view = (enum view)v;
            measure(&p.model, &s, names[v]);
        }
    }
    event_reader_close(reader);
    surface_fini(&s);
    panel_fini(&p);
    return 0;
}
