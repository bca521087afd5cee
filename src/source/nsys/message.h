/* SPDX-License-Identifier: MIT */
/* What nsys means by what it prints. */
#ifndef SMEFF_SOURCE_NSYS_MESSAGE_H
#define SMEFF_SOURCE_NSYS_MESSAGE_H

#include <stddef.h>

#include "base/error.h"

/* Finds a known text in nsys's output and fails with its meaning: one line for people that says
 * what to do. OK when there is none, which does not mean that all is well. Parts of texts are
 * looked for, since wording changes. */
enum status nsys_message_find(const char *output, struct error *err);

/* The last line of the output that is not blank, for a failure that nobody knows; "" = none. */
const char *nsys_message_last(const char *output, char *dst, size_t size);

#endif
