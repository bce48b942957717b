/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment of a rank: ftrun's own, what -x says, and who it is, under our names and those that scripts
   written for Open MPI and Hydra look for. Made once
   for each program context; only the rank's own variables change from start to start. */
#ifndef LAUNCHER_RANKS_ENVIRON_H
#define LAUNCHER_RANKS_ENVIRON_H

#include <stdint.h>

#include "launcher/ranks/spawn.h"

struct ft_context;
struct ft_spawn_config;
struct ft_environ;

/* Of the ranks of one context. first_fd: number in the ranks of the descriptors in FTMPI_FDS. NULL: no memory. */
struct ft_environ *ft_environ_new(const struct ft_spawn_config *config, const struct ft_context *context, int first_fd);

void ft_environ_rank(struct ft_environ *env, uint32_t rank, uint32_t incarnation);

/* As execve wants it; valid until the next call of ft_environ_rank. */
char **ft_environ_get(struct ft_environ *env);

void ft_environ_free(struct ft_environ *env);

#endif
