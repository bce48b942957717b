/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/given.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void ft_host_name(char *to, size_t size)
{
    const char *known = getenv("FTMPI_HOST");

    if (known && *known)
        snprintf(to, size, "%s", known);
    else if (gethostname(to, size) < 0 || !memchr(to, 0, size))
        snprintf(to, size, "unknown host");
}
