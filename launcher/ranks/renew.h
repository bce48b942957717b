/* SPDX-License-Identifier: BSD-3-Clause */
/* The last way back (ways.h, FT_BACK_ALL): a rank can neither go on from a snapshot nor start over alone, because a part of the log that
   it would need is gone. All ranks are killed, those that had left included; when nothing is left of any of them the log
   and all counters are made new, and all start again from the beginning. What they print again is dropped as in any restart.

   Whatever the policy has not been told of yet is done again by a successor: it finds the job gathering, all ranks where they
   are, and the keeper finishes a reset that was cut short (ft_region_resetting). */
#ifndef LAUNCHER_RANKS_RENEW_H
#define LAUNCHER_RANKS_RENEW_H

#include "launcher/job/job.h"

/* rank starts with all others, whatever has become of it. */
void ft_renew_recall(struct ft_job *job, uint32_t rank);

/* Some rank is dead, or more is left of it than was: once all are, and nothing is left, makes everything new and tells
   the policy. False: look again soon. */
bool ft_renew_try(struct ft_job *job);

#endif
