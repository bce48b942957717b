/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ft/agree.h"
#include "ft/base/hash.h"
#include "ft/base/util.h"
#include "ft/carry.h"
#include "ft/collective.h"
#include "ft/core/cache.h"
#include "ft/handle.h"
#include "ft/prefix.h"
#include "ft/shm/models.h"

/* When a lazy checkpoint is kept: there is much to be replayed, and it costs little beside that. */
enum { LAZY_NS = 1000000000, LAZY_BYTES = 64 << 20, LAZY_SHARE = 50 };

void ft_checkpoints_open(struct ft_checkpoints *c, struct ft_stream *world, const struct ft_region *region, int fd, int bell)
{
    struct ft_version v;

    memset(c, 0, sizeof *c);
    c->s = world;
    c->region = region;
    c->fd = fd;
    c->bell = bell;
    c->mine = region ? ft_versions_of(region, world->rank) : &c->alone;
    c->kept_ns = ft_clock_ns();
    ft_publish(&c->mine->store_unit, 0);
    if (!region)
        return;
    c->head = ft_versions_head(region);
    c->version = c->kept = ft_look(&c->head->base_version);
    c->slot = (uint32_t)ft_look(&c->head->base_slot);
    if (ft_versions_loadable(region, world->rank, &v))
        ft_prefix_follow(world, fd, ft_peek(&c->head->prefix_end) - 1, ft_peek(&c->mine->loads) - 1);
}

void ft_checkpoints_close(struct ft_checkpoints *c)
{
    for (uint32_t slot = 0; slot < 2; slot++)
        for (int global = 0; global < 2; global++)
            ft_model_map_close(&c->maps[slot][global]);
    free(c->global);
    free(c->local);
    if (c->fd >= 0)
        close(c->fd);
}

void ft_checkpoints_resume(struct ft_checkpoints *c)
{
    memset(c->maps, 0, sizeof c->maps);
    ft_publish(&c->mine->store_unit, 0);
}

/* What this rank is in, for `ftrun status` and --hang-timeout: there is no unit of it yet. */
static void say_busy(struct ft_checkpoints *c, enum ft_call call, uint64_t count, uint64_t site, bool commits)
{
    ft_note(&c->mine->store_commits, commits);
    ft_note(&c->mine->store_call, call);
    ft_note(&c->mine->store_count, count);
    ft_note(&c->mine->store_site, site);
    ft_publish(&c->mine->store_unit, c->s->unit + 1);
}

static void say_done(struct ft_checkpoints *c) { ft_publish(&c->mine->store_unit, 0); }

/* ---- the agent ---- */

static void ring(const struct ft_checkpoints *c)
{
    uint64_t one = 1;

    if (c->bell >= 0 && write(c->bell, &one, sizeof one) < 0) {
        /* its count is full: the agent has not looked for long, and will see this, too */
    }
}

uint64_t ft_checkpoints_ask(struct ft_checkpoints *c, enum ft_ask kind, uint32_t slot)
{
    uint64_t number = ft_peek(&c->mine->asks) + 1;

    ft_note(&c->mine->kind, kind);
    ft_note(&c->mine->asked, slot);
    ft_publish(&c->mine->asks, number);
    ring(c);
    return number;
}

/* The program stands still, and prints nothing, until the agent has done it: await_done. */
static uint64_t want_done(struct ft_checkpoints *c, enum ft_ask kind, uint32_t slot)
{
    if (c->bell < 0)
        return 0;
    fflush(NULL);
    return ft_checkpoints_ask(c, kind, slot);
}

static void await_done(struct ft_checkpoints *c, uint64_t number)
{
    struct ft_wait w;

    if (c->bell < 0 || ft_look(&c->mine->answered) >= number)
        return;
    w = ft_wait_for_agent(c->s->patience);
    while (ft_look(&c->mine->answered) < number)
        ft_wait_turn(&w, c->s->patience);
    ft_wait_over(&w, c->s->patience);
}

static void have_done(struct ft_checkpoints *c, enum ft_ask kind, uint32_t slot) { await_done(c, want_done(c, kind, slot)); }

/* ---- making one ---- */

/* Until nobody can load what is in the other slot, for ever: everybody has consumed the version after it. */
static void await_consumed(const struct ft_checkpoints *c)
{
    for (uint32_t i = 0; c->region && c->kept && i < c->s->n; i++) {
        struct ft_await a = { .kind = FT_AWAIT_CONSUMED, .rank = ft_stream_before(c->s, i), .all = true, .unit = c->kept - 1 };
        const _Atomic uint64_t *consumed = &ft_versions_of(c->region, a.rank)->consumed;
        struct ft_wait w;

        if (ft_look(consumed) >= c->kept)
            continue;
        w = ft_stream_wait_for(c->s, &a);
        while (ft_look(consumed) < c->kept)
            ft_wait_turn(&w, c->s->patience);
        ft_wait_over(&w, c->s->patience);
    }
}

/* Whoever wants to read it a little longer pins it, and looks then whether it is still there; here it is the other way round. */
static void take_slot(const struct ft_checkpoints *c, uint32_t slot)
{
    struct ft_wait w;

    ft_announce(&c->mine->slot[slot].version, 0);
    atomic_thread_fence(memory_order_release); /* before anything else of the slot changes */
    if (!c->region || !(ft_ask(&c->head->pinned) & ft_pin_bits(slot))) /* by slot: who was killed here has left no version in it */
        return;
    w = ft_wait_for_agent(c->s->patience);
    while (ft_ask(&c->head->pinned) & ft_pin_bits(slot))
        ft_wait_turn(&w, c->s->patience);
    ft_wait_over(&w, c->s->patience);
}

struct hashes {
    uint64_t local, global;
};

static int write_models(struct ft_checkpoints *c, uint32_t slot, const struct ft_models *m, struct hashes *hash, struct ft_error *e)
{
    struct ft_model_map *maps = c->maps[slot];
    int err = ft_model_map_put(&maps[0], c->fd, ft_models_local(c->s->rank, slot), m->local, m->nlocal, &hash->local, e);

    hash->global = 0;
    if (err || c->s->rank != 0)
        return err;
    return ft_model_map_put(&maps[1], c->fd, ft_models_global(slot), m->global, m->nglobal, &hash->global, e);
}

/* What it has besides models, and where it stands with it. */
static int write_carried(const struct ft_checkpoints *c, uint32_t slot, struct ft_error *e)
{
    uint64_t area = ft_models_carried(c->s->params ? c->s->params->nranks : 1, c->s->rank, slot), n = 0;
    struct ft_model_slot *words = &c->mine->slot[slot];
    void *bytes = NULL;
    int err = 0;

    c->mine->at[slot].n = 0;
    if (ft_carry_is_on(c->s->ft))
        err = ft_carry_save(c->s->ft, &bytes, &n, &c->mine->at[slot], e);
    if (!err && n)
        err = ft_models_write(c->fd, area, 0, bytes, n, e);
    if (!err && n)
        ft_models_end(c->fd, area, n);
    ft_note(&words->ncarried, n);
    ft_note(&words->carried_hash, n && !err ? ft_hash(0, bytes, n) : 0);
    free(bytes);
    return err;
}

/* What a rank that loads it will go by; version last. count: of the unit's signature. */
static void describe(const struct ft_checkpoints *c, struct ft_model_slot *slot, const struct ft_models *m, const struct hashes *hash,
                     uint64_t count)
{
    uint64_t end, chain;

    ft_agree_after(c->s, FT_CALL_CHECKPOINT, count, &end, &chain);
    ft_note(&slot->unit, c->s->unit);
    ft_note(&slot->end, end);
    ft_note(&slot->chain, chain);
    ft_note(&slot->nglobal, m->nglobal);
    ft_note(&slot->nlocal, m->nlocal);
    ft_note(&slot->global_hash, hash->global);
    ft_note(&slot->local_hash, hash->local);
    ft_publish(&slot->version, c->version + 1);
}

/* A world of one without ftrun has nobody else to make it. */
static int have_memory(struct ft_checkpoints *c, struct ft_error *e)
{
    if (c->fd < 0)
        c->fd = ft_models_create(e);
    return c->fd < 0 ? FT_ENOMEM : 0;
}

/* An earlier incarnation may have done it all; what was printed is noted again: it is the same. It is noted while the models are
   written, once the slot is nobody's: until then somebody might go back to what was noted for it before. */
static int keep(struct ft_checkpoints *c, uint32_t slot, const struct ft_models *m, uint64_t count, struct ft_error *e)
{
    struct ft_model_slot *words = &c->mine->slot[slot];
    int err = have_memory(c, e);
    struct hashes hash;
    uint64_t mark;

    if (err)
        return err;
    if (ft_peek(&words->version) == c->version + 1 && ft_peek(&words->unit) == c->s->unit) {
        have_done(c, FT_ASK_MARK, slot);
        return 0;
    }
    await_consumed(c);
    take_slot(c, slot);
    mark = want_done(c, FT_ASK_MARK, slot);
    err = write_models(c, slot, m, &hash, e);
    if (!err)
        err = write_carried(c, slot, e);
    if (!err)
        describe(c, words, m, &hash, count);
    await_done(c, mark);
    return err;
}

/* Not every rank could: the words that say so are taken back before the memory is. */
static void discard(struct ft_checkpoints *c, uint32_t slot)
{
    ft_announce(&c->mine->slot[slot].version, 0);
    ft_model_map_clear(&c->maps[slot][0], c->fd, ft_models_local(c->s->rank, slot));
    if (c->s->rank == 0)
        ft_model_map_clear(&c->maps[slot][1], c->fd, ft_models_global(slot));
}

static void consume(struct ft_checkpoints *c)
{
    if (c->region && ft_peek(&c->mine->consumed) < c->kept)
        ft_stream_announce(c->s, FT_AWAIT_CONSUMED, &c->mine->consumed, c->kept);
    ring(c);
}

static void has_kept(struct ft_checkpoints *c, uint32_t slot, uint64_t began_ns)
{
    c->version++;
    c->kept = c->version;
    c->slot = slot;
    c->kept_end = c->s->end;
    c->kept_ns = ft_clock_ns();
    c->cost_ns = c->kept_ns - began_ns;
    consume(c);
}

/* Where ranks have messages: all of them have come, so nobody's are under way any more. If one has something open all are told, and nothing is
   done. *word: the largest of what the ranks give, below FT_CARRY_OPEN. */
static int meet(const struct ft_checkpoints *c, enum ft_call call, uint64_t count, uint64_t *word, uint64_t site, struct ft_error *e)
{
    int err;

    *word = ft_max(*word, ft_carry_open(c->s->ft, call));
    err = ft_agree(c->s, call, count, word, site, e);
    if (err || *word < FT_CARRY_OPEN)
        return err;
    return ft_carry_tell(c->s->ft, call, *word, e);
}

/* All that was sent before. */
static int take_messages(const struct ft_checkpoints *c, struct ft_error *e)
{
    int64_t n = ft_carry_is_on(c->s->ft) ? ft_carry_left(c->s->ft, e) : 0;

    return n < 0 ? (int)n : 0;
}

/* count: of the unit's signature, which all ranks know. */
static int make(struct ft_checkpoints *c, const struct ft_models *m, uint64_t count, uint64_t site, struct ft_error *e)
{
    bool live = !ft_stream_replays(c->s, c->s->unit);
    uint32_t slot = c->kept ? 1 - c->slot : 0;
    uint64_t failed = 0, began_ns = ft_clock_ns();
    struct ft_error why;
    int err;

    /* Once a rank has said whether it could, nothing of it changes any more (RULE 2): a successor that could after all would leave a version
       behind that is complete, while the others take theirs back. */
    if (live && !ft_stream_has_contributed(c->s)) {
        err = take_messages(c, e);
        if (err)
            return err;
        say_busy(c, FT_CALL_CHECKPOINT, count, site, false);
        failed = keep(c, slot, m, count, &why) != 0;
        say_done(c);
    }
    if (!failed)
        snprintf(why.text, sizeof why.text, "a rank has no memory for its models");
    err = ft_agree(c->s, FT_CALL_CHECKPOINT, count, &failed, site, e);
    /* Short operations return before they are committed: everybody has contributed. Who said now that it has consumed this version could
       be found without one: if another rank is killed before it is done, that one goes on from the version before. */
    if (!err && c->s->n > 1) {
        say_busy(c, FT_CALL_CHECKPOINT, count, site, true);
        err = ft_stream_await_commit(c->s, c->s->unit - 1, e);
        say_done(c);
    }
    if (err)
        return err;
    if (!failed) {
        has_kept(c, slot, began_ns);
        return 0;
    }
    if (live)
        discard(c, slot);
    return ft_err_set(e, FT_ENOMEM, "%s; the last checkpoint stays", why.text);
}

/* What the bootstrap cache has given before the stream came there is behind it, before a checkpoint says where that is. */
static int settle(struct ft_checkpoints *c, struct ft_error *e) { return ft_cache_settle(c->s->cache, ft_collective_perform, e); }

/* It goes by the version. */
static int at_version(struct ft_checkpoints *c, bool jumped, int err)
{
    if (!err)
        ft_cache_at_version(c->s->cache, c->version, jumped);
    return err;
}

int ft_checkpoints_make(struct ft_checkpoints *c, const struct ft_models *m, uint64_t site, struct ft_error *e)
{
    uint64_t word = 0;
    int err = settle(c, e);

    if (!err && ft_carry_is_on(c->s->ft))
        err = meet(c, FT_CALL_CHECKPOINT, m->nglobal, &word, site, e);
    return err ? err : at_version(c, false, make(c, m, m->nglobal, site, e));
}

static bool is_worth_it(const struct ft_checkpoints *c)
{
    uint64_t since = ft_clock_ns() - c->kept_ns, wanted = c->head ? ft_look(&c->head->wanted) : 0;

    if (wanted > c->kept && c->version + 1 >= wanted)
        return true;
    if (since < LAZY_SHARE * c->cost_ns)
        return false;
    return since >= LAZY_NS || c->s->end - c->kept_end >= LAZY_BYTES;
}

static int make_lazy(struct ft_checkpoints *c, ft_serialize *serialize, void *state, uint64_t site, struct ft_error *e)
{
    uint64_t wanted = c->s->rank == 0 && is_worth_it(c);
    struct ft_models m = { 0 };
    int err = meet(c, FT_CALL_LAZY, 0, &wanted, site, e);

    if (err || !wanted) {
        c->version += !err;
        return err;
    }
    if (c->s->rank == 0 && !ft_stream_replays(c->s, c->s->unit) && serialize(state, &m.global, &m.nglobal) != 0)
        return ft_err_set(e, FT_ESYS, "rank 0 cannot serialise its model: the function given to MPIX_Checkpoint_lazy has failed");
    return make(c, &m, 0, site, e);
}

int ft_checkpoints_make_lazy(struct ft_checkpoints *c, ft_serialize *serialize, void *state, uint64_t site, struct ft_error *e)
{
    int err = settle(c, e);

    return err ? err : at_version(c, false, make_lazy(c, serialize, state, site, e));
}

/* ---- loading ---- */

enum { PIECE = 1 << 18 /* read, and hashed while it is in the cache */ };

static int read_model(struct ft_checkpoints *c, uint64_t area, uint64_t n, uint64_t hash, void **bytes, struct ft_error *e)
{
    struct ft_hashing h;
    uint64_t piece;
    int err = 0;

    *bytes = NULL;
    if (!n)
        return 0;
    *bytes = malloc(n);
    if (!*bytes)
        return ft_err_set(e, FT_ENOMEM, "rank %u has no memory for a model of %llu byte%s", c->s->rank,
                          (unsigned long long)n, ft_plural(n));
    ft_hashing_begin(&h, 0, n);
    for (uint64_t at = 0; at < n && !err; at += piece) {
        piece = ft_min(PIECE, n - at);
        err = ft_models_read(c->fd, area, at, (char *)*bytes + at, piece, e);
        ft_hashing_add(&h, (char *)*bytes + at, piece);
    }
    if (!err && ft_hashing_end(&h) != hash)
        err = ft_err_set(e, FT_ESYS, "rank %u: %llu byte%s of a model are not what was kept", c->s->rank,
                         (unsigned long long)n, ft_plural(n));
    return err;
}

/* The library's copies, for the program. */
static int read_models(struct ft_checkpoints *c, const struct ft_version *v, struct ft_models *m, struct ft_error *e)
{
    void *global, *local = NULL;
    int err = read_model(c, ft_models_global(v->slot), v->nglobal, v->global_hash, &global, e);

    if (!err)
        err = read_model(c, ft_models_local(c->s->rank, v->slot), v->nlocal, v->local_hash, &local, e);
    if (err) {
        free(global);
        free(local);
        return err;
    }
    free(c->global);
    free(c->local);
    c->global = global;
    c->local = local;
    *m = (struct ft_models){ .global = global, .nglobal = v->nglobal, .local = local, .nlocal = v->nlocal };
    return 0;
}

/* What this rank has made or loaded last. Where it replays from a snapshot, others may have gone on by two versions. */
static int read_current(struct ft_checkpoints *c, struct ft_models *m, struct ft_error *e)
{
    struct ft_version v;

    *m = (struct ft_models){ 0 };
    if (!c->kept)
        return 0;
    if (!ft_versions_kept(c->region, c->mine, c->slot, c->kept, &v))
        return ft_err_set(e, FT_ESYS, "rank %u loads checkpoint %llu, and had gone beyond that before its restart: a program should "
                          "load once, near its start", c->s->rank, (unsigned long long)c->kept);
    return read_models(c, &v, m, e);
}

/* Models are read: nothing is to fail any more that a program could go on after. */
static int restore(struct ft_checkpoints *c, const struct ft_version *v, bool again, struct ft_error *e)
{
    uint64_t area = ft_models_carried(c->s->params->nranks, c->s->rank, v->slot);
    void *bytes;
    int err = read_model(c, area, v->ncarried, v->carried_hash, &bytes, e);

    if (!err && v->ncarried)
        err = ft_carry_load(c->s->ft, bytes, v->ncarried, again, e);
    free(bytes);
    return err == FT_ENOMEM ? FT_ESYS : err;
}

/* This rank has been here before, and was killed after that version. */
static int jump(struct ft_checkpoints *c, const struct ft_version *v, struct ft_models *m, struct ft_error *e)
{
    int err = read_models(c, v, m, e);

    if (!err && v->ncarried)
        err = restore(c, v, true, e);
    if (err)
        return err;
    have_done(c, FT_ASK_JUMP, v->slot);
    ft_prefix_leave(c->s);
    ft_stream_jump(c->s, v->unit + 1, v->end, v->chain);
    c->version = c->kept = v->version;
    c->slot = v->slot;
    c->kept_end = v->end;
    consume(c);
    return 0;
}

static bool is_live(const struct ft_checkpoints *c) { return c->region && !ft_stream_replays(c->s, c->s->unit); }

/* Where ranks have messages: what is sent before it is received before it. All of them have come when this is over; *used: one of them has
   messages or communicators, which a rank that is started again alone would have to have before it loads. *left: some messages are not received. */
static int meet_to_load(struct ft_checkpoints *c, uint64_t *used, uint64_t *left, uint64_t site, struct ft_error *e)
{
    int64_t n;
    int err;

    if (!ft_carry_is_on(c->s->ft))
        return 0;
    *used = ft_carry_is_used(c->s->ft);
    err = meet(c, FT_CALL_LOAD, 0, used, site, e);
    /* A predecessor that has said so has looked. The others may have loaded since, and what they send comes after what is loaded here (found by
       the explorer). */
    if (err || !is_live(c) || ft_stream_has_contributed(c->s))
        return err;
    n = ft_carry_left(c->s->ft, e);
    *left = n > 0;
    return n < 0 ? (int)n : 0;
}

static int has_left(const struct ft_checkpoints *c, struct ft_error *e)
{
    return ft_err_set(e, FT_EINVAL, "rank %u calls MPIX_Checkpoint_load, and not all messages that were sent before are received: receive them first",
                      c->s->me);
}

/* A unit like any other: from it on, all of them can go on from checkpoints. What there is is read before: a rank that has no memory for it has not
   called the unit then, and can load again. */
static int begin(struct ft_checkpoints *c, struct ft_models *m, uint64_t site, struct ft_error *e)
{
    bool base = c->kept && c->head && c->kept == ft_peek(&c->head->base_version);
    uint64_t used = 0, left = 0;
    struct ft_version v;
    int err = read_current(c, m, e);

    if (!err && is_live(c))
        ft_publish(&c->mine->loads, c->s->unit + 1);
    if (!err)
        err = meet_to_load(c, &used, &left, site, e);
    if (!err && is_live(c) && !used && c->s->rank == 0)
        err = ft_prefix_keep(c->s, c->fd, &c->head->prefix_end, e);
    if (!err)
        err = ft_agree(c->s, FT_CALL_LOAD, 0, &left, site, e);
    if (!err && left)
        err = has_left(c, e);
    ft_prefix_leave(c->s);
    if (!err && base && ft_versions_kept(c->region, c->mine, c->slot, c->kept, &v) && v.ncarried)
        err = restore(c, &v, false, e);
    if (!err && base)
        have_done(c, FT_ASK_JUMP, c->slot);
    return err;
}

int ft_checkpoints_load(struct ft_checkpoints *c, struct ft_models *m, uint64_t site, struct ft_error *e)
{
    bool jumps;
    struct ft_version v;
    int err;

    if (c->loaded)
        return read_current(c, m, e);
    say_busy(c, FT_CALL_LOAD, 0, site, false);
    jumps = c->region && ft_versions_loadable(c->region, c->s->rank, &v) && v.unit + 1 > ft_peek(&c->mine->loads);
    err = jumps ? jump(c, &v, m, e) : begin(c, m, site, e);
    say_done(c);
    c->loaded = !err;
    if (!err && c->s->ft)
        ft_made_load(&c->s->ft->made);
    return at_version(c, jumps, err);
}
