/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

uint64_t ft_page_bytes(void) { return (uint64_t)sysconf(_SC_PAGESIZE); }

void ft_broken(const char *invariant, const char *file, int line)
{
    fprintf(stderr, "ftmpi: broken invariant: %s (%s:%d). This is a bug in ftmpi.\n", invariant, file, line);
    abort();
}
