/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that another launcher has started: srun, mpirun, mpiexec, torchrun. Each of its processes would be a world of
   one, and do all of the work. */
#ifndef FT_ALONE_H
#define FT_ALONE_H

#include <stdint.h>

#include "ft/base/err.h"

/* For a process that ftrun has not started. 0: it may be a world of one; nobody says that it is one of several, or
   FTMPI_ALONE says that it may. FT_EJOB: who has started it, as one of how many, and what to do. */
int ft_alone_check(struct ft_error *e);

/* The job's memory, of which FTMPI_FDS tells, is not open here. FT_EJOB: why that is, and what to do. */
int ft_alone_explain(int memory, uint32_t rank, struct ft_error *e);

#endif
