/* SPDX-License-Identifier: BSD-3-Clause */
/* The process's number, and its children by fork. */
#ifndef FT_OUTCOME_PROCESS_H
#define FT_OUTCOME_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* At the start: its number is what the program is told from then on, in each incarnation. A child by fork is not recorded. False: no
   memory. */
bool ft_process_open(void);

/* A process group as the kernel has it: the rank leads one in each incarnation. Of one: it is that, now or at the start. */
pid_t ft_process_to_kernel(pid_t pid);
bool ft_process_is_group(pid_t group);

/* This process's number, if it is a rank whose calls are, or were, recorded; else 0. */
pid_t ft_process_rank(void);

/* In each incarnation that was made of a copy, first of all. */
void ft_process_begins(void);

#endif
