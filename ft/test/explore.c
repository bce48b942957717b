/* SPDX-License-Identifier: BSD-3-Clause */
/* The crash-point explorer (DESIGN section 9.1): runs ranks and keeper of one job as coroutines over the object
   code that ships, switches between them only at crash points (ft/shm/point.h), and kills them there.

   For each operation, number of ranks and size: every single crash point under two schedules, with the
   successor started at once or only when nobody else can go on, and with the bytes that were about to be
   written half written or not at all. Then random schedules with several kills, by seed. Every result of
   every incarnation is checked, and in the end every rank is started once more and must get all results
   out of the log alone.

   explore [--seeds N] [--seed S] [--kills K] [--quick | --full] [--only SCENARIO [--plan RUN]]     exit 0: nothing found

   A failure prints what to call to see it again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined(__x86_64__)
int main(void)
{
    puts("explore: crash points are made to stop by jumps, which points.c knows for x86-64 only");
    return 77;
}
#else
#include "ft/test/explore.h"

/* ---- the search ------------------------------------------------------------------------------------- */

static uint64_t runs;

static bool attempt(const struct plan *p)
{
    runs++;
    if (run_job(p) && (job.due || job.sc.disputed || replay_all()))
        return true;
    printf("FAILED %s, %u ranks, %u elements, %u calls%s: %s\n"
           "  again: explore --only %d,%u,%u,%u,%d,%d,%d,%d --plan %lld,%d,%d,%d,%u,%u\n",
           what_text[job.sc.what], job.sc.ranks, job.sc.count, job.sc.calls, job.sc.in_place ? ", in place" : "", job.failure,
           job.sc.what, job.sc.ranks, job.sc.count, job.sc.calls, job.sc.in_place, job.sc.room, job.sc.snapshots, job.sc.lies + 2 * job.sc.disputed, (long long)p->kill_at, p->torn, p->late,
           p->switch_always, p->seed, p->kills);
    return false;
}

static bool every_single_crash(bool quick)
{
    for (int way = 0; way < 8; way++) {
        struct plan p = { .kill_at = UINT64_MAX, .torn = way & 1, .late = way & 2, .switch_always = way & 4 };
        uint64_t steps;

        if (quick && (way == 0 || way == 2 || way == 4 || way == 5 || way == 7))
            continue;
        if (!attempt(&p))
            return false;
        /* The crash adds steps, so go on until a run ends before its turn to kill comes. */
        for (p.kill_at = 0, steps = job.steps; p.kill_at < steps; p.kill_at++)
            if (!attempt(&p))
                return false;
    }
    return true;
}

static bool random_crashes(uint32_t first, uint32_t seeds, uint32_t kills)
{
    for (uint32_t seed = first; seed < first + seeds; seed++) {
        struct plan p = { .kill_at = UINT64_MAX, .seed = seed, .kills = 1 + seed % kills };

        if (!attempt(&p))
            return false;
    }
    return true;
}

static uint32_t count_covered(const bool *which)
{
    uint32_t n = 0;

    for (int i = 0; i < MAX_POINTS; i++)
        n += which[i];
    return n;
}

static const char *const room_text[] = { "", " spilled", " forgotten", " released" };

static bool search(struct scenario sc, uint32_t seed, uint32_t seeds, uint32_t kills, bool quick)
{
    uint64_t before = runs;
    bool good;

    job.sc = sc;
    memset(job.covered, 0, sizeof job.covered);
    good = (sc.by_chance || every_single_crash(quick)) && (sc.lies || random_crashes(seed, seeds, kills));
    printf("%-10s %u ranks %5u elements%s%s: %3u points killed at, %6llu runs%s\n", what_text[sc.what], sc.ranks, sc.count,
           sc.in_place ? " in place" : "         ", sc.snapshots ? " snapshots" : sc.room ? room_text[sc.room] : sc.lies ? " lies   " : sc.disputed ? " disputed" : "        ", count_covered(job.covered), (unsigned long long)(runs - before),
           good ? "" : "  FAILED");
    fflush(stdout);
    return good;
}

/* A log that is spilled while ranks work and replay: the mapped pages of a file are the smallest extents there can be. */
static bool search_spilled(uint32_t ranks, uint32_t seed, uint32_t seeds, uint32_t kills, bool quick)
{
    struct scenario sc = { .what = MIXED, .ranks = ranks, .count = 300, .calls = MAX_CALLS, .room = SPILLS };
    struct scenario larger = { .what = BCAST, .ranks = ranks, .count = MAX_BYTES / 4, .calls = 1, .room = SPILLS, .by_chance = true };
    bool good;

    make_region(ranks, SPILLS, false);
    good = search(sc, seed, seeds, kills, quick) && search(larger, seed, seeds, kills, quick);
    drop_region();
    return good;
}

/* Ranks that go on from snapshots, and a log that is released behind these: in a table of 16 extents, which a run goes
   around. */
static bool search_snapshots(uint32_t ranks, uint32_t seed, uint32_t seeds, uint32_t kills, bool quick)
{
    struct scenario sc = { .what = MIXED, .ranks = ranks, .count = 300, .calls = MORE_CALLS, .snapshots = true, .by_chance = ranks > 2 };
    bool good;

    make_region(ranks, sc.room, true);
    memset(&job.seen, 0, sizeof job.seen);
    good = search(sc, seed, 4 * seeds, kills, quick);
    drop_region();
    printf("           %llu extents released, %llu assigned in an entry used before, %llu spilled, everybody restarted %llu times\n",
           (unsigned long long)job.seen.released, (unsigned long long)job.seen.around, (unsigned long long)job.seen.spilled,
           (unsigned long long)job.seen.resets);
    if (good && !(job.seen.released && job.seen.around && job.seen.spilled && job.seen.resets)) {
        puts("FAILED snapshots: not everything happened that was to be tried");
        return false;
    }
    return good;
}

/* Ranks that make checkpoints and go on from them, a log that is released behind these, everybody restarted with the newest, and
   sometimes no memory for one. */
static bool search_checkpoints(enum what what, uint32_t ranks, uint32_t seed, uint32_t seeds, uint32_t kills, bool quick)
{
    struct scenario sc = { .what = what, .ranks = ranks, .count = 300, .calls = 12, .room = RELEASES, .by_chance = ranks > 2 };
    bool good;

    make_region(ranks, sc.room, false);
    memset(&job.seen, 0, sizeof job.seen);
    good = search(sc, seed, 4 * seeds, kills, quick);
    drop_region();
    printf("           %llu extents released, %llu versions loaded, %llu with no memory for them, everybody restarted %llu times\n",
           (unsigned long long)job.seen.released, (unsigned long long)job.seen.loads, (unsigned long long)job.seen.lacking,
           (unsigned long long)job.seen.resets);
    if (good && !(job.seen.released && job.seen.loads && job.seen.lacking && job.seen.resets)) {
        puts("FAILED checkpoints: not everything happened that was to be tried");
        return false;
    }
    return good;
}

/* A log of which the oldest part is forgotten: who dies starts over with all the others, or not. Also one operation that is larger
   than all memory; and with snapshots, some of which are of no use when they are needed. */
static bool search_forgotten(uint32_t ranks, uint32_t seed, uint32_t seeds, uint32_t kills, bool by_chance)
{
    struct scenario sc = { .what = MIXED, .ranks = ranks, .count = 300, .calls = MAX_CALLS, .room = FORGETS, .by_chance = by_chance };
    struct scenario larger = { .what = BCAST, .ranks = ranks, .count = MAX_BYTES / 4, .calls = 1, .room = FORGETS, .by_chance = by_chance };
    bool good;

    memset(&job.seen, 0, sizeof job.seen);
    make_region(ranks, FORGETS, false);
    good = search(sc, seed, 4 * seeds, kills, false) && search(larger, seed, seeds, kills, false);
    drop_region();
    if (!good)
        return false;
    sc.snapshots = true;
    sc.calls = MORE_CALLS;
    make_region(ranks, FORGETS, true);
    good = search(sc, seed, 4 * seeds, kills, false);
    drop_region();
    printf("           %llu extents forgotten, %llu snapshots of no use, everybody restarted %llu times\n",
           (unsigned long long)job.seen.forgotten, (unsigned long long)job.seen.useless, (unsigned long long)job.seen.resets);
    if (good && !(job.seen.forgotten && job.seen.useless && job.seen.resets)) {
        puts("FAILED forgetting: not everything happened that was to be tried");
        return false;
    }
    return good;
}

/* Every single crash with a successor that contributes other data (--check-replay): short and standard. */
static bool search_lies(uint32_t seed, uint32_t seeds, uint32_t kills, bool quick)
{
    struct scenario sc = { .what = ALLREDUCE, .ranks = 3, .count = 5, .calls = 3, .lies = true };
    struct scenario larger = { .what = ALLREDUCE, .ranks = 3, .count = 75, .calls = 2, .lies = true };

    bool good;

    make_region(3, ROOMY, false);
    good = search(sc, seed, seeds, kills, quick) && search(larger, seed, seeds, kills, quick);
    drop_region();
    return good;
}

/* Two ranks that take themselves for the root of one bcast write into the same entries of the log. */
static bool search_disputed(uint32_t seed, uint32_t seeds, uint32_t kills, bool quick)
{
    struct scenario sc = { .what = BCAST, .ranks = 3, .count = 75, .calls = 2, .disputed = true };
    bool good;

    make_region(3, ROOMY, false);
    good = search(sc, seed, 8 * seeds, kills, quick);
    drop_region();
    return good;
}

/* quick: a sample. normal, what make check runs: all of it with 2 ranks, a sample with more. full: all; some minutes. */
enum tier { QUICK, NORMAL, FULL };

static bool search_all(uint32_t seed, uint32_t seeds, uint32_t kills, enum tier tier)
{
    if (!search_lies(seed, seeds, kills, tier != FULL) || !search_disputed(seed, seeds, kills, tier != FULL))
        return false;
    if (!search_snapshots(2, seed, seeds, kills, tier == QUICK) || (tier == FULL && !search_snapshots(3, seed, seeds, kills, false)))
        return false;
    if (!search_checkpoints(CHECKPOINTED, 2, seed, seeds, kills, tier != FULL) || !search_checkpoints(CHECKPOINTED, 3, seed, seeds, kills, true) ||
        !search_checkpoints(DENSE, 2, seed, seeds, kills, tier != FULL) || (tier == FULL && !search_checkpoints(DENSE, 3, seed, seeds, kills, true)))
        return false;
    if (!search_forgotten(2, seed, seeds, kills, tier != FULL) || !search_forgotten(3, seed, seeds, kills, true))
        return false;
    for (uint32_t ranks = 2; ranks <= MAX_RANKS; ranks++) {
        bool sample = tier == QUICK || (tier == NORMAL && ranks > 2);

        make_region(ranks, ROOMY, false);
        for (enum what w = 0; w <= MIXED; w++)
            for (int size = 0; size < 3; size++) {
                /* none, one unit, several units with an odd end */
                struct scenario sc = { .what = w, .ranks = ranks, .count = size == 0 ? 0 : size == 1 ? 5 : 75,
                                       .calls = w == MIXED ? MAX_CALLS : size == 2 ? 3 : 5, .in_place = ranks == 3 };

                if ((w == BARRIER && size) || (w == MIXED && size != 1) || (size == 0 && ranks != 2 && w != BARRIER))
                    continue;
                if (!search(sc, seed, seeds, kills, sample))
                    return false;
            }
        drop_region();
        if (tier != FULL && ranks > 2) /* by far the longest */
            continue;
        if (!search_spilled(ranks, seed, seeds, kills, sample))
            return false;
    }
    return true;
}

/* One scenario: one run of it, or (no plan) all of them. */
static int again(const char *only, const char *plan, uint32_t seed, uint32_t seeds, uint32_t kills, bool quick)
{
    struct plan p = { 0 };
    int what, in_place, room, snapshots, lies, torn = 0, late = 0, always = 0;
    long long kill_at = 0;

    if (sscanf(only, "%d,%u,%u,%u,%d,%d,%d,%d", &what, &job.sc.ranks, &job.sc.count, &job.sc.calls, &in_place, &room, &snapshots, &lies) != 8 ||
        (plan && sscanf(plan, "%lld,%d,%d,%d,%u,%u", &kill_at, &torn, &late, &always, &p.seed, &p.kills) != 6) || what < 0 ||
        what >= NWHAT || job.sc.ranks > MAX_RANKS) {
        fprintf(stderr, "explore: --only and --plan want what a failure printed\n");
        return 2;
    }
    job.sc.what = (enum what)what;
    job.sc.in_place = in_place;
    job.sc.room = (enum room)room;
    job.sc.snapshots = snapshots;
    job.sc.lies = lies & 1;
    job.sc.disputed = lies & 2;
    p.kill_at = (uint64_t)kill_at;
    p.torn = torn;
    p.late = late;
    p.switch_always = always;
    make_region(job.sc.ranks, job.sc.room, snapshots);
    if (plan ? !attempt(&p) : !search(job.sc, seed, seeds, kills, quick))
        return 1;
    puts("nothing found");
    return 0;
}

static int usage(void)
{
    fprintf(stderr, "usage: explore [--seeds N] [--seed FIRST] [--kills K] [--quick | --full]\n");
    return 2;
}

int main(int argc, char **argv)
{
    const char *only = NULL, *plan = NULL, *tier = getenv("FT_TIER");
    uint32_t seeds = 0, seed = 1, kills = 6;
    enum tier how = !tier ? NORMAL : strcmp(tier, "quick") == 0 ? QUICK : strcmp(tier, "full") == 0 ? FULL : NORMAL;
    bool seeds_given = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            how = QUICK;
        } else if (strcmp(argv[i], "--full") == 0) {
            how = FULL;
        } else if (i + 1 < argc && strcmp(argv[i], "--seeds") == 0) {
            seeds = (uint32_t)atoi(argv[++i]);
            seeds_given = true;
        } else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) {
            seed = (uint32_t)atoi(argv[++i]);
        } else if (i + 1 < argc && strcmp(argv[i], "--kills") == 0) {
            kills = (uint32_t)atoi(argv[++i]);
        } else if (i + 1 < argc && strcmp(argv[i], "--only") == 0) {
            only = argv[++i];
        } else if (i + 1 < argc && strcmp(argv[i], "--plan") == 0) {
            plan = argv[++i];
        } else {
            return usage();
        }
    }
    if (seed == 0 || kills == 0)
        return usage();
    if (!seeds_given)
        seeds = how == QUICK ? 40 : how == NORMAL ? 70 : 300;
    divert_points();
    if (only || plan)
        return only ? again(only, plan, seed, seeds, kills, how == QUICK) : usage();
    if (!search_all(seed, seeds, kills, how))
        return 1;
    printf("explore: %u of %u crash points were killed at, %llu runs, nothing found\n", count_covered(job.covered_ever),
           npoints(), (unsigned long long)runs);
    return 0;
}
#endif
