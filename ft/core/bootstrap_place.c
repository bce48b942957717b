/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls without a key (--bootstrap-cache): known by their place in the program. */
#include "ft/base/hash.h"
#include "ft/base/site.h"
#include "ft/core/bootstrap.h"
#include "ft/core/nodes.h"
#include "ft/shm/doubt.h"
#include "ft/shm/trail.h"
#include "ft/shm/walk.h"

/* What is kept of calls without a key, each and together. */
#define PLACE_BYTES (64ull << 20)
#define PLACES_BYTES (1ull << 30)

/* What this rank contributes; 0: nothing. */
static uint64_t contribution(const struct ft_coll *c)
{
    return ft_view_bytes(&c->send) ? ft_view_hash(&c->send) : 0;
}

/* ---- in the job's first version, in which such operations are ---- */

static bool can_be_kept(const struct ft_sig *sig)
{
    return sig->call == FT_CALL_BARRIER || sig->call == FT_CALL_BCAST || sig->call == FT_CALL_ALLREDUCE ||
           sig->call == FT_CALL_ALLGATHER || sig->call == FT_CALL_ALLGATHERV;
}

static int keep_place(const struct ft_bootstrap_call *x, uint32_t number, uint64_t unit, struct ft_error *e)
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
    return ft_cache_keep(k, ft_bootstrap_entry(x, FT_ENTRY_PLACE, x->sig, unit), NULL, x->c, e);
}

static int first_version(const struct ft_bootstrap_call *x, struct ft_error *e)
{
    struct ft_stream *s = x->k->s;
    struct ft_key *place = ft_keys_add(&x->k->keys, x->hash);
    uint64_t unit = s->unit;
    uint32_t number;
    int err;

    if (!place)
        return ft_cache_no_memory(x->k, e);
    number = ++place->calls;
    /* On a node that replaces a lost one nobody has noted it before: ft_replaying. */
    if (number <= FT_KEYS_KEPT && x->total <= PLACE_BYTES && (!ft_stream_replays(s, unit) || s->nodes))
        ft_cache_note_contribution(x->k, unit, contribution(x->c));
    err = ft_bootstrap_perform(x, x->sig, e);
    return err || s->rank != 0 ? err : keep_place(x, number, unit, e);
}

/* Rank 0 in later versions: how often a place whose results are kept is called anew. */
static int count_again(const struct ft_bootstrap_call *x, struct ft_error *e)
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

static int by_position(const struct ft_bootstrap_call *x, struct ft_error *e)
{
    int err = count_again(x, e);

    return err ? err : ft_bootstrap_perform(x, x->sig, e);
}

/* ---- in a rank that has loaded a later version ---- */

/* What is said of the unit the stream is at. */
enum evidence { NOTHING, SAME, REPEATED, OTHER };

static enum evidence judge(const struct ft_bootstrap_call *x, const struct ft_sig *sig, uint64_t site, bool exact)
{
    struct ft_sig repeated = *x->sig;

    repeated.cached = FT_CACHED_REPEATED;
    if (ft_sig_equal(sig, &repeated))
        return REPEATED;
    /* In a rank other than this and rank 0 the call may come from another place: its branch of the program. */
    return ft_sig_equal(sig, x->sig) && (site == x->site || !exact) ? SAME : OTHER;
}

static enum evidence trail_of(const struct ft_bootstrap_call *x, uint32_t rank)
{
    struct ft_stream *s = x->k->s;
    struct ft_sig sig;
    uint64_t site;

    if (!ft_trail_read(ft_stream_trail(s, rank, s->unit), s->unit, &sig, &site))
        return NOTHING;
    return judge(x, &sig, site, rank == 0 || rank == s->rank);
}

static bool read_log(void *arg, uint64_t position, void *to, uint64_t n)
{
    struct ft_error e;

    return ft_stream_read(arg, position, 0, to, n, false, &e) == 0;
}

/* The log, of a unit that an earlier incarnation has finished. */
static enum evidence logged(const struct ft_bootstrap_call *x, struct ft_error *e, int *err)
{
    struct ft_stream *s = x->k->s;
    struct ft_walk walk = {.read = read_log, .arg = s, .extent_bytes = s->log.extent_bytes, .unit = s->unit, .position = s->end};
    struct ft_record rec;
    enum ft_walk_step step;

    *err = ft_stream_await_commit(s, s->unit, e);
    if (*err)
        return NOTHING;
    step = ft_walk_look(&walk, &rec);
    if (step == FT_WALK_ABSENT)
        *err = ft_stream_read(s, walk.position, 0, &rec, sizeof rec, false, e); /* with its line */
    if (*err)
        return NOTHING;
    FT_INVARIANT(step == FT_WALK_RECORD, "a committed unit's record is where the one before it ends");
    rec.sig.length = 0;
    return judge(x, &rec.sig, rec.site, rec.sig.root <= 0 || s->nodes);
}

/* What other nodes say: their ranks and logs. */
static enum evidence told(const struct ft_bootstrap_call *x, struct ft_error *e, int *err)
{
    uint64_t what = x->k->s->nodes ? ft_doubt_told(x->k->s->region, x->k->s->unit) : 0;
    struct ft_sig repeated = *x->sig;
    char call[128], site[96];

    repeated.cached = FT_CACHED_REPEATED;
    if (!what)
        return NOTHING;
    if (what == FT_TOLD_ALL || what == ft_doubt_call(&repeated, 0))
        return REPEATED;
    if (what == FT_TOLD_SEVERAL)
        *err = ft_err_set(e, FT_EDIVERGED, "all ranks came back by a checkpoint, and the first call of rank %u, %s at %s, is not that of another "
                          "one: give operations that are made again a key (MPIX_Allreduce_cached)", x->k->s->me,
                          ft_sig_print(x->sig, call, sizeof call), ft_site_print(x->site, site, sizeof site));
    return what == ft_doubt_call(x->sig, x->site) || what == ft_doubt_call(x->sig, 0) ? SAME : OTHER;
}

static enum evidence look_around(const struct ft_bootstrap_call *x, struct ft_error *e, int *err)
{
    struct ft_stream *s = x->k->s;
    enum evidence found = trail_of(x, s->rank);

    if (found == NOTHING && ft_stream_replays(s, s->unit))
        return logged(x, e, err);
    for (uint32_t r = 0; r < s->n && found == NOTHING; r++)
        found = trail_of(x, r);
    return found == NOTHING ? told(x, e, err) : found;
}

static bool in_doubt(const struct ft_bootstrap_call *x, uint32_t rank, uint64_t *key)
{
    const struct ft_version_words *w = &x->k->words[rank];
    uint64_t doubt = ft_look(&w->doubt);

    *key = ft_peek(&w->doubt_key);
    atomic_thread_fence(memory_order_acquire);
    return doubt == x->k->s->unit + 1 && ft_look(&w->doubt) == doubt;
}

/* Looked at twice, all of them the same: then there was a moment at which all were in doubt, and from then on nobody can find
   other evidence. FT_EDIVERGED if two are in doubt about different calls. */
static bool all_in_doubt(const struct ft_bootstrap_call *x, uint64_t key, struct ft_error *e, int *err)
{
    struct ft_stream *s = x->k->s;
    char call[128], site[96];
    int64_t other = -1;

    if (s->nodes)
        return false; /* those of other nodes may not be: we are told */
    for (uint32_t i = 0; i < 2 * s->n; i++) {
        uint64_t theirs;

        if (!in_doubt(x, i % s->n, &theirs))
            return false;
        if (theirs != key)
            other = i % s->n;
    }
    if (other >= 0)
        *err = ft_err_set(e, FT_EDIVERGED, "all ranks came back by a checkpoint, and the first call of rank %u, %s at %s, is not that "
                          "of rank %u: give operations that are made again a key (MPIX_Allreduce_cached)", s->me,
                          ft_sig_print(x->sig, call, sizeof call), ft_site_print(x->site, site, sizeof site), (uint32_t)other);
    return true;
}

/* Other nodes may need this one's results meanwhile. */
static int wait_a_turn(struct ft_stream *s, struct ft_wait *w, struct ft_error *e)
{
    if (s->nodes)
        return ft_nodes_idle(s->nodes, w, e);
    ft_wait_turn(w, s->patience);
    return 0;
}

/* Until somebody knows what the unit is. If all ranks ask this same question nobody does, and doing the operation once more is
   right in either case. No deadlock: whoever waits for this rank waits in this unit, and that is an answer. */
static enum evidence wait_in_doubt(const struct ft_bootstrap_call *x, uint64_t key, struct ft_error *e, int *err)
{
    struct ft_stream *s = x->k->s;
    struct ft_version_words *mine = &x->k->words[s->rank];
    struct ft_await a = {.kind = FT_AWAIT_ASKED, .all = true, .anything = true, .unit = s->unit};
    struct ft_wait w = ft_stream_wait_for(s, &a);
    enum evidence found;
    bool all = false;

    ft_note(&mine->doubt_key, key);
    ft_stream_announce(s, FT_AWAIT_ASKED, &mine->doubt, s->unit + 1);
    if (s->nodes)
        ft_nodes_ring(s->nodes);
    while ((found = look_around(x, e, err)) == NOTHING && !*err) {
        all = all_in_doubt(x, key, e, err);
        if (all || (*err = wait_a_turn(s, &w, e)) != 0)
            break;
    }
    ft_wait_over(&w, s->patience);
    if (all)
        return REPEATED; /* stays in doubt: others may not have seen it yet */
    if (found != REPEATED)
        ft_publish(&mine->doubt, 0);
    return found;
}

/* What is said of the unit. Meanwhile there is no unit of this rank's own that would show whoever asks (`ftrun status`, --hang-timeout) which call
   it is in. place: with an entry, `at`, that the call might have; NULL: it has none. */
static enum evidence find_out(const struct ft_bootstrap_call *x, const struct ft_kept *might, struct ft_error *e, int *err)
{
    struct ft_trail *asking = &x->k->words[x->k->s->rank].asking;
    enum evidence found;

    ft_trail_write(asking, x->k->s->unit, x->sig, x->site);
    found = look_around(x, e, err);
    if (!*err && found == NOTHING && might)
        found = wait_in_doubt(x, might->unit + 1, e, err);
    ft_publish(&asking->unit, 0);
    return found;
}

/* This life has had the result already: those before the load were by position. */
static bool had(const struct ft_key *place, uint32_t i) { return place->kept[i].served || i < place->calls; }

/* The entry that this call would have, by what it contributes, or by order; matched: it contributes the same, or nobody knows. -1: none; -2: nobody
   knows which. */
static int entry_for(const struct ft_bootstrap_call *x, const struct ft_key *place, bool *matched)
{
    uint64_t hash = contribution(x->c);
    bool unknown = false;
    int first = -1;

    for (uint32_t i = 0; i < place->nkept; i++) {
        if (had(place, i))
            continue;
        first = first < 0 ? (int)i : first;
        unknown = unknown || !ft_cache_contributed(x->k, place->kept[i].unit);
        if (hash && ft_cache_contributed(x->k, place->kept[i].unit) == hash) {
            *matched = true;
            return (int)i;
        }
    }
    *matched = !hash || unknown;
    if (!hash || place->nkept == 1 || x->sig->call == FT_CALL_BCAST)
        return first;
    return unknown ? -2 : -1;
}

static int cannot_tell(const struct ft_bootstrap_call *x, struct ft_error *e)
{
    char call[128], site[96];

    return ft_err_set(e, FT_EDIVERGED, "rank %u came back by a checkpoint, and its %s at %s may be the one that begins the program or the "
                      "one that comes now: give the former a key (MPIX_Allreduce_cached)", x->k->s->me,
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

static int repeat(const struct ft_bootstrap_call *x, struct ft_error *e)
{
    struct ft_sig repeated = *x->sig;

    repeated.cached = FT_CACHED_REPEATED;
    return ft_bootstrap_perform(x, &repeated, e);
}

/* This life began with a later version. The call is
     by position  if no result of this place is left, or there are as many calls in each version as are kept: a step of the program;
     from the cache if the unit is known to be another call;
     an error     if the unit is this very call, and it contributes what the first one did: it may be either. */
static int again(const struct ft_bootstrap_call *x, struct ft_error *e)
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
    if (i == -2)
        return cannot_tell(x, e);
    found = find_out(x, i >= 0 ? &place->kept[i] : NULL, e, &err);
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
    return open && found == OTHER ? ft_bootstrap_answer(x, place->kept[i].at, e) : by_position(x, e);
}

int ft_bootstrap_by_place(struct ft_bootstrap_call *x, struct ft_error *e)
{
    struct ft_cache *k = x->k;

    x->hash = ft_bootstrap_place(x->sig, x->site);
    if (!k->sites || !can_be_kept(x->sig))
        return ft_bootstrap_perform(x, x->sig, e);
    if (k->loaded)
        return again(x, e);
    return k->version == 0 ? first_version(x, e) : by_position(x, e);
}
