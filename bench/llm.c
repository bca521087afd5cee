/* SPDX-License-Identifier: MIT */
/* For bench/llm.sh. `llm parse FILE` prints how fast a body is parsed, and how fast a scrape is
 * made of it; `llm poll SECONDS URL…` asks each server once a second and prints the CPU time that
 * it took. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "llm/exposition.h"
#include "llm/watch.h"

static bool count(void *self, const struct exposition_sample *sample)
{
    size_t *n = self;
    *n += sample->name.n > 0;
    return true;
}

static int parse(const char *path)
{
    enum { ROUNDS = 40 };
    struct buf body = BUF_INIT;
    struct error err = ERROR_INIT;
    struct scrape *s = scrape_create();
    char piece[65536];
    FILE *f = fopen(path, "re");
    for (size_t n; f && (n = fread(piece, 1, sizeof piece, f)) > 0;)
        buf_add(&body, piece, n);
    if (!f || !s || body.failed)
        return 1;
    fclose(f);
    struct slice text = {body.data, body.len};
    double best_parse = 1e9, best_scrape = 1e9;
    size_t samples = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int64_t t0 = clock_monotonic_ns();
        samples = 0;
        if (exposition_parse(text, count, &samples, &err))
            break;
        int64_t t1 = clock_monotonic_ns();
        if (scrape_take(s, text, &err))
            break;
        int64_t t2 = clock_monotonic_ns();
        best_parse = (double)(t1 - t0) < best_parse ? (double)(t1 - t0) : best_parse;
        best_scrape = (double)(t2 - t1) < best_scrape ? (double)(t2 - t1) : best_scrape;
    }
    if (err.text[0])
        fprintf(stderr, "%s\n", err.text);
    else
        printf("%.1f %zu %.1f %zu\n", (double)text.n / best_parse * 1e3, samples,
               (double)text.n / best_scrape * 1e3, s->n_points);
    scrape_destroy(s);
    buf_fini(&body);
    return err.text[0] != '\0';
}

static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void round_of(struct watch *w, int64_t until)
{
    watch_begin(w);
    while (watch_step(w, 50))
        ;
    for (size_t i = 0; i < watch_count(w); i++) {
        struct watch_view v;
        watch_view(w, i, &v);
    }
    int64_t left = until - clock_monotonic_ns();
    struct timespec pause = {left / 1000000000, left % 1000000000};
    if (left > 0)
        nanosleep(&pause, NULL);
}

static int poll_servers(int seconds, int n, char **urls)
{
    struct watch *w = NULL;
    struct watch_view v;
    int answered = 0;
    if (watch_create(&w, NULL))
        return 1;
    for (int i = 0; i < n; i++) {
        struct watch_place place = {.is_named = true};
        if (target_parse(urls[i], &place.target, NULL) || watch_add(w, &place, NULL))
            return 1;
    }
    int64_t began = clock_monotonic_ns();
    round_of(w, began + INT64_C(1000000000)); /* connections are made and memory is taken here */
    double cpu = cpu_seconds();
    for (int i = 1; i <= seconds; i++)
        round_of(w, began + (i + 1) * INT64_C(1000000000));
    cpu = cpu_seconds() - cpu;
    for (int i = 0; i < n; i++) {
        watch_view(w, (size_t)i, &v);
        answered += v.state == VALUE_OK;
    }
    printf("%.3f %d\n", 100 * cpu / seconds, answered);
    watch_destroy(w);
    return answered != n;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "parse") == 0)
        return parse(argv[2]);
    if (argc > 3 && strcmp(argv[1], "poll") == 0)
        return poll_servers((int)strtol(argv[2], NULL, 10), argc - 3, argv + 3);
    return 2;
}
