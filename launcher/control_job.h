/* SPDX-License-Identifier: BSD-3-Clause */
/* A job on one host, as control.h shows it. */
#ifndef LAUNCHER_CONTROL_JOB_H
#define LAUNCHER_CONTROL_JOB_H

#include "launcher/control.h"
#include "launcher/job.h"

struct ft_control_job ft_control_job_of(struct ft_job *job);

#endif
