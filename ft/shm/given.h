/* SPDX-License-Identifier: BSD-3-Clause */
/* What ftrun gives a rank besides the region: descriptors, and what it is called. */
#ifndef FT_SHM_GIVEN_H
#define FT_SHM_GIVEN_H

#include <stddef.h>

/* Descriptors (FTMPI_FDS) have numbers from here on, or a little above. */
enum { FT_FIRST_FD = 100 };

/* This host as ftrun's user knows it (FTMPI_HOST), or its own name. */
void ft_host_name(char *to, size_t size);

#endif
