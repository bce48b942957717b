/* SPDX-License-Identifier: BSD-3-Clause */
/* What is behind comm.h: comm.c makes and frees, comm_group.c is ft_comm_create_group, comm_idup.c does not wait. */
#ifndef FT_COMMS_H
#define FT_COMMS_H

#include "ft/comm.h"
#include "ft/handle.h"

/* A context: a communicator's first rank, in MPI_COMM_WORLD, and which of those it is that it is the first rank of. Above that what its
   messages are for, if not the program's. */
#define FT_CONTEXT_MAKES (1ull << 63)    /* another one is made */
#define FT_CONTEXT_HIDDEN (1ull << 62)   /* collectives */
#define FT_CONTEXT_IDUP (1ull << 61)     /* MPI_Comm_idup: its answer may come while collectives go on */
uint64_t ft_context_of(int first, uint64_t number);

/* The number of the next one. A replay makes the same ones in the same order. */
uint64_t ft_context_next(struct ft *ft);

/* For n ranks, which one refers to. NULL: no memory. */
int *ft_ranks_new(uint32_t n);

/* What the first rank of a new one says: its number, and which stream it is, or stream 0: none. All are free that everybody has left. Each says
   whether it can come into one more. offer: the stream. */
enum { FT_OFFER_NUMBER, FT_OFFER_STREAM, FT_OFFER_USE, FT_OFFER_UNIT, FT_OFFER_END, FT_OFFER_ROOM, FT_OFFERS };
void ft_comm_offer(const struct ft *ft, int64_t *words);
bool ft_comm_has_room(const struct ft *ft);

/* What all of the new one can see alike. 0 or FT_EINVAL. */
int ft_comm_check_place(const struct ft *ft, const struct ft_comm *new, struct ft_error *e);

/* Its ranks are there; words: what its first rank has said; room: all of them have some. Errors of comm.h. */
int ft_comm_open(struct ft *ft, const struct ft_comm *parent, struct ft_comm *new, const int64_t *words, bool room, struct ft_error *e);

/* The same of one of several ranks without a stream. */
int ft_comm_open_passing(struct ft *ft, const struct ft_comm *parent, struct ft_comm *new, struct ft_error *e);

#endif
