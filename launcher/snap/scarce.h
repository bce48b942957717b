/* SPDX-License-Identifier: BSD-3-Clause */
/* Where memory is short (budget.h): what is given up for the program. */
#ifndef LAUNCHER_SNAP_SCARCE_H
#define LAUNCHER_SNAP_SCARCE_H

struct ft_job;

/* Looks how much there is. If it is short: snapshots of ranks that run go, and what nobody needs of logs of outcomes. */
void ft_scarce_tick(struct ft_job *job);

#endif
