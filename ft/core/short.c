/* SPDX-License-Identifier: BSD-3-Clause */
/* The short way: one unit, one slot per rank, every rank reads what it needs out of the others' slots and
   computes its result privately; the log entry is written by rank 0 or by the root (allgatherv: by all, in pieces). When:
   contributions of a few KiB at most. Cost without failures: one cache line from each rank to each other
   one, and the log entry. (RULE 3; the same order of folding as everywhere.)

   A slot of unit g may be refilled, for unit g + depth, when every rank has finished with g. Nobody waits
   to find that out if the calls between were synchronising ones: having *seen* everybody's contribution
   to a later unit u says that everybody had finished with all before u, because `done` of a unit is published
   before the next unit is contributed, by every incarnation. That is what s->finished holds.

   So `done` needs no wake-up calls here: it is looked at by replaying ranks and after runs of rooted
   calls only, and such a wait may sleep its bounded time. */
#include <string.h>

#include "ft/base/copy.h"
#include "ft/core/algorithm.h"
#include "ft/core/op.h"

enum { SMALL_AHEAD = 4 };  /* records */

/* Until every rank has finished with the unit whose slot unit u takes over. */
static int await_slot(struct ft_stream *s, uint64_t u, struct ft_error *e)
{
    if (u < s->params->short_depth || u - s->params->short_depth < s->finished)
        return 0;
    return ft_stream_await_commit(s, u - s->params->short_depth, e);
}

static int contribute(struct ft_coll *c, uint64_t bytes, struct ft_error *e)
{
    struct ft_stream *s = c->s;
    struct ft_slot *slot = ft_stream_short_slot(s, s->rank, s->unit);
    int err;

    if (ft_stream_has_contributed(s))
        return 0;  /* an earlier incarnation has; others may have read it already (RULE 2) */
    err = await_slot(s, s->unit, e);
    if (err)
        return err;
    if (bytes)
        ft_view_fill(&c->send, 0, bytes, slot + 1);
    slot->chain = s->chain;
    ft_stream_announce(s, FT_AWAIT_SHOWN, &slot->unit, s->unit + 1);
    return 0;
}

/* Whether rank r's contribution is there, and of a history of calls that is ours. Of many ranks that is all there is to see, again and again. */
static inline bool has_come(const struct ft_stream *s, uint32_t r)
{
    struct ft_slot *slot = ft_stream_short_slot(s, r, s->unit);

    return ft_look(&slot->unit) == s->unit + 1 && slot->chain == s->chain;
}

/* Waits for it. `last`: this rank is the last of its processor's to come. */
static FT_HOT int await_contribution(struct ft_stream *s, uint32_t r, bool last, struct ft_error *e)
{
    struct ft_slot *slot = ft_stream_short_slot(s, r, s->unit);
    struct ft_await a = { .kind = FT_AWAIT_SHOWN, .rank = r, .all = s->sig.call != FT_CALL_BCAST, .unit = s->unit };
    int err;

    if (s->patience->place && ft_look(&slot->unit) <= s->unit)
        ft_wait_spin(s->patience, r, last, &slot->unit, s->unit + 1);
    err = ft_stream_await(s, &a, e);
    if (err || has_come(s, r))
        return err;
    FT_INVARIANT(ft_peek(&slot->unit) == s->unit + 1, "a slot is not refilled before everybody has finished with it");
    return ft_stream_mismatch(s, r, e);
}

/* First those that need this processor: as long as they lack it is no use to spin for others. */
static int await_all(struct ft_stream *s, struct ft_error *e)
{
    const struct ft_place *place = s->patience->place;
    uint32_t before = ft_wait_given_way(s->patience);
    int err = 0;

    for (uint32_t r = place ? place->from : 0; place && r < place->to && !err; r++)
        if (r != s->rank && !has_come(s, r))
            err = await_contribution(s, r, false, e);
    for (uint32_t i = 1; i < s->n && !err; i++) {
        uint32_t r = ft_stream_before(s, i);

        if (!has_come(s, r))
            err = await_contribution(s, r, ft_wait_given_way(s->patience) == before, e);
    }
    if (!err)
        s->finished = s->unit;
    return err;
}

static const void *slot_of(const struct ft_coll *c, uint32_t r)
{
    return ft_stream_short_slot(c->s, r, c->s->unit) + 1;
}

/* By a function of the user's, which sees copies only (RULE 11). Not inlined: nobody else needs so
   much of the stack, which may be small. */
static __attribute__((noinline)) void reduce_by_user(const struct ft_coll *c)
{
    char acc[c->bytes] __attribute__((aligned(FT_LINE)));
    char scratch[c->bytes] __attribute__((aligned(FT_LINE)));
    uint32_t r = c->s->n - 1;

    memcpy(acc, slot_of(c, r), c->bytes);
    while (r-- > 0) {
        memcpy(scratch, slot_of(c, r), c->bytes);
        c->op->user(c->op->ctx, scratch, acc, c->bytes / c->elem);
    }
    ft_view_unpack(&c->recv, 0, c->bytes, acc);
}

/* Everybody's contribution, folded from the right: x0 op (x1 op (... xn-1)). */
static FT_HOT void reduce(const struct ft_coll *c)
{
    uint32_t r = c->s->n - 2;
    char *to = ft_view_direct(&c->recv, 0);

    if (c->op->reduction == FT_USER) {
        reduce_by_user(c);
        return;
    }
    c->op->fold(slot_of(c, r), slot_of(c, r + 1), to, c->bytes / c->elem);
    while (r-- > 0)
        c->op->fold(slot_of(c, r), to, to, c->bytes / c->elem);
}

/* What this rank writes of an entry: bytes [from, to) of the result, and with them, or without, the head. */
struct piece {
    bool head;
    uint64_t from, to;
    const struct ft_view *view; /* has all of the result; NULL: this rank's slot has those */
};

/* One rank writes all of it, though all have it: a core that writes line after line fetches those
   that follow, and takes them from who writes there (docs/performance/recovery.md, "Short results,
   by one rank"). Of an allgatherv, which is in one piece nowhere, each rank writes its own part. */
static struct piece piece_of(const struct ft_coll *c, uint64_t result)
{
    const struct ft_stream *s = c->s;
    struct piece p = { .head = ft_coll_leads(c) };

    if (s->sig.call == FT_CALL_ALLGATHERV) {
        p.from = ft_coll_slice_at(c, 0, s->rank);
        p.to = p.from + ft_coll_part(c, s->rank);
    } else if (p.head) {
        p.to = result;
        p.view = s->sig.call == FT_CALL_BCAST ? &c->send : &c->recv;
    }
    return p;
}

static void write_log(const struct ft_coll *c, char *record, uint64_t position, uint64_t result, const struct piece *p)
{
    if (p->view)
        ft_view_fill(p->view, 0, result, record + ft_record_offset(result));
    else if (p->from < p->to)
        ft_fill(record + ft_record_offset(result) + p->from, slot_of(c, c->s->rank),
                p->to - p->from);
    if (p->head)
        ft_stream_write_head(c->s, c->s->unit, c->s->end, position, result);
}

static bool needs_everybody(const struct ft_coll *c)
{
    return c->root < 0 || (c->s->sig.call == FT_CALL_REDUCE && ft_coll_leads(c));
}

static int result_live(struct ft_coll *c, struct ft_error *e)
{
    struct ft_stream *s = c->s;
    int err = 0;

    if (needs_everybody(c))
        err = await_all(s, e);
    else if (s->sig.call == FT_CALL_BCAST && !ft_coll_leads(c))
        err = await_contribution(s, (uint32_t)c->root, false, e);
    if (err || !ft_coll_receives(c) || c->known)
        return err;
    if (ft_coll_gathers(c)) {
        for (uint32_t r = 0; r < s->n; r++) {
            struct ft_view part = ft_view_part(&c->recv, r);

            ft_view_unpack(&part, 0, ft_view_bytes(&part), slot_of(c, r));
        }
    } else if (s->sig.call == FT_CALL_BCAST) {
        ft_view_unpack(&c->recv, 0, c->bytes, slot_of(c, (uint32_t)c->root));
    } else if (c->bytes) {
        reduce(c);
    }
    return 0;
}

/* The unit was finished by an earlier incarnation. */
static int result_replayed(struct ft_coll *c, uint64_t position, uint64_t result, struct ft_error *e)
{
    struct ft_stream *s = c->s;
    uint64_t at = ft_record_offset(result);
    int err;

    /* Who gets no result need not wait until the others have come so far: if our trail still has the call,
       ft_stream_begin has compared it; if not, we went on so far that the unit is committed. (Not our slot:
       killed while refilling it we left another unit's bytes under the old number. Found by the explorer.) */
    if (!ft_coll_receives(c) && ft_peek(&ft_stream_trail(s, s->rank, s->unit)->unit) == s->unit + 1)
        return 0;
    err = ft_stream_await_commit(s, s->unit, e);
    if (!err)
        err = ft_stream_check_record(s, position, s->unit, e);
    if (!ft_coll_receives(c))
        return err;
    for (uint32_t i = 0; i < ft_view_pieces(&c->recv) && !err; i++) {
        struct ft_view piece = ft_view_piece(&c->recv, i);

        err = ft_coll_read(c, position, at, &piece, 0, ft_view_bytes(&piece), false, e);
        at += ft_view_bytes(&piece);
    }
    return err;
}

/* The next calls are likely to be like this one. Their records are memory nobody has touched for long: have the lines by then. A small call takes less
   time than memory does. */
static void prepare_record(const char *record, uint64_t result, const struct piece *p)
{
    const char *next = record + ft_record_bytes(result) * (result <= 2 * FT_LINE ? SMALL_AHEAD : 1);

    if (p->head)
        ft_prefetch_write(next, sizeof(struct ft_record));
    if (p->from < p->to)
        ft_prefetch_write(next + ft_record_offset(result) + p->from, p->to - p->from);
}

/* The next call announces something in any case. What this one writes besides, it is likely to write again as many calls later as it
   is since it did the last time: a loop often has a barrier or a few agreed bytes between its calls. */
static void prepare_slot(const struct ft_coll *c, uint64_t wrote)
{
    struct ft_stream *s = c->s;
    uint64_t next = s->unit + (s->unit - s->wrote);

    ft_prefetch_write(ft_stream_short_slot(s, s->rank, s->unit + 1), sizeof(struct ft_slot));
    if (!wrote)
        return;
    if (next - s->unit < s->params->short_depth)
        ft_prefetch_write(ft_stream_short_slot(s, s->rank, next), sizeof(struct ft_slot) + wrote);
    s->wrote = s->unit;
}

static FT_HOT int run(struct ft_coll *c, struct ft_error *e)
{
    struct ft_stream *s = c->s;
    uint64_t result = ft_coll_result(c, 0);
    uint64_t position = ft_log_place(&s->log, s->end, result);
    uint64_t end = position + ft_record_bytes(result);
    int err;

    if (__builtin_expect(ft_stream_replays(s, s->unit), 0)) {
        err = result_replayed(c, position, result, e);
    } else {
        bool silent = s->sig.call == FT_CALL_BCAST && !ft_coll_leads(c);
        uint64_t part = silent ? 0 : ft_coll_part(c, s->rank);
        char *record = ft_log_write(&s->log, position, result);

        err = contribute(c, part, e);
        if (!err) {
            /* What needs nobody, while the others' contributions are on their way. A barrier's record is a head; that of a result wins nothing here. */
            if (result == 0 && ft_coll_leads(c))
                ft_stream_write_head(s, s->unit, s->end, position, 0);
            prepare_slot(c, part);
            err = result_live(c, e);
        }
        if (!err) {
            struct piece piece = { 0 };

            if (result > 0) {
                piece = piece_of(c, result);
                write_log(c, record, position, result, &piece);
            }
            ft_stream_done_quiet(s, s->unit + 1, end);
            prepare_record(record, result, &piece);
        }
    }
    if (!err)
        ft_stream_end(s, 1, end);
    return err;
}

const struct ft_algorithm ft_short = {NULL, run};  /* one unit, of all there is */
