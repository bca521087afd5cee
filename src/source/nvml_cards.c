/* SPDX-License-Identifier: MIT */
#include "source/nvml_cards.h"

#include <stdio.h>
#include <string.h>

static enum status no_such_gpu(unsigned index, size_t count, struct error *err)
{
    if (count == 0)
        return fail(err, ERR_NO_GPU, 0, "the NVIDIA driver finds no GPU");
    if (count == 1)
        return fail(err, ERR_NO_GPU, 0, "no GPU %u: the only one here is GPU 0", index);
    return fail(err, ERR_NO_GPU, 0, "no GPU %u: there are GPUs 0 to %zu here", index, count - 1);
}

/* Lists the wanted ones of count GPUs. pci: their ids by index, NULL when not known. */
static enum status list_cards(struct nvml_cards *c, size_t count, const struct nvml_pci *pci,
                              struct error *err)
{
    const struct source_request *r = c->request;
    if (count == 0)
        return no_such_gpu(0, 0, err);
    for (size_t i = 0; i < r->n_gpus; i++)
        if (r->gpus[i] >= count)
            return no_such_gpu(r->gpus[i], count, err);
    c->n = 0;
    for (unsigned i = 0; i < count && c->n < NVML_PCI_MAX; i++) {
        if (!source_wants(r, i))
            continue;
        struct nvml_card *card = &c->list[c->n++];
        *card = (struct nvml_card){.index = i};
        if (pci)
            snprintf(card->pci, sizeof card->pci, "%s", pci[i].id);
    }
    return OK;
}

/* Before NVML runs, an index means a place on the bus, if no GPU is withheld from us. Otherwise
 * only all GPUs together can be said to sleep. */
bool nvml_cards_sleep(const struct nvml_cards *c)
{
    struct nvml_pci pci[NVML_PCI_MAX];
    size_t n = nvml_pci_list(c->root, pci), asleep = 0;
    bool in_order = nvml_pci_nodes(c->root) == n;
    for (size_t i = 0; i < n; i++) {
        if (in_order && !source_wants(c->request, (unsigned)i))
            continue;
        if (!nvml_pci_sleeps(c->root, pci[i].id))
            return false;
        asleep++;
    }
    return asleep > 0;
}

static enum status list_sleeping(struct nvml_cards *c, struct error *err)
{
    struct nvml_pci pci[NVML_PCI_MAX];
    size_t n = nvml_pci_list(c->root, pci);
    bool in_order = nvml_pci_nodes(c->root) == n;
    return list_cards(c, n, in_order ? pci : NULL, err);
}

enum status nvml_cards_open(struct nvml_cards *c, const struct source_request *request,
                            const char *library, const char *root, struct error *err)
{
    *c = (struct nvml_cards){.root = root, .request = request};
    struct error why = ERROR_INIT;
    enum status st = nvml_api_load(&c->api, library, &why);
    if (st == ERR_NOT_FOUND)
        return fail(err, ERR_NO_GPU, 0,
                    "no NVIDIA driver: libnvidia-ml.so.1 was not found (smeff doctor says more)");
    if (st)
        return fail(err, st, why.native, "%s", why.text);
    st = nvml_cards_sleep(c) ? list_sleeping(c, err) : nvml_cards_start(c, err);
    if (st)
        nvml_cards_close(c);
    return st;
}

/* Lists what NVML has, and asks those that are awake. */
static enum status meet(struct nvml_cards *c, struct error *err)
{
    unsigned count = 0;
    nvmlReturn_t rc = c->api.nvmlDeviceGetCount_v2(&count);
    if (rc)
        return nvml_fail(err, "nvmlDeviceGetCount_v2", rc);
    struct nvml_pci pci[NVML_PCI_MAX];
    size_t known = nvml_pci_list(c->root, pci), before = c->n, usable = 0;
    enum status st = list_cards(c, count, known == count ? pci : NULL, err);
    if (st)
        return st;
    if (before && before != c->n)
        return fail(err, ERR_VENDOR, 0, "there are other GPUs than before: %zu, not %zu", c->n,
                    before);
    for (size_t i = 0; i < c->n; i++)
        usable +=
            nvml_cards_asleep(c, &c->list[i]) || nvml_cards_attach(c, &c->list[i], NULL) == OK;
    const struct error *why = &c->list[0].why;
    return usable ? OK : fail(err, why->status, why->native, "%s", why->text);
}

enum status nvml_cards_start(struct nvml_cards *c, struct error *err)
{
    nvmlReturn_t rc = c->api.nvmlInit_v2();
    if (rc)
        return nvml_fail(err, "nvmlInit_v2", rc);
    enum status st = meet(c, err);
    if (st)
        c->api.nvmlShutdown();
    c->started = st == OK;
    return st;
}

bool nvml_cards_asleep(const struct nvml_cards *c, const struct nvml_card *card)
{
    return card->pci[0] && nvml_pci_sleeps(c->root, card->pci);
}

/* What cannot be had stays as it is: a card without a name can be read all the same, and one that
 * is lost shows at its first reading. */
static void identify(const struct nvml_api *api, struct nvml_card *card)
{
    struct nvml_pci_info pci = {0};
    api->nvmlDeviceGetName(card->dev, card->name, sizeof card->name);
    api->nvmlDeviceGetUUID(card->dev, card->uuid, sizeof card->uuid);
    if (api->nvmlDeviceGetPciInfo_v3(card->dev, &pci) == NVML_SUCCESS)
        /* the kernel's form, as sysfs and CUDA write it */
        snprintf(card->pci, sizeof card->pci, "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
}

enum status nvml_cards_attach(struct nvml_cards *c, struct nvml_card *card, struct error *err)
{
    static const char call[] = "nvmlDeviceGetHandleByIndex_v2";
    nvmlDevice_t dev = NULL;
    nvmlReturn_t rc = c->api.nvmlDeviceGetHandleByIndex_v2(card->index, &dev);
    if (rc == NVML_SUCCESS) {
        card->dev = dev;
        identify(&c->api, card);
        return OK;
    }
    if (nvml_cards_check(card, call, rc, &card->why) == OK)
        nvml_fail(&card->why, call, rc);
    return fail(err, card->why.status, rc, "%s", card->why.text);
}

enum status nvml_cards_check(const struct nvml_card *card, const char *call, nvmlReturn_t rc,
                             struct error *err)
{
    switch (rc) {
    case NVML_ERROR_GPU_IS_LOST:
        return fail(err, ERR_VENDOR, rc,
                    "GPU %u fell off the bus (GPU_IS_LOST): only a reboot brings it back, and "
                    "nvidia-bug-report.sh collects what NVIDIA asks for",
                    card->index);
    case NVML_ERROR_UNINITIALIZED:
    case NVML_ERROR_DRIVER_NOT_LOADED:
        return nvml_fail(err, call, rc);
    default:
        return OK;
    }
}

void nvml_cards_close(struct nvml_cards *c)
{
    if (c->started)
        c->api.nvmlShutdown();
    nvml_api_unload(&c->api);
    *c = (struct nvml_cards){0};
}
