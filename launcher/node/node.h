/* SPDX-License-Identifier: BSD-3-Clause */
/* One node of several (`ftrun --node`): what ties this agent, whose ranks are its own business,
   to the controller and to the other nodes. wire.h says what is said; a connection that breaks,
   on either side or with a launcher process, is made again, and both say their state. Ranks are
   started when the controller has taken this node, and what there is of the log has been
   fetched. */
#ifndef LAUNCHER_NODE_NODE_H
#define LAUNCHER_NODE_NODE_H

#include "launcher/job/above.h"

/* What the agent calls. */
extern const struct ft_above ft_node_above;

/* `ftrun --node`: reads what it is to be from standard input. Returns ftrun's exit code. */
int ft_node_main(void);

#endif
