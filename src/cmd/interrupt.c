/* SPDX-License-Identifier: MIT */
#include "cmd/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t raised, limit_s;

static struct timespec first; /* when the first one came, monotonic */

/* Whoever asks twice does not want to wait. But timeout(1) sends its signal to the program and then
 * to its group, so that it comes twice at once: that is one. */
enum { TWICE_MS = 500 };

static void on_signal(int number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long since_ms = (now.tv_sec - first.tv_sec) * 1000 + (now.tv_nsec - first.tv_nsec) / 1000000;
    if (raised && since_ms > TWICE_MS) {
        signal(number, SIG_DFL);
        raise(number); /* when this handler has returned */
        return;
    }
    if (!raised)
        first = now;
    raised = number;
    if (limit_s)
        alarm((unsigned)limit_s);
}

void interrupt_limit(int seconds)
{
    limit_s = seconds;
}

void interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static volatile sig_atomic_t terms;

static void count_term(int number)
{
    (void)number;
    terms++;
}

static void ignore(int number) /* SIG_IGN would be the command's, too */
{
    (void)number;
}

void interrupt_leave(void)
{
    struct sigaction on_int = {.sa_handler = ignore}, on_term = {.sa_handler = count_term};
    sigaction(SIGINT, &on_int, NULL);
    sigaction(SIGTERM, &on_term, NULL);
}

int interrupt_terms(void)
{
    return terms;
}

int interrupt_raised(void)
{
    return raised;
}
