/* SPDX-License-Identifier: BSD-3-Clause */
/* The standard way: an operation is cut into units (segments), several in flight, each committed on its own
   (DESIGN section 3). Three steps, each its own function, in a loop that does what can be done and waits
   for one word when nothing can:

     contribute  reductions: the segment, less my own chunk, into my slot   contributed[me] = u + 1
     produce     reductions: my chunk of everybody's segments, folded from the right, into the log entry;
                 bcast: the root writes the entry; allgather: each its slice      done[me] = u + 1
     consume     copy the entry to the user's buffer, once everybody's done is past u

   When: what is too big for the short way. Cost per rank for an allreduce of B bytes on n ranks: B(n-1)/n
   copied in, B read and B/n written, B copied out, through slots and entries that stay in cache.

   Nothing is produced before every rank has shown the same signature, so two ranks that both believe
   they are the root cannot tear an entry (RULE 9). */
#include <stdlib.h>
#include <string.h>

#include "ft/base/copy.h"
#include "ft/core/op.h"

/* A result of this size is out of a core's own cache before the program sees the first of it. */
enum { PAST_CACHE = 4 << 20, PREFETCH = 8192 };

struct run {
    struct ft_coll *c;
    uint64_t in, made, out;          /* units contributed, produced, consumed; relative to the first */
    uint64_t made_at, out_at;        /* where the records before them end */
    bool verified;                   /* everybody has shown the signature */
    bool checked;                    /* ... or the log has, in a replay */
    bool past_cache;                 /* the result is larger than what caches hold */
    void *scratch, *acc;             /* for user functions: a slot's worth each */
};

static uint64_t unit_of(const struct run *x, uint64_t i) { return x->c->s->first + i; }

static uint64_t place(const struct run *x, uint64_t i, uint64_t before, uint64_t *result)
{
    *result = ft_coll_result(x->c, i);
    return ft_log_place(&x->c->s->log, before, *result);
}

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

static void contribute(struct run *x)
{
    struct ft_coll *c = x->c;
    struct ft_stream *s = c->s;
    uint64_t u = unit_of(x, x->in), n, from, to;
    const char *source = c->send + x->in * c->plan.segment;
    struct ft_counters *mine = &s->counters[s->rank];

    x->in++;
    if (ft_peek(&mine->contributed) > u)
        return;
    n = ft_plan_slice(c->bytes, c->plan.segment, x->in - 1);
    /* My own chunk is folded by me alone, straight from my buffer: a successor has it there too. */
    ft_plan_chunk(n, c->elem, s->n, s->rank, &from, &to);
    if (from > 0)
        ft_fill(ft_stream_slot(s, s->rank, u), source, from);
    if (to < n)
        ft_fill(ft_stream_slot(s, s->rank, u) + to, source + to, n - to);
    if (x->in == 1)
        ft_stream_enter(s);
    ft_announce(&mine->contributed, u + 1);
    ft_wake_sleepers(s->patience, &mine->contributed);
    prefetch_chunk(x, from, to);
}

/* What keeps unit `made` from being produced: a rank that has not contributed, or NULL. */
static _Atomic uint64_t *lacking(struct run *x)
{
    struct ft_stream *s = x->c->s;
    uint64_t u = unit_of(x, x->made), least = UINT64_MAX;

    if (u < s->contributed)
        return NULL;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t r = ft_stream_before(s, i);
        uint64_t seen = ft_look(&s->counters[r].contributed);

        if (seen <= u)
            return &s->counters[r].contributed;
        least = ft_min(least, seen);
    }
    s->contributed = ft_max(s->contributed, least);
    return NULL;
}

/* Until every rank has shown its signature for this operation. */
static int await_entry(struct run *x, struct ft_error *e)
{
    struct ft_stream *s = x->c->s;
    int err = 0;

    if (x->c->plan.way == FT_WAY_DIRECT)
        for (uint32_t r = 0; r < s->n && !err; r++)
            err = ft_stream_await(s, &ft_stream_trail(s, r, s->first)->unit, s->first + 1, e);
    if (!err)
        err = x->c->plan.way == FT_WAY_DIRECT ? ft_stream_verify(s, e) : ft_stream_verify_entry(s, e);
    x->verified = !err;
    return err;
}

/* The source of rank r's bytes of my chunk. */
static const char *chunk_of(const struct run *x, uint32_t r, uint64_t from)
{
    struct ft_coll *c = x->c;

    if (r == c->s->rank)
        return c->send + x->made * c->plan.segment + from;
    return ft_stream_slot(c->s, r, unit_of(x, x->made)) + from;
}

static void produce_reduced(struct run *x, char *payload, uint64_t result)
{
    struct ft_coll *c = x->c;
    uint32_t r = c->s->n - 1;
    uint64_t from, to, n;
    char *acc;

    ft_plan_chunk(result, c->elem, c->s->n, c->s->rank, &from, &to);
    n = to - from;
    if (!n)
        return;
    ft_point_bulk(payload + from, n);
    if (c->op->reduction != FT_USER) {
        acc = payload + from;
        c->op->fold(chunk_of(x, r - 1, from), chunk_of(x, r, from), acc, n / c->elem);
        r--;
    } else {
        acc = x->acc;
        memcpy(acc, chunk_of(x, r, from), n);
    }
    while (r-- > 0)
        ft_coll_fold(c, chunk_of(x, r, from), acc, n, x->scratch);
    if (acc != payload + from)
        ft_fill(payload + from, acc, n);
}

static int produce(struct run *x, struct ft_error *e)
{
    struct ft_coll *c = x->c;
    struct ft_stream *s = c->s;
    uint64_t i = x->made, u = unit_of(x, i), result, position = place(x, i, x->made_at, &result), n;
    char *record;

    if (ft_peek(&s->counters[s->rank].done) <= u) {
        if (!x->verified) {
            int err = await_entry(x, e);

            if (err)
                return err;
        }
        record = ft_log_write(&s->log, position);
        if (c->plan.way == FT_WAY_REDUCE) {
            produce_reduced(x, record + ft_record_offset(result), result);
        } else if (ft_coll_gathers(c)) {
            n = ft_plan_slice(ft_coll_part(c, s->rank), c->plan.segment, i);
            if (n)
                ft_fill(record + ft_record_offset(result) + ft_coll_slice_at(c, i, s->rank),
                        c->send + i * c->plan.segment, n);
        } else {
            ft_fill(record + ft_record_offset(result), c->send + i * c->plan.segment, result);
        }
        if (ft_coll_leads(c))
            ft_stream_write_head(s, record, u);
    }
    x->made_at = position + ft_record_bytes(result);
    x->made++;
    ft_stream_done(s, u + 1, x->made_at);
    if (!c->recv)
        ft_stream_leave(s, x->made_at);
    return 0;
}

static int consume(struct run *x, struct ft_error *e)
{
    struct ft_coll *c = x->c;
    struct ft_stream *s = c->s;
    uint64_t i = x->out, result, position = place(x, i, x->out_at, &result), at = ft_record_offset(result);
    int err = 0;

    if (!x->checked)
        err = ft_stream_check_record(s, position, unit_of(x, i), e);
    x->checked = !err;
    if (!err && !ft_coll_gathers(c)) {
        err = ft_log_read(&s->log, position, at, c->recv + i * c->plan.segment, result, x->past_cache);
    } else {
        for (uint32_t r = 0; r < s->n && !err; r++) {
            uint64_t n = ft_plan_slice(ft_coll_part(c, r), c->plan.segment, i);

            if (n)
                err = ft_log_read(&s->log, position, at, c->recv + ft_coll_displ(c, r) + i * c->plan.segment, n,
                                  x->past_cache);
            at += n;
        }
    }
    if (err == FT_ESPACE)
        ft_err_set(e, err, "rank %u cannot read the spilled log of %s", s->rank, s->name);
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
    if (x->c->plan.way == FT_WAY_REDUCE && x->made < x->in) {
        *least = unit_of(x, x->made) + 1;
        return lacking(x);
    }
    u = x->out < x->made ? unit_of(x, x->out) : unit_of(x, x->in) - depth;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t r = ft_stream_before(s, i);

        if (ft_look(&s->counters[r].done) <= u) {
            FT_INVARIANT(r != s->rank, "a rank does not wait for itself");
            *least = u + 1;
            return &s->counters[r].done;
        }
    }
    return NULL;
}

static int run(struct run *x, struct ft_error *e)
{
    struct ft_coll *c = x->c;
    struct ft_stream *s = c->s;
    uint64_t units = c->plan.units, window = s->params->slot_depth;
    bool slots = c->plan.way == FT_WAY_REDUCE;
    int err = 0;

    while (!err && (x->made < units || x->out < units)) {
        bool moved = false;

        if (slots && can_contribute(x)) {
            contribute(x);
            moved = true;
        }
        if (x->made < x->in && x->made < units && (x->out == units || x->made - x->out < window) &&
            (!slots || ft_peek(&s->counters[s->rank].done) > unit_of(x, x->made) || !lacking(x))) {
            err = produce(x, e);
            moved = true;
        }
        if (!err && x->out < x->made && ft_stream_committed(s, unit_of(x, x->out))) {
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
    return err;
}

/* Who contributes nothing or receives nothing has nothing to do in those steps. */
static void skip_idle_steps(struct run *x)
{
    struct ft_coll *c = x->c;
    struct ft_stream *s = c->s;
    uint64_t result;

    if (c->plan.way == FT_WAY_DIRECT)
        x->in = c->plan.units;
    if (!c->recv)
        x->out = c->plan.units;
    if (s->sig.call == FT_CALL_BCAST && !ft_coll_leads(c)) {
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

int ft_standard_run(struct ft_coll *c, struct ft_error *e)
{
    struct ft_stream *s = c->s;
    struct run x = { .c = c, .made_at = s->end, .out_at = s->end, .past_cache = c->bytes >= PAST_CACHE };
    bool user = c->plan.way == FT_WAY_REDUCE && c->op->reduction == FT_USER;
    int err;

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
    if (!err)
        ft_stream_end(s, c->plan.units, x.made_at);
    return err;
}
