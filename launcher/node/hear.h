/* SPDX-License-Identifier: BSD-3-Clause */
/* What the controller says to a node (wire.h), and what is done about it. */
#ifndef LAUNCHER_NODE_HEAR_H
#define LAUNCHER_NODE_HEAR_H

#include "launcher/wire/wire.h"

/* For the uplink. arg: the node. FT_EDAMAGED: it is not what a controller says, or comes too late. */
int ft_node_hear(void *arg, const struct ft_wire_frame *f, struct ft_error *e);

#endif
