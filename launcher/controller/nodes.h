/* SPDX-License-Identifier: BSD-3-Clause */
/* What nodes say to the controller (wire.h). What they are told is say.h's. */
#ifndef LAUNCHER_CONTROLLER_NODES_H
#define LAUNCHER_CONTROLLER_NODES_H

#include "launcher/controller/job.h"

/* Listens for them, and says in the description of the job where. FT_ENOMEM, FT_ESYS, FT_EINVAL (--iface). */
int ft_controller_nodes_make(struct ft_controller *c, struct ft_error *e);

/* Takes connections of theirs. After ft_controller_start_make, which draws the secret. FT_ENOMEM. */
int ft_controller_nodes_open(struct ft_controller *c, struct ft_error *e);

void ft_controller_nodes_close(struct ft_controller *c);
void ft_controller_nodes_free(struct ft_controller *c);

#endif
