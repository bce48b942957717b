/* SPDX-License-Identifier: BSD-3-Clause */
/* The explorer of a job on several nodes: the steps that ranks of a node make in memory they
   share while their representative works with others (ft/core/nodes_local.c, nodes_exchange.c,
   frames.c), killed at every crash point. As explore.c, which has one node.

   Single crashes are tried in eight ways: two schedules, successors and connections at once or
   only when nobody else can go on, what was about to be written half written (and what was sent
   lost) or not at all. Then random schedules with several faults, by seed. Every result of every
   incarnation is checked; in the end all nodes have the same log, and every rank is started once
   more and must get all results out of its node's.

      apart [--seeds N] [--seed S] [--kills K] [--chance] [--quick | --full] [--only SCENARIO [--plan RUN]]     exit 0: nothing found

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
    puts("apart: crash points are made to stop by jumps, which points.c knows for x86-64 only");
    return 77;
}
#else
#include "ft/test/apart.h"

static uint64_t runs;
static struct plan current;

static uint32_t flags_of(const struct scenario *sc)
{
    return sc->in_place + 2 * sc->crooked + 4 * sc->wide + 8 * sc->loses + 16 * sc->snapshots + 32 * sc->two;
}

static void say_failed(const struct plan *p)
{
    const struct scenario *sc = &job.sc;

    printf("FAILED %s, nodes of %u ranks, %u elements, %u calls: %s\n"
           "  again: apart --only %d,%u,%u,%u,%d,%u --plan %lld,%d,%d,%d,%u,%u\n",
           what_text[sc->what], sc->layout, sc->count, sc->calls, job.failure, sc->what, sc->layout,
           sc->count, sc->calls, sc->room, flags_of(sc), (long long)p->kill_at, p->torn, p->late,
           p->switch_always, p->seed, p->kills);
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
    runs++;
    current = *p;
    if (run_job(p) && (job.sc.room == LEFT || replay_all()))
        return true;
    say_failed(p);
    return false;
}

static bool every_single_crash(bool sample)
{
    for (int way = 0; way < 8; way++) {
        struct plan p = { .kill_at = UINT64_MAX, .torn = way & 1, .late = way & 2, .switch_always = way & 4 };
        uint64_t steps;

        if (sample && way != 1 && way != 4 && way != 6)
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

/* A run follows from its plan alone, so that what a failure prints shows it again: in new memory
   it is the same. */
static bool same_alone(const struct plan *p)
{
    uint64_t course = job.course;

    drop_job();
    make_job();
    if (!attempt(p))
        return false;
    if (job.course == course)
        return true;
    failed("a run goes another way in new memory: something is left from the run before (reset_node)");
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

enum tier { QUICK, NORMAL, FULL, NTIERS };
enum singles { ALL, SAMPLE, CHANCE, NOTHING };  /* single crashes: all ways, three of them, none; or nothing of the scenario at all */

struct search {
    struct scenario sc;
    enum singles singles[NTIERS];
    uint32_t times;                  /* so many times the seeds */
    uint32_t sees;                   /* a bit for each enum seen: the search has failed if that has not happened */
};

#define SEES(what) (1u << (what))

static const struct search searches[] = {
    /* each operation: in one unit and in several; where each node has one rank, and where two of one share memory */
    { { .what = BARRIER, .layout = 22, .calls = 2 }, { SAMPLE, ALL, ALL }, 1, 0 },
    { { .what = BCAST, .layout = 21, .count = 5, .calls = 3 }, { SAMPLE, ALL, ALL }, 1, 0 },
    { { .what = BCAST, .layout = 21, .count = 150, .calls = 2 }, { SAMPLE, ALL, ALL }, 2, 0 },
    { { .what = REDUCE, .layout = 12, .count = 150, .calls = 2, .in_place = true },
      { CHANCE, SAMPLE, ALL }, 2, 0 },
    { { .what = ALLREDUCE, .layout = 22, .count = 5, .calls = 2 }, { SAMPLE, ALL, ALL }, 1, 0 },
    { { .what = ALLREDUCE, .layout = 22, .count = 150, .calls = 1 }, { SAMPLE, ALL, ALL }, 2, 0 },
    { { .what = ALLREDUCE, .layout = 11, .count = 300, .calls = 2 }, { SAMPLE, ALL, ALL }, 4, 0 },
    { { .what = ALLREDUCE, .layout = 11, .count = 300, .calls = 2, .in_place = true },
      { CHANCE, SAMPLE, ALL }, 4, 0 },
    { { .what = ALLGATHER, .layout = 21, .count = 5, .calls = 2 }, { SAMPLE, ALL, ALL }, 1, 0 },
    { { .what = ALLGATHER, .layout = 22, .count = 75, .calls = 1, .in_place = true, .crooked = true },
      { CHANCE, SAMPLE, ALL }, 2, 0 },
    { { .what = ALLGATHERV, .layout = 12, .count = 40, .calls = 2 }, { CHANCE, SAMPLE, ALL }, 2, 0 },
    { { .what = COMPOSED, .layout = 22, .count = 75, .calls = 2 }, { CHANCE, SAMPLE, ALL }, 2, 0 },
    { { .what = COMPOSED, .layout = 21, .count = 40, .calls = 2, .crooked = true },
      { CHANCE, CHANCE, ALL }, 2, 0 },

    /* all of them in turn, and many faults */
    { { .what = MIXED, .layout = 22, .count = 60, .calls = 10 },
      { CHANCE, CHANCE, SAMPLE }, 8, SEES(ADOPTED) | SEES(TORN) | SEES(OLD) },
    { { .what = MIXED, .layout = 21, .count = 75, .calls = 10, .in_place = true, .crooked = true },
      { CHANCE, CHANCE, SAMPLE }, 8, SEES(OLD) },
    { { .what = MIXED, .layout = 11, .count = 75, .calls = 10 }, { CHANCE, CHANCE, SAMPLE }, 8, SEES(OLD) },

    /* a third node, which works for one end of the middle edge: chains, folds of what comes */
    { { .what = MIXED, .layout = 111, .count = 75, .calls = 10 }, { CHANCE, CHANCE, SAMPLE }, 4, 0 },
    { { .what = MIXED, .layout = 211, .count = 30, .calls = 10, .in_place = true },
      { CHANCE, CHANCE, SAMPLE }, 4, 0 },

    /* units that go past the cache */
    { { .what = ALLREDUCE, .layout = 11, .count = 5000, .calls = 2, .wide = true },
      { CHANCE, CHANCE, SAMPLE }, 2, 0 },
    { { .what = MIXED, .layout = 21, .count = 1000, .calls = 10, .wide = true },
      { CHANCE, CHANCE, CHANCE }, 2, 0 },

    /* a log that is spilled meanwhile; one that is released behind what all have left, and connections break */
    { { .what = MIXED, .layout = 21, .count = 300, .calls = 10, .room = SPILLS },
      { CHANCE, CHANCE, CHANCE }, 4, SEES(SPILLED) | SEES(OLD) },
    { { .what = MIXED, .layout = 21, .count = 600, .calls = 10, .room = LEFT },
      { CHANCE, CHANCE, CHANCE }, 4, SEES(RELEASED) | SEES(TORN) },

    /* ... behind snapshots, from which ranks go on */
    { { .what = MIXED, .layout = 21, .count = 300, .calls = 10, .snapshots = true },
      { CHANCE, CHANCE, CHANCE }, 4, SEES(RELEASED) | SEES(WOKEN) | SEES(OLD) },
    { { .what = MIXED, .layout = 111, .count = 300, .calls = 10, .snapshots = true, .in_place = true },
      { CHANCE, CHANCE, CHANCE }, 2, SEES(RELEASED) | SEES(WOKEN) | SEES(OLD) },

    /* whole nodes are lost */
    { { .what = ALLREDUCE, .layout = 21, .count = 40, .calls = 2, .loses = true },
      { CHANCE, SAMPLE, ALL }, 2, SEES(LOST) },
    { { .what = MIXED, .layout = 21, .count = 75, .calls = 10, .loses = true },
      { CHANCE, CHANCE, SAMPLE }, 8, SEES(LOST) | SEES(OLD) },
    { { .what = MIXED, .layout = 12, .count = 300, .calls = 10, .room = SPILLS, .loses = true },
      { CHANCE, CHANCE, CHANCE }, 4, SEES(LOST) | SEES(OLD) | SEES(SPILLED) },
    { { .what = MIXED, .layout = 111, .count = 40, .calls = 10, .loses = true },
      { CHANCE, CHANCE, CHANCE }, 4, SEES(LOST) | SEES(OLD) },

    /* two streams between the nodes */
    { { .what = ALLREDUCE, .layout = 21, .count = 40, .calls = 4, .two = true },
      { CHANCE, SAMPLE, ALL }, 2, 0 },
    { { .what = MIXED, .layout = 21, .count = 75, .calls = 10, .two = true },
      { CHANCE, CHANCE, SAMPLE }, 8, SEES(USES) | SEES(OLD) },
    { { .what = MIXED, .layout = 111, .count = 40, .calls = 10, .two = true },
      { CHANCE, CHANCE, SAMPLE }, 4, SEES(USES) | SEES(OLD) },
    { { .what = MIXED, .layout = 12, .count = 300, .calls = 10, .room = SPILLS, .two = true },
      { CHANCE, CHANCE, CHANCE }, 4, SEES(USES) | SEES(SPILLED) },
    { { .what = MIXED, .layout = 21, .count = 300, .calls = 10, .snapshots = true, .two = true },
      { CHANCE, CHANCE, CHANCE }, 4, SEES(USES) | SEES(RELEASED) | SEES(WOKEN) },
    { { .what = MIXED, .layout = 21, .count = 75, .calls = 10, .loses = true, .two = true },
      { CHANCE, CHANCE, CHANCE }, 4, SEES(USES) | SEES(LOST) },
    { { .what = MIXED, .layout = 21, .count = 600, .calls = 10, .room = LEFT, .two = true },
      { CHANCE, CHANCE, CHANCE }, 4, SEES(USES) | SEES(RELEASED) },
};

static const char *const room_text[] = { "", " spilled", " left" };
static const char *const seen_text[NSEEN] = { "connections", "ended within a frame", "results out of the log",
                                              "extents spilled", "released", "nodes lost", "snapshots woken", "uses of a second stream", "times passed" };

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
    make_job();
    good = (chance_only || singles == CHANCE || every_single_crash(singles == SAMPLE)) && random_crashes(seed, seeds, kills);
    drop_job();
    printf("%-10s nodes of %3u %5u elements%s%s%s%s%s%s%s: %3u points killed at, %6llu runs%s\n", what_text[sc->what],
           sc->layout, sc->count, sc->in_place ? " in place" : "", sc->crooked ? " crooked" : "",
           sc->wide ? " wide" : "", room_text[sc->room], sc->loses ? " lost" : "",
           sc->snapshots ? " snapshots" : "", sc->two ? " two" : "", count_covered(job.covered), (unsigned long long)(runs - before),
           good ? "" : "  FAILED");
    fflush(stdout);
    return good;
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
    return true;
}

static bool is_possible(const struct scenario *sc)
{
    uint32_t nodes = 0, world = 0;

    for (uint32_t rest = sc->layout; rest; rest /= 10, nodes++) {
        if (rest % 10 == 0 || rest % 10 > MAX_LOCAL)
            return false;
        world += rest % 10;
    }
    return nodes > 1 && nodes <= MAX_NODES && world <= MAX_WORLD &&
           sc->count <= MAX_COUNT / (sc->what == MIXED ? 5 : 1);
}

/* One scenario: one run of it, or (no plan) all of them. */
static int again(const char *only, const char *plan, uint32_t seed, uint32_t seeds, uint32_t kills, bool quick)
{
    struct plan p = { 0 };
    struct scenario sc = { 0 };
    int torn = 0, late = 0, always = 0;
    unsigned what, room, flags;
    long long kill_at = 0;
    bool good;
    bool known = sscanf(only, "%u,%u,%u,%u,%u,%u", &what, &sc.layout, &sc.count, &sc.calls, &room, &flags) == 6;

    if (plan && sscanf(plan, "%lld,%d,%d,%d,%u,%u", &kill_at, &torn, &late, &always, &p.seed, &p.kills) != 6)
        known = false;
    sc.what = known ? (enum what)what : NWHAT;
    if (!known || what >= NWHAT || room >= NROOMS || !is_possible(&sc)) {
        fprintf(stderr, "apart: --only and --plan want what a failure printed\n");
        return 2;
    }
    sc.room = (enum room)room;
    sc.in_place = flags & 1;
    sc.crooked = flags & 2;
    sc.wide = flags & 4;
    sc.loses = flags & 8;
    sc.snapshots = flags & 16;
    sc.two = flags & 32;
    p.kill_at = (uint64_t)kill_at;
    p.torn = torn;
    p.late = late;
    p.switch_always = always;
    if (!plan) {
        good = search(&sc, quick ? SAMPLE : ALL, seed, seeds, kills);
    } else {
        job.sc = sc;
        make_job();
        good = attempt(&p);
    }
    if (!good)
        return 1;
    puts("nothing found");
    return 0;
}

static int usage(void)
{
    fprintf(stderr, "usage: apart [--seeds N] [--seed FIRST] [--kills K] [--chance] [--quick | --full]\n");
    return 2;
}

/* When nothing is asked for: 1, so that a run says something about the code and not about luck. */
static uint32_t first_seed(bool full)
{
    const char *chosen = getenv("FT_SEED");
    uint32_t seed = chosen ? (uint32_t)atoi(chosen) : full ? 1 + (uint32_t)(time(NULL) % 1000000000) : 1;

    if (seed != 1)
        printf("apart: seeds from %u on: FT_SEED=%u\n", seed, seed);
    return seed;
}

int main(int argc, char **argv)
{
    const char *only = NULL, *plan = NULL, *tier = getenv("FT_TIER");
    uint32_t seeds = 0, seed = 1, kills = 6;
    enum tier how = !tier ? NORMAL : strcmp(tier, "quick") == 0 ? QUICK : strcmp(tier, "full") == 0 ? FULL : NORMAL;

    if (argc == 1)
        seed = first_seed(how == FULL);
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;

        if (strcmp(argv[i], "--quick") == 0)
            how = QUICK;
        else if (strcmp(argv[i], "--full") == 0)
            how = FULL;
        else if (strcmp(argv[i], "--chance") == 0)
            chance_only = true;
        else if (more && strcmp(argv[i], "--seeds") == 0)
            seeds = (uint32_t)atoi(argv[++i]);
        else if (more && strcmp(argv[i], "--seed") == 0)
            seed = (uint32_t)atoi(argv[++i]);
        else if (more && strcmp(argv[i], "--kills") == 0)
            kills = (uint32_t)atoi(argv[++i]);
        else if (more && strcmp(argv[i], "--only") == 0)
            only = argv[++i];
        else if (more && strcmp(argv[i], "--plan") == 0)
            plan = argv[++i];
        else
            return usage();
    }
    if (seed == 0 || kills == 0)
        return usage();
    if (!seeds)
        seeds = how == QUICK ? 20 : how == NORMAL ? 100 : 1000;
    divert_points();
    signal(SIGABRT, on_abort);
    if (only || plan)
        return only ? again(only, plan, seed, seeds, kills, how == QUICK) : usage();
    if (!search_all(seed, seeds, kills, how))
        return 1;
    printf("apart: %u of %u crash points were killed at, %llu runs, nothing found\n", count_covered(job.covered_ever), npoints(),
           (unsigned long long)runs);
    if (argc == 1 && how == NORMAL && seed == 1)
        puts("searched whole");
    return 0;
}
#endif
