/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/environment.h"

#include <stdlib.h>

#include "launcher/options/values.h"

const char *ft_environment_text(const char *name)
{
    const char *text = name ? getenv(name) : NULL;

    return text && *text ? text : NULL;
}

uint64_t ft_environment_number(const char *name, uint64_t otherwise)
{
    const char *text = ft_environment_text(name);
    uint64_t n;

    return text && ft_values_number(text, &n) == 0 ? n : otherwise;
}

const char *ft_environment_get(void *arg, const char *name)
{
    (void)arg;
    return getenv(name);
}

bool ft_environment_in_rank(void) { return getenv("FTMPI_JOB") && getenv("FTMPI_RANK"); }
