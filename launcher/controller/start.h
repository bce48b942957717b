/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting nodes: what they are told of the job (description.h), and what became of what was to start them (remote.h). */
#ifndef LAUNCHER_CONTROLLER_START_H
#define LAUNCHER_CONTROLLER_START_H

#include "launcher/controller/job.h"

/* The description of the job, with a secret. FT_ENOMEM, FT_ESYS. */
int ft_controller_start_make(struct ft_controller *c, struct ft_error *e);

/* The starters. After c->signals are taken. FT_ENOMEM, FT_ESYS. */
int ft_controller_start_open(struct ft_controller *c, struct ft_error *e);

/* In a successor, when the policy knows which nodes are up: those that its predecessor has started are looked after, or ended if their nodes are not up. */
void ft_controller_start_adopt(struct ft_controller *c);

/* An FT_ND_START. */
void ft_controller_start_node(struct ft_controller *c, const struct ft_nodes_effect *fx);

/* What has started an agent has ended, or has said something, here (remote.h) or on a host that has come by itself (comers.h). */
void ft_controller_start_ended(struct ft_controller *c, uint32_t node, int status, const char *said, const struct ft_host *from);
void ft_controller_start_line(const struct ft_controller *c, uint32_t node, const char *line);

void ft_controller_start_close(struct ft_controller *c);
void ft_controller_start_free(struct ft_controller *c);

#endif
