/* SPDX-License-Identifier: BSD-3-Clause */
/* The job's store: keys, values, and what each call of each rank was answered. A call that is asked again is answered the same again, and
   done once (docs/store.md). Pure; no clock: the rank that waits says when it has waited long enough.

   All of it is a journal in the memory that it is given: calls in the order in which they were answered. It is as much as its `end` says,
   which is stored last; so of a process that is killed at any instruction another one, with the same memory, finds all that it answered,
   and nothing half. What finds things in the journal is each process's own. */
#ifndef FT_VALUES_TABLE_H
#define FT_VALUES_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/value.h"

enum { FT_VALUES_KEYS = 1 << 20 };                            /* of a store */
/* Of what is given to it: pages that are touched only. Less where the system promises no more than it has, down to the least. */
static const size_t FT_VALUES_MEMORY = (size_t)1 << 30, FT_VALUES_LEAST = (size_t)1 << 24;

struct ft_values;

/* memory: zeros, or what a predecessor has left there; borrowed, aligned to 64. nranks: of the job. NULL: no memory. */
struct ft_values *ft_values_new(void *memory, size_t bytes, uint32_t nranks);
void ft_values_free(struct ft_values *v);

/* True: *answer is the answer, its pointers go into the memory. False: a WAIT for what is not there, whose time is not up; nothing has been
   done, and it is to be asked again when something is. */
bool ft_values_do(struct ft_values *v, uint32_t rank, const struct ft_value_ask *ask, struct ft_value_answer *answer);

/* For people. */
uint64_t ft_values_bytes(const struct ft_values *v);
uint32_t ft_values_keys(const struct ft_values *v);

#endif
