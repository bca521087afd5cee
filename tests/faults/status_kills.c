/* SPDX-License-Identifier: MIT */
/* Kills a daemon's writer of status.json 10,000 times, at any moment, and reads the file each time:
 * it must be whole. Built without sanitizers, under which each start takes twenty times as long. */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/place.h"

enum { KILLS = 10000, ITEMS_MAX = 20000, TEXT_MAX = 200000 };

static struct place place;

/* Writes one status after another, of very different lengths, until it is killed. */
static void write_for_ever(unsigned number)
{
    static char text[TEXT_MAX];
    for (unsigned i = number;; i++) {
        unsigned items = i % 7 == 0 ? ITEMS_MAX : i % 50;
        int n = snprintf(text, sizeof text, "{\"number\":%u,\"list\":[0", i);
        for (unsigned k = 0; k < items; k++)
            n += snprintf(text + n, sizeof text - (size_t)n, ",%u", k % 10);
        n += snprintf(text + n, sizeof text - (size_t)n, "],\"items\":%u}", items + 1);
        place_write_status(&place, text, (size_t)n, NULL);
    }
}

/* Returns the status's number, -1 when it is not whole. */
static long long read_status(void)
{
    json_error_t why;
    json_t *o = json_load_file(place.status, 0, &why);
    json_int_t items = json_integer_value(json_object_get(o, "items"));
    json_int_t number = json_integer_value(json_object_get(o, "number"));
    bool whole = o && (json_int_t)json_array_size(json_object_get(o, "list")) == items;
    if (!whole)
        fprintf(stderr, "%s\n", o ? "items are missing" : why.text);
    json_decref(o);
    return whole ? number : -1;
}

int main(int argc, char **argv)
{
    unsigned seed = 1, changed = 0;
    long long before = 0;
    static const char first[] = "{\"number\":0,\"list\":[],\"items\":0}";
    if (argc != 2 || place_choose(&place, argv[1], NULL) || place_take(&place, NULL, NULL) ||
        place_write_status(&place, first, sizeof first - 1, NULL))
        return 2;
    for (unsigned i = 1; i <= KILLS; i++) {
        pid_t pid = fork();
        if (pid == 0)
            write_for_ever(i * 1000);
        seed = seed * 1103515245u + 12345u; /* up to 1 ms into its work */
        const struct timespec t = {0, (long)(seed >> 12) % 1000000};
        nanosleep(&t, NULL);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        long long number = read_status();
        if (number < 0)
            return 1;
        changed += number != before;
        before = number;
    }
    place_leave(&place);
    printf("%d kills, each left a whole status; %u had written a new one\n", KILLS, changed);
    return changed >= 10 ? 0 : 1; /* else they were killed before they did anything */
}
