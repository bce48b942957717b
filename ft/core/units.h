/* SPDX-License-Identifier: BSD-3-Clause */
/* An operation that is cut into units, several of them in flight, each committed on its own
   (DESIGN section 3). Three steps, in a loop that does what can be done and waits for one word
   when nothing can:

     contribute  this rank's part of a unit goes where others find it      contributed[me] = u + 1
     produce     what this rank writes of the unit's record                done[me] = u + 1
     consume     the result to where the program receives it

   When a step may be taken, and what is said of it, is units.c's. What it does with the bytes is
   an algorithm's: struct ft_steps.

   Who may write where (RULE 9). Nothing is produced, and nothing added to, before whoever it is
   made from has shown the same history of calls: then nobody is in another call that writes
   there. A bcast's root waits for nobody, but for those that are more than slot_depth units
   behind. Who receives from it looks at its signature before and, having copied everything, at
   all the others': whoever else has written into these entries, another that believes it is the
   root, had said so before. */
#ifndef FT_CORE_UNITS_H
#define FT_CORE_UNITS_H

#include "ft/core/op.h"

/* One operation of one rank; private memory. Units are counted from its first one. */
struct ft_units {
    struct ft_coll *c;
    const struct ft_steps *steps;
    int64_t from;         /* the rank whose contributions this one works with; or, below 0, ... */
    uint64_t in;          /* units contributed, ... */
    uint64_t made;        /* ... produced, ... */
    uint64_t out;         /* ... and consumed */
    uint64_t in_at, made_at, out_at;  /* where the records before them end in the log */
    uint64_t fresh;       /* from this unit on this incarnation has made its own part itself */
    bool begun;
    bool verified;        /* those that it works with have shown the signature, ... */
    bool checked;         /* ... or, in a replay, the log has */
    bool past_cache;      /* the result is larger than what caches hold */
    bool unordered;       /* non-temporal stores are to be ordered before the next publication */
};

enum { FT_FROM_ALL = -1, FT_FROM_NOBODY = -2 };

/* When a live unit may be consumed. One that an earlier incarnation has finished with: when it is
   committed. */
enum ft_after {
    FT_AFTER_ITSELF,   /* when this rank is done with it */
    FT_AFTER_ROOT,     /* when the root is */
    FT_AFTER_ALL       /* when it is committed */
};

/* What a rank does, by its part in the operation. NULL: that step is none of its. A rank that
   neither contributes nor produces owes the others its signature only. position: of the unit's
   record, which has a result of so many bytes. */
typedef void ft_unit_step(struct ft_units *x, uint64_t position, uint64_t result);

struct ft_steps {
    bool adds;                 /* contributes to a unit once x->from has */
    bool logs;                 /* contributes into the record */
    bool takes_more;           /* produces units that are there together (pipelined.c) */
    enum ft_after after;
    ft_unit_step *contribute;  /* unit x->in; the record before it ends at x->in_at */
    ft_unit_step *keep;        /* the same unit, once that is published: others go on meanwhile */
    ft_unit_step *produce;     /* unit x->made; NULL, with contribute: it has only to be done with it */
    int (*consume)(struct ft_units *x, uint64_t position, uint64_t result, struct ft_error *e);
                               /* unit x->out. 0 or FT_ESPACE */
    void (*take_over)(struct ft_units *x);      /* an earlier incarnation has contributed to x->in */
    void (*prepare)(const struct ft_units *x);  /* after an operation of one unit: fetches the lines that
                                                   the next one writes, if it is like this one */
};

/* For struct ft_algorithm. from: a rank, FT_FROM_ALL, FT_FROM_NOBODY. */
int ft_units_start(struct ft_coll *c, const struct ft_steps *steps, int64_t from, struct ft_error *e);
int ft_units_step(struct ft_coll *c, struct ft_await *a, struct ft_error *e);

static inline uint64_t ft_units_unit(const struct ft_units *x, uint64_t i) { return x->c->s->first + i; }

/* This rank's slot for unit i, and the bytes of its contribution to it. Of a view, unit i has the
   packed bytes from `at` on. */
static inline char *ft_units_slot(const struct ft_units *x, uint64_t i)
{
    return ft_stream_slot(x->c->s, x->c->s->rank, ft_units_unit(x, i), &x->c->plan);
}

static inline uint64_t ft_units_at(const struct ft_units *x, uint64_t i)
{
    return i * x->c->plan.segment;
}

static inline uint64_t ft_units_own_bytes(const struct ft_units *x, uint64_t i)
{
    return ft_coll_slice(x->c, x->c->s->rank, i);
}

/* Where the program receives unit i of what a predefined operator makes. */
static inline char *ft_units_result(const struct ft_units *x, uint64_t i)
{
    return ft_view_direct(&x->c->recv, ft_units_at(x, i));
}

/* Which bytes of a segment of n this rank adds, where each adds a chunk. */
static inline void ft_units_chunk(const struct ft_units *x, uint64_t n, uint64_t *from, uint64_t *to)
{
    ft_plan_chunk(n, x->c->elem, x->c->s->n, x->c->s->rank, from, to);
}

/* A step: the contribution goes into the slot, all of it. */
void ft_units_contribute(struct ft_units *x, uint64_t position, uint64_t result);

/* struct ft_algorithm's segment: as many elements as fit a slot. */
uint64_t ft_units_slots(const struct ft_params *p, const struct ft_sig *sig, uint64_t bytes);

/* The head of the record of unit `made`. */
static inline void ft_units_head(struct ft_units *x, uint64_t position, uint64_t result)
{
    ft_stream_write_head(x->c->s, ft_units_unit(x, x->made), x->made_at, position, result);
}

/* Bytes [from, to) of the result of unit `out`, out of the log to where they are received. 0 or
   FT_ESPACE. */
int ft_units_read(struct ft_units *x, uint64_t position, uint64_t result, uint64_t from, uint64_t to, struct ft_error *e);

/* [from, from + n) of the record of a middling operation at `position`, if that is at hand, is
   to be in the cache when it is written. */
void ft_units_prefetch(const struct ft_units *x, uint64_t position, uint64_t result, uint64_t from, uint64_t n);

#endif
