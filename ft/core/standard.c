/* SPDX-License-Identifier: BSD-3-Clause */
/* The standard way: an operation is cut into units (segments), several in flight, each committed on its own
   (DESIGN section 3). Three steps, each its own function, in a loop that does what can be done and waits
   for one word when nothing can:

     contribute  reductions: the segment, less my own chunk, into my slot;
                 allgather: my slice into the log entry                     contributed[me] = u + 1
     produce     reductions: my chunk of everybody's segments, folded from the right, into the log entry;
                 bcast: the root writes the entry;
                 allgather: nothing, once everybody has contributed               done[me] = u + 1
     consume     copy the entry to the user's buffer. Reductions: once everybody's done is past u. allgather: at
                 once, since everybody's contribution is the entry. bcast: once the root's done is past u. In a replay:
                 once the unit is committed, whatever it is

   A reduce or bcast of two ranks is *relayed*: who gets no result contributes whole segments and is done with them then, and waits for
   nobody; the other one folds everything to where it receives it, or copies it there, and writes it into the log on the way. Nobody else
   needs that, so it is one way across for the data, and the sender's part is all that is waited for.
   An allgather of two ranks that is neither small nor very large is *swapped*, which is the same both ways at once: each contributes its slice into its slot,
   and the other one copies it from there to where it receives it and into the log.

   When: what is too big for the short way. Cost per rank for an allreduce of B bytes on n ranks: B(n-1)/n
   copied in, B read and B/n written, B copied out, through slots and entries that stay in cache.

   Who may write where (RULE 9). Of a reduction nothing is produced, of an allgather nothing consumed, before every rank has
   shown the same history of calls: then nobody is in another call that writes there (relayed: the root, who writes, looks at the sender's). A bcast's root waits for nobody, but for
   those that are more than slot_depth units behind. Who receives looks at its signature before and, having copied
   everything, at all the others': whoever else has written into these entries, another that believes it is the root, had said so before. */
#include <stdlib.h>
#include <string.h>

#include "ft/base/copy.h"
#include "ft/core/op.h"

/* What the root of a bcast of so many bytes writes into the log for others to read goes past its cache (docs/design.md, section 10), but for a ring, which
   stays there. */
enum { BCAST_PAST_CACHE = 512 << 10, PREFETCH = 8192 };

struct run {
    struct ft_coll *c;
    uint64_t in, made, out;          /* units contributed, produced, consumed; relative to the first */
    uint64_t in_at, made_at, out_at; /* where the records before them end */
    uint64_t fresh;                  /* allgather, direct: this incarnation has made its part of units from here on, and has it where it is received */
    bool verified;                   /* everybody has shown the signature; bcast: the root has */
    bool checked;                    /* ... or the log has, in a replay */
    bool relayed;                    /* see above */
    bool past_cache;                 /* the result is larger than what caches hold */
    bool direct;                     /* of two ranks: what I make of a unit goes to where I receive it, and into the log from there */
    void *scratch, *acc;             /* for user functions: a slot's worth each */
};

static uint64_t unit_of(const struct run *x, uint64_t i) { return x->c->s->first + i; }

static uint64_t place(const struct run *x, uint64_t i, uint64_t before, uint64_t *result)
{
    *result = ft_coll_result(x->c, i);
    return ft_log_place(&x->c->s->log, before, *result);
}

static bool gathers(const struct run *x) { return ft_coll_gathers(x->c); }

static bool is_swapped(const struct run *x) { return x->c->plan.swapped; }

/* Its root writes the log, and the others read it there. */
static bool is_bcast(const struct run *x) { return x->c->s->sig.call == FT_CALL_BCAST && !x->relayed; }

static bool sends(const struct run *x) { return x->relayed && !x->c->recv; }

/* What this rank folds of a result of n bytes, and does not contribute. */
static void my_chunk(const struct run *x, uint64_t n, uint64_t *from, uint64_t *to)
{
    *from = 0;
    *to = sends(x) ? 0 : n;
    if (!x->relayed)
        ft_plan_chunk(n, x->c->elem, x->c->s->n, x->c->s->rank, from, to);
}

/* Receives what the root of a bcast writes. */
static bool listens(const struct run *x) { return is_bcast(x) && !ft_coll_leads(x->c); }

static bool can_contribute(struct run *x)
{
    struct ft_stream *s = x->c->s;
    uint64_t u = unit_of(x, x->in), depth = s->params->slot_depth;

    return x->in < x->c->plan.units &&
           (u < depth || ft_peek(&s->counters[s->rank].contributed) > u || ft_stream_committed(s, u - depth));
}

/* While others still contribute: the lines of the log entry that this rank will write in the only unit of a
   middling operation. Larger ones are streams, which the hardware sees coming. */
static void prefetch_chunk(const struct run *x, uint64_t from, uint64_t to)
{
    uint64_t result, position;
    const char *record;

    if (x->c->plan.units > 1)
        return;
    position = place(x, 0, x->made_at, &result);
    record = ft_log_at_hand(&x->c->s->log, position);
    if (record)
        ft_prefetch_write(record + ft_record_offset(result) + from, ft_min(to - from, PREFETCH));
}

/* Of a result that is contributions side by side: this rank's n bytes of unit i to where they are received, if they are not there. */
static void keep_slice(struct run *x, uint64_t i, const char *from, uint64_t n)
{
    const struct ft_coll *c = x->c;
    char *to = c->recv ? c->recv + ft_coll_displ(c, c->s->rank) + i * c->plan.segment : NULL;

    if (n && to && to != from)
        ft_copy(to, from, n, x->past_cache);
}

static uint64_t slice_of(const struct ft_coll *c, uint32_t r, uint64_t i) { return ft_plan_slice(ft_coll_part(c, r), c->plan.segment, i); }

/* My own chunk is folded by me alone, straight from my buffer: a successor has it there too. */
static void fill_slot(struct run *x, uint64_t i, uint64_t *from, uint64_t *to)
{
    struct ft_coll *c = x->c;
    uint64_t n = ft_plan_slice(c->bytes, c->plan.segment, i);
    const char *source = c->send + i * c->plan.segment;
    char *slot = ft_stream_slot(c->s, c->s->rank, unit_of(x, i), &c->plan);

    my_chunk(x, n, from, to);
    if (x->relayed)
        ft_stream_fill(c->s, slot, source, n, 1 - c->s->rank);
    else
        ft_stream_fill_chunks(c->s, slot, source, n, c->elem);
}

/* Of a result that is contributions side by side: mine, once into the entry and once, while it is at hand, to where it is to
   be received. */
static void write_slice(struct run *x, uint64_t i, char *record, uint64_t result)
{
    struct ft_coll *c = x->c;
    uint32_t me = c->s->rank;
    uint64_t n = slice_of(c, me, i), at = i * c->plan.segment;

    if (n)
        ft_stream_give(c->s, unit_of(x, i), record + ft_record_offset(result) + ft_coll_slice_at(c, i, me), c->send + at, n);
    keep_slice(x, i, c->send + at, n);
    if (ft_coll_leads(c))
        ft_stream_write_head(c->s, record, unit_of(x, i));
}

/* Swapped: this rank's slice into its slot, for the other one, and to where it is to be received. */
static void swap_slice(struct run *x, uint64_t i)
{
    const struct ft_coll *c = x->c;
    uint32_t me = c->s->rank;
    uint64_t n = slice_of(c, me, i);
    const char *from = c->send + i * c->plan.segment;

    ft_stream_fill(c->s, ft_stream_slot(c->s, me, unit_of(x, i), &c->plan), from, n, 1 - me);
    keep_slice(x, i, from, n);
}

/* An earlier incarnation has contributed to unit i. What it gave comes out of the log; swapped, that is the other one's to write, so out of the
   slot as long as the unit is not committed. */
static void take_over(struct run *x, uint64_t i)
{
    const struct ft_coll *c = x->c;
    struct ft_stream *s = c->s;
    uint64_t u = unit_of(x, i);

    if (!is_swapped(x))
        x->fresh = i + 1;
    else if (ft_peek(&s->counters[s->rank].done) <= u)
        keep_slice(x, i, ft_stream_slot(s, s->rank, u, &c->plan), slice_of(c, s->rank, i));
}

static void contribute(struct run *x)
{
    struct ft_coll *c = x->c;
    struct ft_stream *s = c->s;
    struct ft_counters *mine = &s->counters[s->rank];
    uint64_t i = x->in, u = unit_of(x, i), from = 0, to = 0, result, position = place(x, i, x->in_at, &result);

    x->in++;
    x->in_at = position + ft_record_bytes(result);
    if (ft_peek(&mine->contributed) > u) {
        take_over(x, i);
        return;
    }
    if (is_swapped(x))
        swap_slice(x, i);
    else if (gathers(x))
        write_slice(x, i, ft_log_write(&s->log, position), result);
    else
        fill_slot(x, i, &from, &to);
    if (i == 0)
        ft_stream_enter(s);
    ft_announce(&mine->contributed, u + 1);
    ft_wake_sleepers(s->patience, &mine->contributed);
    if (from < to)
        prefetch_chunk(x, from, to);
}

/* What keeps unit `made` from being produced: a rank that has not contributed, or NULL. */
static _Atomic uint64_t *lacking(struct run *x)
{
    struct ft_stream *s = x->c->s;
    _Atomic uint64_t *theirs;

    if (!x->relayed)
        return ft_stream_lacking(s, unit_of(x, x->made));
    theirs = &s->counters[1 - s->rank].contributed;
    return sends(x) || ft_look(theirs) > unit_of(x, x->made) ? NULL : theirs;
}

/* Everybody has contributed: in the same operation? The root of a bcast asks nobody, but says which one it is in, as who sends has. */
static int verify_entry(struct run *x, struct ft_error *e)
{
    int err = 0;

    if (is_bcast(x))
        ft_stream_enter(x->c->s);
    else if (x->relayed)
        err = sends(x) ? 0 : ft_stream_verify_entry_of(x->c->s, 1 - x->c->s->rank, e);
    else
        err = ft_stream_verify_entry(x->c->s, e);
    x->verified = !err;
    return err;
}

static bool can_produce(struct run *x)
{
    struct ft_stream *s = x->c->s;
    uint64_t u = unit_of(x, x->made), depth = s->params->slot_depth;

    if (x->made == x->c->plan.units || x->made == x->in || (x->out < x->c->plan.units && x->made - x->out >= depth))
        return false;
    if (ft_peek(&s->counters[s->rank].done) > u)
        return true;
    return is_bcast(x) ? u < depth || ft_stream_committed(s, u - depth) : !lacking(x);
}

/* My chunk of everybody's segments. */
static void produce_reduced(struct run *x, char *payload, uint64_t result)
{
    struct ft_coll *c = x->c;
    uint64_t from, to;

    my_chunk(x, result, &from, &to);
    if (from == to)
        return;
    ft_point_bulk(payload + from, to - from);
    if (x->relayed && c->s->sig.call == FT_CALL_BCAST)
        ft_coll_receive_logged(c, x->made, c->recv + x->made * c->plan.segment, payload, result);
    else if (x->direct)
        ft_coll_fold_logged(c, x->made, from, c->recv + x->made * c->plan.segment + from, payload + from, to - from);
    else
        ft_coll_fold_chunk(c, x->made, from, payload + from, to - from, x->acc, x->scratch);
}

/* The other one's slice, to where it is received and into the log. */
static void produce_swapped(struct run *x, char *payload)
{
    struct ft_coll *c = x->c;
    uint32_t other = 1 - c->s->rank;
    uint64_t n = slice_of(c, other, x->made);
    char *log = payload + ft_coll_slice_at(c, x->made, other);

    if (n == 0)
        return;
    ft_point_bulk(log, n);
    ft_coll_receive_logged(c, x->made, c->recv + ft_coll_displ(c, other) + x->made * c->plan.segment, log, n);
}

static int produce(struct run *x, struct ft_error *e)
{
    struct ft_coll *c = x->c;
    struct ft_stream *s = c->s;
    uint64_t i = x->made, u = unit_of(x, i), result, position = place(x, i, x->made_at, &result);

    if (ft_peek(&s->counters[s->rank].done) <= u) {
        if (!x->verified) {
            int err = verify_entry(x, e);

            if (err)
                return err;
        }
        if (sends(x)) {
            ft_log_pass(&s->log, position);
        } else if (!gathers(x) || is_swapped(x)) {
            char *record = ft_log_write(&s->log, position);

            if (is_bcast(x))
                ft_fill_past(record + ft_record_offset(result), c->send + i * c->plan.segment, result,
                             c->bytes >= BCAST_PAST_CACHE && !s->log.ring);
            else if (is_swapped(x))
                produce_swapped(x, record + ft_record_offset(result));
            else
                produce_reduced(x, record + ft_record_offset(result), result);
            if (x->relayed || ft_coll_leads(c))
                ft_stream_write_head(s, record, u);
        }
    } else if (x->direct) {
        x->fresh = i + 1;
    }
    x->made_at = position + ft_record_bytes(result);
    x->made++;
    ft_stream_done(s, u + 1, x->made_at);
    if (!c->recv)
        ft_stream_leave(s, x->made_at);
    return 0;
}

/* Of a rank that has not finished with unit u: its word. NULL: the unit is committed. Never a word of our own. */
static _Atomic uint64_t *behind(struct ft_stream *s, uint64_t u)
{
    if (ft_stream_committed(s, u))
        return NULL;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t r = ft_stream_before(s, i);

        if (ft_look(&s->counters[r].done) <= u) {
            FT_INVARIANT(r != s->rank, "a rank does not wait for itself");
            return &s->counters[r].done;
        }
    }
    return NULL;
}

/* Until when unit `out` cannot be consumed: a rank that is not done with it, or NULL. */
static _Atomic uint64_t *unfinished(struct run *x)
{
    struct ft_stream *s = x->c->s;
    uint64_t u = unit_of(x, x->out);
    _Atomic uint64_t *root;

    if (ft_stream_replays(s, u) || (x->c->plan.way == FT_WAY_REDUCE && !x->relayed))
        return behind(s, u);
    if (gathers(x) || x->relayed)
        return NULL;
    root = &s->counters[x->c->root].done;
    return ft_look(root) > u ? NULL : root;
}

/* Whether unit `out` is of the operation that this rank is in: in a replay its record says so, else other ranks' words. */
static int check_unit(struct run *x, uint64_t position, struct ft_error *e)
{
    struct ft_stream *s = x->c->s;
    uint64_t u = unit_of(x, x->out);
    int err = 0;

    if (ft_stream_replays(s, u)) {
        if (!x->checked)
            err = ft_stream_check_record(s, position, u, e);
        x->checked = !err;
    } else if (!x->verified) {  /* a bcast */
        err = ft_stream_verify_entry_of(s, (uint32_t)x->c->root, e);
        x->verified = !err;
    }
    return err;
}

static int consume(struct run *x, struct ft_error *e)
{
    struct ft_coll *c = x->c;
    struct ft_stream *s = c->s;
    uint64_t i = x->out, result, position = place(x, i, x->out_at, &result), at = ft_record_offset(result);
    int err = check_unit(x, position, e);

    if (!err && !gathers(x)) {
        char *to = c->recv + i * c->plan.segment;
        uint64_t mine = result, end = result;  /* my chunk, if it is there */

        if (x->direct && i >= x->fresh)
            my_chunk(x, result, &mine, &end);
        if (mine > 0)
            err = ft_stream_read(s, position, at, to, mine, x->past_cache, e);
        if (!err && end < result)
            err = ft_stream_read(s, position, at + end, to + end, result - end, x->past_cache, e);
    } else {
        for (uint32_t r = 0; r < s->n && !err; r++) {
            uint64_t n = slice_of(c, r, i);

            if (n && (i < x->fresh || (r != s->rank && !is_swapped(x))))
                err = ft_stream_read_given(s, unit_of(x, i), position, at, c->recv + ft_coll_displ(c, r) + i * c->plan.segment, n, x->past_cache, e);
            at += n;
        }
    }
    x->out_at = position + ft_record_bytes(result);
    x->out++;
    /* One operation may be larger than all memory for the log. */
    ft_stream_leave(s, x->out_at);
    return err;
}

/* The word to wait for, and how far it must come, when nothing could be done. NULL: something can be done
   now, since others have moved on meanwhile. Never a word of our own: waiting for `lacking` to name
   somebody once more, and then for `done` of the first who has not done what we have not done either,
   had all ranks asleep for ever (explore finds it by the point here). */
static _Atomic uint64_t *blocker(struct run *x, uint64_t *least)
{
    struct ft_stream *s = x->c->s;
    uint64_t depth = s->params->slot_depth, u;

    ft_point_look();
    if (!is_bcast(x) && x->made < x->in) {
        *least = unit_of(x, x->made) + 1;
        return lacking(x);
    }
    if (x->out < x->made) {
        *least = unit_of(x, x->out) + 1;
        return unfinished(x);
    }
    u = unit_of(x, is_bcast(x) ? x->made : x->in) - depth;
    *least = u + 1;
    return behind(s, u);
}

static int run(struct run *x, struct ft_error *e)
{
    struct ft_coll *c = x->c;
    struct ft_stream *s = c->s;
    uint64_t units = c->plan.units;
    int err = 0;

    while (!err && (x->made < units || x->out < units)) {
        bool moved = false;

        if (can_contribute(x)) {
            contribute(x);
            moved = true;
        }
        if (can_produce(x)) {
            err = produce(x, e);
            moved = true;
        }
        if (!err && x->out < x->made && !unfinished(x)) {
            err = consume(x, e);
            moved = true;
        }
        if (!err && !moved) {
            uint64_t least;
            _Atomic uint64_t *word = blocker(x, &least);

            if (word)
                err = ft_stream_await(s, word, least, e);
        }
    }
    /* Who else had written there had said what it calls before that: the fence keeps the copies before this look. With
       two ranks there is nobody else. Also in a replay: as long as not all have met since, the trail has it. */
    if (!err && listens(x) && s->n > 2) {
        atomic_thread_fence(memory_order_acquire);
        err = ft_stream_verify(s, e);
    }
    return err;
}

/* Who contributes nothing or receives nothing has nothing to do in those steps. */
static void skip_idle_steps(struct run *x)
{
    struct ft_coll *c = x->c;
    struct ft_stream *s = c->s;
    uint64_t result;

    if (is_bcast(x) || (x->relayed && c->recv))
        x->in = c->plan.units;
    if (!c->recv)
        x->out = c->plan.units;
    if (listens(x)) {
        /* All that this rank owes to the others is its signature, which is published. */
        while (x->made < c->plan.units) {
            uint64_t position = place(x, x->made, x->made_at, &result);

            x->made_at = position + ft_record_bytes(result);
            x->made++;
        }
        ft_stream_done(s, unit_of(x, x->made), x->made_at);
    }
}

/* A result that nobody here consumes is not looked at by consume(): a replay checks its first record. */
static int check_replayed(struct run *x, struct ft_error *e)
{
    struct ft_stream *s = x->c->s;
    uint64_t result, position = place(x, 0, s->end, &result);
    int err;

    if (!ft_stream_replays(s, s->first))
        return 0;
    err = ft_stream_await_commit(s, s->first, e);
    if (!err)
        err = ft_stream_check_record(s, position, s->first, e);
    x->checked = !err;
    return err;
}

/* One piece of the log that one rank writes, straight away. */
static bool writes_alone(const struct run *x)
{
    return is_bcast(x) ? ft_coll_leads(x->c) : x->relayed && !sends(x) && x->c->bytes < FT_LOGGED_PAST_CACHE;
}

/* The next call is likely to be like this one, perhaps behind a short one: what this rank will write of a middling entry straight
   away, which is memory nobody has touched for long, is to be in the cache by then. */
static void prepare_next(const struct run *x)
{
    const struct ft_coll *c = x->c;
    uint64_t result = ft_coll_result(c, 0), from = 0, n = result;
    const char *next;

    if (c->plan.units > 1 || is_swapped(x) || !(gathers(x) || writes_alone(x)))
        return;
    if (gathers(x)) {
        from = ft_coll_slice_at(c, 0, c->s->rank);
        n = ft_coll_part(c, c->s->rank);
    }
    next = ft_log_at_hand(&c->s->log, x->made_at);
    if (next)
        ft_prefetch_write(next + ft_record_offset(result) + from, ft_min(n + FT_LINE, PREFETCH));
}

int ft_standard_run(struct ft_coll *c, struct ft_error *e)
{
    struct ft_stream *s = c->s;
    struct run x = { .c = c, .in_at = s->end, .made_at = s->end, .out_at = s->end, .past_cache = c->bytes >= s->params->past_cache };
    bool reduces = c->plan.way == FT_WAY_REDUCE, user = reduces && c->op->reduction == FT_USER;
    int err;

    x.relayed = !ft_coll_gathers(c) && ft_params_relays(s->params, &s->sig);
    x.direct = c->plan.swapped ||
               ((reduces || x.relayed) && !user && c->recv && (x.relayed || (x.past_cache && s->n == 2 && !s->log.ring)));
    if (user && (!(x.scratch = malloc(s->params->slot_bytes)) || !(x.acc = malloc(s->params->slot_bytes)))) {
        free(x.scratch);
        return ft_err_set(e, FT_ENOMEM, "rank %u has no memory for a reduction by a user function", s->rank);
    }
    err = check_replayed(&x, e);
    if (!err) {
        skip_idle_steps(&x);
        err = run(&x, e);
    }
    free(x.acc);
    free(x.scratch);
    if (!err) {
        ft_stream_end(s, c->plan.units, x.made_at);
        prepare_next(&x);
    }
    return err;
}
