/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/stream.h"

#include <string.h>

#include "ft/base/site.h"
#include "ft/core/nodes.h"
#include "ft/core/plan.h"
#include "ft/shm/cut.h"
#include "ft/core/view.h"
#include "ft/shm/trail.h"
#include "ft/shm/walk.h"

/* For whoever looks for this rank's call: it may be in this stream. */
static void enlist(struct ft_stream *s)
{
    _Atomic uint64_t *first = &ft_region_stream(s->region, 0).members[ft_stream_local(s, s->rank)].next;

    if (s->number == 0 || ft_peek(&s->member->next))
        return;
    ft_note(&s->member->next, ft_max(1, ft_peek(first)));
    ft_publish(first, s->number + 1);
}

/* What earlier incarnations have come to, by the rank's own words. */
static void look_back(struct ft_stream *s)
{
    s->mine = ft_peek(&ft_stream_counters(s, s->rank)->done);
    s->called = 0;
    for (uint32_t i = 0; i < s->params->trail; i++)
        s->called = ft_max(s->called, ft_peek(&ft_stream_trail(s, s->rank, i)->unit));
    s->recovering = true;
    ft_note(&s->member->from, s->unit);
    ft_note(&s->member->left, s->unit);
    ft_note(&s->member->called, s->called);
    ft_note(&s->member->mine, s->mine);
    enlist(s);
}

/* What follows from its number and who this rank is on this node. */
static void open_parts(struct ft_stream *s, const struct ft_region *region, uint32_t number, uint32_t me, const char *name,
                       const struct ft_patience *patience, int kick_fd, int spill_fd)
{
    const struct ft_header *h = region->header;
    struct ft_stream_parts parts = ft_region_stream(region, number);

    memset(s, 0, sizeof *s);
    s->region = region;
    s->params = &h->params;
    s->patience = patience;
    s->number = number;
    s->name = name;
    s->counters = parts.counters;
    s->trails = parts.trails;
    s->shorts = parts.shorts;
    s->slots = parts.slots;
    s->partials = parts.partials;
    s->short_bytes = region->stream.short_bytes;
    if (s->params->check_units)
        s->checks = parts.checks + me * s->params->check_units;
    s->host = "";
    s->block = ft_region_rank(region, me);
    s->member = &parts.members[me];
    s->stay = &parts.stays[me];

    ft_log_open(&s->log, region, number, &s->counters[me], patience, kick_fd, spill_fd);
    s->log.asks_ahead = me == 0 && number == 0;
}

void ft_stream_open(struct ft_stream *s, const struct ft_region *region, uint32_t rank, const char *name,
                    const struct ft_patience *patience, int kick_fd, int spill_fd)
{
    open_parts(s, region, 0, rank, name, patience, kick_fd, spill_fd);
    s->rank = rank;
    s->n = s->params->nranks;
    s->me = ft_region_rank_of(region, rank);
    s->size = s->params->nnodes > 1 ? s->params->world : s->n;
    s->apart = s->params->nnodes > 1 || s->n == 1;
    s->use = 1;
    look_back(s);
}

/* What is below the use is nothing to this rank. Killed in the middle, its successor says the same again. */
static void come_in(struct ft_stream *s, const struct ft_use *use)
{
    struct ft_counters *mine = ft_stream_counters(s, s->rank);

    ft_streams_use(s->region, s->number);

    if (ft_peek(&s->stay->use) >= use->use)
        return;
    ft_note(&mine->contributed, use->unit);
    ft_note(&mine->done, use->unit);
    ft_note(&mine->done_at, use->end);
    ft_note(&s->member->left_at, use->end);
    if (ft_peek(&s->stay->use) == 0)
        ft_note(&s->stay->first, use->end);
    ft_stream_announce(s, FT_AWAIT_JOINED, &s->stay->use, use->use);
}

/* No call is compared meanwhile: who has seen all come goes on to its first one. */
static void await_member(const struct ft_stream *s, uint32_t r)
{
    struct ft_await a = { .kind = FT_AWAIT_JOINED, .rank = r, .unit = s->use - 1 };
    _Atomic uint64_t *word = ft_stream_awaited(s, &a);
    struct ft_wait w;

    if (ft_look(word) > a.unit)
        return;
    w = ft_stream_wait_for(s, &a);
    while (ft_look(word) <= a.unit)
        ft_wait_turn(&w, s->patience);
    ft_wait_over(&w, s->patience);
}

/* All of this node, in their order, are numbered as the node's ranks are. */
static bool is_straight(const struct ft_params *p, const uint32_t *local, uint32_t n)
{
    bool straight = n == p->nranks;

    for (uint32_t i = 0; i < n; i++)
        straight = straight && local[i] == i;
    return straight;
}

void ft_stream_join(struct ft_stream *s, const struct ft_stream *world, const struct ft_use *use, const uint32_t *local, uint32_t n,
                    uint32_t rank, const char *name)
{
    struct ft_nodes *nodes = world->nodes && use->stream <= world->params->spread ? world->nodes + use->stream : NULL;
    bool again = s->region && s->number == use->stream;
    struct ft_log before = again ? s->log : (struct ft_log){ 0 };

    open_parts(s, world->region, use->stream, local[rank], name, world->patience, world->log.kick_fd, world->log.spill_fd);
    s->local = is_straight(s->params, local, n) ? NULL : local;
    s->rank = s->me = rank;
    s->n = s->size = n;
    s->log.asks_ahead = rank == 0;
    ft_log_keep_warm(&s->log, &before);
    s->apart = n == 1;
    if (nodes) {
        s->me = world->me;
        s->size = world->size;
        s->apart = true;
    }
    s->use = use->use;
    s->unit = use->unit;
    s->end = use->end;
    s->chain = use->use;
    come_in(s, use);
    look_back(s);
    for (uint32_t i = 0; i < n; i++)
        await_member(s, ft_stream_before(s, i));
    if (nodes)
        ft_nodes_join(nodes, s);
}

void ft_stream_was_in(struct ft_stream *s, const struct ft_stream *world, const struct ft_use *use)
{
    open_parts(s, world->region, use->stream, world->rank, "a communicator", world->patience, world->log.kick_fd, world->log.spill_fd);
    s->use = use->use;
    s->unit = use->unit;
    s->end = use->end;
    s->left = true;
}

/* In a replay: an earlier incarnation has come in again, somewhere after where this one is. */
static bool comes_again(const struct ft_stream *s) { return s->stay && ft_peek(&s->stay->use) > s->use; }

struct ft_position ft_stream_position(const struct ft_stream *s)
{
    return (struct ft_position){ s->unit, s->left && !comes_again(s) ? ft_streams_end(s->region, s->number) : s->end };
}

void ft_stream_leave_use(struct ft_stream *s)
{
    s->left = true;
    if (!comes_again(s))
        ft_publish(&s->member->left_at, FT_CUT_NOWHERE);
    if (ft_peek(&s->stay->left) < s->use)
        ft_publish(&s->stay->left, s->use);
}

/* Field by field, what a copy made at the cut has and whether it is still true:
     ft, cache, attentive, region, params, patience, rank, n, local, me, size, number, use, left, apart, nodes, name,
     counters, trails, shorts, slots, partials, short_bytes, checks, host, block, member, stay   constants of the rank
     unit, end, chain     the position: that of the cut, which is where the program's own memory is
     mine, called         of the dead incarnation, which was further than the one that was copied: read again
     finished, contributed   what others had done by then; counters never go down, so it is still true
     sig, site, first     of the call in progress: there is none between two calls
     wrote, receives      guesses
     loading, load        no snapshot is made before it has loaded
     recovering           again, if only to note when it is over
     log                  ft_log_resume */
void ft_stream_resume(struct ft_stream *s)
{
    ft_log_resume(&s->log);
    look_back(s);
}

/* Does rank say something about the operation that began with `first`? */
static bool trail_find(const struct ft_stream *s, uint32_t rank, uint64_t first, struct ft_sig *sig, uint64_t *site)
{
    return ft_trail_read(ft_stream_trail(s, rank, first), first, sig, site);
}

static int diverged(struct ft_stream *s, uint64_t unit, const struct ft_sig *before, uint64_t site, struct ft_error *e)
{
    char now_call[128], now_site[96], then_call[128], then_site[96];

    return ft_err_set(e, FT_EDIVERGED, "rank %u was restarted and, at unit %llu of %s, calls %s at %s, but its log has %s at %s: "
                      "the program must repeat its calls", s->me, (unsigned long long)unit, s->name,
                      ft_sig_print(&s->sig, now_call, sizeof now_call), ft_site_print(s->site, now_site, sizeof now_site),
                      ft_sig_print(before, then_call, sizeof then_call), ft_site_print(site, then_site, sizeof then_site));
}

/* An earlier incarnation has called this operation. */
static int begin_again(struct ft_stream *s, struct ft_error *e)
{
    struct ft_sig before;
    uint64_t before_site;

    if (s->member)
        ft_trail_write(&s->member->again, s->unit, &s->sig, s->site);
    if (!trail_find(s, s->rank, s->unit, &before, &before_site) || ft_sig_equal(&before, &s->sig))
        return 0;  /* or the trail has gone on; the log will tell */
    return diverged(s, s->unit, &before, before_site, e);
}

FT_HOT int ft_stream_begin(struct ft_stream *s, const struct ft_sig *sig, uint64_t site, struct ft_error *e)
{
    if (s->sig.call == FT_CALL_BARRIER)
        s->receives = sig->call == FT_CALL_BCAST && (uint32_t)sig->root != s->me;
    s->sig = *sig;
    s->site = site;
    s->first = s->unit;
    s->chain = ft_sig_chain(s->chain, sig);
    if (__builtin_expect(s->unit < s->called, 0))
        return begin_again(s, e);
    ft_trail_write(ft_stream_trail(s, s->rank, s->unit), s->unit, sig, site);
    return 0;
}

FT_HOT void ft_stream_end(struct ft_stream *s, uint64_t units, uint64_t end)
{
    s->unit += units;
    s->end = end;
    if (!s->member)
        return;
    /* Nobody needs it but the agent, now and then: a line that stays in this core's cache. */
    ft_note(&s->member->left, s->unit);
    ft_stream_leave(s, end);
    if (__builtin_expect(s->recovering && s->unit > s->mine, 0)) {
        ft_note(&s->block->live_ns, ft_clock_ns());
        s->recovering = false;
    }
}

/* What it has done on the way here counts as replayed, what it leaves out does not. */
void ft_stream_jump(struct ft_stream *s, uint64_t unit, uint64_t end, uint64_t chain)
{
    if (s->member)
        ft_note(&s->member->from, unit - (s->unit - ft_peek(&s->member->from)));
    s->chain = chain;
    s->unit = unit;
    ft_stream_end(s, 0, end);
}

struct ft_wait ft_stream_wait_for(const struct ft_stream *s, const struct ft_await *a)
{
    struct ft_await said = ft_stream_await_of(s, *a);

    return ft_wait_for(s->patience, &said);
}

FT_HOT int ft_stream_await_slow(struct ft_stream *s, const struct ft_await *a, struct ft_error *e)
{
    const _Atomic uint64_t *word = ft_stream_awaited(s, a);
    struct ft_wait w = ft_stream_wait_for(s, a);
    int err = 0;

    while (!err && ft_look(word) <= a->unit)
        if (ft_wait_turn(&w, s->patience))
            err = ft_stream_verify(s, e);
    ft_wait_over(&w, s->patience);
    return err;
}

int64_t ft_stream_lacking(struct ft_stream *s, uint64_t u)
{
    uint64_t least = UINT64_MAX;

    if (u < s->contributed)
        return -1;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t r = ft_stream_before(s, i);
        uint64_t seen = ft_look(&ft_stream_counters(s, r)->contributed);

        if (seen <= u)
            return r;
        least = ft_min(least, seen);
    }
    s->contributed = ft_max(s->contributed, least);
    return -1;
}

bool ft_stream_committed(struct ft_stream *s, uint64_t u)
{
    uint64_t least = UINT64_MAX;

    if (u < s->finished)
        return true;
    for (uint32_t r = 0; r < s->n; r++)
        least = ft_min(least, ft_look(&ft_stream_counters(s, r)->done));
    s->finished = ft_max(s->finished, least);
    return u < s->finished;
}

int64_t ft_stream_behind(struct ft_stream *s, uint64_t u)
{
    if (ft_stream_committed(s, u))
        return -1;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t r = ft_stream_before(s, i);

        if (ft_look(&ft_stream_counters(s, r)->done) <= u)
            return r;
    }
    return -1;
}

int ft_stream_await_commit(struct ft_stream *s, uint64_t u, struct ft_error *e)
{
    int64_t r;

    while ((r = ft_stream_behind(s, u)) >= 0) {
        struct ft_await a = { .kind = FT_AWAIT_DONE, .rank = (uint32_t)r, .all = true, .unit = u };
        int err = ft_stream_await(s, &a, e);

        if (err)
            return err;
    }
    return 0;
}

/* As programs number them. */
static uint32_t name_of(const struct ft_stream *s, uint32_t r) { return s->number ? r : ft_region_rank_of(s->region, r); }

static int mismatch(struct ft_stream *s, uint32_t other, uint64_t unit, const struct ft_sig *mine, uint64_t my_site,
                    const struct ft_sig *theirs, uint64_t their_site, struct ft_error *e)
{
    char my_call[128], my_text[96], their_call[128], their_text[96];

    return ft_err_set(e, FT_EMISMATCH, "mismatched collectives on %s at unit %llu: rank %u calls %s at %s, rank %u calls %s at %s",
                      s->name, (unsigned long long)unit,
                      s->me, ft_sig_print(mine, my_call, sizeof my_call), ft_site_print(my_site, my_text, sizeof my_text),
                      name_of(s, other), ft_sig_print(theirs, their_call, sizeof their_call),
                      ft_site_print(their_site, their_text, sizeof their_text));
}

int ft_stream_verify(struct ft_stream *s, struct ft_error *e)
{
    for (uint32_t r = 0; r < s->n; r++) {
        struct ft_sig theirs;
        uint64_t site;

        if (trail_find(s, r, s->first, &theirs, &site) && !ft_sig_equal(&theirs, &s->sig))
            return mismatch(s, r, s->first, &s->sig, s->site, &theirs, site, e);
    }
    return 0;
}

int ft_stream_mismatch(struct ft_stream *s, uint32_t other, struct ft_error *e)
{
    uint64_t back = ft_min(s->first, s->params->trail - 1);

    for (uint64_t u = s->first - back; u <= s->first; u++) {
        struct ft_sig mine, theirs;
        uint64_t my_site, their_site;

        if (trail_find(s, s->rank, u, &mine, &my_site) && trail_find(s, other, u, &theirs, &their_site) &&
            !ft_sig_equal(&mine, &theirs))
            return mismatch(s, other, u, &mine, my_site, &theirs, their_site, e);
    }
    return ft_err_set(e, FT_EMISMATCH, "ranks %u and %u called different collectives on %s some time before unit %llu: "
                      "all ranks must make the same calls in the same order", s->me, name_of(s, other), s->name,
                      (unsigned long long)s->first);
}

void ft_stream_enter(struct ft_stream *s)
{
    struct ft_counters *c = ft_stream_counters(s, s->rank);

    if (ft_peek(&c->first) > s->first)
        return;  /* an earlier incarnation went further */
    /* Out of use first, as in a trail: found under the old number, the new hash would be a mismatch. */
    ft_note(&c->first, 0);
    atomic_thread_fence(memory_order_release);
    ft_note(&c->chain, s->chain);
    ft_publish(&c->first, s->first + 1);
}

int ft_stream_verify_entry_of(struct ft_stream *s, uint32_t rank, struct ft_error *e)
{
    const struct ft_counters *c = ft_stream_counters(s, rank);
    bool same = ft_look(&c->first) == s->first + 1;
    uint64_t chain = ft_peek(&c->chain);

    /* Who has gone on to a later operation (a reduction's rank that is not the root, a bcast's root) writes over it; then its
       trail must tell. The same first unit before and after: the hash is of this operation. */
    atomic_thread_fence(memory_order_acquire);
    if (!same || ft_look(&c->first) != s->first + 1)
        return ft_stream_verify(s, e);
    return chain == s->chain ? 0 : ft_stream_mismatch(s, rank, e);
}

int ft_stream_verify_entry(struct ft_stream *s, struct ft_error *e)
{
    int err = 0;

    for (uint32_t r = 0; r < s->n && !err; r++)
        err = ft_stream_verify_entry_of(s, r, e);
    return err;
}

int ft_stream_read(struct ft_stream *s, uint64_t position, uint64_t offset, void *to, uint64_t n, bool past_cache, struct ft_error *e)
{
    int err = ft_log_read(&s->log, position, offset, to, n, past_cache);

    return err ? ft_err_set(e, err, "rank %u cannot read the spilled log of %s: its file was cut off, or the disk fails (--log-spill)", s->me, s->name) : 0;
}

int ft_stream_check_record(struct ft_stream *s, uint64_t position, uint64_t u, struct ft_error *e)
{
    struct ft_record rec;
    int err = ft_stream_read(s, position, 0, &rec, sizeof rec, false, e);

    if (err)
        return err;
    rec.sig.length = 0;
    if (rec.unit == u + 1 && ft_sig_equal(&rec.sig, &s->sig))
        return 0;
    if (rec.unit != u + 1) {
        memset(&rec.sig, 0, sizeof rec.sig);
        rec.site = 0;
    }
    return diverged(s, u, &rec.sig, rec.site, e);
}

/* An earlier incarnation has said it. If it was killed between the two stores nobody else would make up for it within a bcast that
   is larger than all memory: the root waits for memory, the keeper for done_at. */
static bool said_before(struct ft_counters *c, uint64_t unit, uint64_t end)
{
    uint64_t done = ft_peek(&c->done);

    if (done < unit)
        return false;
    if (done == unit && ft_peek(&c->done_at) < end)
        ft_publish(&c->done_at, end);
    return true;
}

FT_HOT void ft_stream_done_quiet(struct ft_stream *s, uint64_t unit, uint64_t end)
{
    struct ft_counters *c = ft_stream_counters(s, s->rank);

    if (said_before(c, unit, end))
        return;
    /* done_at may lag behind done, never lead: the keeper spills or forgets what is below it. */
    ft_publish(&c->done, unit);
    ft_publish(&c->done_at, end);
}

void ft_stream_done(struct ft_stream *s, uint64_t unit, uint64_t end)
{
    struct ft_counters *c = ft_stream_counters(s, s->rank);

    if (said_before(c, unit, end))
        return;
    ft_stream_announce(s, FT_AWAIT_DONE, &c->done, unit);
    ft_publish(&c->done_at, end);
}

void ft_stream_fill(struct ft_stream *s, char *slot, const struct ft_view *v, uint64_t from,
                    uint64_t n)
{
    if (n)
        ft_view_fill_past(v, from, n, slot, n >= s->params->slot_past_min);
}

void ft_stream_fill_chunks(struct ft_stream *s, char *slot, const struct ft_view *v, uint64_t from,
                           uint64_t n, uint32_t elem)
{
    bool past = n / s->n >= s->params->slot_past_min;
    uint64_t at, to;

    ft_plan_chunk(n, elem, s->n, s->rank, &at, &to);
    if (at > 0)
        ft_view_fill_unordered(v, from, at, slot, past);
    if (to < n)
        ft_view_fill_unordered(v, from + to, n - to, slot + to, past);
    ft_copy_order(past);
}

/* What lies between them is still in memory: this rank, which needs it no less than its own head, is not done with the unit. */
static void write_gap(struct ft_stream *s, uint64_t u, uint64_t before)
{
    struct ft_record gap = ft_walk_gap(u);

    ft_fill(ft_log_write(&s->log, before, 0), &gap, sizeof gap);
}

void ft_stream_write_head(struct ft_stream *s, uint64_t u, uint64_t before, uint64_t position, uint64_t result)
{
    struct ft_record rec = { .unit = u + 1, .site = s->site, .sig = s->sig };

    rec.sig.length = (uint32_t)result;
    if (__builtin_expect(position != before, 0))
        write_gap(s, u, before);
    ft_fill(ft_log_write(&s->log, position, result), &rec, sizeof rec);
}
