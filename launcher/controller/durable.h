/* SPDX-License-Identifier: BSD-3-Clause */
/* Durable checkpoints of a job on several hosts (docs/internals/nodes.md): the controller alone has
   the directory, and the files in it are those of a job on one host. It has all nodes hold one
   committed version, fetches the global model and each rank's own from where they are, and writes
   them when all are here and all that was printed before that version is out. With --resume it has
   what the job begins with, for as long as the job runs. */
#ifndef LAUNCHER_CONTROLLER_DURABLE_H
#define LAUNCHER_CONTROLLER_DURABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/base/err.h"

struct ft_controller;
struct ft_controller_durable;
struct ft_durable_totals;
struct ft_wire_frame;

/* The directory, and with --resume what is in it, before anything is started: ftrun's exit code, with a line, or 0; without --ckpt-dir nothing
   below does anything. */
int ft_controller_durable_make(struct ft_controller *c, struct ft_error *e);

/* There is an event loop. -1: errno. */
int ft_controller_durable_open(struct ft_controller *c);
void ft_controller_durable_close(struct ft_controller *c);
void ft_controller_durable_free(struct ft_controller *c);

/* A node has connected, and nothing has been said to it; it is gone, or its connection is; its STATE has changed. */
void ft_controller_durable_hello(struct ft_controller *c, uint32_t node);
void ft_controller_durable_gone(struct ft_controller *c);
void ft_controller_durable_state(struct ft_controller *c, uint32_t node);

/* HELD, GIVE, MODEL. FT_EDAMAGED, FT_ENOMEM. */
int ft_controller_durable_take(struct ft_controller *c, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e);

/* The job ends: are nodes to stay until the last version is here? They are told when that is so (struct ft_wire_job). */
bool ft_controller_durable_stays(struct ft_controller *c);

/* Nobody waits for it any more. */
void ft_controller_durable_hurry(struct ft_controller *c);

/* A file is being written: all of it is here, and ftrun waits for that. */
bool ft_controller_durable_busy(const struct ft_controller *c);

/* NULL: there is no --ckpt-dir. */
const struct ft_durable_totals *ft_controller_durable_totals(const struct ft_controller *c);

#endif
