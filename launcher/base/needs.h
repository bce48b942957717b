/* SPDX-License-Identifier: BSD-3-Clause */
/* System calls that nothing of ftrun goes without. The filter of a container may refuse any; old kernels have all of these. What can be
   done without is tried where it is used: pidfd_open (pidfd.h), getrandom (ft/shm/random.h). */
#ifndef LAUNCHER_BASE_NEEDS_H
#define LAUNCHER_BASE_NEEDS_H

#include <stddef.h>

#include "ft/base/err.h"

/* Tries each once, without any effect. FT_ESYS with a line that names one that is refused. */
int ft_needs_check(struct ft_error *e);

/* It was refused, with that errno, and not for want of anything. */
int ft_needs_is_refusal(int error);

/* "CALL is refused (why): by the system call filter of a container; Linux 6.1 has it.", or that kernels have it since `since` only, which
   is "5.3". Returns text. */
const char *ft_needs_refused(const char *call, int error, const char *since, char *text, size_t size);

#endif
