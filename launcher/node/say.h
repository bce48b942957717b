/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node says of itself to the controller: STATE (wire.h). */
#ifndef LAUNCHER_NODE_SAY_H
#define LAUNCHER_NODE_SAY_H

#include <stdbool.h>

struct ft_node;

/* Its representative has left with 0 after MPI_Finalize: it needs no links, and lacks nothing, any more. */
bool ft_node_is_through(const struct ft_node *n);

/* If ranks here have had connections to other hosts for the first time since the state was said last, or no longer had. */
void ft_node_say_connected(struct ft_node *n);

/* If there is a connection, and the ranks here have not been killed for want of one: that is no end of the job. */
void ft_node_say_state(struct ft_node *n);

/* Where its ranks are. */
void ft_node_say_calls(struct ft_node *n);

#endif
