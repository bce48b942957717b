/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which a rank's threads call MPI (MPI_THREAD_MULTIPLE), and that a replay repeats it; docs/internals/threads.md.

   A step is the beginning of a call, or the moment at which a call that has waited tells what others decided. In between
   nothing counts: what is sent, posted and answered is sent, posted and answered in a step. Steps are numbered over all
   threads. How many there have been is in a word that outlives the process; whose they were is written down where that
   changes, before anything follows from it. A replay does each step when it is its turn. So all that the engine numbers
   comes out as before.

   Without threads that call at the same time nothing here is used: struct ft has no order then. */
#ifndef FT_ORDER_H
#define FT_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct ft;
struct ft_order;
struct ft_wait;

/* From now on threads of this process may call at the same time. NULL: they may not, in this job, or there is no memory. */
struct ft_order *ft_order_open(struct ft *ft);

/* After the last call, in place of ft_order_leave; its struct ft is no more. */
void ft_order_close(struct ft_order *o);

/* Around each call: another thread's waits, unless this one waits itself. Calls may be inside of each other: only the outermost is a step. */
void ft_order_enter(struct ft_order *o);
void ft_order_leave(struct ft_order *o);

/* Around a function of the program's that a call makes: it may call MPI. What the first returns is for the second. */
uint32_t ft_order_let(struct ft_order *o);
void ft_order_take(struct ft_order *o, uint32_t depth);

/* In a loop that waits for another thread. */
void ft_order_give_way(struct ft_order *o);

/* ---- for the engine; ft->order may be NULL ---- */

/* In a call that has waited: it goes on in its turn. */
void ft_order_step(struct ft *ft);

/* The next step has been done before, by whichever thread; it was this thread's. */
bool ft_order_replays(const struct ft *ft);
bool ft_order_is_mine(struct ft *ft);

/* It is a new one, and this thread has had to wait before anything is new: what the call has looked at may be another thread's by now. */
bool ft_order_settles(struct ft *ft);

/* A turn of a wait at which this thread has nothing half done: copies may be made meanwhile, which go on from here. */
void ft_order_turn(struct ft *ft, struct ft_wait *w);

/* Before others see a message of this process (ft/outcome/door.h). */
void ft_order_live(const struct ft *ft, bool new);

/* This rank makes or loads a checkpoint. Its threads may not call at the same time: the job is ended if they have, or when they do. */
void ft_order_checkpoint(struct ft *ft);

/* No other thread has anything half done. */
bool ft_order_stands(const struct ft *ft);

#endif
