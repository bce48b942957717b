/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/cache.h"

#include <stdlib.h>
#include <string.h>

#include "ft/base/hash.h"
#include "ft/shm/models.h"

enum { GIVEN = 8192 /* units of which it is noted what each rank contributed */ };

void ft_cache_open(struct ft_cache *k, struct ft_stream *s, const struct ft_region *region, int fd, void (*lost)(const char *why))
{
    *k = (struct ft_cache){.s = s, .fd = fd, .tell_lost = lost};
    s->cache = k;
    if (!region)
        return;
    k->head = ft_versions_head(region);
    k->words = ft_versions_of(region, 0);
    ft_publish(&k->words[s->rank].doubt, 0);
    ft_publish(&k->words[s->rank].asking.unit, 0);
    k->restarted = ft_peek32(&ft_region_rank(region, s->rank)->incarnation) > 0;
    /* One rank alone: whatever it calls, it has the result, and there is no trail to tell from. */
    k->sites = region->header->params.bootstrap_cache && s->size > 1;
    s->attentive = k->sites;
}

void ft_cache_close(struct ft_cache *k)
{
    ft_keys_free(&k->keys);
    free(k->ahead);
    k->ahead = NULL;
}

/* What it knew at its cut is still true; the dead incarnation may have written more, and have been in doubt. */
void ft_cache_resume(struct ft_cache *k)
{
    if (!k->head)
        return;
    k->restarted = true;
    ft_publish(&k->words[k->s->rank].doubt, 0);
    ft_publish(&k->words[k->s->rank].asking.unit, 0);
}

/* Units that the stream will not come to any more. */
static void forget_behind(struct ft_cache *k)
{
    for (uint64_t i = 0; i < k->nahead; i++)
        if (k->ahead[i].unit < k->s->unit)
            k->ahead[i--] = k->ahead[--k->nahead];
}

void ft_cache_at_version(struct ft_cache *k, uint64_t version, bool jumped)
{
    if (!k->head)
        return;
    k->version = version - ft_peek(&k->head->base_version);
    k->loaded = k->loaded || jumped;
    if (jumped)
        forget_behind(k);
    /* Ranks that were there all the time have all of it behind them; rank 0 tells the others what is called again. */
    if (k->sites)
        k->s->attentive = k->nahead > 0 || k->version == 0 || k->loaded || k->s->rank == 0;
}

static int read_at(const struct ft_cache *k, uint64_t at, void *to, uint64_t n, struct ft_error *e)
{
    return ft_models_read(k->fd, FT_MODELS_CACHE, at, to, n, e);
}

int ft_cache_no_memory(const struct ft_cache *k, struct ft_error *e)
{
    return ft_err_set(e, FT_ENOMEM, "rank %u has no memory for the bootstrap cache", k->s->me);
}

static int take_in(struct ft_cache *k, uint64_t at, const struct ft_entry *entry, struct ft_error *e)
{
    struct ft_key *key = ft_keys_add(&k->keys, entry->key);

    if (!key)
        return ft_cache_no_memory(k, e);
    if (entry->kind == FT_ENTRY_RECURRING) {
        key->most = ft_max(key->most, entry->unit);
        return 0;
    }
    k->results++;
    FT_INVARIANT(key->nkept < FT_KEYS_KEPT, "a bounded number of entries for each key");
    key->kept[key->nkept++] = (struct ft_kept){.at = at, .unit = entry->unit};
    if (entry->kind == FT_ENTRY_PLACE)
        k->sites_bytes += entry->result_bytes;
    return 0;
}

int ft_cache_scan(struct ft_cache *k, struct ft_error *e)
{
    uint64_t end = ft_look(&k->head->cache_end);

    while (k->scanned < end) {
        struct ft_entry entry;
        int err = read_at(k, k->scanned, &entry, sizeof entry, e);

        if (!err)
            err = take_in(k, k->scanned, &entry, e);
        if (err)
            return err;
        k->scanned += entry.bytes;
    }
    return 0;
}

/* Where a call has its result: the root of a bcast gives it and has it in one buffer. */
static const struct ft_view *result_of(const struct ft_coll *c)
{
    return c->root >= 0 && ft_coll_leads(c) ? &c->send : &c->recv;
}

static uint64_t hash_result(const struct ft_view *result)
{
    uint64_t hash = 0;

    for (uint32_t i = 0; i < ft_view_pieces(result); i++) {
        struct ft_view piece = ft_view_piece(result, i);

        hash = ft_hash(hash, ft_view_direct(&piece, 0), ft_view_bytes(&piece));
    }
    return hash;
}

static int write_result(const struct ft_cache *k, uint64_t at, const struct ft_view *result,
                        struct ft_error *e)
{
    uint64_t n;
    int err = 0;

    for (uint32_t i = 0; i < ft_view_pieces(result) && !err; i++, at += n) {
        struct ft_view piece = ft_view_piece(result, i);

        n = ft_view_bytes(&piece);
        if (n)
            err = ft_models_write(k->fd, FT_MODELS_CACHE, at, ft_view_direct(&piece, 0), n, e);
    }
    return err;
}

static void tell_lost(struct ft_cache *k, const struct ft_error *e)
{
    if (!k->lost)
        k->tell_lost(e->text);
    k->lost = true;
    ft_note(&k->head->cache_lost, 1);
}

/* An entry that is not said to be there is written over by the next one. */
static int append(struct ft_cache *k, struct ft_entry *entry, const char *key,
                  const struct ft_view *result, struct ft_error *e)
{
    uint64_t at = k->scanned, result_at = at + sizeof *entry + ft_align(entry->key_bytes, 8);
    char head[sizeof *entry + FT_CACHE_KEY];
    int err;

    entry->bytes = result_at - at + ft_align(entry->result_bytes, 8);
    if (at + entry->bytes > FT_MODELS_AREA_BYTES) {
        ft_err_set(e, FT_ENOMEM, "there are %llu GiB in it", (unsigned long long)(at >> 30));
        tell_lost(k, e);
        return 0;
    }
    memcpy(head, entry, sizeof *entry);
    memcpy(head + sizeof *entry, key ? key : "", entry->key_bytes);
    err = ft_models_write(k->fd, FT_MODELS_CACHE, at, head, sizeof *entry + entry->key_bytes, e);
    if (!err && entry->result_bytes)
        err = write_result(k, result_at, result, e);
    if (err) {
        tell_lost(k, e);
        return 0;
    }
    err = take_in(k, at, entry, e);
    if (err)
        return err;
    k->scanned += entry->bytes;
    ft_note(&k->head->cache_results, k->results);
    ft_publish(&k->head->cache_end, k->scanned);
    return 0;
}

int ft_cache_keep(struct ft_cache *k, struct ft_entry entry, const char *text,
                  const struct ft_coll *c, struct ft_error *e)
{
    const struct ft_view *result = result_of(c);

    entry.key_bytes = text ? (uint32_t)strlen(text) : 0;
    entry.result_bytes = ft_view_bytes(result);
    entry.result_hash = hash_result(result);
    return append(k, &entry, text, result, e);
}

uint64_t ft_cache_below(int fd, uint64_t end, uint64_t units, uint64_t *results)
{
    struct ft_entry entry;
    struct ft_error e;
    uint64_t at = 0;

    for (*results = 0; end - at >= sizeof entry; at += entry.bytes) {
        if (ft_models_read(fd, FT_MODELS_CACHE, at, &entry, sizeof entry, &e) != 0 || entry.bytes < sizeof entry || entry.bytes > end - at)
            break;
        if (entry.kind != FT_ENTRY_RECURRING && entry.unit >= units)
            break;
        *results += entry.kind != FT_ENTRY_RECURRING;
    }
    return at;
}

int ft_cache_recurs(struct ft_cache *k, uint64_t hash, uint64_t times, struct ft_error *e)
{
    struct ft_entry entry = {.kind = FT_ENTRY_RECURRING, .key = hash, .unit = times};

    return append(k, &entry, NULL, NULL, e);
}

int ft_cache_head(const struct ft_cache *k, uint64_t at, struct ft_entry *entry, char key[FT_CACHE_KEY], struct ft_error *e)
{
    int err = read_at(k, at, entry, sizeof *entry, e);
    uint64_t n;

    key[0] = 0;
    if (err || !entry->key_bytes)
        return err;
    n = ft_min(entry->key_bytes, FT_CACHE_KEY - 1);
    key[n] = 0;
    return read_at(k, at + sizeof *entry, key, n, e);
}

int ft_cache_serve(const struct ft_cache *k, uint64_t at, const struct ft_coll *c,
                   struct ft_error *e)
{
    const struct ft_view *result = result_of(c);
    char key[FT_CACHE_KEY];
    struct ft_entry entry;
    uint64_t from, n;
    int err = ft_cache_head(k, at, &entry, key, e);

    FT_INVARIANT(err || entry.result_bytes == ft_view_bytes(result),
                 "an entry is served to a call of its own size");
    from = at + sizeof entry + ft_align(entry.key_bytes, 8);
    for (uint32_t i = 0; i < ft_view_pieces(result) && !err; i++, from += n) {
        struct ft_view piece = ft_view_piece(result, i);

        n = ft_view_bytes(&piece);
        if (n)
            err = read_at(k, from, ft_view_direct(&piece, 0), n, e);
    }
    if (!err && hash_result(result) != entry.result_hash)
        err = ft_err_set(e, FT_ESYS, "rank %u found a damaged entry in the bootstrap cache", k->s->me);
    return err;
}

uint64_t ft_cache_given_bytes(uint32_t nranks) { return nranks * (uint64_t)GIVEN * sizeof(uint64_t); }

static uint64_t contribution_at(const struct ft_cache *k, uint64_t unit)
{
    return ft_cache_given_bytes(k->s->rank) + unit * sizeof(uint64_t);
}

uint64_t ft_cache_contributed(const struct ft_cache *k, uint64_t unit)
{
    struct ft_error e;
    uint64_t hash = 0;

    if (unit < GIVEN && ft_models_read(k->fd, FT_MODELS_GIVEN, contribution_at(k, unit), &hash, sizeof hash, &e) != 0)
        hash = 0;  /* beyond all that anybody wrote */
    return hash;
}

void ft_cache_note_contribution(const struct ft_cache *k, uint64_t unit, uint64_t hash)
{
    struct ft_error e;

    /* Not written it is as if it were not known. */
    if (unit < GIVEN)
        ft_models_write(k->fd, FT_MODELS_GIVEN, contribution_at(k, unit), &hash, sizeof hash, &e);
}

