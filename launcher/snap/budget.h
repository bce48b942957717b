/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory, which a job has less of than it seems: a page that a rank writes after its snapshot is there twice. So each snapshot has a
   promise on as much memory as it shares, and none is made whose promise could not be kept. Where memory gets short all the same,
   because the program wants more, what is ours goes first:

   - Snapshots: of all processes the kernel kills these first (slot.h), and then waits until their memory is free. For one that ftrun has
     killed it does not wait, and may take a rank instead. So ftrun drops them only while there is some room to do it in, or if the
     kernel would kill all of a group at once.
   - The log: to its file, before the limit is reached.

       left      what the tightest limit leaves (launcher/base/memory.h), of the group that the rank is in
       promised  to snapshots: what they still share
       reserve   a part of the limit that no snapshot is made from. Half of it left: snapshots are dropped, if they have a quarter of it.
                 A quarter left: the log gives way */
#ifndef LAUNCHER_SNAP_BUDGET_H
#define LAUNCHER_SNAP_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/base/memory.h"

struct ft_budget;
struct ft_job;

/* NULL: no memory. */
struct ft_budget *ft_budget_new(void);
void ft_budget_free(struct ft_budget *b);

/* Looks in which groups ranks are: when they have come to MPI_Init, and now and then. */
void ft_budget_note(const struct ft_job *job);

/* Looks how much there is, and says to the log how much it may have. To be called every few hundredths of a second, with snapshots or
   without: a program can take a gigabyte in a second. */
void ft_budget_look(struct ft_job *job);

/* There is so much that nothing new is to be seen for so long after a look; 0: not so. */
uint64_t ft_budget_rest_ms(const struct ft_job *job);

/* The kernel would kill all of some rank's group: there is to be another look very soon. */
bool ft_budget_hurries(const struct ft_job *job);

/* There is memory for one more snapshot of that rank; it is promised then. */
bool ft_budget_has_room(struct ft_job *job, uint32_t rank);

/* So little is left for that rank that what nobody needs has to go; and its snapshots. */
bool ft_budget_is_short(const struct ft_job *job, uint32_t rank);
bool ft_budget_takes_snapshots(const struct ft_job *job, uint32_t rank);

/* What bounds that rank, as it was when it was last looked at. */
const struct ft_memory *ft_budget_of(const struct ft_job *job, uint32_t rank);

/* For people: where this host's memory is. Bytes. `used` is by whomever; the others are parts of it. */
struct ft_budget_parts {
    struct ft_memory all;     /* the tightest of all ranks' */
    uint64_t programs;        /* the ranks and their children */
    uint64_t snapshots;       /* what they do not share */
    uint64_t promised;        /* to snapshots, beyond that */
    uint64_t log;             /* of messages, and of outcomes */
    uint64_t slots;           /* the rest of the shared memory */
    uint64_t launcher;        /* ftrun's own processes here */
};
void ft_budget_count(const struct ft_job *job, struct ft_budget_parts *p);

#endif
