/* SPDX-License-Identifier: BSD-3-Clause */
/* The job's store on one of several hosts: what is in the ranks' boxes goes to the controller, which answers. */
#ifndef LAUNCHER_NODE_STORE_H
#define LAUNCHER_NODE_STORE_H

#include "ft/base/err.h"

struct ft_node;
struct ft_wire_frame;

/* -1: no memory. */
int ft_node_store_serve(struct ft_node *n);
void ft_node_store_leave(struct ft_node *n);

/* There may be something in the boxes. */
void ft_node_store_look(struct ft_node *n);

/* There is another connection: what has not been answered is asked on it. */
void ft_node_store_again(struct ft_node *n);

/* STORE_ANSWER. FT_EDAMAGED. */
int ft_node_store_take(struct ft_node *n, const struct ft_wire_frame *f, struct ft_error *e);

#endif
