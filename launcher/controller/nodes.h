/* SPDX-License-Identifier: BSD-3-Clause */
/* What nodes say to the controller (wire.h). What they are told is say.h's. */
#ifndef LAUNCHER_CONTROLLER_NODES_H
#define LAUNCHER_CONTROLLER_NODES_H

#include "launcher/controller/job.h"

/* Listens for them, and says in the description of the job where. After ft_controller_start_open, which draws the secret. FT_ENOMEM,
   FT_ESYS, FT_EINVAL (--iface). */
int ft_controller_nodes_open(struct ft_controller *c, struct ft_error *e);

void ft_controller_nodes_close(struct ft_controller *c);

#endif
