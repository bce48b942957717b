/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/places.h"

#include <stdlib.h>
#include <string.h>

int ft_places_open(struct ft_places *p, uint64_t n)
{
    *p = (struct ft_places){ .n = n, .free = calloc(n, sizeof *p->free), .bare = calloc(n, sizeof *p->bare),
                              .named = calloc(n, sizeof *p->named) };
    return p->free && p->bare && p->named ? 0 : -1;
}

void ft_places_close(struct ft_places *p)
{
    free(p->free);
    free(p->bare);
    free(p->named);
}

void ft_places_forget(struct ft_places *p)
{
    memset(p->named, 0, p->n * sizeof *p->named);
    p->fresh = p->nfree = p->nbare = 0;
}

void ft_places_name(struct ft_places *p, uint64_t place)
{
    p->named[place] = true;
    if (p->fresh <= place)
        p->fresh = place + 1;
}

void ft_places_settle(struct ft_places *p)
{
    for (uint64_t i = p->fresh; i-- > 0;)
        if (!p->named[i])
            ft_places_give_back(p, i);
}

void ft_places_doubt(struct ft_places *p)
{
    while (p->nfree)
        ft_places_give_back_bare(p, p->free[--p->nfree]);
}

bool ft_places_used(struct ft_places *p, uint64_t *place)
{
    if (p->nfree == 0)
        return false;
    *place = p->free[--p->nfree];
    return true;
}

bool ft_places_fresh(struct ft_places *p, uint64_t *place)
{
    if (p->nbare) {
        *place = p->bare[--p->nbare];
        return true;
    }
    if (p->fresh == p->n)
        return false;
    *place = p->fresh++;
    return true;
}

void ft_places_give_back(struct ft_places *p, uint64_t place)
{
    p->free[p->nfree++] = (uint32_t)place;
}

void ft_places_give_back_bare(struct ft_places *p, uint64_t place)
{
    p->bare[p->nbare++] = (uint32_t)place;
}
