/* SPDX-License-Identifier: BSD-3-Clause */
/* What nodes say to the controller (wire.h) and are told by it. */
#ifndef LAUNCHER_CONTROLLER_NODES_H
#define LAUNCHER_CONTROLLER_NODES_H

#include "launcher/controller/job.h"

/* Listens for them, and says in the description of the job where. After ft_controller_start_open, which draws the secret. FT_ENOMEM,
   FT_ESYS, FT_EINVAL (--iface). */
int ft_controller_nodes_open(struct ft_controller *c, struct ft_error *e);

/* To all that are connected: who is where, soon, and what becomes of the job. */
void ft_controller_say_table(struct ft_controller *c);
void ft_controller_say_job(struct ft_controller *c, enum ft_job_phase phase, int code);

/* To all ranks of all nodes, also of those that are not connected just now. */
void ft_controller_signal_ranks(struct ft_controller *c, int signal);

void ft_controller_nodes_close(struct ft_controller *c);

#endif
