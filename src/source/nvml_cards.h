/* SPDX-License-Identifier: MIT */
/* The GPUs that were asked for, through NVML: which there are, who they are, whether they can be
 * read now. What sources on top of NVML have in common. */
#ifndef SMEFF_SOURCE_NVML_CARDS_H
#define SMEFF_SOURCE_NVML_CARDS_H

#include "source/nvml_pci.h"
#include "source/source.h"
#include "vendor/nvml_api.h"

struct nvml_card {
    unsigned index;   /* NVML's */
    nvmlDevice_t dev; /* NULL = not asked for yet, since it sleeps or cannot be used */
    struct error why; /* status not OK: cannot be used, and why */
    char name[NVML_NAME_SIZE], uuid[NVML_UUID_SIZE], pci[NVML_PCI_SIZE]; /* "" = not known */
};

/* Zeroed = closed. */
struct nvml_cards {
    struct nvml_api api;
    bool started; /* false after opening: all GPUs sleep, and NVML would wake them */
    const char *root;
    const struct source_request *request;
    size_t n;
    struct nvml_card list[NVML_PCI_MAX];
};

/* Loads NVML (library: its path, NULL = the system's) and, unless all wanted GPUs sleep, starts it.
 * GPUs that sleep are listed but not asked. root as in nvml_pci.h. root and request must live as
 * long as c. On failure c is closed.
 * Errors: ERR_NOT_FOUND no library; ERR_NO_GPU no driver, no GPU, or none of that index;
 * ERR_UNSUPPORTED a library that cannot serve; what NVML says when no wanted GPU can be used. */
enum status nvml_cards_open(struct nvml_cards *c, const struct source_request *request,
                            const char *library, const char *root, struct error *err);

/* Do all of them sleep? For one that is not started: may it be started now? */
bool nvml_cards_sleep(const struct nvml_cards *c);

/* Starts NVML after nvml_cards_open left it. Errors as there. */
enum status nvml_cards_start(struct nvml_cards *c, struct error *err);

bool nvml_cards_asleep(const struct nvml_cards *c, const struct nvml_card *card);

/* Asks a card that is awake for its handle and identity; card->why has the failure too. */
enum status nvml_cards_attach(struct nvml_cards *c, struct nvml_card *card, struct error *err);

/* When a call on a card gives rc: what ends the source (the GPU is lost, NVML no longer runs) is a
 * failure, everything else OK. */
enum status nvml_cards_check(const struct nvml_card *card, const char *call, nvmlReturn_t rc,
                             struct error *err);

void nvml_cards_close(struct nvml_cards *c); /* accepts a zeroed one */

#define NVML_ASLEEP_TEXT "the GPU sleeps (runtime suspended); not woken for a reading"

#endif
