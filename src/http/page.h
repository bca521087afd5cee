/* SPDX-License-Identifier: MIT */
/* The live page, embedded at build time from web/. */
#ifndef SMEFF_HTTP_PAGE_H
#define SMEFF_HTTP_PAGE_H

#include <stddef.h>

extern const unsigned char web_page[];
extern const size_t web_page_size;
extern const char
    web_page_csp[]; /* the Content-Security-Policy that lets it run, and nothing else */

#endif
