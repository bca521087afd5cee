/* SPDX-License-Identifier: MIT */
#include "metric/value.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

static const struct {
    const char *name, *text;
} states[] = {
#define X(name, json, text) {json, text},
    VALUE_STATES(X)
#undef X
};

static const char *const source_names[] = {
#define X(name, json) json,
    SOURCES(X)
#undef X
};

bool value_has_number(const struct value *v)
{
    return v->state == VALUE_OK || v->state == VALUE_STALE || v->state == VALUE_SUSPECT;
}

bool value_is_sound(const struct value *v)
{
    return v->state == VALUE_OK;
}

void value_set(struct value *v, enum source_id source, int64_t t_ns, double number)
{
    v->v = number;
    v->t_ns = t_ns;
    v->state = VALUE_OK;
    v->source = source;
    v->reason[0] = '\0';
}

void value_set_state(struct value *v, enum source_id source, enum value_state state,
                     const char *reason, ...)
{
    assert(state != VALUE_OK);
    char text[2 * VALUE_REASON_SIZE];
    va_list ap;
    va_start(ap, reason);
    vsnprintf(text, sizeof text, reason, ap);
    va_end(ap);
    str_clean(v->reason, sizeof v->reason, text, strlen(text));
    v->state = state;
    v->source = source;
}

const char *value_state_name(enum value_state state)
{
    return (unsigned)state < VALUE_STATE_COUNT ? states[state].name : "?";
}

const char *value_state_text(enum value_state state)
{
    return (unsigned)state < VALUE_STATE_COUNT ? states[state].text : "?";
}

const char *source_name(enum source_id source)
{
    return (unsigned)source < SOURCE_COUNT ? source_names[source] : "?";
}
