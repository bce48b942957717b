/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of a job whose hosts have found each other (--rdzv): they come by themselves (comers.h). */
#ifndef LAUNCHER_CONTROLLER_LEAD_H
#define LAUNCHER_CONTROLLER_LEAD_H

#include <stdint.h>

#include "launcher/base/address.h"
#include "launcher/wire/description.h"

struct ft_lead {
    unsigned char secret[FT_JOB_SECRET_BYTES];  /* the job's, which each host knows */
    uint64_t come_ms;          /* so long the first ones may take to come */
    struct ft_address towards; /* where they are; len 0: anywhere */
    int go;                    /* readable with a byte: this is the round's controller. At its end without: it is not, and never was */
    int tell;                  /* lines: FT_LEAD_AT where the controller can be reached, addresses with ports, commas between them; FT_LEAD_RUNS the
                                  process that runs the job now; FT_LEAD_OVER its exit code. Open as long as a process of the controller lives */
};

#define FT_LEAD_AT "at "
#define FT_LEAD_RUNS "runs "
#define FT_LEAD_OVER "over "

#endif
