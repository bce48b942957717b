/* SPDX-License-Identifier: BSD-3-Clause */
/* An allocation of Slurm's (22.05 and later) that ftrun is started in: its nodes are the host list where nobody names hosts. */
#ifndef LAUNCHER_OPTIONS_SLURM_H
#define LAUNCHER_OPTIONS_SLURM_H

#include "ft/base/err.h"
#include "launcher/options/options.h"

/* Reads SLURM_*, once all contexts are read, and before their ranks are counted. Fills o->hosts if a context names none, but not in a rank of
   ours, which has its own host; and o->srun if srun is to start what is on other hosts. FT_EINVAL with a line: the variables are damaged;
   srun has started several of us; or srun was asked for, and there is no allocation. */
int ft_slurm_take(struct ft_options *o, struct ft_error *e);

#endif
