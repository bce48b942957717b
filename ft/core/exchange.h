/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node's representative owes its neighbours, and they owe it, for one stream: the answer rule (DESIGN section 3, RULES 24 and 25)
   as a pure state machine. Numbers only: which frame goes where next, what to do with one that comes, when a unit can be combined. The
   bytes are moved by whoever drives it (ft/net, the simulator, tests). Memory: this struct and the driver's array of peers; a successor
   makes new ones.

   All of a link's state is a few counts, because both directions of it are in order: for each unit from what the peer said in its HELLO,
   exactly one of PART or RES goes to it, or nothing if it has the result, or if it is not a neighbour in that unit's tree.

     mine     units below are committed: their records are in this node's log (the representative's `done`)
     own      the local contributions of units below are there (all local ranks' `done` but the representative's; bcast: the record)
     folded   the partials of this node's subtree for units below have been combined, and stay until the unit is committed
     peer.count  units below are committed at the peer (HELLO, the head of every frame)
     peer.out    the next unit for which something goes to it, over this connection
     peer.in     units below have come from it as PART or RES, over this connection

   What goes to a peer at unit `out`: nothing if out < count; RES if out < mine; PART if it is UP or EDGE in the operation's tree, the
   operation is no bcast, and out < folded. A commit without PART sent therefore sends RES, in every direction, also upwards.

   HALVES: the ends of the root edge take turns. In each unit one of them is the root and the other its child, so each combines half of
   the units and is given the others. Between these two only:
     peer.ahead  PARTs of units below have gone to it, over this connection: they run ahead of `out`, which stays at the first unit that it is
                 owed the result of. So PARTs are in order, and RESs are, and a RES never goes before a PART of a unit below
     made        units below that we combine have been combined. That may be one unit beyond `mine`, while the one before comes from the
                 other end; the other end is given it at once, nobody else before it is committed. If we die then, whoever has committed it
                 gives it back as RES, and if nobody has, it is combined again: as when a node dies with its log

   Contract with the driver
   - One operation is open at a time (begin ... end); all units below its first are committed. Only while one is open, or at the end in
     finalize, are links driven.
   - A frame is begun (ft_exchange_send) and ended (ft_exchange_sent); in between ft_exchange_broken may come. Its bytes must not change
     meanwhile: log records never do, and a unit is not committed while its PART is being sent (RESULT and RES wait;
     and a PART does not begin while its RES comes in).
   - Likewise a frame that comes is announced (ft_exchange_head), and if it is to be taken, ends in ft_exchange_taken or _broken. RES goes
     straight into the record of unit `mine`. PART of a reduction goes to inbox[peer][u % depth], of a gather into the record: that is
     free until u is committed. Half-taken payload of a broken link is forgotten; it comes again.
   - A connection begins when both ends are new: nothing of an older one is delivered any more. Of two to the same peer the newest is kept. */
#ifndef FT_CORE_EXCHANGE_H
#define FT_CORE_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/core/tree.h"

enum ft_frame {
    FT_FRAME_NONE,
    FT_FRAME_HELLO,  /* my commit count; first on every connection, both ways */
    FT_FRAME_PART,   /* what my subtree (my half) comes to in unit u: a fold, or the slices of its nodes */
    FT_FRAME_RES,    /* the result of unit u */
    FT_FRAME_ACK,    /* my commit count, when nothing else has said it for long */
    FT_FRAME_BYE     /* my commit count, and that I need nothing any more: finalize is over here */
};

enum ft_unit_kind {
    FT_UNIT_REDUCE,  /* partials are folded */
    FT_UNIT_GATHER,  /* partials are slices of the record, written in place */
    FT_UNIT_BCAST,   /* the root's node has the record, the others get it */
    FT_UNIT_HALVES   /* partials are folded; the left end of the root edge combines even units, the right end odd ones. Two nodes at least */
};

enum ft_take {
    FT_TAKE_PART,  /* read the payload to where partials of this peer and unit go, then ft_exchange_taken */
    FT_TAKE_RES,   /* read the payload into the record, then ft_exchange_taken, then publish, then ft_exchange_commit */
    FT_TAKE_DROP,  /* read the payload and forget it, then ft_exchange_taken */
    FT_TAKE_WAIT,  /* not now: leave the link alone until something has been committed, taken, sent or begun; then ask again */
    FT_TAKE_WRONG  /* no peer that is in its senses sends this here and now: close the link, say so */
};

enum ft_step {
    FT_STEP_NONE,
    FT_STEP_FOLD,   /* combine the children's partials of unit u with the own one, then ft_exchange_folded (leaf, gather: nothing to do) */
    FT_STEP_MAKE,   /* HALVES: write the record of unit u, left half op right half, then ft_exchange_made */
    FT_STEP_RESULT  /* write the record of unit u (REDUCE: left half op right half; one node: the fold; others, and finalize's unit: it is
                       there), publish it, then ft_exchange_commit */
};

struct ft_peer {
    uint32_t node;
    uint8_t role[FT_TREES];   /* enum ft_role */
    bool up;                  /* there is a connection, ... */
    bool greeted, heard;      /* ... our HELLO has been sent, its HELLO has come */
    bool gone;                /* it has said BYE */
    bool farewell;            /* we have, over this connection */
    uint8_t sending;          /* enum ft_frame, and of which unit */
    uint8_t taking;           /* enum ft_take + 1; 0: nothing */
    uint64_t sending_unit, taking_unit;
    uint64_t count, out, in;  /* see above */
    uint64_t ahead;
    uint64_t answer;          /* units below were committed here when its HELLO came: RES, whatever their tree */
    uint64_t told;            /* what it knows of `mine` */
    uint64_t told_bytes;      /* of the log, when it was told */
};

struct ft_exchange {
    uint32_t nodes, me, depth;
    struct ft_shape shape[FT_TREES];
    uint32_t n;
    struct ft_peer *peer;           /* [n], the driver's: the neighbours in any of the trees, by node number */
    uint64_t mine, own, folded;
    uint64_t made;
    uint64_t base;                  /* units below have been released here */
    uint64_t bytes;                 /* of all results committed, for acknowledgements */
    uint64_t first, end;            /* the open operation's units; end == 0: none has been */
    enum ft_tree tree;
    enum ft_unit_kind kind;
    uint32_t root;                  /* BCAST: node */
    bool leaving;                   /* in finalize: acknowledge at once, say BYE */
};

/* peer: room for ft_tree_peers, as long as x is used. mine: what the representative's `done` says. depth: units in flight. */
void ft_exchange_init(struct ft_exchange *x, struct ft_peer *peer, uint32_t nodes, uint32_t me, uint32_t depth, uint64_t mine);

/* Index of a node among the peers, or -1: no link to it is needed. */
int ft_exchange_peer(const struct ft_exchange *x, uint32_t node);

/* Opens an operation of units [first, end), first <= mine < end. root: node of a bcast's root, else ignored. own: see above. */
void ft_exchange_begin(struct ft_exchange *x, enum ft_tree tree, enum ft_unit_kind kind, uint32_t root, uint64_t first, uint64_t end,
                       uint64_t own);

/* Local contributions of units below `own` are there. Never less than before. */
void ft_exchange_own(struct ft_exchange *x, uint64_t own);

/* What can be done with what is there. The driver does it and says so (folded, commit). */
enum ft_step ft_exchange_step(const struct ft_exchange *x, uint64_t *u);
void ft_exchange_folded(struct ft_exchange *x, uint64_t u);
void ft_exchange_made(struct ft_exchange *x, uint64_t u);

/* Unit u == mine is published, its result has `bytes`. */
void ft_exchange_commit(struct ft_exchange *x, uint64_t u, uint64_t bytes);

/* A fresh connection to peer p (index), or its end. */
void ft_exchange_connected(struct ft_exchange *x, uint32_t p);
void ft_exchange_broken(struct ft_exchange *x, uint32_t p);

/* Its HELLO. false: what it lacks has been released here; only a restart of all ranks helps (RULE 26). The link is of no use then. */
bool ft_exchange_hello(struct ft_exchange *x, uint32_t p, uint64_t count);

/* The next frame that goes to p, which has thereby been begun; NONE if there is none now (or one is under way). *u: its unit (PART, RES).
   Heads say x->mine. */
enum ft_frame ft_exchange_send(struct ft_exchange *x, uint32_t p, uint64_t *u);
void ft_exchange_sent(struct ft_exchange *x, uint32_t p);

/* The unit whose result is under way or due to p, if it is connected; else mine. */
uint64_t ft_exchange_giving(const struct ft_exchange *x, uint32_t p);

/* The first unit of which the partial of p is still needed, or will be. */
uint64_t ft_exchange_needed(const struct ft_exchange *x, uint32_t p);

/* A frame other than HELLO has begun to come; count: the sender's commit count in its head. ACK and BYE: DROP, nothing follows. */
enum ft_take ft_exchange_head(struct ft_exchange *x, uint32_t p, enum ft_frame frame, uint64_t u, uint64_t count);
void ft_exchange_taken(struct ft_exchange *x, uint32_t p);

/* Something is under way or due to a connected peer: the representative stays in the call. */
bool ft_exchange_owes(const struct ft_exchange *x);

/* All of an operation's units are committed. With !owes the call may return. */
static inline bool ft_exchange_over(const struct ft_exchange *x) { return x->mine >= x->end; }

/* The log is released below this unit (--survive rank), which every peer that has not gone is known to have committed: its `count`. */
void ft_exchange_release(struct ft_exchange *x, uint64_t base);

/* Finalize: a unit without payload that everybody takes part in; ft_exchange_leave comes before its ft_exchange_begin. Nobody leaves before all
   neighbours have all results (they would ask in vain): links are driven until ft_exchange_settled: then all have acknowledged, and our
   BYE is out to those that are connected. A peer that has said BYE, or that the agent knows to have left (ft_exchange_gone), needs nothing
   and answers nothing. But that it has left says that the last unit is committed, and so it is here (STEP_RESULT). A node that is replaced
   then lacks no more than that if it has the whole log of any other, since all had come so far. */
void ft_exchange_leave(struct ft_exchange *x);
void ft_exchange_gone(struct ft_exchange *x, uint32_t p);
bool ft_exchange_settled(const struct ft_exchange *x);

#endif
