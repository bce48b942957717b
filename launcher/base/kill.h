/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals by pidfd (RULE 17). A process's number is another one's as soon as somebody has waited for it, and ranks may be init's children; a pidfd never is.
   By number, with kill(2), only who sends to a child of his own that he has not waited for. */
#ifndef LAUNCHER_BASE_KILL_H
#define LAUNCHER_BASE_KILL_H

#include <sys/types.h>

/* To process `pid`, of which pidfd is; -1, or where a filter forbids it: by its number. -1: errno. */
int ft_kill(pid_t pid, int pidfd, int signal);

/* To the group that it leads or has led. Before Linux 6.9 by its number. -1: errno. */
int ft_kill_group(pid_t leader, int pidfd, int signal);

#endif
