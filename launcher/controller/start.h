/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting nodes: what they are told of the job (description.h), and what became of what was to start them (remote.h). */
#ifndef LAUNCHER_CONTROLLER_START_H
#define LAUNCHER_CONTROLLER_START_H

#include "launcher/controller/job.h"

/* The description of the job, with a secret, and the starters. After c->signals are taken. FT_ENOMEM, FT_ESYS. */
int ft_controller_start_open(struct ft_controller *c, struct ft_error *e);

/* An FT_ND_START. */
void ft_controller_start_node(struct ft_controller *c, const struct ft_nodes_effect *fx);

void ft_controller_start_close(struct ft_controller *c);

#endif
