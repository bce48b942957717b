/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors of processes. The filter of a container may refuse them (Docker's before 20.10), and so may gVisor and its
   like; kernels have them since 5.3. */
#ifndef LAUNCHER_BASE_PIDFD_H
#define LAUNCHER_BASE_PIDFD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* -1, errno: no such process, or they cannot be had. */
int ft_pidfd_open(pid_t pid);

/* Returns when the process is dead, waited for or not, or after so long. Does without a descriptor. */
void ft_pidfd_await(pid_t pid, int ms);

/* Whether they can be had here. False: *text is "pidfd_open is refused (...)", with the kernel and what to do, for a line. */
bool ft_pidfd_works(char *text, size_t size);

#endif
