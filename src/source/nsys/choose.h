/* SPDX-License-Identifier: MIT */
/* Which of nsys's GPUs and metric sets a capture takes. Pure. */
#ifndef SMEFF_SOURCE_NSYS_CHOOSE_H
#define SMEFF_SOURCE_NSYS_CHOOSE_H

#include "source/nsys/help.h"
#include "source/nvml_cards.h"

/* nsys's ids of these cards, with commas. ERR_NO_GPU when nsys lists one of them not: by its bus
 * address, or, where nsys says none, as the only GPU of both. *chosen are the devices taken. */
enum status nsys_choose_devices(const struct nvml_cards *cards, const struct nsys_device *list,
                                size_t n, char *ids, size_t size, const struct nsys_device **chosen,
                                size_t *n_chosen, struct error *err);

/* The metric set: wanted (NULL = none named) if it is an alias of the list or file:PATH; else
 * gb20x-top where all chips are GB20x and nsys has it, since it alone has SM Throughput there; else
 * "", nsys's own choice. ERR_UNSUPPORTED: a set was named that nsys does not have. */
enum status nsys_choose_set(const char *wanted, const struct nsys_device *const *chosen,
                            size_t n_chosen, const struct nsys_set *sets, size_t n_sets, char *set,
                            size_t size, struct error *err);

#endif
