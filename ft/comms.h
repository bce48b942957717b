/* SPDX-License-Identifier: BSD-3-Clause */
/* What is behind comm.h: comm.c makes and frees, comm_group.c is ft_comm_create_group, comm_idup.c does not wait,
   intercomm.c makes intercommunicators. */
#ifndef FT_COMMS_H
#define FT_COMMS_H

#include "ft/comm.h"
#include "ft/handle.h"

/* A context: a communicator's first rank, in MPI_COMM_WORLD, and which of those it is that it is the first rank of. Above that what its
   messages are for, if not the program's. */
#define FT_CONTEXT_MAKES (1ull << 63)    /* another one is made */
#define FT_CONTEXT_HIDDEN (1ull << 62)   /* collectives */
#define FT_CONTEXT_IDUP (1ull << 61)     /* MPI_Comm_idup: its answer may come while collectives go on */
#define FT_CONTEXT_USES (FT_CONTEXT_MAKES | FT_CONTEXT_HIDDEN | FT_CONTEXT_IDUP)
uint64_t ft_context_of(int first, uint64_t number);

/* The number of the next one. A replay makes the same ones in the same order. */
uint64_t ft_context_next(struct ft *ft);

/* For n ranks, which one refers to. NULL: no memory. */
int *ft_ranks_new(uint32_t n);

/* What each rank says of a split, and who has said the same color, in the order of keys: n ranks have said it, as many may be chosen. */
enum { FT_CHOICE_COLOR, FT_CHOICE_KEY, FT_CHOICE };
struct ft_chosen {
    int64_t key;
    uint32_t rank;
};
uint32_t ft_comm_choose(const int64_t *said, uint32_t n, int64_t color, struct ft_chosen *chosen);

/* What the first rank of a new one says: its number, and which stream it is, or stream 0: none. All are free that everybody has left. Each says
   whether it can come into one more. offer: the stream, which no other
   thread offers until end_offer. */
enum { FT_OFFER_NUMBER, FT_OFFER_STREAM, FT_OFFER_USE, FT_OFFER_UNIT, FT_OFFER_END, FT_OFFER_ROOM, FT_OFFERS };
struct ft_offer {         /* of one that a thread is making */
    uint32_t stream;
    struct ft_offer *next;
};
void ft_comm_offer(struct ft *ft, struct ft_offer *o, int64_t *words);
void ft_comm_end_offer(struct ft *ft, struct ft_offer *o);
bool ft_comm_has_room(const struct ft *ft);

/* What all of the new one can see alike. 0 or FT_EINVAL. */
int ft_comm_check_place(const struct ft *ft, const struct ft_comm *new, struct ft_error *e);

/* Its ranks are there; words: what its first rank has said; room: all of them have some. Errors of comm.h. */
int ft_comm_open(struct ft *ft, const struct ft_comm *parent, struct ft_comm *new, const int64_t *words, bool room, struct ft_error *e);

/* The same of one of several ranks without a stream, which has its context already; an intercommunicator, too. */
int ft_comm_open_passing(struct ft *ft, const struct ft_comm *parent, struct ft_comm *new, struct ft_error *e);

/* It is one of those that there are. 0 or FT_ENOMEM. */
int ft_comm_note(struct ft *ft, struct ft_comm *new, struct ft_error *e);

/* Its context is known. */
void ft_comm_has_context(struct ft_comm *new);

/* Of an intercommunicator: of the two groups one goes first where it makes no difference which. Both ranks 0 say the same. */
bool ft_intercomm_goes_first(const struct ft_comm *c);

/* A new one is to have that group as its own one, and that one as the other; takes both over, also with an error: FT_ENOMEM. */
int ft_intercomm_groups(struct ft_comm *new, int *local, uint32_t nlocal, uint32_t me, int *remote, uint32_t nremote, struct ft_error *e);

#endif
