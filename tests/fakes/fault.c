/* SPDX-License-Identifier: MIT */
#include "fault.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "wave.h"

enum kind { FAIL, DELAY, HANG, CRASH, ABORT, KINDS };

static const char *const kind_names[KINDS] = {"fail", "delay", "hang", "crash", "abort"};

static struct fault {
    enum kind kind;
    char function[80];
    double argument; /* fail: the code; delay: seconds */
    unsigned nth;    /* 0 = every call */
    bool onward;     /* from the nth call on */
    unsigned calls;
} faults[64];

static size_t fault_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* FUNCTION[:ARGUMENT][:NTH[+]]; only fail and delay have an argument. */
static bool parse(struct fault *f, const char *text)
{
    bool has_argument = f->kind == FAIL || f->kind == DELAY;
    int mandatory = has_argument ? 2 : 1;
    char first[32] = "", second[32] = "", rest = 0, plus = 0;
    int n = sscanf(text, "%79[^:]:%31[^:]:%31[^:]%c", f->function, first, second, &rest);
    if (n < mandatory || n > mandatory + 1)
        return false;
    struct wave w;
    if (has_argument && (!wave_parse(&w, first) || w.kind != WAVE_CONST))
        return false;
    f->argument = has_argument ? w.a : 0;
    if (n == mandatory)
        return true;
    n = sscanf(has_argument ? second : first, "%9u%c%c", &f->nth, &plus, &rest);
    f->onward = plus == '+';
    return f->nth > 0 && (n == 1 || (n == 2 && f->onward));
}

bool fault_add(const char *key, const char *text)
{
    for (int k = 0; k < KINDS; k++) {
        if (strcmp(key, kind_names[k]) != 0)
            continue;
        struct fault f = {.kind = (enum kind)k};
        if (fault_count == sizeof faults / sizeof faults[0] || !parse(&f, text)) {
            fprintf(stderr, "fake GPU: %s = %s: cannot be understood\n", key, text);
            abort();
        }
        faults[fault_count++] = f;
        return true;
    }
    return false;
}

static bool is_due(struct fault *f, const char *function)
{
    if (strcmp(f->function, function) != 0)
        return false;
    pthread_mutex_lock(&mutex);
    unsigned call = ++f->calls;
    pthread_mutex_unlock(&mutex);
    return f->nth == 0 || call == f->nth || (f->onward && call > f->nth);
}

static void wait_seconds(double seconds)
{
    struct timespec t = {.tv_sec = (time_t)seconds};
    t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
    nanosleep(&t, NULL);
}

int fault_play(const char *function)
{
    int code = 0;
    for (size_t i = 0; i < fault_count; i++) {
        struct fault *f = &faults[i];
        if (!is_due(f, function))
            continue;
        switch (f->kind) {
        case FAIL:
            code = (int)f->argument;
            break;
        case DELAY:
            wait_seconds(f->argument);
            break;
        case HANG:
            for (;;)
                pause();
        case CRASH: /* past the handlers of a sanitizer, as a real crash in a vendor's thread */
            signal(SIGSEGV, SIG_DFL);
            raise(SIGSEGV);
            break;
        default:
            abort();
        }
    }
    return code;
}
