/* SPDX-License-Identifier: BSD-3-Clause */
/* What is recorded of the ranks (docs/outcomes.md), for their snapshots and their sockets. */
#ifndef LAUNCHER_AGENT_RECORDING_H
#define LAUNCHER_AGENT_RECORDING_H

#include <stdint.h>

#include "ft/base/err.h"

struct ft_job;
struct ft_params;

/* Fills in what of it the ranks go by; limit: bytes of the job's log (--log-limit). FT_EINVAL with a line: --sockets wants what cannot be
   here. */
int ft_recording_choose(const struct ft_job *job, struct ft_params *params, uint64_t limit, struct ft_error *e);

#endif
