/* SPDX-License-Identifier: BSD-3-Clause */
/* From a socket in the user's directory to the ftrun that a job belongs to: ID.sock is its own; ID.NODE.INCARNATION.sock is that
   of a node of the job on this host, which gives whoever comes a connection to it (launcher/node/callers.h). */
#ifndef LAUNCHER_CONTROL_REACH_H
#define LAUNCHER_CONTROL_REACH_H

#include <jansson.h>
#include <stdbool.h>

/* What a node says first. */
#define FT_REACH_THERE 'c'      /* with the connection's descriptor */
#define FT_REACH_NOT 'n'        /* and a line */

bool ft_reach_is_node(const char *name);

/* A connection that takes a request (server.h). -1 and errno: ECONNREFUSED, ENOENT, nobody listens; EAGAIN, silent (stopped);
   EHOSTUNREACH, the node cannot reach it, and *known is what it knows itself, {"unreachable": why, ...}, the caller's;
   ECONNRESET, who was asked has died over it. */
int ft_reach(int dir, const char *name, json_t **known);

#endif
