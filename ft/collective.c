/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/collective.h"

#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"
#include "ft/copies.h"
#include "ft/core/cache.h"
#include "ft/core/check.h"
#include "ft/core/nodes.h"
#include "ft/core/progress.h"
#include "ft/handle.h"
#include "ft/pass/pass.h"
#include "ft/prefix.h"

/* Bytes. A page that is copied when it is written costs 2 to 6 us (docs/internals/snapshots.md), so these 30 to 100. */
enum { WORTH_LEAVING_OUT = 64 << 10 };

/* A stream of one rank has nobody to agree with and nothing to lose: results are this rank's own input. */
static int alone(const struct ft_coll *c)
{
    struct ft_stream *s = c->s;
    struct ft_view to = ft_view_part(&c->recv, 0);

    if (ft_coll_receives(c))
        ft_view_move(&to, &c->send, 0, c->bytes, false);
    s->unit++;
    if (s->counters)
        ft_stream_done_quiet(s, s->unit, 0);
    if (s->block)
        ft_stream_end(s, 0, 0);
    return 0;
}

FT_HOT int ft_collective_perform(struct ft_coll *c, const struct ft_sig *sig, uint64_t total, uint64_t site, struct ft_error *e)
{
    struct ft_stream *s = c->s;
    union ft_progress progress;
    int err;

    if (__builtin_expect(s->loading, 0) && (err = ft_prefix_check(s, sig, site, e)))
        return err;
    err = ft_collective_is_lone(s) && !s->checks ? 0 : ft_stream_begin(s, sig, site, e);
    if (!err && __builtin_expect(s->checks != NULL, 0) && !ft_sig_agrees(sig) && !c->known)
        err = ft_check_contribution(c, e);
    if (err)
        return err;
    if (ft_collective_is_lone(s))
        return s->passing ? ft_pass_run(c, sig, site, e) : alone(c);
    c->progress = &progress;
    err = ft_coll_start(c, total, e);
    return err ? err : ft_coll_finish(c, e);
}

/* A snapshot is due. If next to nothing can be left out of it here, it is put off by one call: behind a barrier or a few bytes that were agreed on there
   is often the large operation of a loop, and what that receives need not be copied when it is written then. */
static void handle_snapshot(struct ft *ft, const struct ft_coll *c)
{
    uint64_t bytes;
    void *unread = ft_view_overwritten(&c->recv, &c->send, &bytes);

    /* A call with a key may be refused, and has received nothing then. */
    if (c->key || bytes < WORTH_LEAVING_OUT)
        unread = NULL;
    ft->puts_off = !unread && !ft->puts_off;
    if (!ft->puts_off)
        ft_handle_snapshot(ft, unread, bytes);
}

static inline int run(struct ft_coll *c, const struct ft_sig *sig, uint64_t total, uint64_t site, struct ft_error *e)
{
    struct ft_stream *s = c->s;

    if (s->ft && s->ft->door && !s->loading) {
        if (ft_handle_due(s->ft))
            handle_snapshot(s->ft, c);
        if (__builtin_expect(!*s->ft->door->switched, 0))
            ft_order_live(s->ft, s->size > 1 && s->unit > s->called); /* it may have been in that one, in a function of the program's that this
                                                                         calls. One alone has no trail, and nobody to tell */
    }
    if (__builtin_expect(s->attentive || c->key, 0) && s->cache)
        return ft_cache_call(s->cache, c, sig, total, site, ft_collective_perform, e);
    return ft_collective_perform(c, sig, total, site, e);
}

FT_HOT int ft_collective_run(struct ft_coll *c, const struct ft_sig *sig, uint64_t total, uint64_t site, struct ft_error *e)
{
    bool says = ft_handle_begin(c->s->ft);
    int err = run(c, sig, total, site, e);

    ft_handle_end(c->s->ft, says);
    return err;
}

FT_HOT int ft_collective_rendezvous(struct ft_stream *s, enum ft_call call, uint64_t site, struct ft_error *e)
{
    struct ft_sig sig = { .call = (uint8_t)call, .root = -1, .elem = 1, .kind = FT_BYTE };
    struct ft_coll c = { .s = s, .root = -1, .elem = 1 };

    return ft_collective_run(&c, &sig, 0, site, e);
}

FT_HOT int ft_barrier(struct ft_stream *s, uint64_t site, struct ft_error *e)
{
    uint32_t given_way = ft_wait_given_way(s->patience);
    int err = ft_collective_rendezvous(s, FT_CALL_BARRIER, site, e);

    /* Last of its processor's ranks it goes on without having waited, and where a bcast follows it would wait there, for a root
       that can only come when it gives way. The others have waited longer. */
    if (!err && s->receives)
        ft_wait_let_go_first(s->patience, given_way);
    return err;
}

/* One that only moves data. */
static inline int move(struct ft_coll *c, const struct ft_sig *sig, uint64_t total, uint64_t site, struct ft_error *e)
{
    const struct ft_stream *s = c->s;

    if (ft_copies_wanted(c) && (s->checks || s->passing || c->key || (s->attentive && s->cache)))
        return ft_copies_use(c, sig, total, site, ft_collective_run, e);
    return ft_collective_run(c, sig, total, site, e);
}

static inline int bcast(struct ft_stream *s, void *buf, uint64_t count, struct ft_type type, int root,
                        const char *key, uint64_t site, struct ft_error *e)
{
    struct ft_sig sig = { .call = FT_CALL_BCAST, .kind = type.kind, .root = root, .elem = type.elem, .count = count };
    struct ft_coll c = { .s = s, .bytes = count * type.elem, .elem = type.elem, .root = root, .key = key };

    if ((uint32_t)root == s->me)
        c.send = ft_view_of(buf, count, type);
    else
        c.recv = ft_view_of(buf, count, type);
    return move(&c, &sig, c.bytes, site, e);
}

int ft_bcast_cached(struct ft_stream *s, void *buf, uint64_t count, struct ft_type type, int root,
                    const char *key, uint64_t site, struct ft_error *e)
{
    return bcast(s, buf, count, type, root, key, site, e);
}

FT_HOT int ft_bcast(struct ft_stream *s, void *buf, uint64_t count, struct ft_type type, int root,
                    uint64_t site, struct ft_error *e)
{
    return bcast(s, buf, count, type, root, NULL, site, e);
}

/* The elements did not fit slots: everybody's contributions were gathered, and whoever wants the result
   folds them, from the right as everywhere. The user's function works in parts, which is private. */
static void fold_gathered(const struct ft_coll *c, char *parts, const struct ft_view *recv)
{
    uint32_t r = c->s->size - 1;
    char *acc = parts + r * c->bytes;

    while (r-- > 0)
        c->op->user(c->op->ctx, parts + r * c->bytes, acc, c->bytes / c->elem);
    ft_view_unpack(recv, 0, c->bytes, acc);
}

static bool fits_slots(const struct ft_coll *c, const struct ft_sig *sig)
{
    const struct ft_stream *s = c->s;

    return s->apart ? !s->nodes || !ft_nodes_gathers(s->nodes, c, sig) : sig->elem <= s->params->slot_bytes;
}

static int reduce_gathered(struct ft_coll *c, const struct ft_sig *sig, uint64_t site,
                           struct ft_error *e)
{
    struct ft_parts each = { .n = c->s->size };
    struct ft_view recv = c->recv;
    char *parts = NULL;
    int err;

    if (ft_coll_receives(c)) {
        parts = malloc(c->s->size * c->bytes);
        if (!parts)
            return ft_err_set(e, FT_ENOMEM, "rank %u has no memory to reduce %llu byte%s by a user function", c->s->me,
                              (unsigned long long)c->bytes, ft_plural(c->bytes));
        c->recv = ft_view_of(parts, recv.count, recv.type);
        c->recv.parts = &each;
    }
    err = ft_collective_run(c, sig, c->s->size * c->bytes, site, e);
    if (parts && !err)
        fold_gathered(c, parts, &recv);
    free(parts);
    return err;
}

static FT_HOT int reduce_packed(struct ft_coll *c, const struct ft_sig *sig, uint64_t total, uint64_t site,
                                struct ft_error *e)
{
    if (fits_slots(c, sig) || c->bytes == 0)
        return ft_collective_run(c, sig, total, site, e);
    return reduce_gathered(c, sig, site, e);
}

/* A reduction of data with gaps is one of what they are packed. */
static FT_HOT int reduction(struct ft_coll *c, const struct ft_sig *sig, uint64_t site,
                            struct ft_error *e)
{
    return ft_copies_wanted(c) ? ft_copies_use(c, sig, c->bytes, site, reduce_packed, e)
                               : reduce_packed(c, sig, c->bytes, site, e);
}

static inline int allreduce(struct ft_stream *s, const void *send, void *recv, uint64_t count,
                            struct ft_type type, const struct ft_op *op, const char *key,
                            uint64_t site, struct ft_error *e)
{
    struct ft_sig sig = { .call = FT_CALL_ALLREDUCE, .reduction = op->reduction, .kind = type.kind, .root = -1,
                          .elem = type.elem, .count = count };
    struct ft_coll c = { .s = s, .op = op, .send = ft_view_of(send, count, type),
                         .recv = ft_view_of(recv, count, type), .bytes = count * type.elem,
                         .elem = type.elem, .root = -1, .key = key };

    return reduction(&c, &sig, site, e);
}

int ft_allreduce_cached(struct ft_stream *s, const void *send, void *recv, uint64_t count,
                        struct ft_type type, const struct ft_op *op, const char *key, uint64_t site,
                        struct ft_error *e)
{
    return allreduce(s, send, recv, count, type, op, key, site, e);
}

FT_HOT int ft_allreduce(struct ft_stream *s, const void *send, void *recv, uint64_t count,
                        struct ft_type type, const struct ft_op *op, uint64_t site, struct ft_error *e)
{
    return allreduce(s, send, recv, count, type, op, NULL, site, e);
}

FT_HOT int ft_reduce(struct ft_stream *s, const void *send, void *recv, uint64_t count, struct ft_type type,
              const struct ft_op *op, int root, uint64_t site, struct ft_error *e)
{
    struct ft_sig sig = { .call = FT_CALL_REDUCE, .reduction = op->reduction, .kind = type.kind, .root = root,
                          .elem = type.elem, .count = count };
    struct ft_coll c = { .s = s, .op = op, .send = ft_view_of(send, count, type),
                         .bytes = count * type.elem, .elem = type.elem, .root = root };

    if ((uint32_t)root == s->me)
        c.recv = ft_view_of(recv, count, type);
    return reduction(&c, &sig, site, e);
}

FT_HOT int ft_allgather(struct ft_stream *s, const void *send, const struct ft_layout *given, void *recv, uint64_t count,
                        struct ft_type type, uint64_t site, struct ft_error *e)
{
    struct ft_sig sig = { .call = FT_CALL_ALLGATHER, .kind = type.kind, .root = -1, .elem = type.elem, .count = count };
    struct ft_parts parts = { .n = s->size };
    struct ft_coll c = { .s = s, .send = ft_view_of(send, count, type),
                         .recv = ft_view_of(recv, count, type), .bytes = count * type.elem,
                         .elem = type.elem, .root = -1 };

    c.send.type.layout = given;
    c.recv.parts = &parts;
    return move(&c, &sig, s->size * c.bytes, site, e);
}

int ft_allgatherv(struct ft_stream *s, const void *send, const struct ft_layout *given, void *recv, const int *counts,
                  const int *displs, struct ft_type type, uint64_t site, struct ft_error *e)
{
    struct ft_sig sig = { .call = FT_CALL_ALLGATHERV, .kind = type.kind, .root = -1, .elem = type.elem };
    struct ft_parts parts = { .n = s->size, .counts = counts, .displs = displs };
    struct ft_coll c = { .s = s, .send = ft_view_of(send, (uint64_t)counts[s->me], type),
                         .recv = ft_view_of(recv, 0, type), .elem = type.elem, .root = -1 };

    c.send.type.layout = given;
    c.recv.parts = &parts;
    for (uint32_t r = 0; r < s->size; r++) {
        struct ft_sig one = { .count = (uint64_t)counts[r] };

        sig.count += (uint64_t)counts[r];
        sig.shape = ft_sig_chain(sig.shape, &one);
        c.bytes = ft_max(c.bytes, (uint64_t)counts[r] * type.elem);
    }
    return move(&c, &sig, sig.count * type.elem, site, e);
}
