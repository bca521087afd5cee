/* SPDX-License-Identifier: MIT */
/* Errors: a status that callers branch on, and one line of text that people read. */
#ifndef SMEFF_BASE_ERROR_H
#define SMEFF_BASE_ERROR_H

/* X(NAME, default text). Every status is negative but OK; exit codes are the command layer's. */
#define STATUS_LIST(X)                                                                             \
    X(NOMEM, "out of memory")                                                                      \
    X(IO, "input/output error")                                                                    \
    X(USAGE, "wrong usage")                                                                        \
    X(BAD_INPUT, "bad input")                                                                      \
    X(ORDER, "not in the order of time")                                                           \
    X(NOT_FOUND, "not found")                                                                      \
    X(UNSUPPORTED, "not supported")                                                                \
    X(NO_GPU, "no GPU")                                                                            \
    X(PERMISSION, "no permission")                                                                 \
    X(BUSY, "busy")                                                                                \
    X(TIMEOUT, "timed out")                                                                        \
    X(VENDOR, "vendor library failed")

enum status_index {
    STATUS_INDEX_OK,
#define X(name, text) STATUS_INDEX_##name,
    STATUS_LIST(X)
#undef X
        STATUS_INDEX_COUNT
};

enum status {
    OK = 0,
#define X(name, text) ERR_##name = -STATUS_INDEX_##name,
    STATUS_LIST(X)
#undef X
};

/* Lives on the caller's stack, needs no release. Untouched by functions that succeed. */
struct error {
    enum status status;
    int native; /* errno, SQLite code, nvmlReturn_t, CUptiResult …, or 0 */
    char text[400];
};

#define ERROR_INIT                                                                                 \
    {                                                                                              \
        OK, 0, ""                                                                                  \
    }

/* Fills err (which may be NULL) and returns st, so that failing is one statement:
 *     return fail(err, ERR_IO, errno, "%s: %s", path, strerror(errno));
 * The text is one line: control characters that come in through arguments are replaced. */
__attribute__((format(printf, 4, 5))) enum status fail(struct error *err, enum status st,
                                                       int native, const char *fmt, ...);

/* Puts "context: " in front of err's text; returns err's status. NULL is allowed and gives st. */
__attribute__((format(printf, 3, 4))) enum status fail_wrap(struct error *err, enum status st,
                                                            const char *fmt, ...);

/* The status's name ("BAD_INPUT") and its default text. Never NULL. */
const char *status_name(enum status st);
const char *status_text(enum status st);

#endif
