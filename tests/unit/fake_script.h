/* SPDX-License-Identifier: MIT */
/* What the fakes of NVIDIA's libraries shall do, written into the test's folder. */
#ifndef SMEFF_TESTS_FAKE_SCRIPT_H
#define SMEFF_TESTS_FAKE_SCRIPT_H

#include <limits.h>
#include <stdio.h>

#include "folder.h"
#include "support.h"

/* A path in the folder; the text lives until the fourth call after this one. */
static inline const char *at(const char *name)
{
    static char paths[4][PATH_MAX + 64];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline void write_file(const char *name, const char *text)
{
    FILE *f = fopen(at(name), "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* The fakes that are loaded from now on play this. */
static inline void play(const char *text)
{
    write_file("script", text);
    setenv("FAKE_GPU", at("script"), 1);
}

#endif
