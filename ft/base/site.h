/* SPDX-License-Identifier: BSD-3-Clause */
/* Call sites that mean the same in every process of a job. */
#ifndef FT_BASE_SITE_H
#define FT_BASE_SITE_H

#include <stddef.h>
#include <stdint.h>

/* Made from a code address. Costs a table look-up after the first call from an address. */
uint64_t ft_site(const void *address);

/* "train+0x1234", "libxgboost.so.0+0x88a1c0", "?+0x12" for a module this process has not loaded. Returns text. */
const char *ft_site_print(uint64_t site, char *text, size_t size);

#endif
