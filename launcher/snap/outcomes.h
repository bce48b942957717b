/* SPDX-License-Identifier: BSD-3-Clause */
/* What the agent learns from a rank's log of outcomes (ft/outcome/log.h) beside how much of it is needed. */
#ifndef LAUNCHER_SNAP_OUTCOMES_H
#define LAUNCHER_SNAP_OUTCOMES_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/outcome/log.h"

struct ft_job;
struct ft_snapshot;

/* NULL: nothing is recorded in this job. */
struct ft_outcome_words *ft_outcomes_of(const struct ft_snapshot *s);

/* Passes on what the rank has to tell the user, and says why ways back were closed. */
void ft_outcomes_tell(struct ft_snapshot *s);

/* Says so if the rank's death would end the job, and has for seconds: all its ways back are closed, and from its start it would do other things. */
void ft_outcomes_tell_lost(struct ft_snapshot *s, uint64_t now_ns);

/* With -vv: how much of the rank was recorded, which is over. */
void ft_outcomes_tell_end(const struct ft_job *job, uint32_t rank);

/* So many calls that write were `counted` by the kernel (ft_death_writes), before this. True: some went past the library, and
   would be done again in a replay. Then the ways back are closed, and it is said once. */
bool ft_outcomes_went_past(struct ft_snapshot *s, uint64_t counted);

/* The rank is dead. If its replay differed from the log it touched nothing, and may be tried again, but not for ever: then the snapshot
   that it came from is given up. Notes in its ft_proc whether it went astray so, or died of a signal that it sent itself. */
void ft_outcomes_buried(struct ft_snapshot *s);

/* So many calls of it are recorded, over all incarnations. */
uint64_t ft_outcomes_done(const struct ft_job *job, uint32_t rank);

/* Why its ways back were closed, last; NULL: they never were. */
const char *ft_outcomes_closed(const struct ft_job *job, uint32_t rank);

/* It has been connected with processes that are perhaps on other hosts: what it has told them a start from its beginning would tell again. */
bool ft_outcomes_connected(const struct ft_job *job, uint32_t rank);

/* Its replay differs from what it did before, which is told: counted once, if --check-replay has killed it for that replay. */
void ft_outcomes_differ(struct ft_job *job, uint32_t rank);

/* NULL: the rank may be started from its beginning, as far as its files are concerned; else what it has done that it would do otherwise
   then (ft/outcome/once.h). Of a rank that is not recorded nothing is known, nor of what a recorded one did beside its log. */
const char *ft_outcomes_once(const struct ft_job *job, uint32_t rank);

#endif
