/* SPDX-License-Identifier: BSD-3-Clause */
/* What wrap_exec.c and wrap_fork.c have of children. */
#ifndef FT_OUTCOME_CHILD_H
#define FT_OUTCOME_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* In a child of the rank: nothing of it is recorded. */
void ft_in_child(void);

/* That fork, between handlers of pthread_atfork. */
pid_t ft_fork_handled(pid_t (*make)(void));

/* The rank has had children that are not followed. */
extern bool ft_child_strangers;

#endif
