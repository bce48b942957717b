/* SPDX-License-Identifier: BSD-3-Clause */
/* What `ftrun list` and `ftrun status` print. */
#ifndef LAUNCHER_CONTROL_SHOW_H
#define LAUNCHER_CONTROL_SHOW_H

#include <jansson.h>
#include <stdio.h>

#include "launcher/control/jobs.h"

/* One line for each job that matches word (ft_jobs_matches), under a heading. */
void ft_show_jobs(FILE *to, const struct ft_jobs *jobs, const char *word);

/* A job's status as the agent sent it: ranks that are in the same place share a line, so that 512 of them can be read.
   For a terminal of so many columns; 0: it is none. */
void ft_show_status(FILE *to, const json_t *status, size_t columns);

/* What a node knows of a job whose ftrun cannot be reached: its own ranks. */
void ft_show_known(FILE *to, const json_t *known, size_t columns);

#endif
