/* SPDX-License-Identifier: BSD-3-Clause */
/* Fencing (DESIGN invariant 5): what the controller has not heard of for a lease it replaces. So whose last answered BEAT was sent
   two thirds of that ago kills its ranks, at once and before anything else: this agent, also when it was stopped and wakes up
   late, or the process that stands by for it. */
#ifndef LAUNCHER_NODE_LEASE_H
#define LAUNCHER_NODE_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/base/err.h"

struct ft_node;

enum { FT_NODE_PULSES = 12 };  /* in a lease: so often is it looked at */

uint64_t ft_node_lease_ns(const struct ft_node *n);

/* The controller has heard of us at `when` (ft_timer_boot_ns) or later. */
void ft_node_lease_heard(struct ft_node *n, uint64_t when);

/* Says BEAT, to be answered; not when it is too late. */
void ft_node_lease_beat(struct ft_node *n);

/* The next BEAT has been answered. FT_EDAMAGED: none was waiting. */
int ft_node_lease_answered(struct ft_node *n, struct ft_error *e);

/* Fences if it is time. */
void ft_node_lease_check(struct ft_node *n);

/* By a successor: its predecessor may have been stopped for long, or have died as it fenced. */
void ft_node_lease_resume(struct ft_node *n);

/* Kills the ranks here, and says why where ssh's stderr goes; the controller does not hear of it. Once. */
void ft_node_fence(struct ft_node *n, const char *why);

/* For the process that stands by: its twin has not heard of the controller for too long, and does nothing about it. arg: the node. */
bool ft_node_lease_is_late(void *arg);

#endif
