/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that leave with 0 and have never called MPI_Init. If all do, these are no MPI programs, and
   all is well. If others have called it, these wait for the one that left, whatever they do before
   that: MPI_Finalize is a unit of all ranks. Unless it has left a process behind, which may be the
   rank yet. */
#ifndef LAUNCHER_RANKS_ABSENT_H
#define LAUNCHER_RANKS_ABSENT_H

#include <stdbool.h>
#include <stdint.h>

struct ft_job;

struct ft_absent {
    uint32_t rank;  /* one of this agent's that has left so; their number: none has */
    bool called;    /* another one has called MPI_Init */
};

struct ft_absent ft_absent_look(const struct ft_job *job);

#endif
