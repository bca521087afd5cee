/* SPDX-License-Identifier: MIT */
#include "load/kernels.h"

#include <stddef.h>

/* The assembler puts the files in; CMakeLists.txt tells it where they are. */
#define X(id, name)                                                                                \
    extern const char load_ptx_##name[];                                                           \
    __asm__(".pushsection .rodata\n"                                                               \
            ".global load_ptx_" #name "\n"                                                         \
            "load_ptx_" #name ":\n"                                                                \
            ".incbin \"load/kernels/" #name ".ptx\"\n"                                             \
            ".byte 0\n"                                                                            \
            ".popsection\n");
LOAD_IMAGES(X)
#undef X

const char *load_image(enum load_image image)
{
    static const char *const images[] = {[LOAD_IMAGE_NONE] = NULL,
#define X(id, name) [LOAD_IMAGE_##id] = load_ptx_##name,
                                         LOAD_IMAGES(X)
#undef X
    };
    return images[image];
}
