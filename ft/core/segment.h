/* SPDX-License-Identifier: BSD-3-Clause */
/* What the steps of the standard way do with the bytes of a unit: where these are read and written, and which lines are to be at hand. When a step may be
   taken, and what is said of it, is core/standard.c's. One operation of one rank; private memory. Nothing here waits but for memory of the log. */
#ifndef FT_CORE_SEGMENT_H
#define FT_CORE_SEGMENT_H

#include "ft/core/op.h"

struct ft_run {
    struct ft_coll *c;
    uint64_t in, made, out;          /* units contributed, produced, consumed; relative to the first */
    uint64_t in_at, made_at, out_at; /* where the records before them end */
    uint64_t fresh;                  /* allgather, direct: this incarnation has made its part of units from here on, and has it where it is received */
    bool verified;                   /* everybody has shown the signature; bcast: the root has; relayed: whom this rank has it from */
    bool checked;                    /* ... or the log has, in a replay */
    bool relayed;                    /* see core/standard.c */
    bool past_cache;                 /* the result is larger than what caches hold */
    bool direct;                     /* relayed, or of two ranks: what I make of a unit goes to where I receive it, and into the log from there */
    void *scratch, *acc;             /* for user functions: a slot's worth each */
};

static inline uint64_t ft_run_unit(const struct ft_run *x, uint64_t i) { return x->c->s->first + i; }

static inline bool ft_run_gathers(const struct ft_run *x) { return ft_coll_gathers(x->c); }

/* The root gives all that the log has of it, and the others read it there. */
static inline bool ft_run_is_bcast(const struct ft_run *x) { return x->c->s->sig.call == FT_CALL_BCAST && !x->relayed; }
static inline bool ft_run_gives(const struct ft_run *x) { return ft_run_is_bcast(x) && ft_coll_leads(x->c); }

static inline bool ft_run_sends(const struct ft_run *x) { return x->relayed && !x->c->recv; }

/* Relayed by more than two ranks: adds what it contributes to what the next one has in its slot. */
static inline uint32_t ft_run_source(const struct ft_run *x) { return ft_params_source(x->c->s->params, x->c->s->rank); }
static inline bool ft_run_adds(const struct ft_run *x) { return x->relayed && x->c->s->n > 2 && ft_run_source(x) < x->c->s->n; }

/* Unit i, whose record is at `position`, with a result of so many bytes. */
void ft_run_contribute(struct ft_run *x, uint64_t i, uint64_t position, uint64_t result);
/* Behind that, when the other one may go on: what was given to where it is received, if nothing else brings it there. */
void ft_run_keep(const struct ft_run *x, uint64_t i);
/* An earlier incarnation has contributed to it. */
void ft_run_take_over(struct ft_run *x, uint64_t i);
/* What this rank writes of the record of unit `made`. */
void ft_run_produce(struct ft_run *x, uint64_t position, uint64_t result);
/* The result of unit `out` to where it is received, as far as it is not there. 0 or FT_ESPACE. */
int ft_run_consume(struct ft_run *x, uint64_t position, uint64_t result, struct ft_error *e);

/* Behind the contribution to the only unit of a middling operation, while others still contribute: what this rank will write of the log. */
void ft_run_expect(const struct ft_run *x, uint64_t position, uint64_t result);
/* Behind an operation: what the next one will write, if it is like this one. */
void ft_run_prepare(const struct ft_run *x);

#endif
