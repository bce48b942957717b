/* SPDX-License-Identifier: BSD-3-Clause */
/* The job's store of a job on several hosts: the controller answers (docs/store.md). */
#ifndef LAUNCHER_CONTROLLER_STORE_H
#define LAUNCHER_CONTROLLER_STORE_H

#include <stdint.h>

#include "ft/base/err.h"

struct ft_controller;
struct ft_wire_frame;

/* The two halves of a file of the controller (job.h). FT_ENOMEM. */
int ft_controller_store_make(struct ft_controller *c, struct ft_error *e);
int ft_controller_store_open(struct ft_controller *c, struct ft_error *e);
void ft_controller_store_close(struct ft_controller *c);
void ft_controller_store_free(struct ft_controller *c);

/* STORE_ASK. FT_EDAMAGED. */
int ft_controller_store_take(struct ft_controller *c, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e);

#endif
