/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/bootstrap.h"

#include "ft/base/hash.h"

uint64_t ft_bootstrap_place(const struct ft_sig *sig, uint64_t site)
{
    return ft_sig_chain(ft_hash_mix(site, 1), sig) | 1;
}

struct ft_entry ft_bootstrap_entry(const struct ft_bootstrap_call *x, enum ft_entry_kind kind, const struct ft_sig *sig, uint64_t unit)
{
    return (struct ft_entry){.kind = kind, .key = x->hash, .unit = unit, .site = x->site, .sig = *sig};
}

int ft_bootstrap_answer(const struct ft_bootstrap_call *x, uint64_t at, struct ft_error *e)
{
    struct ft_version_words *mine = &x->k->words[x->k->s->rank];
    int err = ft_cache_serve(x->k, at, x->c, e);

    if (!err)
        ft_note(&mine->answers, ft_peek(&mine->answers) + 1);
    return err;
}

int ft_cache_call(struct ft_cache *k, struct ft_coll *c, const struct ft_sig *sig, uint64_t total, uint64_t site, ft_perform *run,
                  struct ft_error *e)
{
    struct ft_bootstrap_call x = {.k = k, .c = c, .sig = sig, .total = total, .site = site, .perform = run};
    int err = k->nahead ? ft_cache_settle(k, run, e) : 0;

    if (err)
        return err;
    return c->key ? ft_bootstrap_by_key(&x, e) : ft_bootstrap_by_place(&x, e);
}
