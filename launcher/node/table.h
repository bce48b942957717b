/* SPDX-License-Identifier: BSD-3-Clause */
/* What follows from the table of nodes (wire.h): links find each other by it; the first one says that the controller has taken this node,
   which then may start its ranks, when it has fetched what there is of the log. */
#ifndef LAUNCHER_NODE_TABLE_H
#define LAUNCHER_NODE_TABLE_H

#include "launcher/wire/wire.h"

struct ft_node;

/* A TABLE frame. FT_EDAMAGED: it is none. */
int ft_node_table_take(struct ft_node *n, const struct ft_wire_frame *f, struct ft_error *e);

#endif
