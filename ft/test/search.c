/* SPDX-License-Identifier: BSD-3-Clause */
/* explore | apart [--seeds N] [--seed S] [--kills K] [--chance] [--quick | --full] [--only SCENARIO [--plan RUN]]
                                                                                  exit 0: nothing found

   What chance decides begins with seed 1; FT_TIER=full: with any, which is printed, or FT_SEED.
   A failure prints what to call to see it again. */
#include "ft/test/search.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_STEPS = 2000000 };

struct run run;

/* Of all runs. */
static uint64_t runs;
static uint64_t course;             /* of the last one: a hash of its points and who passed them */
static struct plan current;
static bool covered[MAX_POINTS], covered_ever[MAX_POINTS];  /* somebody was killed there: in this search, ever */

/* What was asked for. */
static uint32_t seed = 1, seeds = UINT32_MAX, kills = 6;
static bool chance_only;            /* --chance: no single crashes */

/* ---- a run ---- */

void failed(const char *format, ...)
{
    va_list args;

    if (run.failure[0])
        return;
    va_start(args, format);
    vsnprintf(run.failure, sizeof run.failure, format, args);
    va_end(args);
}

void count_step(void)
{
    if (++run.steps > MOST_STEPS)
        failed("no end after %llu steps", (unsigned long long)run.steps);
}

void went_on(const struct ft_point *to, uint32_t who)
{
    course = (course ^ (uintptr_t)to ^ who) * 0x100000001b3;
}

void killed_at(const struct ft_point *p)
{
    if (p)
        covered[point_number(p)] = covered_ever[point_number(p)] = true;
}

static void say_failed(void)
{
    const struct plan *p = &current;

    printf("FAILED ");
    print_failed();
    printf(": %s\n  again: %s --only ", run.failure, explorer.name);
    print_only();
    printf(" --plan %lld,%d,%d,%d,%u,%u\n", (long long)p->kill_at, p->torn, p->late, p->switch_always, p->seed,
           p->kills);
}

/* The engine's own invariants end the process. */
static void on_abort(int signal)
{
    (void)signal;
    failed("a broken invariant");
    say_failed();
    fflush(stdout);
    _exit(1);
}

static bool try_plan(const struct plan *p)
{
    runs++;
    current = *p;
    random_begin(p->seed);
    run.failure[0] = 0;
    run.steps = course = 0;
    if (attempt(p))
        return true;
    say_failed();
    return false;
}

/* ---- a scenario ---- */

static bool every_single_crash(bool sample)
{
    for (int way = 0; way < 8; way++) {
        struct plan p = { .kill_at = UINT64_MAX, .torn = way & 1, .late = way & 2, .switch_always = way & 4 };
        uint64_t steps;

        if (sample && !(explorer.sample >> way & 1))
            continue;
        if (!try_plan(&p))
            return false;
        /* The crash adds steps, so go on until a run ends before its turn to kill comes. */
        for (p.kill_at = 0, steps = run.steps; p.kill_at < steps; p.kill_at++)
            if (!try_plan(&p))
                return false;
    }
    return true;
}

/* A run follows from its plan alone, whatever ran before, so that what a failure prints shows it
   again: in new memory it is the same. */
static bool same_alone(const struct scenario *sc, const struct plan *p)
{
    uint64_t before = course;

    drop_job();
    make_job(sc);
    if (!try_plan(p))
        return false;
    if (course == before)
        return true;
    failed("a run goes another way in new memory: something is left from the run before (reset_region)");
    say_failed();
    return false;
}

static bool random_crashes(const struct scenario *sc, uint32_t n)
{
    struct plan p = { .kill_at = UINT64_MAX };

    for (p.seed = seed; p.seed < seed + n; p.seed++) {
        p.kills = 1 + p.seed % kills;
        if (!try_plan(&p))
            return false;
    }
    p.seed--;
    return n == 0 || same_alone(sc, &p);
}

static uint32_t count_covered(const bool *which)
{
    uint32_t n = 0;

    for (int i = 0; i < MAX_POINTS; i++)
        n += which[i];
    return n;
}

static bool saw(uint32_t sees)
{
    bool all = true;

    for (uint32_t i = 0; i < 32; i++) {
        if (!(sees >> i & 1))
            continue;
        printf("%s%llu %s", sees & (SEES(i) - 1) ? ", " : "           ", (unsigned long long)run.seen[i],
               explorer.seen_text[i]);
        all = all && run.seen[i];
    }
    putchar('\n');
    if (!all)
        puts("FAILED: not everything happened that was to be tried");
    return all;
}

static bool search_one(const struct search *s, enum singles singles)
{
    uint64_t before = runs;
    bool good;

    memset(covered, 0, sizeof covered);
    memset(run.seen, 0, sizeof run.seen);
    make_job(s->sc);
    good = (chance_only || singles == CHANCE || every_single_crash(singles == SAMPLE)) &&
           random_crashes(s->sc, s->times * seeds);
    drop_job();
    print_searched();
    printf(": %3u points killed at, %6llu runs%s\n", count_covered(covered), (unsigned long long)(runs - before),
           good ? "" : "  FAILED");
    fflush(stdout);
    return good && (!s->sees || saw(s->sees));
}

bool search(const struct search *s, size_t n, enum tier tier)
{
    for (size_t i = 0; i < n; i++)
        if (s[i].singles[tier] != NOTHING && !search_one(&s[i], s[i].singles[tier]))
            return false;
    return true;
}

/* ---- what is asked for ---- */

/* One scenario: one run of it, or (no plan) all of them. */
static int again(const char *only, const char *plan, enum tier tier)
{
    struct plan p = { 0 };
    int torn = 0, late = 0, always = 0;
    long long kill_at = 0;
    struct search s = { .singles = { SAMPLE, ALL, ALL }, .times = 1 };
    bool good;

    if (!find_scenario(only, &s) ||
        (plan && sscanf(plan, "%lld,%d,%d,%d,%u,%u", &kill_at, &torn, &late, &always, &p.seed, &p.kills) != 6)) {
        fprintf(stderr, "%s: --only and --plan want what a failure printed\n", explorer.name);
        return 2;
    }
    p.kill_at = (uint64_t)kill_at;
    p.torn = torn;
    p.late = late;
    p.switch_always = always;
    if (plan) {
        make_job(s.sc);
        good = try_plan(&p);
    } else {
        good = search(&s, 1, tier);
    }
    if (!good)
        return 1;
    puts("nothing found");
    return 0;
}

static int usage(void)
{
    fprintf(stderr, "usage: %s [--seeds N] [--seed FIRST] [--kills K] [--chance] [--quick | --full]\n", explorer.name);
    return 2;
}

/* When nothing is asked for: 1, so that a run says something about the code and not about luck. */
static uint32_t first_seed(bool full)
{
    const char *chosen = getenv("FT_SEED");
    uint32_t first = chosen ? (uint32_t)atoi(chosen) : full ? 1 + (uint32_t)(time(NULL) % 1000000000) : 1;

    if (first != 1)
        printf("%s: seeds from %u on: FT_SEED=%u\n", explorer.name, first, first);
    return first;
}

int main(int argc, char **argv)
{
    const char *only = NULL, *plan = NULL, *said = getenv("FT_TIER");
    enum tier tier = !said ? NORMAL : strcmp(said, "quick") == 0 ? QUICK : strcmp(said, "full") == 0 ? FULL : NORMAL;

    if (argc == 1)
        seed = first_seed(tier == FULL);
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;

        if (strcmp(argv[i], "--quick") == 0)
            tier = QUICK;
        else if (strcmp(argv[i], "--full") == 0)
            tier = FULL;
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
    if (seed == 0 || kills == 0 || (plan && !only))
        return usage();
    if (seeds == UINT32_MAX)
        seeds = explorer.seeds[tier];
    divert_points();
    signal(SIGABRT, on_abort);
    if (only)
        return again(only, plan, tier);
    if (!search_all(tier))
        return 1;
    printf("%s: %u of %u crash points were killed at, %llu runs, nothing found\n", explorer.name,
           count_covered(covered_ever), npoints(), (unsigned long long)runs);
    if (argc == 1 && tier == NORMAL && seed == 1)
        puts("searched whole");
    return 0;
}
