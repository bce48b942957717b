/* SPDX-License-Identifier: BSD-3-Clause */
/* A job on several hosts, in the process that the user started: starts a node on each (remote.h), does what nodes_policy.h says about
   their life and death, prints what their ranks print (merge.h). Ranks, and all that is shared between them, are their nodes'. If this process
   is gone, every node ends within a lease. */
#ifndef LAUNCHER_CONTROLLER_CONTROLLER_H
#define LAUNCHER_CONTROLLER_CONTROLLER_H

#include "launcher/options/options.h"

struct ft_lead;

/* options->map says who is where. lead (lead.h) NULL: hosts are started by --launcher. Returns ftrun's exit code; whatever went wrong has been told. */
int ft_controller_run(const struct ft_options *options, const struct ft_lead *lead);

#endif
