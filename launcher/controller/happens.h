/* SPDX-License-Identifier: BSD-3-Clause */
/* --events of a job on several hosts (events/events.h): what the controller knows. */
#ifndef LAUNCHER_CONTROLLER_HAPPENS_H
#define LAUNCHER_CONTROLLER_HAPPENS_H

#include "launcher/controller/job.h"

/* Opens what --events names. FT_* with a line. */
int ft_controller_happens_make(struct ft_controller *c, struct ft_error *e);

/* The policy is there: from now on it is told what happens. */
void ft_controller_happens_serve(struct ft_controller *c);

/* In a process that was forked from one that writes events. */
void ft_controller_happens_forget(struct ft_controller *c);

/* The loop is over, and the job, with its code. */
void ft_controller_happens_end(struct ft_controller *c);

void ft_controller_happens_free(struct ft_controller *c);

#endif
