/* SPDX-License-Identifier: BSD-3-Clause */
/* One operation between nodes while it runs: shared by nodes.c, which runs it, and frames.c, which says what is in frames. Units are
   relative to the operation's first one where they are called i, else u. */
#ifndef FT_CORE_NODES_OP_H
#define FT_CORE_NODES_OP_H

#include "ft/core/nodes.h"

enum { FT_NODES_RING = 64 };  /* positions at hand: four windows at least */

struct ft_nodes_op {
    struct ft_coll *c;
    struct ft_nodes *n;
    enum ft_unit_kind kind;
    bool small;                  /* a reduction that the representative folds alone */
    uint64_t in, made, out;      /* units contributed, made, consumed */
    uint64_t made_at, out_at;    /* where the records before them end */
    uint64_t own;                /* all local ranks have made so many (the representative's picture) */
    bool verified, checked, past_cache;
    char *scratch, *acc;         /* for user functions: a segment each */

    /* the representative's: where records are, from the node's commit count on */
    uint64_t base, placed;       /* units of which positions are known: the last FT_NODES_RING of [base, placed) */
    uint64_t placed_end;
    uint64_t at[FT_NODES_RING];
};

/* Where unit i's record is. base <= i, and not long ago. */
uint64_t ft_nodes_at(struct ft_nodes_op *op, uint64_t i);

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

/* The record of unit u, the next one, is written but for its head: publishes it. */
void ft_nodes_commit(struct ft_nodes_op *op, uint64_t u);

static inline uint64_t ft_nodes_slot(const struct ft_nodes *n, uint64_t u)
{
    return (u & (n->s->params->slot_depth - 1)) * n->s->params->segment;
}

#endif
