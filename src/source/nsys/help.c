/* SPDX-License-Identifier: MIT */
#include "source/nsys/help.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Is it there as a whole word? "--gpu-metrics-device" is a part of "--gpu-metrics-devices". */
static bool has_option(const char *help, const char *option)
{
    size_t n = strlen(option);
    for (const char *at = help; (at = strstr(at, option)); at += n)
        if (!isalnum((unsigned char)at[n]) && at[n] != '-')
            return true;
    return false;
}

void nsys_options_parse(const char *help, struct nsys_options *out)
{
    static const char *const devices[] = {"--gpu-metrics-devices", "--gpu-metrics-device"};
    static const char *const sets[] = {"--gpu-metrics-set", "--gpu-metrics-sets"};
    *out = (struct nsys_options){0};
    for (size_t i = 2; i-- > 0;) {
        out->devices = has_option(help, devices[i]) ? devices[i] : out->devices;
        out->set = has_option(help, sets[i]) ? sets[i] : out->set;
    }
    out->discard_environment = has_option(help, "--discard-environment");
}

/* Calls take for each line, without the blanks around it. */
static void each_line(const char *text, void (*take)(void *self, const char *line), void *self)
{
    for (const char *at = text; *at;) {
        char line[512];
        size_t n = strcspn(at, "\r\n"), skip = strspn(at, " \t");
        const char *begin = skip < n ? at + skip : at + n;
        size_t len = (size_t)(at + n - begin);
        while (len && isspace((unsigned char)begin[len - 1]))
            len--;
        snprintf(line, sizeof line, "%.*s", (int)(len < sizeof line ? len : sizeof line - 1),
                 begin);
        take(self, line);
        at += n + (at[n] != '\0');
    }
}

struct devices {
    struct nsys_device *list;
    size_t n;
};

/* "Hopper GH100 | NVIDIA H200 PCI[0000:00:06.0]": the chip is the last word before the bar. */
static void take_device(void *self, const char *line)
{
    struct devices *d = self;
    struct nsys_device dev = {0};
    char chip[64] = "";
    int used = 0;
    if (d->n == NSYS_DEVICES_MAX || sscanf(line, "%u: %63[^|]| %n", &dev.id, chip, &used) < 2 ||
        !used)
        return;
    while (*chip && chip[strlen(chip) - 1] == ' ')
        chip[strlen(chip) - 1] = '\0';
    const char *word = strrchr(chip, ' '), *pci = strstr(line + used, " PCI[");
    snprintf(dev.chip, sizeof dev.chip, "%.31s", word ? word + 1 : chip);
    snprintf(dev.name, sizeof dev.name, "%.*s",
             pci ? (int)(pci - line) - used : (int)strlen(line + used), line + used);
    if (pci)
        sscanf(pci, " PCI[%31[^]]", dev.bus);
    d->list[d->n++] = dev;
}

size_t nsys_devices_parse(const char *text, struct nsys_device list[NSYS_DEVICES_MAX])
{
    struct devices d = {list, 0};
    each_line(text, take_device, &d);
    return d.n;
}

struct sets {
    struct nsys_set *list;
    size_t n;
};

/* The heading has blanks before its colon; "file:<file name>" is no set. */
static void take_set(void *self, const char *line)
{
    struct sets *s = self;
    size_t n = strspn(line, "abcdefghijklmnopqrstuvwxyz0123456789-_");
    if (n == 0 || n >= sizeof s->list->alias || line[n] != ':' || strncmp(line, "file:", 5) == 0 ||
        s->n == NSYS_SETS_MAX)
        return;
    snprintf(s->list[s->n++].alias, sizeof s->list->alias, "%.*s", (int)n, line);
}

size_t nsys_sets_parse(const char *text, struct nsys_set list[NSYS_SETS_MAX])
{
    struct sets s = {list, 0};
    each_line(text, take_set, &s);
    return s.n;
}
