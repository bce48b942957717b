/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks and keeper as coroutines over the object code that ships: switched, and killed, at crash points only. */
#include <stdlib.h>
#include <string.h>

#include "ft/shm/cut.h"
#include "ft/test/explore.h"

struct job job;
static struct actor *running;

void stop_here(struct actor *a, int kind) { coroutine_stop(&a->at, kind); }

void end_here(struct actor *a)
{
    a->state = OVER;
    coroutine_end();
}

/* Lets a run to its next point or its end. */
static void resume(struct actor *a)
{
    running = a;
    coroutine_resume(&a->at);
    running = NULL;
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
    if (a != keeper_actor()) {
        ft_region_start_rank(&job.region, a->index, a->incarnation);
        a->woken = a->snapshot.alive;
    }
    coroutine_start(&a->at, begin);
    a->state = READY;
    a->waits = false;
    a->decided = false;
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
    killed_at(a->at.point);
    if (torn)
        coroutine_tear(&a->at);
    if (job.sc.lies && a != keeper_actor())
        note_killed(a);
    if (a != keeper_actor()) { /* its memory is no more */
        drop_versions(a);
        drop_letters(a);
        memset(a->send, 0x77, sizeof a->send);
        memset(a->recv, 0x77, sizeof a->recv);
    }
    if (a == job.tarries)
        job.tarries = NULL;
    a->state = DEAD;
    if (a == job.registrar)
        job.registrar = NULL;
    ring_all();
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
            a->at.point = NULL;
            kill_actor(a, false);
        }
        drop_snapshot(a);
    }
    ft_region_reset(&job.region);
    reset_versions(true);
    memset(job.known, 0, sizeof job.known);
    memset(job.told, 0, sizeof job.told);
    memset(job.come, 0, sizeof job.come);
    run.seen[RESETS]++;
    job.deaths = 0;
    for (uint32_t i = 0; i <= job.sc.ranks; i++)
        start(&job.actor[i]);
}

/* A snapshot, or the start. As the agent does it. */
static bool has_way_back(struct actor *a)
{
    if (a->snapshot.alive && ft_cut_reaches(&job.region, a->index))
        return true;
    run.seen[USELESS] += a->snapshot.alive;
    drop_snapshot(a);
    return ft_cut_withdraw(&job.region, a->index);
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

/* Who loads a version while another rank is about to finish the next one, and what becomes of the slot before it has been read: two long ways
   that one rank goes while the others stand still, which chance alone takes once in some thousand runs. */
static struct actor *hurry(void)
{
    struct actor *a = job.hurries;

    if (a && a->state == DEAD && job.registrar)
        return job.registrar;
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
        if (job.registrar)
            return job.registrar;
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
        if (other->state == ASLEEP && coroutine_is_rung(&other->at))
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
static bool catches_up(const struct actor *a)
{
    return a->woken && (ft_stream_replays(&a->ft.world, a->ft.world.unit) || second_replays(a));
}

/* Chance kills early or late: where the log's life matters the end of a run is another matter than its beginning. */
static bool chance_kills(const struct actor *a, const struct plan *p)
{
    uint32_t rarity = job.sc.snapshots || job.sc.room == FORGETS || makes_versions() || sends_letters() ? 24u << 2 * (p->seed / 8 % 3) : 24;

    if (p->seed % 4 == 2 && awaits_version(a)) /* its successor may load the version before */
        rarity = 2;
    return random_below(rarity) == 0;
}

/* Chance keeps ranks together. Of an unkept log one of them stays back for a time, or (the keeper, which has nothing to do) none; so does who
   is about to look again at what many messages can take away. */
static void let_tarry(struct actor *a, const struct plan *p)
{
    if (job.sc.room == LEFT && random_below(256) == 0)
        job.tarries = &job.actor[random_below(job.sc.ranks + 1)];
    if (job.sc.what == BURST && p->seed && a->at.kind == FT_POINT_LOOK && random_below(8) == 0)
        job.tarries = a;
}

static bool only_looks(const struct actor *a) { return a->at.kind == FT_POINT_WAIT || a->at.kind == FT_POINT_LOOK; }

/* a has come to a point from another one. Only who waits a second time, has only looked since, and nobody has stored anything
   meanwhile, stands still: others may have stored what a first wait is for between its last look and its last store (a rank asks
   for memory), or between two looks of one that waits for several things. */
static bool stands_still(struct actor *a, bool looked)
{
    bool stands = a->at.kind == FT_POINT_WAIT && looked && a->waits && a->moves == job.moves;

    if (!looked)
        a->waits = false;
    if (a->at.kind == FT_POINT_WAIT) {
        a->waits = true;
        a->moves = job.moves;
    }
    return stands;
}

/* One step of a, and perhaps its last. */
static void step(struct actor *a, const struct plan *p, uint32_t *kills)
{
    bool waited = a->at.kind == FT_POINT_WAIT, looked = only_looks(a), stands;
    enum state still;

    resume(a);
    went_on(a->at.point, a->index);
    looked = looked && a->state != OVER && only_looks(a);
    if (!looked) {
        job.moves++;
        wake_others(a);
    }
    stands = a->state != OVER && stands_still(a, looked);
    if (a->state == OVER || (a->at.kind != FT_POINT_WAIT && a->at.kind != FT_POINT_LOOK && a->at.kind != FT_POINT_SLEEP))
        job.naps = 0;
    if (a->state == OVER)
        return;
    still = stands ? BLOCKED : a->at.kind == FT_POINT_SLEEP && !coroutine_is_rung(&a->at) ? ASLEEP : READY;
    if (a == keeper_actor() && p->seed && *kills < p->kills && keeper_releases_first() && random_below(4) == 0) {
        kill_with_snapshot(&job.actor[random_below(job.sc.ranks)]);
        (*kills)++;
    } else if (a == keeper_actor() && p->seed && *kills < p->kills && keeper_forgets() && random_below(4) == 0) {
        kill_alone(&job.actor[random_below(job.sc.ranks)]);
        (*kills)++;
    }
    if (a != keeper_actor())
        check_inspection(a, waited);
    let_tarry(a, p);
    if (job.sc.room == LEFT && a != keeper_actor()) {
        a->state = still;
    } else if (p->seed ? *kills < p->kills && chance_kills(a, p) : run.steps == p->kill_at) {
        kill_actor(a, p->seed ? random_below(2) : p->torn);
        (*kills)++;
        if (p->seed && job.sc.snapshots && random_below(3) == 0)
            drop_snapshot(a);  /* killed as well */
        if (p->seed && makes_versions())
            kill_others(random_below(8));
        if (p->seed % 4 == 2 && makes_versions() && a != keeper_actor())
            job.hurries = a;
    } else if (p->seed && makes_versions() && a->snapshot.alive && !job.registrar && random_below(p->seed % 4 == 0 && catches_up(a) ? 8 : 64) == 0) {
        if (catches_up(a))
            job.tarries = a;
        drop_snapshot(a);  /* is killed alone */
        ft_cut_unregister(&job.region, a->index);
        a->state = still;
    } else {
        a->state = still;
    }
    count_step();
}

bool run_job(const struct plan *p)
{
    struct actor *a = NULL;
    uint32_t kills = 0;

    job.seed = p->seed;
    job.sleeps = p->seed ? p->seed % 5 < 2 : p->torn;
    job.naps = 0;
    job.clock_ns = 1000000000;
    job.may_fail = p->seed % 2 == 1 && job.sc.what != PLACES; /* each version of that has the same calls */
    job.moves = 0;
    job.liar = MAX_RANKS;
    job.due = false;
    memset(job.known, 0, sizeof job.known);
    memset(job.told, 0, sizeof job.told);
    memset(job.come, 0, sizeof job.come);
    job.deaths = 0;
    job.hurries = job.tarries = NULL;
    job.registrar = NULL;
    reset_region();
    for (uint32_t i = 0; i <= job.sc.ranks; i++) {
        job.actor[i].index = i;
        job.actor[i].incarnation = 0;
        drop_snapshot(&job.actor[i]);
        start(&job.actor[i]);
    }
    while ((a = pick(a, p)) != NULL && !run.failure[0])
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
    return !run.failure[0];
}

bool replay_all(void)
{
    for (uint32_t i = 0; i < job.sc.ranks && !run.failure[0]; i++) {
        struct actor *a = &job.actor[i];

        if (!has_way_back(a))
            continue;  /* it was the last one, and it has been used */
        a->incarnation++;
        start(a);
        while (a->state != OVER && !run.failure[0]) {
            resume(a);
            if (a->state != OVER && a->at.kind == FT_POINT_WAIT)
                failed("rank %u waits in call %u of a replay of what everybody has finished", i, a->call);
        }
    }
    return !run.failure[0];
}
