/* SPDX-License-Identifier: BSD-3-Clause */
/* Call sites that mean the same in every process of a job. */
#ifndef FT_BASE_SITE_H
#define FT_BASE_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Made from a code address. Costs a table look-up after the first call from an address. */
uint64_t ft_site(const void *address);

/* "train+0x1234", "libxgboost.so.0.1.2+0x88a1c0" (the file, whatever link it was found by), "?+0x12" for a module this process has not loaded. Returns text. */
const char *ft_site_print(uint64_t site, char *text, size_t size);

/* The same for who has another process's modules at hand: is the site in the module of this name (no directory)? And where in it. */
bool ft_site_is_in(uint64_t site, const char *module);
uint64_t ft_site_offset(uint64_t site);

#endif
