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
#include "ft/core/progress.h"

enum { SMALL_AHEAD = 4 };  /* records */

/* Until every rank has finished with the unit whose slot unit u takes over. */
static bool awaits_slot(struct ft_stream *s, uint64_t u, struct ft_await *a)
{
    int64_t behind = u < s->params->short_depth || u - s->params->short_depth < s->finished ? -1 : ft_stream_behind(s, u - s->params->short_depth);

    if (behind >= 0)
        *a = (struct ft_await){ .kind = FT_AWAIT_DONE, .rank = (uint32_t)behind, .all = true, .unit = u - s->params->short_depth };
    return behind >= 0;
}

/* An earlier incarnation may have: others may have read it already (RULE 2). False: first *a. */
static inline bool contribute(struct ft_coll *c, uint64_t bytes, struct ft_await *a)
{
    struct ft_stream *s = c->s;
    struct ft_slot *slot = ft_stream_short_slot(s, s->rank, s->unit);

    if (ft_stream_has_contributed(s))
        return true;
    if (awaits_slot(s, s->unit, a))
        return false;
    if (bytes)
        ft_view_fill(&c->send, 0, bytes, slot + 1);
    slot->chain = s->chain;
    ft_stream_announce(s, FT_AWAIT_SHOWN, &slot->unit, s->unit + 1);
    return true;
}

/* Whether rank r's contribution is there, and of a history of calls that is ours. Of many ranks that is all there is to see, again and again. */
static inline bool has_come(const struct ft_stream *s, uint32_t r)
{
    struct ft_slot *slot = ft_stream_short_slot(s, r, s->unit);

    return ft_look(&slot->unit) == s->unit + 1 && slot->chain == s->chain;
}

/* 1: it has; 0: not yet, *a; or FT_EMISMATCH. */
static int look_for(struct ft_stream *s, uint32_t r, struct ft_await *a, struct ft_error *e)
{
    struct ft_slot *slot = ft_stream_short_slot(s, r, s->unit);

    if (has_come(s, r))
        return 1;
    *a = (struct ft_await){ .kind = FT_AWAIT_SHOWN, .rank = r, .all = s->sig.call != FT_CALL_BCAST, .unit = s->unit };
    if (ft_look(&slot->unit) <= s->unit)
        return 0;
    if (has_come(s, r))
        return 1;
    FT_INVARIANT(ft_peek(&slot->unit) == s->unit + 1, "a slot is not refilled before everybody has finished with it");
    return ft_stream_mismatch(s, r, e);
}

/* Ranks of one processor, this one among them. */
static inline uint32_t sharing(const struct ft_stream *s)
{
    const struct ft_place *place = s->local ? NULL : s->patience->place;

    return place ? place->to - place->from : 0;
}

/* The i-th to wait for. First those that need this processor: as long as they lack it is no use to spin for others. */
static inline uint32_t awaited(const struct ft_stream *s, uint32_t first, uint32_t i)
{
    return i < first ? s->patience->place->from + i : ft_stream_before(s, i - first + 1);
}

static FT_HOT int look_for_all(struct ft_coll *c, struct ft_brief *x, struct ft_await *a, struct ft_error *e)
{
    struct ft_stream *s = c->s;
    uint32_t first = sharing(s);

    for (; x->come < first + s->n - 1; x->come++) {
        uint32_t r = awaited(s, first, x->come);
        int come = r == s->rank || has_come(s, r) ? 1 : look_for(s, r, a, e);

        if (come <= 0)
            return come;
    }
    s->finished = s->unit;
    return 1;
}

/* A rank that shares its processor with others spins before it gives way, but not for those that need this processor, and for
   others only as the last of its own to come: who has not given way since it has contributed. */
static int await(struct ft_coll *c, const struct ft_await *a, struct ft_error *e)
{
    const struct ft_brief *x = &c->progress->brief;
    struct ft_stream *s = c->s;

    if (s->patience->place && a->kind == FT_AWAIT_SHOWN)
        ft_wait_spin(s->patience, ft_stream_local(s, a->rank), x->come >= sharing(s) && c->root < 0 && ft_wait_given_way(s->patience) == x->given_way,
                     ft_stream_awaited(s, a), a->unit + 1);
    return ft_stream_await(s, a, e);
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

static void take(const struct ft_coll *c)
{
    if (ft_coll_gathers(c)) {
        for (uint32_t r = 0; r < c->s->n; r++) {
            struct ft_view part = ft_view_part(&c->recv, r);

            ft_view_unpack(&part, 0, ft_view_bytes(&part), slot_of(c, r));
        }
    } else if (c->s->sig.call == FT_CALL_BCAST) {
        ft_view_unpack(&c->recv, 0, c->bytes, slot_of(c, (uint32_t)c->root));
    } else if (c->bytes) {
        reduce(c);
    }
}

/* 1, 0 or an error, as a step. */
static inline int result_live(struct ft_coll *c, struct ft_brief *x, struct ft_await *a, struct ft_error *e)
{
    int come = 1;

    if (needs_everybody(c))
        come = look_for_all(c, x, a, e);
    else if (c->s->sig.call == FT_CALL_BCAST && !ft_coll_leads(c))
        come = look_for(c->s, (uint32_t)c->root, a, e);
    if (come == 1 && ft_coll_receives(c) && !c->known)
        take(c);
    return come;
}

/* The unit was finished by an earlier incarnation. */
static int result_replayed(struct ft_coll *c, const struct ft_brief *x, struct ft_await *a, struct ft_error *e)
{
    struct ft_stream *s = c->s;
    uint64_t at = ft_record_offset(x->result);
    int64_t behind;
    int err;

    /* Who gets no result need not wait until the others have come so far: if our trail still has the call,
       ft_stream_begin has compared it; if not, we went on so far that the unit is committed. (Not our slot:
       killed while refilling it we left another unit's bytes under the old number. Found by the explorer.) */
    if (!ft_coll_receives(c) && ft_peek(&ft_stream_trail(s, s->rank, s->unit)->unit) == s->unit + 1)
        return 1;
    behind = ft_stream_behind(s, s->unit);
    if (behind >= 0) {
        *a = (struct ft_await){ .kind = FT_AWAIT_DONE, .rank = (uint32_t)behind, .all = true, .unit = s->unit };
        return 0;
    }
    err = ft_stream_check_record(s, x->position, s->unit, e);
    for (uint32_t i = 0; ft_coll_receives(c) && i < ft_view_pieces(&c->recv) && !err; i++) {
        struct ft_view piece = ft_view_piece(&c->recv, i);

        err = ft_coll_read(c, x->position, at, &piece, 0, ft_view_bytes(&piece), false, e);
        at += ft_view_bytes(&piece);
    }
    return err ? err : 1;
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

/* This rank's part in it, once: as a step. */
static inline int begin(struct ft_coll *c, struct ft_brief *x, struct ft_await *a)
{
    struct ft_stream *s = c->s;
    bool silent = s->sig.call == FT_CALL_BCAST && !ft_coll_leads(c);
    uint64_t part = silent ? 0 : ft_coll_part(c, s->rank);

    if (ft_stream_lacks_memory(s, x->position, x->result, a) || !contribute(c, part, a))
        return 0;
    x->record = ft_log_write(&s->log, x->position, x->result);
    x->given_way = ft_wait_given_way(s->patience);
    /* What needs nobody, while the others' contributions are on their way. A barrier's record is a head; that of a result wins nothing here. */
    if (x->result == 0 && ft_coll_leads(c))
        ft_stream_write_head(s, s->unit, s->end, x->position, 0);
    prepare_slot(c, part);
    return 1;
}

static inline int live(struct ft_coll *c, struct ft_brief *x, struct ft_await *a, struct ft_error *e)
{
    struct ft_stream *s = c->s;
    struct piece piece = { 0 };
    int over = x->record ? 1 : begin(c, x, a);

    if (over == 1)
        over = result_live(c, x, a, e);
    if (over != 1)
        return over;
    if (x->result > 0) {
        piece = piece_of(c, x->result);
        write_log(c, x->record, x->position, x->result, &piece);
    }
    ft_stream_done_quiet(s, s->unit + 1, x->end);
    prepare_record(x->record, x->result, &piece);
    return 1;
}

static FT_HOT int start(struct ft_coll *c, struct ft_error *e)
{
    struct ft_brief *x = &c->progress->brief;
    struct ft_stream *s = c->s;

    (void)e;
    x->result = ft_coll_result(c, 0);
    x->position = ft_log_place(&s->log, s->end, x->result);
    x->end = x->position + ft_record_bytes(x->result);
    x->record = NULL;
    x->come = 0;
    return 0;
}

static FT_HOT int step(struct ft_coll *c, struct ft_await *a, struct ft_error *e)
{
    struct ft_brief *x = &c->progress->brief;
    struct ft_stream *s = c->s;
    int over = __builtin_expect(ft_stream_replays(s, s->unit), 0) ? result_replayed(c, x, a, e) : live(c, x, a, e);

    if (over == 1)
        ft_stream_end(s, 1, x->end);
    return over;
}

const struct ft_algorithm ft_short = {NULL, start, step, await};  /* one unit, of all there is */
