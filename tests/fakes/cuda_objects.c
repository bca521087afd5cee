/* SPDX-License-Identifier: MIT */
#include "cuda_objects.h"

#include <stdio.h>
#include <sys/mman.h>

enum { OBJECTS = 256 };

static const char *const names[OBJECT_KINDS] = {
    "contexts", "memory", "pinned memory", "streams", "events", "modules", "graphs", "graph execs"};

static struct object {
    enum object_kind kind;
    void *address; /* NULL = free */
    size_t bytes;
} objects[OBJECTS];

static struct object *find(enum object_kind kind, const void *address)
{
    for (size_t i = 0; address && i < OBJECTS; i++)
        if (objects[i].address == address && objects[i].kind == kind)
            return &objects[i];
    return NULL;
}

static struct object *find_room(void)
{
    for (size_t i = 0; i < OBJECTS; i++)
        if (!objects[i].address)
            return &objects[i];
    return NULL;
}

/* Pages that nobody writes cost nothing, so gigabytes are all right. */
void *object_give(enum object_kind kind, size_t bytes)
{
    struct object *o = find_room();
    void *p = !o || !bytes ? MAP_FAILED
                           : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    *o = (struct object){kind, p, bytes};
    return p;
}

bool object_is(enum object_kind kind, const void *address)
{
    return find(kind, address) != NULL;
}

bool object_take(enum object_kind kind, void *address)
{
    struct object *o = find(kind, address);
    if (!o)
        return false;
    munmap(o->address, o->bytes);
    *o = (struct object){0};
    return true;
}

size_t object_bytes(enum object_kind kind)
{
    size_t sum = 0;
    for (size_t i = 0; i < OBJECTS; i++)
        if (objects[i].address && objects[i].kind == kind)
            sum += objects[i].bytes;
    return sum;
}

int fake_cuda_held(void)
{
    int n = 0;
    for (size_t i = 0; i < OBJECTS; i++)
        n += objects[i].address != NULL;
    return n;
}

/* At the end of the process, or when the library is unloaded. */
__attribute__((destructor)) static void tell(void)
{
    size_t count[OBJECT_KINDS] = {0};
    for (size_t i = 0; i < OBJECTS; i++)
        if (objects[i].address)
            count[objects[i].kind]++;
    for (int k = 0; k < OBJECT_KINDS; k++)
        if (count[k])
            fprintf(stderr, "fake CUDA: not released: %zu %s\n", count[k], names[k]);
}
