/* SPDX-License-Identifier: BSD-3-Clause */
/* What wrap_exec.c has of children. */
#ifndef FT_OUTCOME_CHILD_H
#define FT_OUTCOME_CHILD_H

#include <stdbool.h>

/* In a child of the rank: nothing of it is recorded. */
void ft_in_child(void);

/* The rank has had children that are not followed. */
extern bool ft_child_strangers;

#endif
