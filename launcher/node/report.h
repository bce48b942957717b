/* SPDX-License-Identifier: BSD-3-Clause */
/* One node of several: what happened here is said to it as it happens, so that a host that is
   lost is lost with no more than its last moments. */
#ifndef LAUNCHER_NODE_REPORT_H
#define LAUNCHER_NODE_REPORT_H

#include <stdbool.h>

struct ft_job;
struct ft_node_report;
struct ft_uplink;

/* Of the agent. NULL: no memory for it; it may be in all that follows. */
struct ft_node_report *ft_node_report_new(struct ft_job *job);

/* There is a connection, on which nothing has been said. */
void ft_node_report_again(struct ft_node_report *r);

/* Something has become of the ranks: says which restarts are new. The rest follows with the next pulse. */
void ft_node_report_changed(struct ft_node_report *r, struct ft_uplink *uplink);

/* Says what is new of restarts and of the timeline; with `all`, or after a change, also what there is of ranks and sums. */
void ft_node_report_say(struct ft_node_report *r, struct ft_uplink *uplink, bool all);

void ft_node_report_free(struct ft_node_report *r);

#endif
