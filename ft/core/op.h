/* SPDX-License-Identifier: BSD-3-Clause */
/* One collective operation as the ways of doing it (algorithm.h, nodes.c) see it: who contributes
   what, and where results go. Filled by ft/collective.c from a call's arguments; private to one call. */
#ifndef FT_CORE_OP_H
#define FT_CORE_OP_H

#include "ft/core/plan.h"
#include "ft/core/stream.h"
#include "ft/core/view.h"

struct ft_coll {
    struct ft_stream *s;
    const struct ft_op *op;       /* reductions */
    struct ft_view send;          /* this rank's contribution (bcast: the root's buffer) */
    struct ft_view recv;          /* where the result goes; none if this rank gets none */
    uint64_t bytes;               /* of a contribution, packed (allgatherv: the longest) */
    uint32_t elem;                /* of an element, packed */
    int root;                     /* -1: none */
    const char *key;              /* of the bootstrap cache; "": its place; NULL: not declared to be in it */
    bool known;                   /* the result is in recv already, and this rank has contributed:
                                     only what it owes to others is left */
    struct ft_plan plan;
    const struct ft_algorithm *way;
    union ft_progress *progress;  /* the caller's, while the operation is under way */
    char *acc, *scratch;          /* for a user's function: memory for a unit each, or NULL */
    uint64_t in_slot;             /* redundant: what this rank contributes to units below is in its slot, by an earlier incarnation */
};

/* This rank gets the result. */
static inline bool ft_coll_receives(const struct ft_coll *c) { return ft_view_exists(&c->recv); }

/* Some of its data have gaps. */
static inline bool ft_coll_has_layouts(const struct ft_coll *c)
{
    return ft_view_has_layout(&c->send) || ft_view_has_layout(&c->recv);
}

static inline bool ft_coll_gathers(const struct ft_coll *c)
{
    return c->s->sig.call == FT_CALL_ALLGATHER || c->s->sig.call == FT_CALL_ALLGATHERV || c->plan.gathered;
}

/* Bytes of all that a rank receives. */
static inline uint64_t ft_coll_total(const struct ft_coll *c)
{
    if (ft_view_is_uneven(&c->recv))
        return c->s->sig.count * c->elem;
    return ft_coll_gathers(c) ? c->s->size * c->bytes : c->bytes;
}

/* Bytes that rank r contributes. */
static inline uint64_t ft_coll_part(const struct ft_coll *c, uint32_t r)
{
    return ft_view_is_uneven(&c->recv) ? ft_view_part_bytes(&c->recv, r) : c->bytes;
}

/* ... to unit u. */
static inline uint64_t ft_coll_slice(const struct ft_coll *c, uint32_t r, uint64_t u)
{
    return ft_plan_slice(ft_coll_part(c, r), c->plan.segment, u);
}

/* On one node: who writes the heads of the records, and all of a result too small to share out. */
static inline bool ft_coll_leads(const struct ft_coll *c)
{
    return c->s->me == (c->root < 0 ? 0 : (uint32_t)c->root);
}

/* Bytes of unit u's result, and where rank r's slice begins in it (allgather). */
uint64_t ft_coll_result(const struct ft_coll *c, uint64_t u);
uint64_t ft_coll_slice_at(const struct ft_coll *c, uint64_t u, uint32_t r);

/* n bytes at `offset` of the committed record at `position`, to the packed bytes from `from` on of
   what the program receives: recv, or a part of it. As ft_stream_read. */
int ft_coll_read_by_layout(const struct ft_coll *c, uint64_t position, uint64_t offset,
                           const struct ft_view *to, uint64_t from, uint64_t n, struct ft_error *e);

static inline int ft_coll_read(const struct ft_coll *c, uint64_t position, uint64_t offset,
                               const struct ft_view *to, uint64_t from, uint64_t n, bool past_cache,
                               struct ft_error *e)
{
    if (ft_view_has_layout(to))
        return ft_coll_read_by_layout(c, position, offset, to, from, n, e);
    return ft_stream_read(c->s, position, offset, ft_view_direct(to, from), n, past_cache, e);
}

/* ---- one that is under way (run.c). Streams may each have one ---- */

/* Begins it, once all arguments are known and its call is begun (ft_stream_begin): by the plan for
   one node, or between nodes. 0 or FT_ENOMEM. */
int ft_coll_start(struct ft_coll *c, uint64_t total, struct ft_error *e);

/* For who starts it: c->acc and c->scratch, of n bytes each, until it is finished. 0 or FT_ENOMEM. */
int ft_coll_make_room(struct ft_coll *c, uint64_t n, struct ft_error *e);

/* Steps and waits until it is over: a blocking call. */
int ft_coll_finish(struct ft_coll *c, struct ft_error *e);

/* The same for n operations, each of another stream and none between nodes. After an error none of them is
   finished. */
int ft_coll_finish_all(struct ft_coll *const *c, uint32_t n, struct ft_error *e);

/* Everybody's bytes of unit u from `from` on, folded from the right into n bytes at `to`, a log
   entry nobody reads yet. User functions see copies only (RULE 11): they work in acc, with scratch,
   of n bytes each. */
void ft_coll_fold_chunk(const struct ft_coll *c, uint64_t u, uint64_t from, char *to, uint64_t n,
                        char *acc, char *scratch);

/* The same with two ranks, not by a user function, into private memory, and from there into the log: past the cache if the operation is not
   smaller than FT_LOGGED_PAST_CACHE (docs/internals/sizes.md). True: that is to be ordered (ft_copy_order) before it is published. */
enum { FT_LOGGED_PAST_CACHE = 8 << 10 };
static inline bool ft_coll_logs_past(const struct ft_coll *c) { return c->bytes >= FT_LOGGED_PAST_CACHE; }
bool ft_coll_fold_logged(const struct ft_coll *c, uint64_t u, uint64_t from, char *to, char *log, uint64_t n);

/* What the other one of two ranks has in its slot, the same way, to where the program receives. */
bool ft_coll_receive_logged(const struct ft_coll *c, uint64_t u, char *log, uint64_t n);

/* What this rank contributes to unit u, and what the next rank has made of its own and of those behind it, to this rank's slot. Not by user functions. */
void ft_coll_fold_next(const struct ft_coll *c, uint64_t u, char *slot, uint64_t n);

#endif
