/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts one incarnation of a rank: its environment, descriptors, process group, binding and what ties its life to
   ftrun's (RULES 15, 16). */
#ifndef LAUNCHER_RANKS_SPAWN_H
#define LAUNCHER_RANKS_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "ft/base/err.h"
#include "launcher/ranks/environ.h"


struct ft_spawn;

struct ft_child {
    pid_t pid;                    /* also its process group */
    int pidfd;                    /* owned by the caller; close-on-exec */
};

/* Errors: FT_ENOMEM, FT_ESYS. */
int ft_spawn_new(struct ft_spawn **out, const struct ft_spawn_config *config, struct ft_error *e);

/* Returns when the program has been exec'd; before that the child writes its pid to *record, in shared memory. out and err: write
   ends for its stdout and stderr; they stay the caller's. in: read end for its stdin, likewise; -1: it reads nothing. FT_ESYS: with *error 0
   no process could be made, else exec failed so. */
int ft_spawn_start(struct ft_spawn *s, uint32_t rank, uint32_t incarnation, int in, int out, int err, volatile pid_t *record,
                   struct ft_child *child, int *error, struct ft_error *e);

void ft_spawn_free(struct ft_spawn *s);

#endif
