/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory a job uses, sampled for the report. */
#ifndef LAUNCHER_BASE_USAGE_H
#define LAUNCHER_BASE_USAGE_H

#include <stdint.h>
#include <sys/types.h>

/* Private resident memory (resident minus shared) of a process and all its descendants, in bytes. */
uint64_t ft_usage_tree(pid_t pid);

/* Of one process: what a fork of it shares with it until either writes. */
uint64_t ft_usage_private(pid_t pid);

/* Of this process alone. */
uint64_t ft_usage_self(void);

/* Bytes of its memory that no other process shares, as it would a fork's until it is written to. Costs a walk through all of it. */
uint64_t ft_usage_unshared(pid_t pid);

/* Memory a memfd holds. */
uint64_t ft_usage_memfd(int fd);

#endif
