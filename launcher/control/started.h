/* SPDX-License-Identifier: BSD-3-Clause */
/* The ftrun that a user has started is not always the one that answers for the job: with --rdzv that is a child of it, the controller or
   a node. */
#ifndef LAUNCHER_CONTROL_STARTED_H
#define LAUNCHER_CONTROL_STARTED_H

#include <stdbool.h>
#include <sys/types.h>

#include "launcher/control/rundir.h"

enum { FT_STARTED_TEXT = 1024 };

/* The id of a job that a process answers for on a socket in dir which is `pid`, or was started by it through nothing but ftruns. */
bool ft_started_find(int dir, pid_t pid, char id[FT_SOCKET_NAME]);

/* pid is an ftrun of this user's with --rdzv: its URL, without what is secret. */
bool ft_started_url(pid_t pid, char url[FT_STARTED_TEXT]);

#endif
