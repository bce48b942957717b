/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells the policy (nodes_policy.h) what happened and does what it wants done. */
#ifndef LAUNCHER_CONTROLLER_ACT_H
#define LAUNCHER_CONTROLLER_ACT_H

#include "launcher/controller/job.h"

/* The policy, c->kept. FT_ENOMEM. */
int ft_controller_act_make(struct ft_controller *c, struct ft_error *e);

/* What is remembered of nodes beside that, and the timer that the policy asks for. FT_ENOMEM. */
int ft_controller_act_open(struct ft_controller *c, struct ft_error *e);

/* Does what is to be done first in a successor, in the place of the first step. */
void ft_controller_recover(struct ft_controller *c);

/* ev.now_ms is filled in. */
void ft_controller_step(struct ft_controller *c, struct ft_nodes_event ev);

/* Leaves the event loop if all nodes are gone and all that they printed is written. */
void ft_controller_leave(struct ft_controller *c);

void ft_controller_act_close(struct ft_controller *c);
void ft_controller_act_free(struct ft_controller *c);

#endif
