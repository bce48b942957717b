/* SPDX-License-Identifier: BSD-3-Clause */
/* --check-replay: ftrun kills each rank itself, lets it be put back as after any death, and counts the replays that differ. Such a kill is
   no death in the report, and no restart.

   When: at numbers of records (outcomes, and units of MPI) that the seed decides, each about twice as large as the one before; and when it has
   left with 0. Then it is put back once more, and follows all of its log to its end. All replays together take about two times as many
   records as the run has. While nobody asks for newer snapshots (--snapshot) there is only the one of before main: each replay is of all
   that there was. A rank that has differed once is left alone. */
#ifndef LAUNCHER_RANKS_CHECK_H
#define LAUNCHER_RANKS_CHECK_H

#include <stdbool.h>
#include <stdint.h>

struct ft_job;
struct ft_proc;

enum { FT_CHECK_MS = 2 };

/* Every FT_CHECK_MS: kills those that are due and can be put back. */
void ft_check_tick(struct ft_job *job);

struct ft_event;

/* It is dead, and this is what the policy is to be told. Says there if that is because of a check, or if it has left and is put back once more.
   Who differs then has left all the same. */
void ft_check_look(struct ft_job *job, struct ft_event *death);

/* It will have a successor: after such a death, and after another one. */
bool ft_check_is(const struct ft_job *job, uint32_t rank);
void ft_check_died(struct ft_job *job, uint32_t rank);
void ft_check_left(struct ft_job *job, uint32_t rank);

/* A successor of what a check killed begins, on the way in its ft_proc. */
void ft_check_back(struct ft_job *job, uint32_t rank);

/* It will not be started again: says so if it was never checked. */
void ft_check_retired(struct ft_job *job, uint32_t rank);

#endif
