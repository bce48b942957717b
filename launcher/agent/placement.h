/* SPDX-License-Identifier: BSD-3-Clause */
/* --bind-to, --map-by, --rank-by as Open MPI and Hydra write them, and what --report-bindings and --display-map print. */
#ifndef LAUNCHER_AGENT_PLACEMENT_H
#define LAUNCHER_AGENT_PLACEMENT_H

#include "launcher/base/say.h"
#include "launcher/options/options.h"

/* Each reads a value into o->place. 0, or FT_EINVAL with a line that begins with who, or with an empty one. */
int ft_placement_bind(struct ft_options *o, const char *text, const char *who, struct ft_error *e);
int ft_placement_map(struct ft_options *o, const char *text, const char *who, struct ft_error *e);
int ft_placement_order(struct ft_options *o, const char *text, const char *who, struct ft_error *e);

/* What is asked for is made, and told if it cannot be or somebody wants to know. NULL: ranks are not bound. */
struct ft_topology *ft_placement_make(const struct ft_options *o, const struct ft_say *say);

#endif
