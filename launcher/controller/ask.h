/* SPDX-License-Identifier: BSD-3-Clause */
/* `ftrun status` of a job on several hosts: each node is asked where its ranks are, and given a moment to say so. */
#ifndef LAUNCHER_CONTROLLER_ASK_H
#define LAUNCHER_CONTROLLER_ASK_H

#include <jansson.h>

#include "launcher/controller/job.h"

/* Needs c->base and c->map. FT_ENOMEM. */
int ft_controller_ask_open(struct ft_controller *c, struct ft_error *e);

/* For control.h. arg: the controller. False: there is nobody to be asked. */
bool ft_controller_ask(void *arg);

/* A node has said CALLS (FT_EDAMAGED: that is not for this job); it has no connection any more, and no ranks that we know of. */
int ft_controller_ask_take(struct ft_controller *c, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e);
void ft_controller_ask_gone(struct ft_controller *c, uint32_t node);

/* What its node said of a rank of the job when it was last asked; NULL: nothing. */
const json_t *ft_controller_ask_rank(const struct ft_controller *c, uint32_t rank);

void ft_controller_ask_close(struct ft_controller *c);

#endif
