/* SPDX-License-Identifier: MIT */
/* Ctrl-C and SIGTERM: the first asks a command to end in order. */
#ifndef SMEFF_CMD_INTERRUPT_H
#define SMEFF_CMD_INTERRUPT_H

/* From now on the first SIGINT and the first SIGTERM only set a flag; another one kills. */
void interrupt_catch(void);

/* SIGINT is left to the command that we run, which gets it from the terminal, too; each SIGTERM
 * only counts (interrupt_terms), to be passed on. */
void interrupt_leave(void);
int interrupt_terms(void);

/* After a signal the process is killed (SIGALRM) when it has not ended within so many seconds: for
 * what can hang in a driver's call. */
void interrupt_limit(int seconds);

/* The signal that came, 0 = none. */
int interrupt_raised(void);

#endif
