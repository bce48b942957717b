/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the bootstrap cache: whether a call is the operation at the stream's position, or one of
   the job's beginning whose result is in the cache (docs/internals/bootstrap-cache.md). With a key
   of the program's that is exact (bootstrap_key.c). Without one (--bootstrap-cache) the place of
   the call, what is called and this rank's contribution have to tell, and what the log or any rank
   says of the unit (bootstrap_place.c). */
#ifndef FT_CORE_BOOTSTRAP_H
#define FT_CORE_BOOTSTRAP_H

#include "ft/core/cache.h"

/* A call that the cache may have a say in: the arguments of ft_cache_call. */
struct ft_bootstrap_call {
    struct ft_cache *k;
    struct ft_coll *c;
    const struct ft_sig *sig;
    uint64_t total, site;
    uint64_t hash;               /* of the key, or of the place */
    ft_perform *perform;
};

/* The two ways. */
int ft_bootstrap_by_key(struct ft_bootstrap_call *x, struct ft_error *e);
int ft_bootstrap_by_place(struct ft_bootstrap_call *x, struct ft_error *e);

/* By position. */
static inline int ft_bootstrap_perform(const struct ft_bootstrap_call *x, const struct ft_sig *sig, struct ft_error *e)
{
    return x->perform(x->c, sig, x->total, x->site, e);
}

/* Out of the cache: the entry at `at`. */
int ft_bootstrap_answer(const struct ft_bootstrap_call *x, uint64_t at, struct ft_error *e);

uint64_t ft_bootstrap_place(const struct ft_sig *sig, uint64_t site);
struct ft_entry ft_bootstrap_entry(const struct ft_bootstrap_call *x, enum ft_entry_kind kind, const struct ft_sig *sig, uint64_t unit);

#endif
