/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of a job on several nodes (DESIGN section 3, "between nodes";
   docs/internals/between-nodes.md). The ranks of a node share memory as ever; local rank 0, the
   representative, also speaks for the node, over links whose state is in ft/core/exchange.h. Here
   is what is in the frames and where it goes; who moves the bytes (ft/net/links.h) comes in as
   struct ft_wire.

   Every unit has the same record on every node: reductions the result (also MPI_Reduce: only the root takes it), gathers all slices in
   the order of places. So a node that lacks a unit can have it from any other.

     contribute  reductions: into my slot (the only rank of a node: nothing, its buffer is read)     contributed[me] = u + 1
     make        my part of what the node's ranks make together: reductions: a chunk of the partial (small ones: nothing, the
                 representative folds the slots); gathers: my slice of the record; bcast: the root writes the record. Others say
                 done[me] = u + 1 after it: that is all they owe
     exchange    the representative, for the node: what ft_exchange_step and its peers' frames ask for. When the record is there:
                                                                                                     done[0] = u + 1
     consume     as ever, when everybody's done is past u

   done[0] is the node's commit count: what other nodes are told. done_at[0] lags behind it while a record is being sent from where it is
   in memory: the keeper leaves it there. */
#ifndef FT_CORE_NODES_H
#define FT_CORE_NODES_H

#include "ft/core/exchange.h"
#include "ft/core/frame.h"
#include "ft/core/op.h"

/* How frames of all streams travel. */
struct ft_wire {
    void *net;
    /* Sends and takes what can be sent and taken without waiting, of whatever stream. 1: something has moved; 0; an error. */
    int (*turn)(void *net, struct ft_error *e);
    /* Asks for the links of a stream that this rank has come into. */
    void (*start)(void *net, uint32_t stream);
    /* Nothing moves: one turn of a wait for another node, or `local`, for this one: it has said what for. True when
       the wait is a long one by now. */
    bool (*pause)(void *net, struct ft_wait *w, bool local);
    /* Tells the agent to look. */
    void (*ring)(void *net);
};

struct ft_nodes_op;

/* Reads old results out of the log, for a peer. */
struct ft_nodes_reader {
    uint64_t unit, position;  /* the next one, and where the record before it ends; position 0 and unit 0 to begin with */
    char *bytes;
    uint64_t room;
};

/* Partials that have come from a peer. */
struct ft_nodes_inbox {
    char *bytes;                   /* [depth] of segment; NULL: none has come */
    uint64_t from;                 /* the unit in the first place of it */
};

/* All of a rank's, of one stream. It lives as long as the rank: who has left the stream answers those that lack its results. */
struct ft_nodes {
    uint32_t number;               /* of the stream */
    struct ft_stream *s;           /* this rank's handle of it; NULL: it has not come into it yet */
    const struct ft_region *region;
    uint32_t n, node;              /* nodes, and this one's number */
    const uint32_t *first, *rank_at;
    bool straight;                 /* rank_at[place] == place */
    bool represents;

    /* the representative's */
    struct ft_wire wire;
    struct ft_exchange x;
    struct ft_nodes_op *op;        /* in progress, or NULL */
    struct ft_nodes_inbox *inbox;  /* [x.n] */
    struct ft_nodes_reader *reader; /* [x.n] */
    char *folds;                   /* partials of the subtree, [depth] of segment */
    bool lingers;                  /* a link is not there, or was not: see ft_nodes_represent */
};

/* Of stream `number`, 0 to spread; the region's map is there. wire NULL: this rank is no representative. 0, or FT_ENOMEM: ft_nodes_close, then,
   too. */
int ft_nodes_open(struct ft_nodes *n, const struct ft_region *region, uint32_t number, const struct ft_wire *wire, struct ft_error *e);
void ft_nodes_close(struct ft_nodes *n);

/* This rank has come into the stream. s stays the caller's, and stays where it is when it has been left, too, until this rank comes in again. */
void ft_nodes_join(struct ft_nodes *n, struct ft_stream *s);

/* The copy that a snapshot has kept goes on: there are no links, and `done` may be further. */
void ft_nodes_resume(struct ft_nodes *n);

/* A reduction is done by gathering, and by folding what was gathered privately: elements that are too big to send in pieces, or an order of
   ranks that is not that of places and an operator that may mind. */
bool ft_nodes_gathers(const struct ft_nodes *n, const struct ft_coll *c, const struct ft_sig *sig);

/* One turn of a wait for something of this node between two operations: the representative serves the links meanwhile, so that nobody
   waits for it who waits for a result that it has. 0, or an error. */
int ft_nodes_idle(struct ft_nodes *n, struct ft_wait *w, struct ft_error *e);

/* The representative: the agent is to look at what it has written. */
void ft_nodes_ring(const struct ft_nodes *n);

/* The representative, in MPI_Finalize when its unit is committed: returns when no other node can ask for anything any more. */
int ft_nodes_leave(struct ft_nodes *n, struct ft_error *e);

/* ---- for the wire ---- */

/* The next frame for peer p: its head, and its payload, which stays where it is until ft_exchange_sent or _broken. *head.type is
   FT_FRAME_NONE if there is none. 0, FT_ESPACE, FT_ENOMEM. */
int ft_nodes_outgoing(struct ft_nodes *n, uint32_t p, struct ft_frame_head *head, const char **payload, struct ft_error *e);

/* A frame from peer p has begun. *take: what to do with its payload; PART and RES go to *sink, then ft_nodes_arrived; DROP as well, when all has been
   read. 0, FT_EJOB: it is not of this stream, or not of this job; FT_EMISMATCH, FT_ESPACE, FT_ENOMEM. */
int ft_nodes_incoming(struct ft_nodes *n, uint32_t p, const struct ft_frame_head *head, enum ft_take *take, char **sink,
                      struct ft_error *e);
void ft_nodes_arrived(struct ft_nodes *n, uint32_t p);

#endif
