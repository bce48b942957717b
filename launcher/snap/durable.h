/* SPDX-License-Identifier: BSD-3-Clause */
/* Durable checkpoints (docs/internals/checkpoints.md, "Durable checkpoints"): the agent writes
   committed versions to --ckpt-dir, and --resume begins a job with the newest good one. Which
   version is on disk is in shared memory; a successor of the agent begins again what was being
   written. */
#ifndef LAUNCHER_SNAP_DURABLE_H
#define LAUNCHER_SNAP_DURABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/base/err.h"
#include "launcher/ckpt/series.h"

struct ft_job;

/* Opens --ckpt-dir, and keeps it from other jobs as long as any launcher process lives; without that option nothing below does anything. Before
   the first fork. Refused: no usable directory, checkpoints that are there and not to be resumed, none to resume. 0 or ftrun's exit code, with a
   line. */
int ft_durable_open(struct ft_job *job, struct ft_error *e);

/* --resume: the newest good version becomes what the job's programs begin with. There is memory for models, and no rank yet. 0 or
   ftrun's exit code, with a line; why newer ones were passed over has been told. */
int ft_durable_resume(struct ft_job *job, struct ft_error *e);

/* The models of that version, the global one and one of each rank here, are in slot 0: the job's programs begin with it. No rank has been started.
   carried: what each rank's checkpoint has besides, which is there, too; NULL: nothing. */
void ft_durable_begin(const struct ft_job *job, uint64_t version, const struct ft_ckpt_section *models, const struct ft_ckpt_section *carried);

void ft_durable_close(struct ft_job *job);

/* In a process that has just become the agent: what a dead one had in its own memory is not there. */
void ft_durable_forget(struct ft_job *job);

/* This process is the agent. -1: errno. */
int ft_durable_watch(struct ft_job *job);
void ft_durable_unwatch(struct ft_job *job);

/* A checkpoint may have been committed: it is written if it is its turn. */
void ft_durable_look(struct ft_job *job);

/* No rank is left. True: the last checkpoint is on disk, or cannot be, or nobody waits for it any more (ft_durable_hurry). False:
   job->again comes when it is. */
bool ft_durable_settled(struct ft_job *job);
void ft_durable_hurry(struct ft_job *job);

/* NULL: there is no --ckpt-dir. */
const struct ft_durable_totals *ft_durable_totals(const struct ft_job *job);

#endif
