/* SPDX-License-Identifier: MIT */
#include "cmd/sampler_argv.h"

#include <stdio.h>
#include <string.h>

/* A recording plays all of its sources: it takes the driver's place. */
static void add_replay(struct sampler_argv *a, const struct request *r)
{
    child_argv_option(&a->child, "--replay", r->replay);
    snprintf(a->speed, sizeof a->speed, "%.9g", r->speed);
    child_argv_option(&a->child, "--speed", r->speed > 0 ? a->speed : NULL);
    if (r->loop)
        child_argv_word(&a->child, "--loop");
}

static void add_nsys_options(struct sampler_argv *a, const struct request *r)
{
    child_argv_option(&a->child, "--nsys", r->nsys);
    child_argv_option(&a->child, "--metrics-set", r->metrics_set);
    child_argv_option(&a->child, "--keep", r->keep_dir);
    snprintf(a->window, sizeof a->window, "%.9g", r->window_s);
    child_argv_option(&a->child, "--window", r->window_s > 0 ? a->window : NULL);
    if (r->once)
        child_argv_word(&a->child, "--one-capture");
}

void sampler_argv_make(struct sampler_argv *a, const struct request *r, const char *source,
                       const char *gpus, double rate_hz)
{
    child_argv_begin(&a->child, "sampler", source);
    child_argv_option(&a->child, "--gpu", *gpus ? gpus : NULL);
    snprintf(a->rate, sizeof a->rate, "%.9g", rate_hz);
    child_argv_option(&a->child, "--rate", rate_hz > 0 ? a->rate : NULL);
    if (strcmp(source, "replay") == 0)
        add_replay(a, r);
    if (strcmp(source, "nsys") == 0)
        add_nsys_options(a, r);
    if (strcmp(source, "pm") != 0)
        return;
    child_argv_option(&a->child, "--set", r->set == SET_WIDE ? "wide" : "core");
    child_argv_option(&a->child, "--metric", r->metric_list);
    child_argv_option(&a->child, "--cupti", r->cupti_dir);
}
