/* SPDX-License-Identifier: BSD-3-Clause */
/* A job on one host, as control.h shows it. */
#ifndef LAUNCHER_AGENT_CONTROL_JOB_H
#define LAUNCHER_AGENT_CONTROL_JOB_H

#include "launcher/agent/state.h"
#include "launcher/control/server.h"

struct ft_control_job ft_control_job_of(struct ft_agent *a);

#endif
