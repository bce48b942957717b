/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard input of the rank that reads it, on the node where it runs: what the controller says (relay.h) goes into a socketpair whose other
   end is the agent's standard input. */
#ifndef LAUNCHER_NODE_INPUT_H
#define LAUNCHER_NODE_INPUT_H

#include <stdint.h>

#include "launcher/wire/wire.h"

struct ft_node;

/* Before the first fork: standard input is replaced if a rank here reads it. FT_ESYS. */
int ft_node_input_open(struct ft_node *n, struct ft_error *e);

/* The agent's part. -1: no memory. */
int ft_node_input_serve(struct ft_node *n);

/* Bytes of it that have been taken over, wherever they are by now: the kernel counts, so a killed agent's are known. */
uint64_t ft_node_input_place(const struct ft_node *n);

/* An INPUT frame. What is there already is dropped, what comes too early will come again. FT_EDAMAGED: it is none. */
int ft_node_input_take(struct ft_node *n, const struct ft_wire_frame *f, struct ft_error *e);

/* A new connection: all that found no room comes again, from the place that is said on it. */
void ft_node_input_again(struct ft_node *n);

/* The agent's part; and all of it. */
void ft_node_input_leave(struct ft_node *n);
void ft_node_input_close(struct ft_node *n);

#endif
