/* SPDX-License-Identifier: MIT */
/* Ctrl-C and SIGTERM: the first asks a command to end in order. */
#ifndef SMEFF_CMD_INTERRUPT_H
#define SMEFF_CMD_INTERRUPT_H

/* From now on SIGINT and SIGTERM only set a flag. */
void interrupt_catch(void);

/* The signal that came, 0 = none. */
int interrupt_raised(void);

#endif
