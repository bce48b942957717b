/* SPDX-License-Identifier: BSD-3-Clause */
/* What nodes are told by the controller (wire.h): TABLE, JOB, SIGNAL. */
#ifndef LAUNCHER_CONTROLLER_SAY_H
#define LAUNCHER_CONTROLLER_SAY_H

#include "launcher/controller/job.h"

/* -1: no memory. */
int ft_controller_say_open(struct ft_controller *c);
void ft_controller_say_close(struct ft_controller *c);

/* To all that are connected: who is where, soon, and what becomes of the job. */
void ft_controller_say_table(struct ft_controller *c);
void ft_controller_say_job(struct ft_controller *c, enum ft_job_phase phase, int code);

/* TABLE as it is now. */
struct ft_wire_bytes ft_controller_table(const struct ft_controller *c);

/* Its representative has left for good: no links come from there. */
bool ft_controller_node_is_done(const struct ft_wire_state *s);

/* To all ranks of all nodes, also of those that are not connected just now. */
void ft_controller_signal_ranks(struct ft_controller *c, int signal);

/* Those that the node has not had. */
void ft_controller_say_signals(struct ft_controller *c, uint32_t node);

#endif
