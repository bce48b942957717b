/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks of all nodes print, which comes out here, and what is read here, which goes to one of them. */
#ifndef LAUNCHER_CONTROLLER_STDIO_H
#define LAUNCHER_CONTROLLER_STDIO_H

#include "launcher/controller/job.h"

/* Files, spools, and what is known of what was printed. FT_EINVAL, FT_ENOMEM, FT_ESYS. */
int ft_controller_stdio_make(struct ft_controller *c, struct ft_error *e);

/* Sinks, the merge of what comes, and the relay of standard input if a rank reads it. FT_ENOMEM, FT_ESYS. */
int ft_controller_stdio_open(struct ft_controller *c, struct ft_error *e);

/* An OUT frame. FT_EDAMAGED: it is none. */
int ft_controller_take_output(struct ft_controller *c, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e);

/* Says why the node has ended the job, once both are known: that it has, and why. */
void ft_controller_tell_reason(struct ft_controller *c, uint32_t node);

/* Tells the node how much of what it said is not needed again, unless nobody reads what has come already. */
void ft_controller_acknowledge(struct ft_controller *c, uint32_t node);

/* The user has asked twice: nobody waits any more for an output that does not flow. Nodes would stay with what they have of it. */
void ft_controller_stdio_hurry(struct ft_controller *c);

/* All has been written that could be: says if it could not, and makes that the job's code. */
void ft_controller_stdio_check(struct ft_controller *c);

void ft_controller_stdio_close(struct ft_controller *c);
void ft_controller_stdio_free(struct ft_controller *c);

#endif
