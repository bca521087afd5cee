/* SPDX-License-Identifier: MIT */
/* The live page: web/embed.cmake makes it at build time from web/ and the catalogue. */
#ifndef SMEFF_HTTP_PAGE_H
#define SMEFF_HTTP_PAGE_H

#include <stddef.h>

extern const unsigned char web_page[];
extern const size_t web_page_size;
/* The Content-Security-Policy that lets it run, and nothing else. */
extern const char web_page_csp[];

#endif
