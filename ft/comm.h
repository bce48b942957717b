/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators: who is in them, and the stream that they work on (MPI 3.1 chapter 6;
   docs/internals/communicators.md).

   One is made by an operation of the one that it is made from, so that a successor is told the same
   (RULE 31). Its stream is one of those that its first rank owns (ft/shm/streams.h), if there is one
   to be had; without one its operations are messages (ft/pass/pass.h). One of a single rank has a
   stream that nobody shares. Ranks of several nodes cannot have one yet. */
#ifndef FT_COMM_H
#define FT_COMM_H

#include "ft/base/sig.h"
#include "ft/ft.h"

struct ft_comm {
    struct ft_stream *stream;
    uint32_t n, me;
    int *ranks;          /* [n], in MPI_COMM_WORLD */
    uint64_t context;    /* no other communicator of any of them has ever had it */
    struct ft *ft;       /* whose it is, of one that was made */
    struct ft_comm *local;  /* NULL. Of an intercommunicator, whose n and ranks are those of the other group: this rank's own; me is in that */
};

/* Ranks that somebody else refers to, too: they are there until all have released them. hold: the same ones. */
int *ft_ranks_hold(int *ranks);
void ft_ranks_release(int *ranks);  /* NULL: nothing */

/* That of all ranks, and that of this one alone; ft_comm_close frees what they have. 0, or FT_ENOMEM. */
int ft_comm_world(struct ft *ft, struct ft_comm *c, struct ft_error *e);
int ft_comm_self(struct ft *ft, struct ft_comm *c, struct ft_error *e);
void ft_comm_close(struct ft_comm *c);

/* All of `parent` call it, and those that say the same color come into a new one, in the order of key, then of their ranks in
   parent; color < 0: into none, and new->n is 0. call: FT_CALL_COMM_SPLIT or another of its kind; FT_CALL_COMM_DUP: color and key are 0 for
   all. Returns when all of them have come.
   0; FT_EINVAL, said to all of the new one and with nothing made: the job has --survive host, they are on several hosts, or there is no stream
   to be had in a job without messages; FT_ENOMEM; errors as any collective's. */
int ft_comm_split(struct ft *ft, const struct ft_comm *parent, enum ft_call call, int64_t color, int64_t key, struct ft_comm *new,
                  uint64_t site, struct ft_error *e);

/* The same of ranks[n] of parent, in that order, this one among them, who alone call it. Others of theirs may be under way at the same time, with
   other tags. They agree by messages. Errors as above, and of messages; of one rank: none but FT_ENOMEM. */
int ft_comm_create_group(struct ft *ft, const struct ft_comm *parent, const uint32_t *ranks, uint32_t n, int tag, struct ft_comm *new,
                         uint64_t site, struct ft_error *e);

/* A duplicate, without waiting for anybody. *r: a request that is over when *new, which stays where it is until then, may be used; NULL: it may.
   end: that request is over; once more does no harm. Errors as above, and of messages. */
struct ft_request;
int ft_comm_idup(struct ft *ft, const struct ft_comm *parent, struct ft_comm *new, struct ft_request **r, uint64_t site, struct ft_error *e);
int ft_comm_idup_end(struct ft *ft, struct ft_comm *new, struct ft_error *e);

/* This rank calls nothing on it any more, nor refers to it. Waits for nobody. Not of the two above. */
void ft_comm_free(struct ft_comm *c);

/* Some have been made, and checkpoints know nothing of them yet. */
bool ft_comm_any(const struct ft *ft);

#endif
