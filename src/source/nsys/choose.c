/* SPDX-License-Identifier: MIT */
#include "source/nsys/choose.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "source/nsys/window.h"

static const struct nsys_device *device_of(const struct nvml_card *card,
                                           const struct nsys_device *list, size_t n, bool only_one)
{
    for (size_t i = 0; i < n; i++)
        if (nsys_is_card(card, list[i].bus, ""))
            return &list[i];
    return only_one && n == 1 && !(list[0].bus[0] && card->pci[0]) ? &list[0] : NULL;
}

enum status nsys_choose_devices(const struct nvml_cards *cards, const struct nsys_device *list,
                                size_t n, char *ids, size_t size, const struct nsys_device **chosen,
                                size_t *n_chosen, struct error *err)
{
    size_t used = 0;
    for (size_t i = 0; i < cards->n; i++) {
        const struct nvml_card *card = &cards->list[i];
        const struct nsys_device *dev = device_of(card, list, n, cards->n == 1);
        if (!dev || used >= size)
            return fail(err, ERR_NO_GPU, 0,
                        "nsys cannot sample GPU %u (%s, %s): its --gpu-metrics-devices=help lists "
                        "%zu, but not this one",
                        card->index, card->name, card->pci, n);
        used += (size_t)snprintf(ids + used, size - used, "%s%u", i ? "," : "", dev->id);
        chosen[i] = dev;
    }
    *n_chosen = cards->n;
    return OK;
}

static bool has(const struct nsys_set *sets, size_t n, const char *alias)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(sets[i].alias, alias) == 0)
            return true;
    return false;
}

static enum status unknown_set(const char *wanted, const struct nsys_set *sets, size_t n,
                               struct error *err)
{
    char list[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < n && used < sizeof list; i++)
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? " " : "", sets[i].alias);
    return fail(err, ERR_UNSUPPORTED, 0,
                "nsys has no metric set \"%.60s\" (--metrics-set); it has %s", wanted,
                n ? list : "none that it lists");
}

enum status nsys_choose_set(const char *wanted, const struct nsys_device *const *chosen,
                            size_t n_chosen, const struct nsys_set *sets, size_t n_sets, char *set,
                            size_t size, struct error *err)
{
    static const char top[] = "gb20x-top";
    set[0] = '\0';
    if (wanted) {
        if (!str_starts_with(wanted, "file:") && !has(sets, n_sets, wanted))
            return unknown_set(wanted, sets, n_sets, err);
        if ((size_t)snprintf(set, size, "%s", wanted) >= size)
            return fail(err, ERR_UNSUPPORTED, 0, "--metrics-set is too long");
        return OK;
    }
    if (!has(sets, n_sets, top))
        return OK;
    for (size_t i = 0; i < n_chosen; i++)
        if (!str_starts_with(chosen[i]->chip, "GB20"))
            return OK;
    snprintf(set, size, "%s", top);
    return OK;
}
