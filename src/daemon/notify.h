/* SPDX-License-Identifier: MIT */
/* Telling systemd how we are (sd_notify(3)): one datagram, no library. */
#ifndef SMEFF_DAEMON_NOTIFY_H
#define SMEFF_DAEMON_NOTIFY_H

/* "READY=1", "STATUS=…", "WATCHDOG=1", "STOPPING=1". Does nothing where nobody wants to know. */
void notify(const char *text);

/* How often a WATCHDOG=1 is wanted, in milliseconds: half of what systemd allows; 0 = never. */
int notify_watchdog_ms(void);

#endif
