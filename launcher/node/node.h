/* SPDX-License-Identifier: BSD-3-Clause */
/* One node of several (`ftrun --node`): what ties this agent, whose ranks are its own business, to the controller and to the other nodes.
   wire.h says what is said; a connection that breaks, on either side or with a launcher process, is made again, and both say their
   state. */
#ifndef LAUNCHER_NODE_NODE_H
#define LAUNCHER_NODE_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/base/err.h"
#include "launcher/wire/description.h"

struct ft_job;
struct ft_node;
struct ft_spool;

/* Before the first fork. First: what its memory needs; then, when that is there, sockets, and the time to meet the controller begins.
   n may be NULL (there is one node) in all that follows. FT_ENOMEM, FT_ESYS, FT_EINVAL (--iface). */
int ft_node_new(struct ft_node **out, struct ft_job *job, struct ft_error *e);
int ft_node_open(struct ft_node *n, struct ft_error *e);

/* This process is the agent: what its predecessor had begun is nothing to it. */
void ft_node_forget(struct ft_node *n);

/* Connects, and goes on from there: ranks are started when the controller has taken this node, and what there is of the log has been
   fetched. -1: no memory. */
int ft_node_serve(struct ft_node *n);

/* For ranks_start: they may be. */
bool ft_node_is_ready(const struct ft_node *n);

/* 7th number of FTMPI_FDS, of local rank 0; -1: there are no links. */
int ft_node_socket(const struct ft_node *n);

/* The ranks' bell has rung. */
void ft_node_rung(struct ft_node *n);

/* Something has become of the ranks. */
void ft_node_changed(struct ft_node *n);

/* For the sink: there is more in the spool. arg: the node. */
void ft_node_flush(void *arg);

/* Everything here is over; `waiting`: not all that was printed has been acknowledged. May the agent leave? If not, it is asked again
   (ft_sweep_step) when it may. */
bool ft_node_may_leave(struct ft_node *n, bool waiting);

/* Others take its ranks' place, or will: nothing that they have started may go on. */
bool ft_node_is_fenced(void *arg); /* the node */

/* Its ranks cannot go on with the log that is here: it wants to be replaced. */
void ft_node_strand(struct ft_node *n);

/* The agent's part; and all of it. */
void ft_node_leave(struct ft_node *n);
void ft_node_free(struct ft_node *n);

/* `ftrun --node`: reads what it is to be from standard input. Returns ftrun's exit code. */
int ft_node_main(void);

#endif
