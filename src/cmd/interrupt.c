/* SPDX-License-Identifier: MIT */
#include "cmd/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t raised;

static void on_signal(int number)
{
    raised = number;
}

void interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int interrupt_raised(void)
{
    return raised;
}
