/* SPDX-License-Identifier: BSD-3-Clause */
/* The control groups for memory that this agent's ranks are in: mostly all in its own, but each may have been put into another.

   And whether the kernel killed a rank for want of memory. It says only how many processes of a group it has killed: as many of these
   that are found dead by SIGKILL within two seconds are taken for those. */
#ifndef LAUNCHER_JOB_GROUPS_H
#define LAUNCHER_JOB_GROUPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launcher/base/memory.h"

struct event_base;
struct ft_groups;

/* From now on, of nranks ranks that are in this process's group as far as is known. NULL: no memory; then no death is one of these. */
struct ft_groups *ft_groups_new(struct event_base *base, uint32_t nranks);
void ft_groups_free(struct ft_groups *g);

/* Rank is alive, as that process, and has called MPI_Init or not: looks where it is, once for each of these, and every few seconds.
   A wrapper may put it into another group before its program begins. */
void ft_groups_note(struct ft_groups *g, uint32_t rank, pid_t pid, bool attached);

/* A process of rank's, or one of its snapshots, has just been found dead by SIGKILL, and is not reaped yet; 0: it is. */
bool ft_groups_took(struct ft_groups *g, uint32_t rank, pid_t pid);

/* There are so many; number 0 is this process's own. */
uint32_t ft_groups_count(const struct ft_groups *g);
const struct ft_memgroup *ft_groups_get(const struct ft_groups *g, uint32_t i);
uint32_t ft_groups_of(const struct ft_groups *g, uint32_t rank);

#endif
