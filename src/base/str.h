/* SPDX-License-Identifier: MIT */
/* Small text helpers for text that we did not write ourselves. */
#ifndef SMEFF_BASE_STR_H
#define SMEFF_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Replaces control characters (C0, DEL, C1, and bytes that an 8-bit terminal takes for C1) and
 * invisible ones (which turn a line around, or take no room) by '?', in place, and cuts a UTF-8
 * sequence that a fixed buffer left incomplete at the end. For text that goes to a terminal or a
 * log as one line. */
void str_one_line(char *s);

/* Copies src into dst[size]; when it does not fit, "..." stands for its middle. Always terminates,
 * never cuts inside a character. The end gets two thirds of the room: of a path it tells most. */
void str_shorten(char *dst, size_t size, const char *src);

/* Copies src into dst[size] as valid, printable UTF-8: bytes that are no UTF-8, C0, DEL, C1 and
 * invisible characters become U+FFFD. Always terminates, never cuts inside a character.
 * Returns false when something did not fit. src may be NULL (then dst is ""). */
bool str_clean(char *dst, size_t size, const char *src, size_t src_len);

/* The same as a new string, the caller's to free; NULL when memory ran out. */
char *str_clean_copy(const char *src);

/* Writes a code point (up to U+10FFFF) as UTF-8, with a NUL, and returns its length. */
size_t str_utf8(char dst[5], uint32_t character);

/* The same; 0 = it is none that can be seen
 * (a control or invisible one, a surrogate, beyond Unicode). */
size_t str_encode(char dst[5], uint32_t character);

/* Columns that a UTF-8 string takes, one per code point (the project prints no wide ones). */
size_t str_columns(const char *s);

/* Like strncmp over the whole of prefix. */
bool str_starts_with(const char *s, const char *prefix);

#endif
