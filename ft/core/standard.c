/* SPDX-License-Identifier: BSD-3-Clause */
/* The standard way: an operation is cut into units (segments), several in flight, each committed on its own
   (DESIGN section 3). Three steps, each its own function, in a loop that does what can be done and waits
   for one word when nothing can. What they do with the bytes is in segment.c:

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
   A reduce of three or four ranks that share processors is relayed from the last one to the first, if that is the root: each adds what it contributes to what the next
   one has in its slot, into its own slot, and is done with that. So a rank looks at the signature of whom it reads from, who has looked at the next one's, and so on.
   An allgather of two ranks that is neither small nor very large is *swapped*, which is the same both ways at once: each contributes its slice into its slot,
   and the other one copies it from there to where it receives it and into the log.

   An allreduce of two ranks may be *doubled*: each contributes all of it, and folds all of it to where it receives it, of which it logs its chunk, from there. So each has the
   result as soon as it has the other one's contribution, and nothing is read in the log but by successors. Of what a dead incarnation has contributed
   its successor takes that, from its slot, as the other one does: they would not have the same if it took what it would contribute itself.

   When: what is too big for the short way. Cost per rank for an allreduce of B bytes on n ranks: B(n-1)/n
   copied in, B read and B/n written, B copied out, through slots and entries that stay in cache.

   Who may write where (RULE 9). Of a reduction nothing is produced, of an allgather nothing consumed, before every rank has
   shown the same history of calls: then nobody is in another call that writes there (relayed: the root, who writes, looks at the sender's). A bcast's root waits for nobody, but for
   those that are more than slot_depth units behind. Who receives looks at its signature before and, having copied
   everything, at all the others': whoever else has written into these entries, another that believes it is the root, had said so before. */
#include <stdlib.h>
#include <string.h>

#include "ft/base/copy.h"
#include "ft/core/segment.h"

static uint64_t place(const struct ft_run *x, uint64_t i, uint64_t before, uint64_t *result)
{
    *result = ft_coll_result(x->c, i);
    return ft_log_place(&x->c->s->log, before, *result);
}

/* Receives what the root of a bcast writes. */
static bool listens(const struct ft_run *x) { return ft_run_is_bcast(x) && !ft_run_gives(x); }

/* Relayed: whom this rank has it from, if that has not contributed to unit u, or -1. */
static int64_t lacking_source(struct ft_run *x, uint64_t u)
{
    uint32_t source = ft_run_source(x);

    return ft_look(&x->c->s->counters[source].contributed) > u ? -1 : (int64_t)source;
}

/* Who keeps unit `in` from being added to, or -1. */
static int64_t lacking_next(struct ft_run *x)
{
    struct ft_stream *s = x->c->s;
    uint64_t u = ft_run_unit(x, x->in);

    if (!ft_run_adds(x) || x->in == x->c->plan.units || ft_peek(&s->counters[s->rank].contributed) > u)
        return -1;
    return lacking_source(x, u);
}

static bool can_contribute(struct ft_run *x)
{
    struct ft_stream *s = x->c->s;
    uint64_t u = ft_run_unit(x, x->in), depth = s->params->slot_depth;

    return x->in < x->c->plan.units && lacking_next(x) < 0 &&
           (u < depth || ft_peek(&s->counters[s->rank].contributed) > u || ft_stream_committed(s, u - depth));
}

/* Everybody has contributed: in the same operation? The root of a bcast asks nobody, but says which one it is in, as who sends has. */
static int verify_entry(struct ft_run *x, struct ft_error *e)
{
    int err = 0;

    if (ft_run_is_bcast(x))
        ft_stream_enter(x->c->s);
    else if (x->relayed)
        err = ft_run_sends(x) && !ft_run_adds(x) ? 0 : ft_stream_verify_entry_of(x->c->s, ft_run_source(x), e);
    else
        err = ft_stream_verify_entry(x->c->s, e);
    x->verified = !err;
    return err;
}

static int contribute(struct ft_run *x, struct ft_error *e)
{
    struct ft_coll *c = x->c;
    struct ft_stream *s = c->s;
    struct ft_counters *mine = &s->counters[s->rank];
    uint64_t i = x->in, u = ft_run_unit(x, i), result, position = place(x, i, x->in_at, &result);

    x->in++;
    if (ft_peek(&mine->contributed) > u) {
        x->in_at = position + ft_record_bytes(result);
        ft_run_take_over(x, i);
        return 0;
    }
    if (ft_run_adds(x) && !x->verified) {
        int err = verify_entry(x, e);

        if (err)
            return err;
    }
    ft_run_contribute(x, i, position, result);
    x->in_at = position + ft_record_bytes(result);
    if (i == 0)
        ft_stream_enter(s);
    ft_wait_announce(s->patience, &mine->contributed, u + 1);
    ft_run_keep(x, i);
    ft_run_expect(x, position, result);
    return 0;
}

/* Who keeps unit `made` from being produced: a rank that has not contributed, or -1. */
static int64_t lacking(struct ft_run *x)
{
    uint64_t u = ft_run_unit(x, x->made);

    if (!x->relayed)
        return ft_stream_lacking(x->c->s, u);
    return ft_run_sends(x) ? -1 : lacking_source(x, u);
}

static bool can_produce(struct ft_run *x)
{
    struct ft_stream *s = x->c->s;
    uint64_t u = ft_run_unit(x, x->made), depth = s->params->slot_depth;

    if (x->made == x->c->plan.units || x->made == x->in || (x->out < x->c->plan.units && x->made - x->out >= depth))
        return false;
    if (ft_peek(&s->counters[s->rank].done) > u)
        return true;
    return ft_run_is_bcast(x) ? u < depth || ft_stream_committed(s, u - depth) : lacking(x) < 0;
}

static int produce_one(struct ft_run *x, struct ft_error *e)
{
    struct ft_stream *s = x->c->s;
    uint64_t i = x->made, u = ft_run_unit(x, i), result, position = place(x, i, x->made_at, &result);

    if (ft_peek(&s->counters[s->rank].done) <= u) {
        if (!x->verified) {
            int err = verify_entry(x, e);

            if (err)
                return err;
        }
        ft_run_produce(x, position, result);
    } else if (x->direct) {
        x->fresh = i + 1;
    }
    x->made_at = position + ft_record_bytes(result);
    x->made++;
    return 0;
}

/* Relayed, pieces that are there already are taken together, up to half of the slots, so that the sender has others meanwhile: to order what went past
   the cache takes as long as 3 KiB take to be received, and nobody waits for `done` but a sender without a slot. */
static bool takes_more(struct ft_run *x, uint64_t taken)
{
    const struct ft_coll *c = x->c;

    return x->relayed && c->recv && x->made < c->plan.units && taken < c->s->params->slot_depth / 2 && lacking(x) < 0;
}

static int produce(struct ft_run *x, struct ft_error *e)
{
    struct ft_coll *c = x->c;
    struct ft_stream *s = c->s;
    uint64_t first = x->made;

    do {
        int err = produce_one(x, e);

        if (err)
            return err;
    } while (takes_more(x, x->made - first));
    ft_copy_order(x->direct && ft_coll_logs_past(c));
    ft_stream_done(s, ft_run_unit(x, x->made), x->made_at);
    if (!c->recv)
        ft_stream_leave(s, x->made_at);
    return 0;
}

/* A rank that has not finished with unit u, or -1: the unit is committed. Never this one. */
static int64_t behind(struct ft_stream *s, uint64_t u)
{
    if (ft_stream_committed(s, u))
        return -1;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t r = ft_stream_before(s, i);

        if (ft_look(&s->counters[r].done) <= u) {
            FT_INVARIANT(r != s->rank, "a rank does not wait for itself");
            return r;
        }
    }
    return -1;
}

/* Who is to finish with unit `out` before it is consumed: everybody, or (a live bcast) the root. */
static bool awaits_all(const struct ft_run *x)
{
    return !ft_run_is_bcast(x) || ft_stream_replays(x->c->s, ft_run_unit(x, x->out));
}

/* One of these that has not, or -1. */
static int64_t unfinished(struct ft_run *x)
{
    struct ft_stream *s = x->c->s;
    uint64_t u = ft_run_unit(x, x->out);

    if (ft_stream_replays(s, u) || (x->c->plan.way == FT_WAY_REDUCE && !x->relayed && !x->c->plan.doubled))
        return behind(s, u);
    if (ft_run_gathers(x) || x->relayed || x->c->plan.doubled)
        return -1;
    return ft_look(&s->counters[x->c->root].done) > u ? -1 : x->c->root;
}

/* Whether unit `out` is of the operation that this rank is in: in a replay its record says so, else other ranks' words. */
static int check_unit(struct ft_run *x, uint64_t position, struct ft_error *e)
{
    struct ft_stream *s = x->c->s;
    uint64_t u = ft_run_unit(x, x->out);
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

static int consume(struct ft_run *x, struct ft_error *e)
{
    struct ft_coll *c = x->c;
    struct ft_stream *s = c->s;
    uint64_t i = x->out, result, position = place(x, i, x->out_at, &result);
    int err = check_unit(x, position, e);

    if (!err)
        err = ft_run_consume(x, position, result, e);
    x->out_at = position + ft_record_bytes(result);
    x->out++;
    /* One operation may be larger than all memory for the log. */
    ft_stream_leave(s, x->out_at);
    return err;
}

/* What to wait for when nothing could be done. False: something can be done now, since others have moved on meanwhile. Never this rank itself: waiting for `lacking` to name
   somebody once more, and then for `done` of the first who has not done what we have not done either,
   had all ranks asleep for ever (explore finds it by the point here). */
static bool blocker(struct ft_run *x, struct ft_await *a)
{
    struct ft_stream *s = x->c->s;
    uint64_t depth = s->params->slot_depth;
    int64_t rank;

    ft_point_look();
    if (!ft_run_is_bcast(x) && x->made < x->in) {
        rank = lacking(x);
        *a = (struct ft_await){ .kind = FT_AWAIT_CONTRIBUTED, .all = !x->relayed, .unit = ft_run_unit(x, x->made) };
    } else if (x->out < x->made) {
        rank = unfinished(x);
        *a = (struct ft_await){ .kind = FT_AWAIT_DONE, .all = awaits_all(x), .unit = ft_run_unit(x, x->out) };
    } else if ((rank = lacking_next(x)) >= 0) {
        *a = (struct ft_await){ .kind = FT_AWAIT_CONTRIBUTED, .unit = ft_run_unit(x, x->in) };
    } else {
        uint64_t u = ft_run_unit(x, ft_run_is_bcast(x) ? x->made : x->in);

        rank = u < depth ? -1 : behind(s, u - depth);
        *a = (struct ft_await){ .kind = FT_AWAIT_DONE, .all = true, .unit = u - depth };
    }
    a->rank = (uint32_t)rank;
    return rank >= 0;
}

static int run(struct ft_run *x, struct ft_error *e)
{
    struct ft_coll *c = x->c;
    struct ft_stream *s = c->s;
    uint64_t units = c->plan.units;
    int err = 0;

    while (!err && (x->made < units || x->out < units)) {
        bool moved = false;

        if (can_contribute(x)) {
            err = contribute(x, e);
            moved = true;
        }
        if (!err && can_produce(x)) {
            err = produce(x, e);
            moved = true;
        }
        if (!err && x->out < x->made && unfinished(x) < 0) {
            err = consume(x, e);
            moved = true;
        }
        if (!err && !moved) {
            struct ft_await a;

            if (blocker(x, &a))
                err = ft_stream_await(s, &a, e);
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
static void skip_idle_steps(struct ft_run *x)
{
    struct ft_coll *c = x->c;
    struct ft_stream *s = c->s;
    uint64_t result;

    if (ft_run_is_bcast(x) || (x->relayed && c->recv))
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
        ft_stream_done(s, ft_run_unit(x, x->made), x->made_at);
    }
}

/* A result that nobody here consumes is not looked at by consume(): a replay checks its first record. */
static int check_replayed(struct ft_run *x, struct ft_error *e)
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
    struct ft_run x = { .c = c, .in_at = s->end, .made_at = s->end, .out_at = s->end, .past_cache = ft_coll_total(c) >= s->params->past_cache };
    bool reduces = c->plan.way == FT_WAY_REDUCE, user = reduces && c->op->reduction == FT_USER;
    int err;

    x.relayed = !ft_coll_gathers(c) && ft_params_relays(s->params, &s->sig);
    x.direct = c->plan.swapped || c->plan.doubled ||
               ((reduces || x.relayed) && !user && c->recv && (x.relayed || (x.past_cache && s->n == 2)));
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
        ft_run_prepare(&x);
    }
    return err;
}
