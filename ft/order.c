/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/order.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "ft/messages.h"
#include "ft/outcome/log.h"
#include "ft/shm/channels.h"

struct ft_order {
    struct ft_turns turns;
    struct ft *ft;
    struct ft_door *door;
    uint32_t inside;          /* threads that are in calls, and have something half done */
    uint32_t settling;        /* threads that wait for the end of a replay in the middle of a step */
    uint64_t steps;           /* this process has come to */
    _Atomic uint64_t *done;   /* ... and the rank, over all its incarnations; NULL: nothing is written down */
    uint64_t given;           /* turns of earlier incarnations that have been looked at */
    uint32_t thread;          /* whose the last step was */
    pthread_t caller;         /* the same, where a replay does not know threads */
    bool others;              /* it has been said that there are other threads */
    bool checkpoints;         /* this rank makes or loads some */
    bool called, several, lost; /* lost: nobody can repeat this rank's steps */
};

static bool has_channels(const struct ft *ft)
{
    const struct ft_params *p = &ft->region.header->params;

    return p->nchannels && p->nranks > 1;
}

/* Between hosts one rank serves the links, in waits that are not made for two. And it must be possible to say that a rank cannot be followed. */
static bool is_possible(const struct ft *ft)
{
    return !ft->region.base ||
           (ft->region.header->params.nnodes == 1 && (has_channels(ft) || ft_region_outcomes(&ft->region, ft->world.rank)));
}

struct ft_order *ft_order_open(struct ft *ft)
{
    struct ft_order *o = is_possible(ft) ? calloc(1, sizeof *o) : NULL;

    if (!o)
        return NULL;
    ft_turns_open(&o->turns);
    o->ft = ft;
    o->door = ft->door;
    o->done = ft->region.base && has_channels(ft) ? ft_channel_steps(&ft->region, ft->world.rank) : NULL;
    ft->patience.turns = &o->turns;
    ft->order = o;
    return o;
}

void ft_order_close(struct ft_order *o)
{
    ft_turns_leave(&o->turns);
    free(o);
}

/* ---- what is half done ---- */

static void begin(struct ft_order *o)
{
    o->inside++;
    if (o->door)
        o->door->calls(true);
}

static void end(struct ft_order *o)
{
    if (o->door)
        o->door->calls(false);
    o->inside--;
}

/* While others are in, a call of messages that lets them in is not under way. When it goes on, it is again: theirs may be over by then. */
static bool idle(const struct ft *ft)
{
    bool busy = ft->messages && ft->messages->busy;

    if (ft->messages)
        ft->messages->busy = false;
    return busy;
}

static void goes_on(const struct ft *ft, bool busy)
{
    if (ft->messages)
        ft->messages->busy = busy;
}

bool ft_order_stands(const struct ft *ft)
{
    const struct ft_order *o = ft->order;

    return !o || (o->inside == 1 && !o->lost && *o->door->switched); /* before that it would wait for other threads, which may need to be let in */
}

void ft_order_turn(struct ft *ft, struct ft_wait *w)
{
    struct ft_order *o = ft->order;
    bool busy;

    if (!o) {
        ft_wait_turn(w, &ft->patience);
        return;
    }
    busy = idle(ft);
    end(o);
    if (ft->region.base)
        ft_wait_turn(w, &ft->patience);
    else
        ft_turns_take(&o->turns, (sched_yield(), ft_turns_let(&o->turns)));
    begin(o);
    goes_on(ft, busy);
}

/* ---- whose turn it is ---- */

/* Of no call of messages: what is made here is not busy with one. An error is met again by the call. */
static struct ft_messages *messages(struct ft *ft)
{
    bool made = !ft->messages;
    struct ft_error e;
    int err;
    struct ft_messages *m = ft_messages_of(ft, &err, &e);

    if (made && m)
        m->busy = false;
    return m;
}

/* A replay from the beginning may yet have to read them. */
static const struct ft_answers *answers(struct ft_order *o)
{
    struct ft *ft = o->ft;

    if (!ft->messages && !ft_channel_has_answers(&ft->region, ft->world.rank))
        return NULL;
    if (!ft->messages || ft->messages->woken)
        messages(ft);
    return ft->messages ? &ft->messages->answers : NULL;
}

static uint32_t owner(struct ft_order *o)
{
    const struct ft_answers *a = answers(o);

    for (; a && o->given < a->nturns && a->turns[o->given].step <= o->steps; o->given++)
        o->thread = a->turns[o->given].thread;
    return o->thread;
}

static uint32_t self(const struct ft_order *o) { return o->door ? o->door->thread() : (uint32_t)FT_DOOR_NO_THREAD; }

static bool replays(const struct ft_order *o) { return o->done && o->steps < ft_peek(o->done); }

bool ft_order_replays(const struct ft *ft) { return ft->order && replays(ft->order); }

bool ft_order_is_mine(struct ft *ft) { return owner(ft->order) == self(ft->order); }

/* From its beginning they would call in another order. */
static void say_several(struct ft_order *o)
{
    struct ft_outcome_words *words = ft_region_outcomes(&o->ft->region, o->ft->world.rank);

    if (o->several)
        return;
    o->several = true;
    if (o->done) {
        ft_publish(ft_channel_threads(&o->ft->region, o->ft->world.rank), 1);
    } else if (!atomic_load(&words->once)) {
        snprintf(words->once_why, sizeof words->once_why, "%s", FT_ORDER_WHY);
        atomic_store(&words->once, 1);
    }
}

/* One that loads a checkpoint begins at main, and its steps at 0. */
static void end_with_checkpoints(struct ft_order *o)
{
    char line[200];

    snprintf(line, sizeof line, "rank %u makes or loads checkpoints, and several of its threads call MPI: one that is restarted could not follow them",
             o->ft->world.me);
    ft_end(o->ft, 1, line);
}

void ft_order_checkpoint(struct ft *ft)
{
    struct ft_order *o = ft->order;

    if (!o || !ft->region.base)
        return;
    o->checkpoints = true;
    if (o->several)
        end_with_checkpoints(o);
}

/* Threads have called whose order nobody can repeat. */
static void lose(struct ft_order *o)
{
    struct ft_outcome_words *words = ft_region_outcomes(&o->ft->region, o->ft->world.rank);

    o->lost = true;
    say_several(o);
    if (words)
        ft_outcome_close(words, "several of its threads call MPI, and it is not recorded which does when");
}

/* Of a rank that is not recorded, or of one alone: good as long as one thread calls. */
static void note_caller(struct ft_order *o)
{
    if (o->several || (o->called && !pthread_equal(o->caller, pthread_self())))
        lose(o);
    o->called = true;
    o->caller = pthread_self();
}

/* The next step is done for the first time, and this thread does it. */
static void take_over(struct ft_order *o, uint32_t thread)
{
    struct ft_messages *m = messages(o->ft);
    bool busy;

    if (!m)
        return;
    say_several(o);
    busy = m->busy;
    m->busy = true; /* in a wait for memory no receive is to be matched, which is written down, too */
    ft_answers_turn(&m->answers, &(struct ft_turn){ o->steps, thread });
    m->busy = busy;
    o->thread = thread;
}

/* ---- steps ---- */

/* True: others have been in meanwhile. All that is recorded of the program has been given before anything is new, and another thread's
   last step of before is over. */
static bool settle(struct ft_order *o)
{
    bool waits = o->door && !*o->door->switched, busy;
    uint32_t depth;

    if (!waits && !o->settling)
        return false;
    busy = idle(o->ft);
    depth = ft_turns_let(&o->turns);
    if (waits)
        o->door->live(true);
    else
        sched_yield();
    ft_turns_take(&o->turns, depth);
    goes_on(o->ft, busy);
    return true;
}

bool ft_order_settles(struct ft *ft) { return ft->order && !ft->order->lost && ft->region.base && settle(ft->order); }

void ft_order_live(const struct ft *ft, bool new)
{
    struct ft_order *o = ft->order;
    uint32_t depth;
    bool busy;

    if (!o) {
        ft->door->live(new);
        return;
    }
    o->settling++;
    busy = idle(ft);
    depth = ft_turns_let(&o->turns);
    ft->door->live(new);
    ft_turns_take(&o->turns, depth);
    goes_on(ft, busy);
    o->settling--;
}

static void await_turn(struct ft_order *o, uint32_t thread)
{
    struct ft_wait w = { 0 };

    for (;;) {
        if (!replays(o) && !settle(o))
            break;
        if (replays(o) && owner(o) == thread)
            break;
        if (replays(o))
            ft_order_turn(o->ft, &w);
    }
    ft_wait_over(&w, &o->ft->patience);
}

/* Without the other library nobody knows how many there are. */
static void say_others(struct ft_order *o)
{
    if (o->others || !o->done || (o->door && !*o->door->many))
        return;
    ft_publish(ft_channel_others(&o->ft->region, o->ft->world.rank), 1);
    o->others = true;
}

static void step(struct ft_order *o)
{
    uint32_t thread = self(o);
    bool again;

    if (o->lost || !o->ft->region.base)
        return;
    if (o->checkpoints && o->called && !pthread_equal(o->caller, pthread_self()))
        end_with_checkpoints(o);
    if (thread == (uint32_t)FT_DOOR_NO_THREAD || !o->done) {
        note_caller(o);
        return;
    }
    await_turn(o, thread);
    again = replays(o);
    if (!again) {
        if (owner(o) != thread)
            take_over(o, thread);
        ft_publish(o->done, o->steps + 1);
    }
    o->steps++;
    o->called = true;
    o->caller = pthread_self();
    if (again)
        ft_wait_stir(&o->ft->patience);
}

void ft_order_step(struct ft *ft)
{
    if (ft->order)
        step(ft->order);
}

/* ---- calls ---- */

void ft_order_enter(struct ft_order *o)
{
    ft_turns_enter(&o->turns);
    if (o->turns.depth > 1)
        return;
    begin(o);
    say_others(o);
    step(o);
}

void ft_order_leave(struct ft_order *o)
{
    if (o->turns.depth == 1)
        end(o);
    ft_turns_leave(&o->turns);
}

uint32_t ft_order_let(struct ft_order *o)
{
    uint32_t depth = ft_turns_mine(&o->turns) ? o->turns.depth : 0;

    if (!depth)
        return 0;
    end(o);
    o->turns.depth = 1;
    ft_turns_leave(&o->turns);
    return depth;
}

void ft_order_take(struct ft_order *o, uint32_t depth)
{
    if (!depth)
        return;
    ft_order_enter(o);
    o->turns.depth = depth;
}

void ft_order_give_way(struct ft_order *o)
{
    uint32_t depth = ft_order_let(o);

    sched_yield();
    ft_order_take(o, depth);
}
