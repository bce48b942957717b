/* SPDX-License-Identifier: BSD-3-Clause */
/* --resume of a job on several hosts: the controller has read what the job begins with, and each node asks it for the global model and those of its own
   ranks before it starts them, in every incarnation. So it stays here for as long as the job runs. */
#ifndef LAUNCHER_CONTROLLER_BASE_H
#define LAUNCHER_CONTROLLER_BASE_H

#include <stdint.h>

#include "launcher/ckpt/series.h"
#include "launcher/options/map.h"
#include "launcher/wire/wire.h"

struct ft_peers;

struct ft_controller_base {
    const struct ft_map *map;
    int models;                        /* ft_models_create: slot 0 is ours */
    uint64_t version;                  /* 0: there is nothing */
    struct ft_ckpt_section *sections;  /* with the hashes that ranks have */
};

/* FT_* with a line. */
int ft_controller_base_load(struct ft_controller_base *b, struct ft_ckpt_series *s, struct ft_error *e);
void ft_controller_base_free(struct ft_controller_base *b);

/* Says to a node what there is, if anything; gives it a piece (FT_EDAMAGED, FT_ENOMEM). */
void ft_controller_base_say(const struct ft_controller_base *b, struct ft_peers *peers, uint32_t node);
int ft_controller_base_give(const struct ft_controller_base *b, struct ft_peers *peers, uint32_t node, const struct ft_wire_frame *f,
                            struct ft_error *e);

/* How many models a node has: the global one and its ranks'. Where one of them is in a checkpoint file: section 0 or 1 + rank in the job. */
static inline uint32_t ft_controller_models(const struct ft_map *map, uint32_t node)
{
    return 1 + map->first[node + 1] - map->first[node];
}

static inline uint32_t ft_controller_section(const struct ft_map *map, uint32_t node, uint32_t model)
{
    return model ? 1 + map->rank_at[map->first[node] + model - 1] : 0;
}

#endif
