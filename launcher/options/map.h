/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rank runs on which host, and which node of the job that is. Pure. */
#ifndef LAUNCHER_OPTIONS_MAP_H
#define LAUNCHER_OPTIONS_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/base/err.h"
#include "launcher/options/hosts.h"

/* Nodes are those hosts that have ranks, in the order of the list; places as in struct ft_description. */
struct ft_map {
    struct ft_hosts hosts;   /* of all programs and the host file; of the options */
    uint32_t nnodes, world;
    uint32_t *host;          /* by node: index in hosts */
    uint32_t *first;         /* nnodes + 1 of them: places */
    uint32_t *rank_at;       /* by place */
};

/* The job is one of several hosts, or of one that is reached by --launcher. */
bool ft_map_wanted(const struct ft_options *o);

/* Sets c->nranks if nobody has. FT_EINVAL with a line: more than there is room for. */
int ft_map_count(struct ft_options *o, struct ft_context *c, struct ft_error *e);

/* Makes o->map, once all contexts have their ranks: host after host, each its slots (--map-by node: one to each in turn); when all are
   full, again, with a notice. */
int ft_map_make(struct ft_options *o, struct ft_error *e);

void ft_map_free(struct ft_map *m);

#endif
