/* SPDX-License-Identifier: MIT */
/* The text in which servers expose metrics: Prometheus text format 0.0.4 and OpenMetrics 1.0, read
 * in one pass, without allocation. Only sample lines count: HELP and TYPE may be absent, doubled or
 * differ from the sample's name (https://github.com/prometheus/client_python/issues/1180).
 * Strict: one line that is no sample, comment or blank spoils the body. */
#ifndef SMEFF_LLM_EXPOSITION_H
#define SMEFF_LLM_EXPOSITION_H

#include "base/error.h"
#include "llm/slice.h"

/* A line longer than this is refused: one label value of such a size is an attack or an error. */
enum { EXPOSITION_LINE_MAX = 64 * 1024 };

/* One sample; slices point into the body. */
struct exposition_sample {
    struct slice name;
    struct slice labels; /* well-formed, what stands between the braces; for labels_next */
    double value;        /* may be NaN or infinite */
};

/* Calls see for each sample in the order of the body, until it returns false.
 * ERR_BAD_INPUT: the text says which line and why; samples before it were seen already. */
enum status exposition_parse(struct slice body,
                             bool (*see)(void *self, const struct exposition_sample *sample),
                             void *self, struct error *err);

struct exposition_label {
    struct slice name;
    struct slice value; /* as written: \\ \" and \n are not undone */
};

/* Takes the next label off labels; false when there is none. */
bool labels_next(struct slice *labels, struct exposition_label *out);

/* The value of a label as written; false when the sample does not have it. */
bool labels_find(struct slice labels, const char *name, struct slice *value);

/* What a body is that does not look like metrics at all, in words ("an HTML page"), or NULL. */
const char *exposition_what_else(struct slice body);

#endif
