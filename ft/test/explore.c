/* SPDX-License-Identifier: BSD-3-Clause */
/* The crash-point explorer (DESIGN section 9.1): runs ranks and keeper of one job as coroutines over the object
   code that ships, switches between them only at crash points (ft/shm/point.h), and kills them there.

   For each operation, number of ranks and size: every single crash point under two schedules, with the
   successor started at once or only when nobody else can go on, and with the bytes that were about to be
   written half written or not at all. Then random schedules with several kills, by seed. Every result of
   every incarnation is checked, and in the end every rank is started once more and must get all results
   out of the log alone.

   What chance decides begins with seed 1; FT_TIER=full: with any, which is printed, or FT_SEED.

   explore [--seeds N] [--seed S] [--kills K] [--chance] [--quick | --full] [--only SCENARIO [--plan RUN]]     exit 0: nothing found

   A failure prints what to call to see it again. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if !defined(__x86_64__)
int main(void)
{
    puts("explore: crash points are made to stop by jumps, which points.c knows for x86-64 only");
    return 77;
}
#else
#include "ft/test/explore.h"

/* ---- the search ---- */

static uint64_t runs;
static struct plan current;

static void say_failed(const struct plan *p)
{
    printf("FAILED %s, %u ranks, %u elements, %u calls%s: %s\n"
           "  again: explore --only %d,%u,%u,%u,%d,%d,%d,%d --plan %lld,%d,%d,%d,%u,%u\n",
           what_text[job.sc.what], job.sc.ranks, job.sc.count, job.sc.calls, job.sc.in_place ? ", in place" : "", job.failure,
           job.sc.what, job.sc.ranks, job.sc.count, job.sc.calls, job.sc.in_place, job.sc.room, job.sc.snapshots,
           job.sc.lies + 2 * job.sc.disputed + 4 * job.sc.redundant + 8 * job.sc.varies + 16 * job.sc.two, (long long)p->kill_at, p->torn, p->late, p->switch_always, p->seed, p->kills);
}

/* The engine's own invariants end the process. */
static void on_abort(int signal)
{
    (void)signal;
    failed("a broken invariant");
    say_failed(&current);
    fflush(stdout);
    _exit(1);
}

static bool attempt(const struct plan *p)
{
    bool good;

    runs++;
    current = *p;
    good = run_job(p);
    if (good && !job.due && !job.sc.disputed)
        check_log();
    if (good && !job.failure[0] && (job.due || job.sc.disputed || job.sc.room == LEFT || replay_all()))
        return true;
    say_failed(p);
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

/* A run follows from its plan alone, whatever ran before, so that what a failure prints shows it again: in new memory it is the same. */
static bool same_alone(const struct plan *p)
{
    uint64_t course = job.course;

    drop_region();
    make_region(&job.sc);
    if (!attempt(p))
        return false;
    if (job.course == course)
        return true;
    failed("a run goes another way in new memory: something is left from the run before (reset_region)");
    say_failed(p);
    return false;
}

static bool random_crashes(uint32_t first, uint32_t seeds, uint32_t kills)
{
    struct plan p = { .kill_at = UINT64_MAX };

    for (p.seed = first; p.seed < first + seeds; p.seed++) {
        p.kills = 1 + p.seed % kills;
        if (!attempt(&p))
            return false;
    }
    p.seed--;
    return seeds == 0 || same_alone(&p);
}

static uint32_t count_covered(const bool *which)
{
    uint32_t n = 0;

    for (int i = 0; i < MAX_POINTS; i++)
        n += which[i];
    return n;
}

/* ---- what is searched ---- */

/* quick: a sample. normal, what make check runs: all of it with 2 ranks, a sample with more. full: all; some minutes. */
enum tier { QUICK, NORMAL, FULL, NTIERS };

/* Single crashes of a scenario: a sample of the ways, all of them, none (every one would take too long); or nothing of it at all. */
enum singles { ALL, SAMPLE, CHANCE, NOTHING };

struct search {
    struct scenario sc;
    enum singles singles[NTIERS];
    uint32_t times;                  /* so many times the seeds */
    uint32_t sees;                   /* a bit for each enum seen: the search has failed if that has not happened */
};

#define SEES(what) (1u << (what))

static const struct search searches[] = {
    /* every single crash with a successor that contributes other data (--check-replay): short and standard */
    { { .what = ALLREDUCE, .ranks = 3, .count = 5, .calls = 3, .lies = true }, { SAMPLE, SAMPLE, ALL }, 0, 0 },
    { { .what = ALLREDUCE, .ranks = 3, .count = 75, .calls = 2, .lies = true }, { SAMPLE, SAMPLE, ALL }, 0, 0 },

    /* two ranks that take themselves for the root of one bcast write into the same entries of the log */
    { { .what = BCAST, .ranks = 3, .count = 75, .calls = 2, .disputed = true }, { SAMPLE, SAMPLE, ALL }, 8, 0 },

    /* pipelined: more units than slots, of a log that is spilled meanwhile */
    { { .what = BCAST, .ranks = 2, .count = 300, .calls = 4, .room = SPILLS }, { SAMPLE, ALL, ALL }, 2, 0 },
    { { .what = REDUCE, .ranks = 2, .count = 300, .calls = 4, .in_place = true, .room = SPILLS }, { SAMPLE, ALL, ALL }, 2, 0 },
    { { .what = REDUCE, .ranks = 3, .count = 300, .calls = 4, .in_place = true, .room = SPILLS }, { SAMPLE, SAMPLE, ALL }, 2, 0 },
    { { .what = REDUCE, .ranks = 4, .count = 300, .calls = 4, .room = LEFT }, { CHANCE, CHANCE, CHANCE }, 1, 0 },
    { { .what = ALLGATHER, .ranks = 2, .count = 300, .calls = 4, .in_place = true, .room = SPILLS }, { SAMPLE, ALL, ALL }, 2, 0 },

    /* redundant: of a log that is spilled meanwhile; with ranks that go on from snapshots; with checkpoints */
    { { .what = ALLREDUCE, .ranks = 2, .count = 300, .calls = 4, .in_place = true, .room = SPILLS, .redundant = true }, { SAMPLE, ALL, ALL }, 2, 0 },
    { { .what = MIXED, .ranks = 2, .count = 300, .calls = MORE_CALLS, .snapshots = true, .redundant = true }, { CHANCE, CHANCE, ALL }, 4,
      SEES(WOKEN) | SEES(RELEASED) | SEES(SPILLED) | SEES(RESETS) },
    { { .what = CHECKPOINTED, .ranks = 2, .count = 300, .calls = 12, .room = RELEASES, .redundant = true }, { CHANCE, CHANCE, ALL }, 4, SEES(RELEASED) | SEES(LOADS) },
    /* ... of a result that came out of the bootstrap cache a rank owes its chunk of the log (was a real crash, that few seeds find) */
    { { .what = KEYS, .ranks = 2, .count = 300, .calls = 13, .room = RELEASES, .snapshots = true, .redundant = true }, { CHANCE, CHANCE, ALL }, 80, SEES(AHEAD) },

    /* successors that contribute other data, unchecked: redundant and what three ranks do */
    { { .what = MIXED, .ranks = 2, .count = 75, .calls = MAX_CALLS, .varies = true }, { SAMPLE, ALL, ALL }, 4, 0 },
    { { .what = MIXED, .ranks = 2, .count = 300, .calls = MAX_CALLS, .in_place = true, .room = SPILLS, .varies = true }, { CHANCE, SAMPLE, ALL }, 4, 0 },
    { { .what = MIXED, .ranks = 2, .count = 75, .calls = MAX_CALLS, .redundant = true, .varies = true }, { SAMPLE, ALL, ALL }, 4, 0 },
    { { .what = MIXED, .ranks = 3, .count = 75, .calls = MAX_CALLS, .varies = true }, { CHANCE, SAMPLE, ALL }, 4, 0 },

    /* ranks that go on from snapshots, and a log that is released behind these: in a table of 16 extents, which a run goes around */
    { { .what = MIXED, .ranks = 2, .count = 300, .calls = MORE_CALLS, .snapshots = true }, { SAMPLE, ALL, ALL }, 4,
      SEES(WOKEN) | SEES(RELEASED) | SEES(AROUND) | SEES(SPILLED) | SEES(RESETS) },
    { { .what = MIXED, .ranks = 3, .count = 300, .calls = MORE_CALLS, .snapshots = true }, { NOTHING, NOTHING, CHANCE }, 4,
      SEES(WOKEN) | SEES(RELEASED) | SEES(AROUND) | SEES(SPILLED) | SEES(RESETS) },

    /* a second stream, which ranks come into and leave: spilled, released behind cuts that belong together, forgotten, not kept */
    { { .what = MIXED, .ranks = 2, .count = 300, .calls = MAX_CALLS, .room = SPILLS, .two = true }, { CHANCE, ALL, ALL }, 2, SEES(SPILLED) },
    { { .what = MIXED, .ranks = 2, .count = 300, .calls = MORE_CALLS, .snapshots = true, .two = true }, { CHANCE, ALL, ALL }, 4,
      SEES(WOKEN) | SEES(RELEASED) | SEES(SPILLED) | SEES(RESETS) | SEES(USES) },
    { { .what = MIXED, .ranks = 3, .count = 300, .calls = MORE_CALLS, .snapshots = true, .two = true }, { CHANCE, CHANCE, CHANCE }, 4,
      SEES(WOKEN) | SEES(RELEASED) | SEES(SPILLED) | SEES(RESETS) | SEES(USES) },
    { { .what = MIXED, .ranks = 2, .count = 300, .calls = MORE_CALLS, .room = FORGETS, .snapshots = true, .two = true }, { CHANCE, CHANCE, ALL }, 4,
      SEES(FORGOTTEN) | SEES(USELESS) | SEES(RESETS) },
    { { .what = MIXED, .ranks = 4, .count = 75, .calls = MAX_CALLS, .two = true }, { CHANCE, CHANCE, CHANCE }, 4, 0 },
    { { .what = MIXED, .ranks = 3, .count = 300, .calls = MORE_CALLS, .room = LEFT, .two = true }, { CHANCE, CHANCE, CHANCE }, 4, SEES(RELEASED) | SEES(USES) },

    /* ranks that make checkpoints and go on from them, a log that is released behind these, everybody restarted with the newest, and
       sometimes no memory for one */
    { { .what = CHECKPOINTED, .ranks = 2, .count = 300, .calls = 12, .room = RELEASES }, { SAMPLE, SAMPLE, ALL }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(LACKING) | SEES(RESETS) },
    { { .what = CHECKPOINTED, .ranks = 3, .count = 300, .calls = 12, .room = RELEASES }, { CHANCE, CHANCE, CHANCE }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(LACKING) | SEES(RESETS) },
    { { .what = DENSE, .ranks = 2, .count = 300, .calls = 12, .room = RELEASES }, { CHANCE, CHANCE, ALL }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(LACKING) | SEES(RESETS) },
    { { .what = DENSE, .ranks = 3, .count = 300, .calls = 12, .room = RELEASES }, { NOTHING, NOTHING, CHANCE }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(LACKING) | SEES(RESETS) },

    /* lazy ones, of which few are kept */
    { { .what = LAZY, .ranks = 2, .count = 300, .calls = 14, .room = RELEASES }, { CHANCE, CHANCE, ALL }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(LACKING) | SEES(RESETS) | SEES(UNKEPT) },
    { { .what = LAZY, .ranks = 3, .count = 300, .calls = 14, .room = RELEASES }, { NOTHING, NOTHING, CHANCE }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(LACKING) | SEES(RESETS) | SEES(UNKEPT) },

    /* the bootstrap cache */
    { { .what = KEYS, .ranks = 2, .count = 300, .calls = 13, .room = RELEASES }, { CHANCE, CHANCE, ALL }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(RESETS) | SEES(ANSWERED) | SEES(AHEAD) },
    { { .what = KEYS, .ranks = 3, .count = 300, .calls = 13, .room = RELEASES }, { NOTHING, NOTHING, CHANCE }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(RESETS) | SEES(ANSWERED) | SEES(AHEAD) },
    { { .what = PLACES, .ranks = 2, .count = 300, .calls = 14, .room = RELEASES }, { CHANCE, CHANCE, ALL }, 8,
      SEES(LOADS) | SEES(RESETS) | SEES(ANSWERED) | SEES(REPEATED) },
    { { .what = PLACES, .ranks = 3, .count = 300, .calls = 14, .room = RELEASES }, { NOTHING, NOTHING, CHANCE }, 4,
      SEES(LOADS) | SEES(RESETS) | SEES(ANSWERED) },

    /* snapshots and checkpoints in one job: the log is released by whichever is older */
    { { .what = CHECKPOINTED, .ranks = 2, .count = 300, .calls = 12, .room = RELEASES, .snapshots = true }, { CHANCE, CHANCE, ALL }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(RESETS) | SEES(WOKEN) | SEES(WORN) },
    { { .what = KEYS, .ranks = 3, .count = 300, .calls = 13, .room = RELEASES, .snapshots = true }, { NOTHING, CHANCE, CHANCE }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(RESETS) | SEES(WOKEN) | SEES(WORN) | SEES(ANSWERED) },
    { { .what = LAZY, .ranks = 2, .count = 300, .calls = 14, .room = RELEASES, .snapshots = true }, { NOTHING, CHANCE, CHANCE }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(RESETS) | SEES(WOKEN) | SEES(WORN) | SEES(UNKEPT) },

    /* a log of which the oldest part is forgotten: who dies starts over with all the others, or not. Also one operation that is larger than all
       memory; and with snapshots, some of which are of no use when they are needed */
    { { .what = MIXED, .ranks = 2, .count = 300, .calls = MAX_CALLS, .room = FORGETS }, { CHANCE, CHANCE, ALL }, 4, SEES(FORGOTTEN) | SEES(RESETS) },
    { { .what = BCAST, .ranks = 2, .count = MAX_BYTES / 4, .calls = 1, .room = FORGETS }, { CHANCE, CHANCE, ALL }, 1, SEES(FORGOTTEN) },
    { { .what = MIXED, .ranks = 2, .count = 300, .calls = MORE_CALLS, .room = FORGETS, .snapshots = true }, { CHANCE, CHANCE, ALL }, 4,
      SEES(FORGOTTEN) | SEES(USELESS) | SEES(RESETS) },
    { { .what = MIXED, .ranks = 3, .count = 300, .calls = MAX_CALLS, .room = FORGETS }, { CHANCE, CHANCE, CHANCE }, 4,
      SEES(FORGOTTEN) | SEES(RESETS) },
    { { .what = BCAST, .ranks = 3, .count = MAX_BYTES / 4, .calls = 1, .room = FORGETS }, { CHANCE, CHANCE, CHANCE }, 1, SEES(FORGOTTEN) },
    { { .what = MIXED, .ranks = 3, .count = 300, .calls = MORE_CALLS, .room = FORGETS, .snapshots = true }, { CHANCE, CHANCE, CHANCE }, 4,
      SEES(FORGOTTEN) | SEES(USELESS) | SEES(RESETS) },

    /* a log that is not kept */
    { { .what = MIXED, .ranks = 2, .count = 300, .calls = MORE_CALLS, .room = LEFT }, { CHANCE, CHANCE, CHANCE }, 4, 0 },
    { { .what = BCAST, .ranks = 2, .count = MAX_BYTES / 4, .calls = 4, .room = LEFT }, { CHANCE, CHANCE, CHANCE }, 1, 0 },
    { { .what = ALLGATHER, .ranks = 2, .count = MAX_BYTES / 4, .calls = 4, .room = LEFT }, { CHANCE, CHANCE, CHANCE }, 1, 0 },
    { { .what = MIXED, .ranks = 3, .count = 900, .calls = MORE_CALLS, .room = LEFT }, { CHANCE, CHANCE, CHANCE }, 4, SEES(RELEASED) },
    { { .what = BCAST, .ranks = 3, .count = MAX_BYTES / 4, .calls = 4, .room = LEFT }, { CHANCE, CHANCE, CHANCE }, 1, SEES(RELEASED) },
};

static const char *const room_text[] = { "", " spilled", " forgotten", " released", " left" };

static const char *const seen_text[NSEEN] = {
    "extents released", "assigned in an entry used before", "spilled", "forgotten", "restarts of all", "snapshots woken", "of no use",
    "of the second stream once more", "given up for a checkpoint", "versions loaded", "with no memory for them", "not kept", "calls answered from the cache",
    "before their turn", "done again in doubt"
};

static bool saw(uint32_t sees)
{
    bool all = true;

    for (uint32_t i = 0; i < NSEEN; i++) {
        if (!(sees >> i & 1))
            continue;
        printf("%s%llu %s", sees & (SEES(i) - 1) ? ", " : "           ", (unsigned long long)job.seen[i], seen_text[i]);
        all = all && job.seen[i];
    }
    putchar('\n');
    return all;
}

static bool chance_only;  /* --chance: no single crashes */

static bool search(const struct scenario *sc, enum singles singles, uint32_t seed, uint32_t seeds, uint32_t kills)
{
    uint64_t before = runs;
    bool good;

    job.sc = *sc;
    memset(job.covered, 0, sizeof job.covered);
    memset(job.seen, 0, sizeof job.seen);
    make_region(sc);
    good = (chance_only || singles == CHANCE || every_single_crash(singles == SAMPLE)) && (sc->lies || random_crashes(seed, seeds, kills));
    drop_region();
    printf("%-10s %u ranks %5u elements%s%s%s%s: %3u points killed at, %6llu runs%s\n", what_text[sc->what], sc->ranks, sc->count,
           sc->in_place ? " in place" : "", sc->snapshots ? " snapshots" : "", room_text[sc->room],
           sc->two ? " two streams" : sc->lies ? " lies" : sc->disputed ? " disputed" : sc->redundant && sc->varies ? " redundant varies" : sc->redundant ? " redundant" : sc->varies ? " varies" : "",
           count_covered(job.covered), (unsigned long long)(runs - before), good ? "" : "  FAILED");
    fflush(stdout);
    return good;
}

/* Every operation with none, one unit, several units with an odd end; in a log that is spilled while ranks work and replay: the mapped
   pages of a file are the smallest extents there can be. */
static bool search_operations(uint32_t ranks, uint32_t seed, uint32_t seeds, uint32_t kills, enum tier tier)
{
    enum singles singles = tier == QUICK || (tier == NORMAL && ranks > 2) ? SAMPLE : ALL;
    struct scenario spills = { .what = MIXED, .ranks = ranks, .count = 300, .calls = MAX_CALLS, .room = SPILLS };
    struct scenario larger = { .what = BCAST, .ranks = ranks, .count = MAX_BYTES / 4, .calls = 1, .room = SPILLS };

    for (enum what w = 0; w <= MIXED; w++)
        for (int size = 0; size < 3; size++) {
            struct scenario sc = { .what = w, .ranks = ranks, .count = size == 0 ? 0 : size == 1 ? 5 : 75,
                                   .calls = w == MIXED ? MAX_CALLS : size == 2 ? 3 : 5, .in_place = ranks == 3 };

            if ((w == BARRIER && size) || (w == MIXED && size != 1) || (size == 0 && ranks != 2 && w != BARRIER))
                continue;
            if (!search(&sc, singles, seed, seeds, kills))
                return false;
        }
    if (tier != FULL && ranks > 2) /* by far the longest */
        return true;
    return search(&spills, singles, seed, seeds, kills) && search(&larger, CHANCE, seed, seeds, kills);
}

static bool search_all(uint32_t seed, uint32_t seeds, uint32_t kills, enum tier tier)
{
    for (uint32_t i = 0; i < sizeof searches / sizeof *searches; i++) {
        const struct search *s = &searches[i];

        if (s->singles[tier] == NOTHING)
            continue;
        if (!search(&s->sc, s->singles[tier], seed, s->times * seeds, kills))
            return false;
        if (s->sees && !saw(s->sees)) {
            puts("FAILED: not everything happened that was to be tried");
            return false;
        }
    }
    for (uint32_t ranks = 2; ranks <= MAX_RANKS; ranks++)
        if (!search_operations(ranks, seed, seeds, kills, tier))
            return false;
    return true;
}

/* One scenario: one run of it, or (no plan) all of them. */
static int again(const char *only, const char *plan, uint32_t seed, uint32_t seeds, uint32_t kills, bool quick)
{
    struct plan p = { 0 };
    bool good;
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
    job.sc.redundant = lies & 4;
    job.sc.varies = lies & 8;
    job.sc.two = lies & 16;
    p.kill_at = (uint64_t)kill_at;
    p.torn = torn;
    p.late = late;
    p.switch_always = always;
    if (!plan)
        good = search(&job.sc, quick ? SAMPLE : ALL, seed, seeds, kills);
    else {
        make_region(&job.sc);
        good = attempt(&p);
    }
    if (!good)
        return 1;
    puts("nothing found");
    return 0;
}

static int usage(void)
{
    fprintf(stderr, "usage: explore [--seeds N] [--seed FIRST] [--kills K] [--chance] [--quick | --full]\n");
    return 2;
}

/* When nothing is asked for: 1, so that a run says something about the code and not about luck. */
static uint32_t first_seed(bool full)
{
    const char *chosen = getenv("FT_SEED");
    uint32_t seed = chosen ? (uint32_t)atoi(chosen) : full ? 1 + (uint32_t)(time(NULL) % 1000000000) : 1;

    if (seed != 1)
        printf("explore: seeds from %u on: FT_SEED=%u\n", seed, seed);
    return seed;
}

int main(int argc, char **argv)
{
    const char *only = NULL, *plan = NULL, *tier = getenv("FT_TIER");
    uint32_t seeds = 0, seed = 1, kills = 6;
    enum tier how = !tier ? NORMAL : strcmp(tier, "quick") == 0 ? QUICK : strcmp(tier, "full") == 0 ? FULL : NORMAL;
    bool seeds_given = false;

    if (argc == 1)
        seed = first_seed(how == FULL);

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            how = QUICK;
        } else if (strcmp(argv[i], "--full") == 0) {
            how = FULL;
        } else if (strcmp(argv[i], "--chance") == 0) {
            chance_only = true;
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
    signal(SIGABRT, on_abort);
    if (only || plan)
        return only ? again(only, plan, seed, seeds, kills, how == QUICK) : usage();
    if (!search_all(seed, seeds, kills, how))
        return 1;
    printf("explore: %u of %u crash points were killed at, %llu runs, nothing found\n", count_covered(job.covered_ever),
           npoints(), (unsigned long long)runs);
    if (argc == 1 && how == NORMAL && seed == 1)
        puts("searched whole");
    return 0;
}
#endif
