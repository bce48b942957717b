/* SPDX-License-Identifier: BSD-3-Clause */
/* Who answers for the job's store (docs/store.md): the agent of a job on one host, the controller of one on several. What it has answered
   is in memory that a successor has, too; who waits is not: they are asked about again. No clock: a rank asks once more, with no time left,
   when it has waited long enough, and a dead one does not. */
#ifndef LAUNCHER_VALUES_SERVER_H
#define LAUNCHER_VALUES_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include "ft/base/value.h"

struct ft_values_server;

/* Before the first fork: memory for ft_values_server_new, and how much it is. NULL: none. */
void *ft_values_memory_new(size_t *bytes);
void ft_values_memory_free(void *memory, size_t bytes);

struct ft_values_server_config {
    void *memory;
    size_t bytes;
    uint32_t nranks;             /* of the job */
    /* Once for what a rank asked last, also within the call that asks. Asks nothing itself. */
    void (*answer)(void *arg, uint32_t rank, const struct ft_value_answer *answer);
    void *arg;
};

/* NULL: no memory. */
struct ft_values_server *ft_values_server_new(const struct ft_values_server_config *config);
void ft_values_server_free(struct ft_values_server *s);

/* Rank asks; what it asked before, and has not been answered, it does not wait for any more. */
void ft_values_server_ask(struct ft_values_server *s, uint32_t rank, const struct ft_value_ask *ask);

#endif
