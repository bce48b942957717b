/* SPDX-License-Identifier: BSD-3-Clause */
/* --xgboost-tracker in this process, if rank 0 is on this host. */
#ifndef LAUNCHER_AGENT_TRACKING_H
#define LAUNCHER_AGENT_TRACKING_H

#include <stdint.h>

#include "ft/base/err.h"

struct ft_agent;
struct ft_job;
struct ft_spawn_config;

/* Listens, before the first fork; fills in where ranks find the tracker, wherever it is. FT_ENOMEM, FT_ESYS. */
int ft_tracking_new(struct ft_job *job, struct ft_spawn_config *config, struct ft_error *e);

/* The job is over, and all is well: says so if no worker of XGBoost has ever found the others by it. */
void ft_tracking_tell_unused(const struct ft_job *job);

/* From now on it answers. -1: no memory. */
int ft_tracking_serve(struct ft_agent *a);

#endif
