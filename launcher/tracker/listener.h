/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the tracker listens. */
#ifndef LAUNCHER_TRACKER_LISTENER_H
#define LAUNCHER_TRACKER_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/base/err.h"

/* A port that all hosts of a job can know before there is a tracker. */
uint16_t ft_tracker_port_for(const char *job_id);

/* A socket, close-on-exec and non-blocking, for connections from this host or, not `here`, from every one; port 0: any that is free. *got: its
   port. FT_ESYS. */
int ft_tracker_listen(bool here, uint16_t port, uint16_t *got, struct ft_error *e);

#endif
