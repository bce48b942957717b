/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls with a key, and those that are declared to be cached and have none. */
#include <stdlib.h>
#include <string.h>

#include "ft/base/hash.h"
#include "ft/base/site.h"
#include "ft/core/bootstrap.h"

static int used_twice(const struct ft_bootstrap_call *x, struct ft_error *e)
{
    char site[96];

    return ft_err_set(e, FT_EINVAL, "the key \"%.255s\" (at %s) was used before; each cached operation needs its own", x->c->key,
                      ft_site_print(x->site, site, sizeof site));
}

static int other_call(const struct ft_bootstrap_call *x, const struct ft_sig *sig, const struct ft_entry *entry, struct ft_error *e)
{
    char now[128], now_site[96], then[128], then_site[96];

    return ft_err_set(e, FT_EINVAL, "%s at %s has the key of another operation: the cached result is that of %s at %s",
                      ft_sig_print(sig, now, sizeof now), ft_site_print(x->site, now_site, sizeof now_site),
                      ft_sig_print(&entry->sig, then, sizeof then), ft_site_print(entry->site, then_site, sizeof then_site));
}

/* The stream has not come to this operation yet, and will: then it is to be done without the program. */
static int remember_ahead(struct ft_cache *k, uint64_t unit, uint64_t at, struct ft_error *e)
{
    struct ft_ahead *more = realloc(k->ahead, (k->nahead + 1) * sizeof *more);

    if (!more)
        return ft_cache_no_memory(k, e);
    k->ahead = more;
    more[k->nahead++] = (struct ft_ahead){unit, at};
    k->s->attentive = true;
    return 0;
}

static int serve_key(const struct ft_bootstrap_call *x, const struct ft_sig *sig, const struct ft_kept *kept, struct ft_error *e)
{
    struct ft_entry entry;
    char text[FT_CACHE_KEY];
    int err = ft_cache_head(x->k, kept->at, &entry, text, e);

    if (err)
        return err;
    if (!ft_sig_equal(&entry.sig, sig) || strcmp(text, x->c->key) != 0)
        return other_call(x, sig, &entry, e);
    err = ft_bootstrap_answer(x, kept->at, e);
    if (!err && kept->unit > x->k->s->unit)
        err = remember_ahead(x->k, kept->unit, kept->at, e);
    return err;
}

/* Calls without a key that are declared to be cached: place, signature and how many there were before are the key. If that
   went on in later versions a rank that comes back could not know its number. */
static int number_call(struct ft_bootstrap_call *x, struct ft_error *e)
{
    struct ft_key *place = ft_keys_add(&x->k->keys, ft_hash_mix(ft_bootstrap_place(x->sig, x->site), 3) | 1);
    char site[96];

    if (!place)
        return ft_cache_no_memory(x->k, e);
    if (place->version && place->version != x->k->version + 1)
        return ft_err_set(e, FT_EINVAL, "a cached operation without a key (at %s) is called again after a checkpoint; give each a key",
                          ft_site_print(x->site, site, sizeof site));
    place->version = x->k->version + 1;
    x->hash = ft_hash_mix(place->hash, ++place->calls) | 1;
    return 0;
}

int ft_bootstrap_by_key(struct ft_bootstrap_call *x, struct ft_error *e)
{
    struct ft_cache *k = x->k;
    struct ft_sig sig = *x->sig;
    uint64_t unit = k->s->unit;
    struct ft_key *key;
    int err = k->restarted ? ft_cache_scan(k, e) : 0;

    x->hash = ft_hash(2, x->c->key, strlen(x->c->key)) | 1;
    if (!err && !x->c->key[0])
        err = number_call(x, e);
    if (err)
        return err;
    key = ft_keys_add(&k->keys, x->hash);
    if (!key)
        return ft_cache_no_memory(k, e);
    if (key->calls)
        return used_twice(x, e);
    /* Part of the signature: ranks that differ in the key have called different operations. */
    sig.cached = FT_CACHED_DECLARED;
    sig.shape = x->c->key[0] ? x->hash : 0;
    /* Who was never restarted has not had it: then it is this unit, or a mismatch that is to be found. */
    if (k->restarted && key->nkept && key->kept[0].unit != unit) {
        err = serve_key(x, &sig, &key->kept[0], e);
        key->calls = err ? 0 : 1;
        return err;
    }
    key->calls = 1;
    err = ft_bootstrap_perform(x, &sig, e);
    if (err || !k->head || k->s->rank != 0 || k->lost || (err = ft_cache_scan(k, e)) != 0)
        return err;
    key = ft_keys_find(&k->keys, x->hash);
    return key->nkept ? 0
                      : ft_cache_keep(k, ft_bootstrap_entry(x, FT_ENTRY_KEY, &sig, unit), x->c->key,
                                      x->c, e);
}

/* The stream is at an operation whose result the program has had already. Whatever of it this rank owes to the others follows from
   the result: rank 0 had it, so every rank that had to contribute has done so. */
static int settle_one(struct ft_cache *k, uint64_t at, ft_perform *run, struct ft_error *e)
{
    static const struct ft_op none;
    struct ft_stream *s = k->s;
    struct ft_entry entry;
    char text[FT_CACHE_KEY];
    void *result;
    int err = ft_cache_head(k, at, &entry, text, e);
    struct ft_coll c = { .s = s, .op = &none, .bytes = entry.sig.count * entry.sig.elem,
                         .elem = entry.sig.elem, .root = entry.sig.root, .known = true };

    if (err)
        return err;
    result = malloc(entry.result_bytes + 1);
    if (!result)
        return ft_cache_no_memory(k, e);
    c.send = c.recv =
        ft_view_of(result, entry.result_bytes, (struct ft_type){ .elem = 1, .kind = FT_BYTE });
    err = ft_cache_serve(k, at, &c, e);
    if ((entry.sig.call == FT_CALL_BCAST && ft_coll_leads(&c)) || entry.result_bytes > c.bytes)
        c.recv = (struct ft_view){ 0 };
    else if (entry.sig.call == FT_CALL_BCAST)
        c.send = (struct ft_view){ 0 };
    if (!err)
        err = run(&c, &entry.sig, entry.result_bytes, entry.site, e);
    free(result);
    return err;
}

int ft_cache_settle(struct ft_cache *k, ft_perform *run, struct ft_error *e)
{
    uint64_t i = 0;
    int err = 0;

    while (!err && i < k->nahead) {
        struct ft_ahead ahead = k->ahead[i++];

        if (ahead.unit != k->s->unit)
            continue;
        k->ahead[--i] = k->ahead[--k->nahead];
        err = settle_one(k, ahead.at, run, e);
        i = 0; /* another one may follow */
    }
    return err;
}
