/* SPDX-License-Identifier: MIT */
#include "http/mhd_api.h"

static const struct dl_symbol symbols[] = {
#define REQUIRED(name) {#name, offsetof(struct mhd_api, name), true},
    MHD_SYMBOLS(REQUIRED)
#undef REQUIRED
};

enum status mhd_api_get(const struct mhd_api **out, struct error *err)
{
    /* 0.9.60 (2018) to 1.0: what we call of it has stayed the same */
    static const char *const names[] = {"libmicrohttpd.so.12", NULL};
    static struct mhd_api api;
    static struct dl_lib lib;
    if (!lib.handle) {
        struct error why = ERROR_INIT;
        enum status st =
            dl_open(&lib, names, symbols, sizeof symbols / sizeof symbols[0], &api, &why);
        if (st)
            return fail(err, st, 0, "--listen needs libmicrohttpd (Debian: libmicrohttpd12): %s",
                        why.text);
    }
    *out = &api;
    return OK;
}
