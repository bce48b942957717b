/* SPDX-License-Identifier: BSD-3-Clause */
/* --bind-to, --map-by, --rank-by as Open MPI and Hydra write them. */
#ifndef LAUNCHER_OPTIONS_PLACEMENT_H
#define LAUNCHER_OPTIONS_PLACEMENT_H

#include "launcher/options/options.h"

/* Each reads a value into o->place. 0, or FT_EINVAL with a line that begins with who, or with an
   empty one. */
int ft_placement_bind(struct ft_options *o, const char *text, const char *who, struct ft_error *e);
int ft_placement_map(struct ft_options *o, const char *text, const char *who, struct ft_error *e);
int ft_placement_order(struct ft_options *o, const char *text, const char *who, struct ft_error *e);

#endif
