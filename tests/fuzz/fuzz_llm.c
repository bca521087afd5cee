/* SPDX-License-Identifier: MIT */
/* Any bytes as two scrapes of a server, divided by the first NUL: an error, or signals of which
 * none that is ok is out of its range. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "llm/signals.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct signals *s)
{
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        const struct signal *x = &s->list[i];
        enum unit unit = metric_info((enum metric)(SIGNAL_FIRST + i))->unit;
        if (value_has_number(&x->value) && !isfinite(x->value.v))
            abort();
        if (x->value.state == VALUE_OK &&
            (x->value.v < 0 || (unit == UNIT_RATIO && x->value.v > 1)))
            abort();
        if ((x->value.state == VALUE_OK) != (x->value.reason[0] == '\0'))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *cut = size ? memchr(text, '\0', size) : NULL;
    struct slice first = {text, cut ? (size_t)(cut - text) : size};
    struct slice second = cut ? (struct slice){cut + 1, size - first.n - 1} : first;
    struct scrape *a = scrape_create(), *b = scrape_create();
    struct signals s;
    if (!a || !b)
        abort();
    bool has_first = scrape_take(a, first, NULL) == OK;
    if (has_first) {
        a->mono_ns = 1000000000;
        signals_read(NULL, a, &s);
        check(&s);
    }
    if (scrape_take(b, second, NULL) == OK) {
        b->mono_ns = 3000000000;
        signals_read(has_first ? a : NULL, b, &s);
        check(&s);
        if (has_first) {
            (void)signals_restarted(a, b);
            (void)signals_moved(a, b);
        }
        signals_doubt_gauges(&s, 6);
        check(&s);
    }
    scrape_destroy(a);
    scrape_destroy(b);
    return 0;
}
