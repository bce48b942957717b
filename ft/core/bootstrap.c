/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a call is the operation at the stream's position, or one of the job's beginning whose result is in the cache.

   With a key of the program's that is exact: its entry says which unit it was. Without one (--bootstrap-cache) the place of the call, what is
   called and this rank's contribution have to tell, and what the log or any rank says of the unit: see `again` below. */
#include <stdlib.h>
#include <string.h>

#include "ft/base/hash.h"
#include "ft/base/site.h"
#include "ft/core/cache.h"
#include "ft/shm/trail.h"

/* What is kept of calls without a key, each and together. */
#define PLACE_BYTES (64ull << 20)
#define PLACES_BYTES (1ull << 30)

struct call {
    struct ft_cache *k;
    struct ft_coll *c;
    const struct ft_sig *sig;
    uint64_t total, site, hash;
    ft_perform *perform;
};

static int perform(const struct call *x, const struct ft_sig *sig, struct ft_error *e)
{
    return x->perform(x->c, sig, x->total, x->site, e);
}

static int no_memory(const struct ft_cache *k, struct ft_error *e)
{
    return ft_err_set(e, FT_ENOMEM, "rank %u has no memory for the bootstrap cache", k->s->rank);
}

static uint64_t hash_place(const struct ft_sig *sig, uint64_t site)
{
    return ft_sig_chain(ft_hash_mix(site, 1), sig) | 1;
}

/* What this rank contributes; 0: nothing. */
static uint64_t contribution(const struct ft_coll *c)
{
    uint64_t bytes = ft_coll_part(c, c->s->rank);

    return bytes && c->send ? ft_hash_elements(c->kind, c->send, bytes) : 0;
}

static struct ft_entry entry_of(const struct call *x, enum ft_entry_kind kind, const struct ft_sig *sig, uint64_t unit)
{
    return (struct ft_entry){.kind = kind, .key = x->hash, .unit = unit, .site = x->site, .sig = *sig};
}

static int answer(const struct call *x, uint64_t at, struct ft_error *e)
{
    struct ft_version_words *mine = &x->k->words[x->k->s->rank];
    int err = ft_cache_serve(x->k, at, x->c, x->total, e);

    if (!err)
        ft_note(&mine->answers, ft_peek(&mine->answers) + 1);
    return err;
}

/* ---- with a key ---- */

static int used_twice(const struct call *x, struct ft_error *e)
{
    char site[96];

    return ft_err_set(e, FT_EINVAL, "the key \"%.255s\" (at %s) was used before; each cached operation needs its own", x->c->key,
                      ft_site_print(x->site, site, sizeof site));
}

static int other_call(const struct call *x, const struct ft_sig *sig, const struct ft_entry *entry, struct ft_error *e)
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
        return no_memory(k, e);
    k->ahead = more;
    more[k->nahead++] = (struct ft_ahead){unit, at};
    k->s->attentive = true;
    return 0;
}

static int serve_key(const struct call *x, const struct ft_sig *sig, const struct ft_kept *kept, struct ft_error *e)
{
    struct ft_entry entry;
    char text[256];
    int err = ft_cache_head(x->k, kept->at, &entry, text, e);

    if (err)
        return err;
    if (!ft_sig_equal(&entry.sig, sig) || strcmp(text, x->c->key) != 0)
        return other_call(x, sig, &entry, e);
    err = answer(x, kept->at, e);
    if (!err && kept->unit > x->k->s->unit)
        err = remember_ahead(x->k, kept->unit, kept->at, e);
    return err;
}

/* Calls without a key that are declared to be cached: place, signature and how many there were before are the key. If that
   went on in later versions a rank that comes back could not know its number. */
static int number_call(struct call *x, struct ft_error *e)
{
    struct ft_key *place = ft_keys_add(&x->k->keys, ft_hash_mix(hash_place(x->sig, x->site), 3) | 1);
    char site[96];

    if (!place)
        return no_memory(x->k, e);
    if (place->version && place->version != x->k->version + 1)
        return ft_err_set(e, FT_EINVAL, "a cached operation without a key (at %s) is called again after a checkpoint; give each a key",
                          ft_site_print(x->site, site, sizeof site));
    place->version = x->k->version + 1;
    x->hash = ft_hash_mix(place->hash, ++place->calls) | 1;
    return 0;
}

static int by_key(struct call *x, struct ft_error *e)
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
        return no_memory(k, e);
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
    err = perform(x, &sig, e);
    if (err || !k->head || k->s->rank != 0 || k->lost || (err = ft_cache_scan(k, e)) != 0)
        return err;
    key = ft_keys_find(&k->keys, x->hash);
    return key->nkept ? 0 : ft_cache_keep(k, entry_of(x, FT_ENTRY_KEY, &sig, unit), x->c->key, x->c, x->total, e);
}

/* The stream is at an operation whose result the program has had already. Whatever of it this rank owes to the others follows from
   the result: rank 0 had it, so every rank that had to contribute has done so. */
static int settle_one(struct ft_cache *k, uint64_t at, ft_perform *run, struct ft_error *e)
{
    static const struct ft_op none;
    struct ft_stream *s = k->s;
    struct ft_entry entry;
    char text[256];
    void *result;
    int err = ft_cache_head(k, at, &entry, text, e);
    struct ft_coll c = {.s = s, .op = &none, .bytes = entry.sig.count * entry.sig.elem, .elem = entry.sig.elem, .kind = FT_BYTE,
                        .root = entry.sig.root, .known = true};

    if (err)
        return err;
    result = malloc(entry.result_bytes + 1);
    if (!result)
        return no_memory(k, e);
    c.send = c.recv = result;
    err = ft_cache_serve(k, at, &c, entry.result_bytes, e);
    if ((entry.sig.call == FT_CALL_BCAST && ft_coll_leads(&c)) || entry.result_bytes > c.bytes)
        c.recv = NULL;
    else if (entry.sig.call == FT_CALL_BCAST)
        c.send = NULL;
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

/* ---- without: the job's first version, in which such operations are ---- */

static bool can_be_kept(const struct ft_sig *sig)
{
    return sig->call == FT_CALL_BARRIER || sig->call == FT_CALL_BCAST || sig->call == FT_CALL_ALLREDUCE ||
           sig->call == FT_CALL_ALLGATHER || sig->call == FT_CALL_ALLGATHERV;
}

static int keep_place(const struct call *x, uint32_t number, uint64_t unit, struct ft_error *e)
{
    struct ft_cache *k = x->k;
    struct ft_key *place;
    int err = ft_cache_scan(k, e);

    if (err || k->lost)
        return err;
    place = ft_keys_find(&k->keys, x->hash);
    if (number > FT_KEYS_KEPT)
        return place->most == UINT64_MAX ? 0 : ft_cache_recurs(k, x->hash, UINT64_MAX, e);
    if (place->nkept != number - 1 || x->total > PLACE_BYTES || k->sites_bytes + x->total > PLACES_BYTES)
        return 0;
    return ft_cache_keep(k, entry_of(x, FT_ENTRY_PLACE, x->sig, unit), NULL, x->c, x->total, e);
}

static int first_version(const struct call *x, struct ft_error *e)
{
    struct ft_stream *s = x->k->s;
    struct ft_key *place = ft_keys_add(&x->k->keys, x->hash);
    uint64_t unit = s->unit;
    uint32_t number;
    int err;

    if (!place)
        return no_memory(x->k, e);
    number = ++place->calls;
    if (number <= FT_KEYS_KEPT && x->total <= PLACE_BYTES && !ft_stream_replays(s, unit))
        ft_cache_note_contribution(x->k, unit, contribution(x->c));
    err = perform(x, x->sig, e);
    return err || s->rank != 0 ? err : keep_place(x, number, unit, e);
}

/* Rank 0 in later versions: how often a place whose results are kept is called anew. */
static int count_again(const struct call *x, struct ft_error *e)
{
    struct ft_cache *k = x->k;
    struct ft_key *place = ft_keys_find(&k->keys, x->hash);
    int err;

    if (k->s->rank != 0 || !place || place->most >= place->nkept)
        return 0;
    if (place->version != k->version)
        place->now = 0;
    place->version = k->version;
    if (++place->now <= place->most || k->lost)
        return 0;
    err = ft_cache_scan(k, e);
    return err ? err : ft_cache_recurs(k, x->hash, ft_keys_find(&k->keys, x->hash)->now, e);
}

static int by_position(const struct call *x, struct ft_error *e)
{
    int err = count_again(x, e);

    return err ? err : perform(x, x->sig, e);
}

/* ---- without, in a rank that has loaded a later version ---- */

/* What is said of the unit the stream is at. */
enum evidence { NOTHING, SAME, REPEATED, OTHER };

static enum evidence judge(const struct call *x, const struct ft_sig *sig, uint64_t site, bool exact)
{
    struct ft_sig repeated = *x->sig;

    repeated.cached = FT_CACHED_REPEATED;
    if (ft_sig_equal(sig, &repeated))
        return REPEATED;
    /* In a rank other than this and rank 0 the call may come from another place: its branch of the program. */
    return ft_sig_equal(sig, x->sig) && (site == x->site || !exact) ? SAME : OTHER;
}

static enum evidence trail_of(const struct call *x, uint32_t rank)
{
    struct ft_stream *s = x->k->s;
    struct ft_sig sig;
    uint64_t site;

    if (!ft_trail_read(ft_stream_trail(s, rank, s->unit), s->unit, &sig, &site))
        return NOTHING;
    return judge(x, &sig, site, rank == 0 || rank == s->rank);
}

/* The log, of a unit that an earlier incarnation has finished. Its record is at the stream's position, or, being too long for that, at
   the next extent. */
static enum evidence logged(const struct call *x, struct ft_error *e, int *err)
{
    struct ft_stream *s = x->k->s;
    uint64_t next = (s->end / s->log.extent_bytes + 1) * s->log.extent_bytes;
    struct ft_record rec;
    struct ft_wait w = {0};

    while (!ft_stream_committed(s, s->unit)) {
        _Atomic uint64_t *word = &s->counters[0].done;

        for (uint32_t r = 0; r < s->n; r++)
            if (ft_look(&s->counters[r].done) <= s->unit)
                word = &s->counters[r].done;
        ft_wait_turn(&w, s->patience, word, ft_look(word));
    }
    *err = ft_log_read(&s->log, s->end, 0, &rec, sizeof rec, false);
    if (!*err && rec.unit != s->unit + 1)
        *err = ft_log_read(&s->log, next, 0, &rec, sizeof rec, false);
    if (*err)
        ft_err_set(e, *err, "rank %u cannot read the spilled log of %s", s->rank, s->name);
    FT_INVARIANT(*err || rec.unit == s->unit + 1, "a committed unit's record is where the one before it ends");
    return judge(x, &rec.sig, rec.site, rec.sig.root <= 0);
}

static enum evidence look_around(const struct call *x, struct ft_error *e, int *err)
{
    struct ft_stream *s = x->k->s;
    enum evidence found = trail_of(x, s->rank);

    if (found == NOTHING && ft_stream_replays(s, s->unit))
        return logged(x, e, err);
    for (uint32_t r = 0; r < s->n && found == NOTHING; r++)
        found = trail_of(x, r);
    return found;
}

static bool in_doubt(const struct call *x, uint32_t rank, uint64_t *key)
{
    const struct ft_version_words *w = &x->k->words[rank];
    uint64_t doubt = ft_look(&w->doubt);

    *key = ft_peek(&w->doubt_key);
    atomic_thread_fence(memory_order_acquire);
    return doubt == x->k->s->unit + 1 && ft_look(&w->doubt) == doubt;
}

/* Looked at twice, all of them the same: then there was a moment at which all were in doubt, and from then on nobody can find
   other evidence. FT_EDIVERGED if two are in doubt about different calls. */
static bool all_in_doubt(const struct call *x, uint64_t key, struct ft_error *e, int *err)
{
    struct ft_stream *s = x->k->s;
    char call[128], site[96];
    int64_t other = -1;

    for (uint32_t i = 0; i < 2 * s->n; i++) {
        uint64_t theirs;

        if (!in_doubt(x, i % s->n, &theirs))
            return false;
        if (theirs != key)
            other = i % s->n;
    }
    if (other >= 0)
        *err = ft_err_set(e, FT_EDIVERGED, "all ranks came back by a checkpoint, and the first call of rank %u, %s at %s, is not that "
                          "of rank %u: give operations that are made again a key (MPIX_Allreduce_cached)", s->rank,
                          ft_sig_print(x->sig, call, sizeof call), ft_site_print(x->site, site, sizeof site), (uint32_t)other);
    return true;
}

/* Until somebody knows what the unit is. If all ranks ask this same question nobody does, and doing the operation once more is
   right in either case. No deadlock: whoever waits for this rank waits in this unit, and that is an answer. */
static enum evidence wait_in_doubt(const struct call *x, uint64_t key, struct ft_error *e, int *err)
{
    struct ft_stream *s = x->k->s;
    struct ft_version_words *mine = &x->k->words[s->rank];
    _Atomic uint64_t *word = &ft_stream_trail(s, s->rank == 0, s->unit)->unit;
    struct ft_wait w = {0};
    enum evidence found;

    ft_note(&mine->doubt_key, key);
    ft_publish(&mine->doubt, s->unit + 1);
    for (;;) {
        uint64_t seen = ft_look(word);

        found = look_around(x, e, err);
        if (found != NOTHING || *err)
            break;
        if (all_in_doubt(x, key, e, err))
            return REPEATED; /* stays in doubt: others may not have seen it yet */
        ft_wait_turn(&w, s->patience, word, seen);
    }
    if (found != REPEATED)
        ft_publish(&mine->doubt, 0);
    return found;
}

/* This life has had the result already: those before the load were by position. */
static bool had(const struct ft_key *place, uint32_t i) { return place->kept[i].served || i < place->calls; }

/* The entry that this call would have, by what it contributes, or by order; matched: it contributes the same. -1: none. */
static int entry_for(const struct call *x, const struct ft_key *place, bool *matched)
{
    uint64_t hash = contribution(x->c);
    int first = -1;

    *matched = !hash;
    for (uint32_t i = 0; i < place->nkept; i++) {
        if (had(place, i))
            continue;
        first = first < 0 ? (int)i : first;
        if (hash && ft_cache_contributed(x->k, place->kept[i].unit) == hash) {
            *matched = true;
            return (int)i;
        }
    }
    return !hash || place->nkept == 1 || x->sig->call == FT_CALL_BCAST ? first : -1;
}

static int cannot_tell(const struct call *x, struct ft_error *e)
{
    char call[128], site[96];

    return ft_err_set(e, FT_EDIVERGED, "rank %u came back by a checkpoint, and its %s at %s may be the one that begins the program or the "
                      "one that comes now: give the former a key (MPIX_Allreduce_cached)", x->k->s->rank,
                      ft_sig_print(x->sig, call, sizeof call), ft_site_print(x->site, site, sizeof site));
}

/* Results that are kept and have not been served yet, less the calls that are steps of the program as rank 0 has
   counted them in one later version. */
static bool may_be_repeated(const struct ft_key *place)
{
    uint64_t served = 0;

    if (!place || place->most >= place->nkept)
        return false;
    for (uint32_t i = 0; i < place->nkept; i++)
        served += had(place, i);
    return served + place->most < place->nkept;
}

static int repeat(const struct call *x, struct ft_error *e)
{
    struct ft_sig repeated = *x->sig;

    repeated.cached = FT_CACHED_REPEATED;
    return perform(x, &repeated, e);
}

/* This life began with a later version. The call is
     by position  if no result of this place is left, or there are as many calls in each version as are kept: a step of the program;
     from the cache if the unit is known to be another call;
     an error     if the unit is this very call, and it contributes what the first one did: it may be either. */
static int again(const struct call *x, struct ft_error *e)
{
    struct ft_cache *k = x->k;
    bool matched, open;
    struct ft_key *place;
    enum evidence found;
    int i, err = ft_cache_scan(k, e);

    place = ft_keys_find(&k->keys, x->hash);
    if (err || !may_be_repeated(place))
        return err ? err : by_position(x, e);
    i = entry_for(x, place, &matched);
    found = look_around(x, e, &err);
    if (!err && found == NOTHING && i >= 0)
        found = wait_in_doubt(x, place->kept[i].at, e, &err);
    /* rank 0 may have counted more meanwhile */
    if (err || (err = ft_cache_scan(k, e)) != 0)
        return err;
    place = ft_keys_find(&k->keys, x->hash);
    open = i >= 0 && may_be_repeated(place);
    if (open && found == SAME && matched)
        return cannot_tell(x, e);
    if (i >= 0 && (found == REPEATED || (open && found == OTHER)))
        place->kept[i].served = true;
    if (found == REPEATED)
        return repeat(x, e);
    return open && found == OTHER ? answer(x, place->kept[i].at, e) : by_position(x, e);
}

int ft_cache_call(struct ft_cache *k, struct ft_coll *c, const struct ft_sig *sig, uint64_t total, uint64_t site, ft_perform *run,
                  struct ft_error *e)
{
    struct call x = {.k = k, .c = c, .sig = sig, .total = total, .site = site, .perform = run};
    int err = k->nahead ? ft_cache_settle(k, run, e) : 0;

    if (err)
        return err;
    if (c->key)
        return by_key(&x, e);
    x.hash = hash_place(sig, site);
    if (!k->sites || !can_be_kept(sig))
        return perform(&x, sig, e);
    if (k->loaded)
        return again(&x, e);
    return k->version == 0 ? first_version(&x, e) : by_position(&x, e);
}
