/* SPDX-License-Identifier: BSD-3-Clause */
/* Who asks for the job (`ftrun list, status, stop, wait, attach`) on the host of a node: the node has a socket of its own beside that of
   the job's ftrun, ID.NODE.INCARNATION.sock, and gives whoever comes a connection to that ftrun, proved and ready for a request
   (control/server.h). From then on the caller is not the node's business: it hears the end of the job even if the node is gone.

   What a caller reads: one byte, FT_REACH_THERE with the connection's descriptor; or FT_REACH_NOT, and a line {"unreachable": why, ...}
   with what this node knows itself. One of both within CALL_MS. */
#ifndef LAUNCHER_NODE_CALLERS_H
#define LAUNCHER_NODE_CALLERS_H

#include "ft/base/err.h"

struct ft_callers;
struct ft_node;

/* Before the first fork. NULL with a line: nobody finds the job on this host, nothing else. */
struct ft_callers *ft_callers_new(struct ft_node *n, struct ft_error *e);

/* This process becomes the agent: who has called its predecessor is nothing to it. c may be NULL, as in all that follows. */
void ft_callers_forget(struct ft_callers *c);

/* -1: no memory. */
int ft_callers_serve(struct ft_callers *c);

/* The agent leaves; all of it goes, with the socket's name. */
void ft_callers_leave(struct ft_callers *c);
void ft_callers_free(struct ft_callers *c);

#endif
