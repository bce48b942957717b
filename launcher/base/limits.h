/* SPDX-License-Identifier: BSD-3-Clause */
/* What this machine, container and shell allow: memory, processors, descriptors, processes. */
#ifndef LAUNCHER_BASE_LIMITS_H
#define LAUNCHER_BASE_LIMITS_H

#include <stdint.h>
#include <sys/resource.h>

#include "ft/base/err.h"

/* The memory limit of our cgroup (version 1 or 2, the smallest on the way up) or what the host has available,
   whichever is less. Bytes. */
uint64_t ft_limits_memory(void);

/* The CPU quota of our cgroup in processors, rounded up; UINT32_MAX if there is none. */
uint32_t ft_limits_processors(void);

/* Processes the kernel has killed for want of memory: in our cgroup if its memory is limited, as a container's or a batch job's is, else on the host, since a
   rank may have been put into a group of its own. Never goes down while the limits stay. */
uint64_t ft_limits_oom_kills(void);

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
