/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that all of a job's launcher processes see at the same address, whoever of them is alive: made before the first
   fork (twin.h), it is what a successor goes on from. */
#ifndef LAUNCHER_BASE_SHARED_H
#define LAUNCHER_BASE_SHARED_H

#include <stddef.h>

/* Zeroed; pages appear when they are touched. NULL: errno. */
void *ft_shared_new(size_t bytes);

void ft_shared_free(void *memory, size_t bytes);

#endif
