/* SPDX-License-Identifier: MIT */
/* Fake libcupti: the layout of the images that live in the caller's memory. They are read and
 * written by memcpy, as the caller need not align them. */
#include <stdio.h>
#include <string.h>

#include "fake_cupti.h"

static const char config_magic[8] = "fakecfg";
static const char counter_magic[8] = "fakecnt";

static uint64_t checksum(const uint8_t *bytes, size_t n)
{
    uint64_t sum = UINT64_C(14695981039346656037); /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(1099511628211);
    return sum;
}

size_t config_size(unsigned n)
{
    return sizeof(struct config_head) + (size_t)n * NAME_SIZE;
}

void config_write(uint8_t *image, unsigned passes, char names[][NAME_SIZE], unsigned n)
{
    struct config_head head = {.bytes = config_size(n), .n = n, .passes = passes};
    memcpy(head.magic, config_magic, sizeof head.magic);
    for (unsigned i = 0; i < n; i++)
        memcpy(image + sizeof head + (size_t)i * NAME_SIZE, names[i], NAME_SIZE);
    head.checksum = checksum(image + sizeof head, head.bytes - sizeof head);
    memcpy(image, &head, sizeof head);
}

bool config_read(const uint8_t *image, size_t bytes, struct config_head *head)
{
    if (!image || bytes < sizeof *head)
        return false;
    memcpy(head, image, sizeof *head);
    return memcmp(head->magic, config_magic, sizeof head->magic) == 0 && head->bytes == bytes &&
           config_size(head->n) == bytes &&
           checksum(image + sizeof *head, bytes - sizeof *head) == head->checksum;
}

const char *config_name(const uint8_t *image, unsigned i)
{
    return (const char *)image + sizeof(struct config_head) + (size_t)i * NAME_SIZE;
}

static size_t row_size(unsigned n)
{
    return 2 * sizeof(uint64_t) + (size_t)n * sizeof(double);
}

static size_t row_offset(unsigned n, size_t index)
{
    return sizeof(struct counter_head) + (size_t)n * NAME_SIZE + index * row_size(n);
}

size_t counter_size(unsigned n, unsigned max)
{
    return row_offset(n, max);
}

void counter_initialize(uint8_t *image, char names[][NAME_SIZE], unsigned n, unsigned max)
{
    struct counter_head head = {.bytes = counter_size(n, max), .n = n, .max = max};
    memcpy(head.magic, counter_magic, sizeof head.magic);
    memcpy(image, &head, sizeof head);
    for (unsigned i = 0; i < n; i++)
        memcpy(image + sizeof head + (size_t)i * NAME_SIZE, names[i], NAME_SIZE);
}

bool counter_read(const uint8_t *image, size_t bytes, struct counter_head *head)
{
    if (!image || bytes < sizeof *head)
        return false;
    memcpy(head, image, sizeof *head);
    return memcmp(head->magic, counter_magic, sizeof head->magic) == 0 && head->bytes == bytes;
}

const char *counter_name(const uint8_t *image, unsigned i)
{
    return (const char *)image + sizeof(struct counter_head) + (size_t)i * NAME_SIZE;
}

bool counter_append(uint8_t *image, const struct sample *sample)
{
    struct counter_head head;
    memcpy(&head, image, sizeof head);
    if (head.count == head.max)
        return false;
    memcpy(image + row_offset(head.n, head.count), sample, row_size(head.n));
    head.count++;
    memcpy(image, &head, sizeof head);
    return true;
}

bool counter_get(const uint8_t *image, size_t index, struct sample *sample)
{
    struct counter_head head;
    memcpy(&head, image, sizeof head);
    if (index >= head.count)
        return false;
    memcpy(sample, image + row_offset(head.n, index), row_size(head.n));
    return true;
}
