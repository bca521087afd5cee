/* SPDX-License-Identifier: MIT */
#include "cmd/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t raised, limit_s;

static void on_signal(int number)
{
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
    /* whoever asks twice does not want to wait */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
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
