/* SPDX-License-Identifier: MIT */
#include "base/dl.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"

static void set_path(struct dl_lib *lib, const char *name)
{
    struct link_map *map = NULL;
    if (dlinfo(lib->handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name && map->l_name[0])
        name = map->l_name;
    snprintf(lib->path, sizeof lib->path, "%s", name);
}

/* Appends the names of all required symbols that the library lacks. */
static void find_missing(void *handle, const struct dl_symbol *symbols, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++)
        if (symbols[i].required && !dlsym(handle, symbols[i].name))
            buf_printf(out, "%s%s", out->len ? ", " : "", symbols[i].name);
}

static void fill(void *handle, const struct dl_symbol *symbols, size_t n, void *api)
{
    for (size_t i = 0; i < n; i++) {
        void *address = dlsym(handle, symbols[i].name);
        /* ISO C has no conversion from an object pointer to a function pointer. */
        memcpy((char *)api + symbols[i].offset, &address, sizeof address);
    }
}

/* Tries one name. Appends the reason to why when it does not serve. */
static enum status try_open(struct dl_lib *lib, const char *name, const struct dl_symbol *symbols,
                            size_t n, struct buf *why)
{
    const char *sep = why->len ? "; " : "";
    lib->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!lib->handle) {
        const char *text = dlerror();
        buf_printf(why, "%s%s", sep, text ? text : name);
        return ERR_NOT_FOUND;
    }
    set_path(lib, name);
    struct buf missing = BUF_INIT;
    find_missing(lib->handle, symbols, n, &missing);
    if (missing.len == 0 && !missing.failed)
        return OK;
    buf_printf(why, "%s%s lacks %s", sep, lib->path, buf_str(&missing));
    buf_fini(&missing);
    dl_close(lib);
    return ERR_UNSUPPORTED;
}

enum status dl_open(struct dl_lib *lib, const char *const *names, const struct dl_symbol *symbols,
                    size_t n, void *api, struct error *err)
{
    struct buf why = BUF_INIT;
    enum status st = ERR_NOT_FOUND;
    for (size_t i = 0; names[i]; i++) {
        struct dl_lib candidate = {0};
        enum status tried = try_open(&candidate, names[i], symbols, n, &why);
        if (tried == OK) {
            fill(candidate.handle, symbols, n, api);
            *lib = candidate;
            buf_fini(&why);
            return OK;
        }
        if (tried == ERR_UNSUPPORTED)
            st = tried;
    }
    fail(err, st, 0, "%s", why.len ? buf_str(&why) : "no library was named");
    buf_fini(&why);
    return st;
}

void dl_close(struct dl_lib *lib)
{
    if (!lib || !lib->handle)
        return;
    dlclose(lib->handle);
    *lib = (struct dl_lib){0};
}
