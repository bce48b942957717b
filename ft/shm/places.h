/* SPDX-License-Identifier: BSD-3-Clause */
/* The keeper's private picture of places for extents, in memory or in the spill file: which are free. Rebuilt from the
   tables by each keeper: ft_places_forget, ft_places_name for all that a table names, ft_places_settle. */
#ifndef FT_SHM_PLACES_H
#define FT_SHM_PLACES_H

#include <stdbool.h>
#include <stdint.h>

struct ft_places {
    uint64_t n;         /* there are so many */
    uint64_t fresh;     /* those from here on have never been used, as far as is known */
    uint64_t nfree;
    uint32_t *free;     /* those below that are free; the last one was given back last, its lines may be in a cache yet */
    uint64_t nbare;
    uint32_t *bare;     /* those below that have nothing in them any more: as good as never used */
    bool *named;        /* only between forget and settle */
};

/* n places, all fresh. 0, or -1: out of memory. */
int ft_places_open(struct ft_places *p, uint64_t n);
void ft_places_close(struct ft_places *p);

void ft_places_forget(struct ft_places *p);
void ft_places_name(struct ft_places *p, uint64_t place);
void ft_places_settle(struct ft_places *p);

/* What is free has, for all that is known, nothing in it. */
void ft_places_doubt(struct ft_places *p);

/* Takes a place that was used before, or one that was not. False: there is none. */
bool ft_places_used(struct ft_places *p, uint64_t *place);
bool ft_places_fresh(struct ft_places *p, uint64_t *place);

void ft_places_give_back(struct ft_places *p, uint64_t place);
void ft_places_give_back_bare(struct ft_places *p, uint64_t place);

/* So many have something in them: used, or free. */
static inline uint64_t ft_places_full(const struct ft_places *p) { return p->fresh - p->nbare; }

#endif
