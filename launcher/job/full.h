/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said when the log has reached its limit: once in the job's life, whichever process runs it. */
#ifndef LAUNCHER_JOB_FULL_H
#define LAUNCHER_JOB_FULL_H

#include "launcher/job/job.h"

/* Says it if it has happened and is not said yet. Nothing if no rank is ever restarted. */
void ft_full_tell(const struct ft_job *job);

#endif
