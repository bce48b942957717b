/* SPDX-License-Identifier: BSD-3-Clause */
/* Durable checkpoints of a job on several hosts, on a node: the controller has the directory (controller_durable.h) and asks for the models of
   a version, which is pinned here until it has them; with --resume this node asks it for what its ranks begin with. */
#ifndef LAUNCHER_NODE_DURABLE_H
#define LAUNCHER_NODE_DURABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/base/err.h"

struct ft_node;
struct ft_node_durable;
struct ft_wire_frame;

/* This process is the agent; what a dead one had pinned is let go. -1: no memory. Where d is meant it may be NULL. */
int ft_node_durable_serve(struct ft_node *n);
void ft_node_durable_leave(struct ft_node *n);

/* There is a new connection, on which nothing has been asked. */
void ft_node_durable_again(struct ft_node *n);

/* A rank has made a checkpoint, perhaps; or no rank is left. */
void ft_node_durable_look(struct ft_node *n);

/* For STATE: the newest version that is committed here; 0: none. */
uint64_t ft_node_durable_newest(struct ft_node *n);

/* HOLD, HELD, GIVE, MODEL. */
int ft_node_durable_take(struct ft_node *n, const struct ft_wire_frame *f, struct ft_error *e);

/* What there is of log and later checkpoints has been fetched, and no rank has been started: what the job was resumed from is asked for, and done is
   called when it is here. False: nothing is needed; done is not called. */
bool ft_node_durable_begin(struct ft_node *n, void (*done)(struct ft_node *n));

#endif
