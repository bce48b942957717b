/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks and keeper as coroutines over the object code that ships: switched, and killed, at crash points only. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ft/test/explore.h"

enum { STACK = 256 * 1024, MOST_STEPS = 2000000 };

extern const struct ft_point __start_ft_points[];

struct job job;
static jmp_buf scheduler;
static struct actor *running;

void failed(const char *format, ...)
{
    va_list args;

    if (job.failure[0])
        return;
    va_start(args, format);
    vsnprintf(job.failure, sizeof job.failure, format, args);
    va_end(args);
}

void stop_here(struct actor *a, int kind)
{
    a->kind = kind;
    if (!_setjmp(a->here))
        _longjmp(scheduler, 1);
}

void end_here(struct actor *a)
{
    a->state = OVER;
    _longjmp(scheduler, 1);
}

/* Lets a run to its next point or its end. */
static void resume(struct actor *a)
{
    running = a;
    if (!_setjmp(scheduler)) {
        if (!a->fresh)
            _longjmp(a->here, 1);
        a->fresh = false;
        setcontext(&a->context);
    }
    running = NULL;
}

/* At a point: on the actor's own stack; simply does not return until it goes on. */
void stop_at_point(char *bulk_to, size_t bulk_n, uint32_t number)
{
    struct actor *a = running;

    if (!a)
        return;
    a->point = &__start_ft_points[number];
    a->bulk_to = bulk_to;
    a->bulk_n = bulk_n;
    stop_here(a, a->point->kind);
}

static void begin(void)
{
    struct actor *a = running;

    if (a == keeper_actor())
        keeper_main(a);
    else
        rank_main(a);
    end_here(a);
}

static void start(struct actor *a)
{
    if (!a->stack)
        a->stack = malloc(STACK);
    if (a != keeper_actor()) {
        ft_region_start_rank(&job.region, a->index, a->incarnation);
        a->woken = a->snapshot.alive;
    }
    getcontext(&a->context);
    a->context.uc_stack.ss_sp = a->stack;
    a->context.uc_stack.ss_size = STACK;
    a->context.uc_link = NULL;
    makecontext(&a->context, begin, 0);
    a->state = READY;
    a->decided = false;
    a->fresh = true;
    a->kind = -1;
    a->point = NULL;
}

static bool is_rung(const struct actor *a)
{
    return atomic_load((const _Atomic uint32_t *)(const void *)a->bulk_to) != (uint32_t)a->bulk_n;
}

/* Sleeps are bounded, by times that are not seen here: as if it had been rung. */
static void ring(struct actor *a)
{
    atomic_fetch_add(&ft_region_doorbell(&job.region, a->index)->rings, 1);
    if (a->state == ASLEEP)
        a->state = READY;
}

/* Who was killed may have owed a ring, also to a rank that is about to sleep. */
static void ring_all(void)
{
    for (uint32_t i = 0; i < job.sc.ranks; i++)
        ring(&job.actor[i]);
}

/* Those who sleep for words that are published without a ring. False: nobody. */
static bool ring_quiet(void)
{
    bool any = false;

    for (uint32_t i = 0; i < job.sc.ranks; i++)
        if (job.actor[i].state == ASLEEP && is_quiet(&job.actor[i])) {
            ring(&job.actor[i]);
            any = true;
        }
    return any;
}

static void kill_actor(struct actor *a, bool torn)
{
    if (a->point) {
        job.covered[a->point - __start_ft_points] = true;
        job.covered_ever[a->point - __start_ft_points] = true;
    }
    if (torn && a->kind == FT_POINT_BULK)
        memset(a->bulk_to, 0x99, a->bulk_n / 2 + 1 > a->bulk_n ? a->bulk_n : a->bulk_n / 2 + 1);
    if (job.sc.lies && a != keeper_actor())
        note_killed(a);
    if (a != keeper_actor()) { /* its memory is no more */
        drop_versions(a);
        memset(a->send, 0x77, sizeof a->send);
        memset(a->recv, 0x77, sizeof a->recv);
    }
    if (a == job.tarries)
        job.tarries = NULL;
    a->state = DEAD;
    ring_all();
    job.registers = job.registers && a != keeper_actor();
    a->incarnation++;
    job.deaths += a != keeper_actor();
    if (a == keeper_actor()) /* it is the agent's: the next one decides again */
        for (uint32_t i = 0; i < job.sc.ranks; i++)
            job.actor[i].decided = false;
}

static bool is_alive(const struct actor *a) { return a->state != DEAD && a->state != OVER; }

/* No snapshot, and no whole log: the job begins anew, with whatever is left in log memory. */
static void start_everybody(void)
{
    for (uint32_t i = 0; i <= job.sc.ranks; i++) {
        struct actor *a = &job.actor[i];

        if (is_alive(a)) {
            a->point = NULL;
            kill_actor(a, false);
        }
        drop_snapshot(a);
    }
    ft_region_reset(&job.region);
    reset_versions(true);
    memset(job.known, 0, sizeof job.known);
    job.seen[RESETS]++;
    job.deaths = 0;
    for (uint32_t i = 0; i <= job.sc.ranks; i++)
        start(&job.actor[i]);
}

/* A snapshot, or the start. As the agent does it. */
static bool has_way_back(struct actor *a)
{
    if (a->snapshot.alive && ft_region_reaches(&job.region, a->index))
        return true;
    job.seen[USELESS] += a->snapshot.alive;
    drop_snapshot(a);
    return ft_region_withdraw(&job.region, a->index);
}

/* A rank that dies alone has its way back, with a log that is released behind checkpoints only. Not if there was no memory for what is called
   before the load; nor where places of calls are counted for one more version before any can be loaded. */
static void judge_restart(const struct actor *a)
{
    if (makes_versions() && ft_peek(&ft_versions_head(&job.region)->prefix_end) && job.sc.what != PLACES && !job.sc.snapshots && job.deaths == 1)
        failed("rank %u was killed alone in call %u, and all have to begin again", a->index, a->call);
}

/* The same, in two steps. */
static void start_again(struct actor *a)
{
    if (a == keeper_actor() || a->decided) {
        start(a);
    } else if (has_way_back(a)) {
        a->decided = true;
    } else {
        judge_restart(a);
        start_everybody();
    }
}

static uint32_t random_state;
uint32_t random_below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % n;
}

/* Who loads a version while another rank is about to finish the next one, and what becomes of the slot before it has been read: two long ways
   that one rank goes while the others stand still, which chance alone takes once in some thousand runs. */
static struct actor *hurry(void)
{
    struct actor *a = job.hurries;

    if (a && a->state == DEAD && job.registers)
        return keeper_actor();
    while (a && a->state == DEAD)
        start_again(a);
    if (a && a->state == READY && !reads_version(a))
        return a;
    if (a && a->state == READY)
        job.tarries = a;
    job.hurries = NULL;
    return NULL;
}

static struct actor *pick_now(const struct actor *last, const struct plan *p)
{
    struct actor *ready[MAX_RANKS + 1], *dead[MAX_RANKS + 1];
    uint32_t nready = 0, ndead = 0, n = job.sc.ranks + 1, from = last ? last->index : 0;
    struct actor *a;

    if (!p->seed && !p->switch_always && last && last->state == READY)
        return &job.actor[from];
    if ((a = hurry()) != NULL)
        return a;
    for (uint32_t i = 1; i <= n; i++) {
        a = &job.actor[(from + i) % n];
        if (a->state == READY && a != job.tarries)
            ready[nready++] = a;
        else if (a->state == DEAD)
            dead[ndead++] = a;
    }
    if (ndead && (!nready || (p->seed ? random_below(4) == 0 : !p->late))) {
        a = dead[p->seed ? random_below(ndead) : 0];
        if (job.registers)
            return keeper_actor();
        start_again(a);
        if (a->state == DEAD && (!p->seed || !nready))
            start_again(a);
        if (a->state == READY)
            return a;
    }
    if (!nready && job.tarries && job.tarries->state == READY) {
        ready[nready++] = job.tarries;
        job.tarries = NULL;
    }
    return nready ? ready[p->seed ? random_below(nready) : 0] : NULL;
}

/* When nobody can go on but for those whose sleep ends by itself: a few times, or they would go on for ever. */
static struct actor *pick(const struct actor *last, const struct plan *p)
{
    struct actor *a = pick_now(last, p);

    if (!a && job.naps++ < 4 * MAX_RANKS && ring_quiet())
        a = pick_now(last, p);
    return a;
}

/* What a did since its last point may be what others wait for. */
static void wake_others(const struct actor *a)
{
    for (uint32_t i = 0; i <= job.sc.ranks; i++) {
        struct actor *other = &job.actor[i];

        if (other != a && other->state == BLOCKED && (other != keeper_actor() || keeper_has_work()))
            other->state = READY;
        if (other->state == ASLEEP && is_rung(other))
            other->state = READY;
    }
}

static void kill_alone(struct actor *a)
{
    if (is_alive(a))
        kill_actor(a, false);
}

/* The last moment at which a rank that has no snapshot can start from the beginning is a race with the keeper, which
   chance alone would seldom find. */
static void kill_with_snapshot(struct actor *a)
{
    kill_alone(a);
    if (a->state == DEAD) {
        drop_snapshot(a);
        a->decided = false;
    }
}

/* A rank has been killed; with it are all: and had no way back but to begin again together, or each has its own. */
static void kill_others(uint32_t chance)
{
    if (chance == 0)
        start_everybody();
    for (uint32_t i = 0; chance == 1 && i < job.sc.ranks; i++)
        kill_alone(&job.actor[i]);
}

/* Woken, it has not come to where its predecessor was: it needs the log from its snapshot on, also when that is lost. */
static bool catches_up(const struct actor *a) { return a->woken && ft_stream_replays(&a->stream, a->stream.unit); }

/* Chance kills early or late: where the log's life matters the end of a run is another matter than its beginning. */
static bool chance_kills(const struct actor *a, const struct plan *p)
{
    uint32_t rarity = job.sc.snapshots || job.sc.room == FORGETS || makes_versions() ? 24u << 2 * (p->seed / 8 % 3) : 24;

    if (p->seed % 4 == 2 && awaits_version(a)) /* its successor may load the version before */
        rarity = 2;
    return random_below(rarity) == 0;
}

/* Chance keeps ranks together. Of an unkept log one of them stays back for a time, or (the keeper, which has nothing to do) none. */
static void let_tarry(void)
{
    if (job.sc.room == LEFT && random_below(256) == 0)
        job.tarries = &job.actor[random_below(job.sc.ranks + 1)];
}

/* One step of a, and perhaps its last. Only who waits a second time, with no point between, has looked since anybody else could move, and
   stands still: others may have stored what a first wait is for between its last look and its last store (a rank asks for memory). */
static void step(struct actor *a, const struct plan *p, uint32_t *kills)
{
    bool waited = a->kind == FT_POINT_WAIT, stands;
    enum state still;

    resume(a);
    job.course = (job.course ^ (uintptr_t)a->point ^ a->index) * 0x100000001b3;
    stands = a->state != OVER && a->kind == FT_POINT_WAIT && waited;
    if (!stands)
        wake_others(a);
    if (a->state == OVER || (a->kind != FT_POINT_WAIT && a->kind != FT_POINT_LOOK && a->kind != FT_POINT_SLEEP))
        job.naps = 0;
    if (a->state == OVER)
        return;
    still = stands ? BLOCKED : a->kind == FT_POINT_SLEEP && !is_rung(a) ? ASLEEP : READY;
    if (a == keeper_actor() && p->seed && *kills < p->kills && keeper_releases_first() && random_below(4) == 0) {
        kill_with_snapshot(&job.actor[random_below(job.sc.ranks)]);
        (*kills)++;
    } else if (a == keeper_actor() && p->seed && *kills < p->kills && keeper_forgets() && random_below(4) == 0) {
        kill_alone(&job.actor[random_below(job.sc.ranks)]);
        (*kills)++;
    }
    if (a != keeper_actor())
        check_inspection(a, waited);
    let_tarry();
    if (job.sc.room == LEFT && a != keeper_actor()) {
        a->state = still;
    } else if (p->seed ? *kills < p->kills && chance_kills(a, p) : job.steps == p->kill_at) {
        kill_actor(a, p->seed ? random_below(2) : p->torn);
        (*kills)++;
        if (p->seed && job.sc.snapshots && random_below(3) == 0)
            drop_snapshot(a);  /* killed as well */
        if (p->seed && makes_versions())
            kill_others(random_below(8));
        if (p->seed % 4 == 2 && makes_versions() && a != keeper_actor())
            job.hurries = a;
    } else if (p->seed && makes_versions() && a->snapshot.alive && !job.registers && random_below(p->seed % 4 == 0 && catches_up(a) ? 8 : 64) == 0) {
        if (catches_up(a))
            job.tarries = a;
        drop_snapshot(a);  /* is killed alone */
        ft_region_unregister(&job.region, a->index);
        a->state = still;
    } else {
        a->state = still;
    }
    if (++job.steps > MOST_STEPS)
        failed("no end after %llu steps", (unsigned long long)job.steps);
}

bool run_job(const struct plan *p)
{
    struct actor *a = NULL;
    uint32_t kills = 0;

    random_state = p->seed * 2654435761u + 1;
    job.seed = p->seed;
    job.sleeps = p->seed ? p->seed % 5 < 2 : p->torn;
    job.naps = 0;
    job.clock_ns = 1000000000;
    job.may_fail = p->seed % 2 == 1 && job.sc.what != PLACES; /* each version of that has the same calls */
    job.failure[0] = 0;
    job.steps = job.course = 0;
    job.liar = MAX_RANKS;
    job.due = false;
    memset(job.known, 0, sizeof job.known);
    job.deaths = 0;
    job.hurries = job.tarries = NULL;
    job.registers = false;
    reset_region();
    for (uint32_t i = 0; i <= job.sc.ranks; i++) {
        job.actor[i].index = i;
        job.actor[i].incarnation = 0;
        drop_snapshot(&job.actor[i]);
        start(&job.actor[i]);
    }
    while ((a = pick(a, p)) != NULL && !job.failure[0])
        step(a, p, &kills);
    for (uint32_t i = 0; i < job.sc.ranks; i++)
        if (job.actor[i].state == ASLEEP)
            failed("rank %u incarnation %u sleeps in call %u, and nobody rings", i, job.actor[i].incarnation, job.actor[i].call);
        else if (job.actor[i].state != OVER)
            failed("deadlock: rank %u incarnation %u hangs in call %u", i, job.actor[i].incarnation, job.actor[i].call);
    check_tables();
    note_seen();
    if (job.due)
        judge_lie();
    if (job.sc.disputed)
        judge_dispute();
    return !job.failure[0];
}

bool replay_all(void)
{
    for (uint32_t i = 0; i < job.sc.ranks && !job.failure[0]; i++) {
        struct actor *a = &job.actor[i];

        if (!has_way_back(a))
            continue;  /* it was the last one, and it has been used */
        a->incarnation++;
        start(a);
        while (a->state != OVER && !job.failure[0]) {
            resume(a);
            if (a->state != OVER && a->kind == FT_POINT_WAIT)
                failed("rank %u waits in call %u of a replay of what everybody has finished", i, a->call);
        }
    }
    return !job.failure[0];
}
