/* SPDX-License-Identifier: MIT */
/* Whole files. */
#ifndef SMEFF_BASE_FILE_H
#define SMEFF_BASE_FILE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* Puts a file of these bytes in the place of path, so that a reader sees the old one or the new
 * one, whole: a temporary file in the same folder, fsync, rename. On failure nothing is left. */
enum status file_replace(const char *path, const void *data, size_t len, mode_t mode,
                         struct error *err);

/* mkdir -p: makes path and what is missing above it. */
enum status file_make_folders(const char *path, mode_t mode, struct error *err);

#endif
