/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a process stopped, by SIGSTOP, its terminal or a debugger? */
#ifndef LAUNCHER_STOPPED_H
#define LAUNCHER_STOPPED_H

#include <stdbool.h>
#include <sys/types.h>

bool ft_stopped(pid_t pid);

#endif
