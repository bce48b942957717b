/* SPDX-License-Identifier: BSD-3-Clause */
/* --bootstrap-cache on several nodes. A rank that has come back by a checkpoint may not know
   whether a call is the unit that it stands at or one whose result is in the cache; if no rank of
   its node ever called that unit, other nodes may know (docs/internals/bootstrap-cache.md). Its
   representative says which unit it is (ft/shm/doubt.h) and rings; this asks the other nodes'
   agents, one after the other and again, until

     one of them knows            its ranks have called the unit, or it is in its log
     every rank of the job asks   nobody knows, or ever will: the operation is done once more

   and tells the ranks. Who is asked remembers nothing. */
#ifndef LAUNCHER_NODE_DOUBTS_H
#define LAUNCHER_NODE_DOUBTS_H

#include <stdint.h>

struct ft_answer;
struct ft_doubts;
struct ft_node;
struct ft_region;

/* NULL: no memory. In all that follows d may be NULL: there are no other nodes. */
struct ft_doubts *ft_doubts_new(struct ft_node *node);
void ft_doubts_free(struct ft_doubts *d);

/* This process is the agent. -1: no memory. */
void ft_doubts_forget(struct ft_doubts *d);
int ft_doubts_serve(struct ft_doubts *d);
void ft_doubts_leave(struct ft_doubts *d);

/* The bell rang. */
void ft_doubts_look(struct ft_doubts *d);

/* The other end, used by links.c: fills verdict and position. */
void ft_doubts_answer(const struct ft_region *region, int spill_fd, uint64_t unit, struct ft_answer *a);

#endif
