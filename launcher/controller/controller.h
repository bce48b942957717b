/* SPDX-License-Identifier: BSD-3-Clause */
/* A job on several hosts, in the process that the user started: starts a node on each (remote.h), does what nodes_policy.h says about
   their life and death, prints what their ranks print (merge.h). Ranks, and all that is shared between them, are their nodes'. If this process
   is gone, every node ends within a lease. */
#ifndef LAUNCHER_CONTROLLER_CONTROLLER_H
#define LAUNCHER_CONTROLLER_CONTROLLER_H

#include "launcher/base/address.h"
#include "launcher/options/options.h"
#include "launcher/wire/description.h"

/* What is known of a job whose hosts have found each other (--rdzv): they come by themselves (comers.h). */
struct ft_lead {
    unsigned char secret[FT_JOB_SECRET_BYTES];  /* the job's, which each host knows */
    uint64_t come_ms;          /* so long the first ones may take to come */
    struct ft_address towards; /* where they are; len 0: anywhere */
    int tell;                  /* where the controller can be reached is written there, a line: addresses with ports, commas between them */
};

/* options->map says who is where. lead NULL: hosts are started by --launcher. Returns ftrun's exit code; whatever went wrong has been told. */
int ft_controller_run(const struct ft_options *options, const struct ft_lead *lead);

#endif
