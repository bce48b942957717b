/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process has of its job: what is behind ft.h's struct ft. Made and ended in ft.c. */
#ifndef FT_HANDLE_H
#define FT_HANDLE_H

#include <limits.h>

#include "ft/checkpoint.h"
#include "ft/core/cache.h"
#include "ft/core/nodes.h"
#include "ft/made.h"
#include "ft/net/links.h"
#include "ft/order.h"
#include "ft/outcome/door.h"
#include "ft/values.h"

struct ft {
    struct ft_region region;    /* base NULL in a world of one */
    struct ft_patience patience;
    struct ft_place place;
    struct ft_stream world, self;
    struct ft_joined *joined[FT_MOST_STREAMS];  /* [njoined]: other streams that this incarnation has come into (ft/comm.c) */
    uint32_t njoined;
    uint64_t nfirst;            /* communicators that it is the first rank of: so many it has made */
    bool comms;                 /* one of several ranks has been made */
    struct ft_offer *offers;    /* streams that this rank has offered, and nobody has come into yet: of several threads */
    struct ft_made made;        /* communicators that there are */
    struct ft_messages *messages;  /* from the first one on (ft/message.c) */
    struct ft_rank_block *block;
    struct ft_door *door;       /* to the library that makes snapshots of this process; NULL: nobody does */
    struct ft_order *order;     /* of calls, where threads make them at the same time; or NULL */
    bool puts_off;              /* the snapshot that is due, by one call (ft/collective.c) */
    struct ft_checkpoints checkpoints;
    struct ft_cache cache;
    struct ft_values_caller values;
    struct ft_nodes *nodes;     /* of a job on several nodes, [1 + spread] of them, ... */
    struct ft_net *net;         /* ... its representative's; else NULL */
    int kick_fd, spill_fd;
    char host[HOST_NAME_MAX + 1];
};

/* A snapshot is due. */
static inline bool ft_handle_due(const struct ft *ft)
{
    const struct ft_door *door = ft->door;

    return __builtin_expect(door && atomic_load_explicit(door->want, memory_order_relaxed) != *door->answered, 0) && ft_order_stands(ft);
}

/* A snapshot is wanted; true: this process is its copy, which goes on as the rank. What the program does next writes all of the bytes at
   `unread` and reads none of them, and the copy repeats that: the snapshot need not have them. NULL: nothing is known. */
/* A call of the engine, from here to there: other threads make no copy meanwhile. Returns whether it is to be said that it ends. */
static inline bool ft_handle_begin(const struct ft *ft)
{
    bool says = __builtin_expect(ft && ft->door && *ft->door->many, 0) && !ft->order;

    if (says)
        ft->door->calls(true);
    return says;
}

static inline void ft_handle_end(const struct ft *ft, bool says)
{
    if (__builtin_expect(says, 0))
        ft->door->calls(false);
}

bool ft_handle_snapshot(struct ft *ft, void *unread, uint64_t bytes);

/* The streams of communicators, for what is said of this rank, and for who is woken. */
void ft_comms_positions(const struct ft *ft, struct ft_positions *p);
void ft_comms_resume(struct ft *ft);
void ft_comms_close(struct ft *ft);

/* The one of ft->joined[i]. */
const struct ft_stream *ft_comms_stream(const struct ft *ft, uint32_t i);

/* It had been in this stream, and had left it, when its checkpoint was made: as if it had been so in this life. 0 or FT_ENOMEM. */
int ft_comms_left(struct ft *ft, const struct ft_use *was, struct ft_error *e);

/* MPI_COMM_WORLD is 0, MPI_COMM_SELF 1, others as in made.h, and 1 more. False, UINT64_MAX: there is none. */
bool ft_comms_context(const struct ft *ft, uint64_t number, uint64_t *context);
uint64_t ft_comms_number(const struct ft *ft, uint64_t context);

/* Its messages, likewise. */
void ft_messages_positions(const struct ft *ft, struct ft_positions *p);
void ft_messages_resume(struct ft *ft);
void ft_messages_finalize(const struct ft *ft);
void ft_messages_close(struct ft *ft);

#endif
