/* SPDX-License-Identifier: BSD-3-Clause */
/* What is left of agents that were killed: children that this process has got as a subreaper. */
#ifndef LAUNCHER_JOIN_CHILDREN_H
#define LAUNCHER_JOIN_CHILDREN_H

struct ft_rdzv;

/* SIGKILL to all children of this process but for those of r (NULL: there are none), and to those that it gets by that; they are waited for, for a
   second at most. */
void ft_children_kill(struct ft_rdzv *r);

#endif
