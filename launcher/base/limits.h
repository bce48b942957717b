/* SPDX-License-Identifier: BSD-3-Clause */
/* What this machine, container and shell allow: processors, descriptors, processes (memory: memory.h). */
#ifndef LAUNCHER_BASE_LIMITS_H
#define LAUNCHER_BASE_LIMITS_H

#include <stdint.h>
#include <sys/resource.h>

#include "ft/base/err.h"

/* The CPU quota of our cgroup in processors, rounded up; UINT32_MAX if there is none. */
uint32_t ft_limits_processors(void);

/* Those we change for ourselves. */
struct ft_limits {
    struct rlimit nofile, fsize;
};

/* Raises our soft limits to what nranks need, and leaves what they were in *before. FT_EINVAL with a line if a hard limit
   is too small, that of processes is, or this host lacks something (/proc). */
int ft_limits_raise(uint32_t nranks, struct ft_limits *before, struct ft_error *e);

/* In a rank's process before exec. System calls only. */
void ft_limits_give_back(const struct ft_limits *before);

#endif
