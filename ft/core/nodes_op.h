/* SPDX-License-Identifier: BSD-3-Clause */
/* One operation between nodes while it runs: shared by nodes.c, which runs it, nodes_local.c, what every rank does,
   nodes_exchange.c, what the representative does, and frames.c, what is in frames. Units are
   relative to the operation's first one where they are called i, else u. */
#ifndef FT_CORE_NODES_OP_H
#define FT_CORE_NODES_OP_H

#include "ft/core/nodes.h"

enum { FT_NODES_RING = 64 };  /* positions at hand: four windows at least */

struct ft_nodes_op {
    struct ft_coll *c;
    struct ft_nodes *n;
    enum ft_unit_kind kind;
    bool takes;                  /* it is over for this rank when the result is there: one that receives it, or a barrier's */
    bool small;                  /* a reduction that the representative folds alone */
    bool halves;                 /* a reduction of several units: the ends of the root edge combine half of them each (FT_UNIT_HALVES) */
    uint64_t in, made, out;      /* units contributed, made, consumed */
    uint64_t made_at, out_at;    /* where the records before them end */
    uint64_t own;                /* all local ranks have made so many (the representative's picture) */
    bool begun, verified, checked, past_cache;
    char *received;              /* where the result that comes in is, if not in its record */

    /* the representative's */
    bool live, last;             /* it has units that are not committed; a replay comes to its end with it */
    struct ft_wait wait;         /* for what it waits, since something moved */
    struct ft_await memory;      /* in this turn a record was to be written that has none yet; else of kind NOBODY */
    uint64_t since_ns;           /* it waits for a peer that is not there; 0: it does not */

    /* ... where records are, from the node's commit count on */
    uint64_t base, placed;       /* units of which positions are known: the last FT_NODES_RING of [base, placed) */
    uint64_t placed_end;
    uint64_t committed_end;      /* where the record before the next one to be committed ends */
    uint64_t at[FT_NODES_RING];
};

static inline uint64_t ft_nodes_unit(const struct ft_nodes_op *op, uint64_t i) { return op->c->s->first + i; }

/* Of a view, unit i has the packed bytes from there on. */
static inline uint64_t ft_nodes_from(const struct ft_nodes_op *op, uint64_t i)
{
    return i * op->c->plan.segment;
}

/* What this rank contributes to unit i of a reduction. Also by a user's function: a type with holes
   will need a copy here. */
static inline const char *ft_nodes_own(const struct ft_nodes_op *op, uint64_t i)
{
    return ft_view_direct(&op->c->send, ft_nodes_from(op, i));
}

/* Where the record of unit i goes when the one before it ends at `before`. *result: bytes of its result. */
uint64_t ft_nodes_place(const struct ft_nodes_op *op, uint64_t i, uint64_t before, uint64_t *result);

/* Where unit i's record is. base <= i, and not long ago. */
uint64_t ft_nodes_at(struct ft_nodes_op *op, uint64_t i);

/* Representative: unit u's record cannot be written yet; op->memory says so. */
bool ft_nodes_lacks_memory(struct ft_nodes_op *op, uint64_t u);

/* Unit u is of this operation, and its record is where it was written: nobody moves it before done_at is past it. */
bool ft_nodes_hot(struct ft_nodes_op *op, uint64_t u);

/* The payload of unit u's record. */
char *ft_nodes_payload(struct ft_nodes_op *op, uint64_t u);

/* Of a gather: where node k's slices begin in unit i's payload; k == n: its length. */
uint64_t ft_nodes_slices_at(const struct ft_nodes_op *op, uint64_t i, uint32_t k);

/* What this node's subtree comes to in unit u, once it is folded. */
const char *ft_nodes_partial(struct ft_nodes_op *op, uint64_t u);

/* So many committed units are being sent from where they are that no more may be committed. */
bool ft_nodes_lags(struct ft_nodes_op *op);

/* The result of unit u, which is at hand (ft_nodes_hot) or made, where it is likely to be in the cache: where the only rank of its node has it, or
   in its record. */
const char *ft_nodes_result(struct ft_nodes_op *op, uint64_t u);

/* Where the result of unit u, which another node has made, is received; when it is there it is published. */
char *ft_nodes_sink(struct ft_nodes_op *op, uint64_t u);
void ft_nodes_take_result(struct ft_nodes_op *op, uint64_t u);

/* The record of unit u, the next one, is written but for its head: publishes it. */
void ft_nodes_commit(struct ft_nodes_op *op, uint64_t u);

/* acc = x op (what has been pushed before), from the right. The first is not copied if it need not be.
   Begins as { .op, .acc, .n }. */
struct ft_nodes_fold {
    const struct ft_nodes_op *op;
    const char *first;
    char *acc;
    bool begun;
    uint64_t n;
};

void ft_nodes_push(struct ft_nodes_fold *f, const char *x);
/* All local ranks' contributions to unit i, from `from` on. */
void ft_nodes_push_slots(struct ft_nodes_fold *f, uint64_t i, uint64_t from);

/* What local ranks make together of a large unit, in the region. */
char *ft_nodes_local_partial(const struct ft_nodes_op *op, uint64_t u);

/* Whether all local ranks are in the same call. */
int ft_nodes_verify(struct ft_nodes_op *op, struct ft_error *e);

/* The steps that need no other node. 1: something was done; 0; an error. */
int ft_nodes_local_steps(struct ft_nodes_op *op, struct ft_error *e);

/* This rank has made and consumed all of it. */
bool ft_nodes_over(const struct ft_nodes_op *op);

/* Which other local rank this one waits for; false: for none. As in units.c: never for itself. */
bool ft_nodes_awaits(const struct ft_nodes_op *op, struct ft_await *a);

/* ---- the representative's ---- */

/* Before its first step. */
void ft_nodes_begin(struct ft_nodes_op *op);

/* As struct ft_algorithm has it; *a of kind NOBODY: other nodes. */
int ft_nodes_represent(struct ft_nodes_op *op, struct ft_await *a, struct ft_error *e);
int ft_nodes_await(struct ft_nodes_op *op, const struct ft_await *a, struct ft_error *e);

/* The keeper may move what is below. */
void ft_nodes_release(struct ft_nodes_op *op, uint64_t position);

/* Peers that have finished with everything, as agents know. */
void ft_nodes_look_for_gone(struct ft_nodes *n);

static inline uint64_t ft_nodes_slot(const struct ft_nodes *n, uint64_t u)
{
    return (u & (n->s->params->slot_depth - 1)) * n->s->params->slot_bytes;
}

/* Unit u of what peer p gives. */
static inline char *ft_nodes_inbox(const struct ft_nodes *n, uint32_t p, uint64_t u)
{
    return n->inbox[p].bytes + ft_nodes_slot(n, u - n->inbox[p].from);
}

#endif
