/* SPDX-License-Identifier: BSD-3-Clause */
/* The explorer of a job on several nodes: the steps that ranks of a node make in memory they
   share while their representative works with others (ft/core/nodes_local.c, nodes_exchange.c,
   frames.c), killed at every crash point. As explore.c, which has one node.

   What has been sent is lost, too, where bytes are half written; connections come as late as
   successors. Every result of every incarnation is checked; in the end all nodes have the same
   log, and every rank is started once more and must get all results out of its node's. */
#include <stdio.h>

#include "ft/test/apart.h"

bool attempt(const struct plan *p) { return run_job(p) && (job.sc.room == LEFT || replay_all()); }

/* ---- what is searched ---- */

static const struct search searches[] = {
    /* each operation: in one unit and in several; where each node has one rank, and where two of one share memory */
    { SCENARIO(.what = BARRIER, .layout = 22, .calls = 2), { SAMPLE, ALL, ALL }, 1, 0 },
    { SCENARIO(.what = BCAST, .layout = 21, .count = 5, .calls = 3), { SAMPLE, ALL, ALL }, 1, 0 },
    { SCENARIO(.what = BCAST, .layout = 21, .count = 150, .calls = 2), { SAMPLE, ALL, ALL }, 2, 0 },
    { SCENARIO(.what = REDUCE, .layout = 12, .count = 150, .calls = 2, .in_place = true),
      { CHANCE, SAMPLE, ALL }, 2, 0 },
    { SCENARIO(.what = ALLREDUCE, .layout = 22, .count = 5, .calls = 2), { SAMPLE, ALL, ALL }, 1, 0 },
    { SCENARIO(.what = ALLREDUCE, .layout = 22, .count = 150, .calls = 1), { SAMPLE, ALL, ALL }, 2, 0 },
    { SCENARIO(.what = ALLREDUCE, .layout = 11, .count = 300, .calls = 2), { SAMPLE, ALL, ALL }, 4, 0 },
    { SCENARIO(.what = ALLREDUCE, .layout = 11, .count = 300, .calls = 2, .in_place = true),
      { CHANCE, SAMPLE, ALL }, 4, 0 },
    { SCENARIO(.what = ALLGATHER, .layout = 21, .count = 5, .calls = 2), { SAMPLE, ALL, ALL }, 1, 0 },
    { SCENARIO(.what = ALLGATHER, .layout = 22, .count = 75, .calls = 1, .in_place = true, .crooked = true),
      { CHANCE, SAMPLE, ALL }, 2, 0 },
    { SCENARIO(.what = ALLGATHERV, .layout = 12, .count = 40, .calls = 2), { CHANCE, SAMPLE, ALL }, 2, 0 },
    { SCENARIO(.what = COMPOSED, .layout = 22, .count = 75, .calls = 2), { CHANCE, SAMPLE, ALL }, 2, 0 },
    { SCENARIO(.what = COMPOSED, .layout = 21, .count = 40, .calls = 2, .crooked = true),
      { CHANCE, CHANCE, ALL }, 2, 0 },

    /* all of them in turn, and many faults */
    { SCENARIO(.what = MIXED, .layout = 22, .count = 60, .calls = 10),
      { CHANCE, CHANCE, SAMPLE }, 8, SEES(ADOPTED) | SEES(TORN) | SEES(OLD) },
    { SCENARIO(.what = MIXED, .layout = 21, .count = 75, .calls = 10, .in_place = true, .crooked = true),
      { CHANCE, CHANCE, SAMPLE }, 8, SEES(OLD) },
    { SCENARIO(.what = MIXED, .layout = 11, .count = 75, .calls = 10), { CHANCE, CHANCE, SAMPLE }, 8, SEES(OLD) },

    /* a third node, which works for one end of the middle edge: chains, folds of what comes */
    { SCENARIO(.what = MIXED, .layout = 111, .count = 75, .calls = 10), { CHANCE, CHANCE, SAMPLE }, 4, 0 },
    { SCENARIO(.what = MIXED, .layout = 211, .count = 30, .calls = 10, .in_place = true),
      { CHANCE, CHANCE, SAMPLE }, 4, 0 },

    /* units that go past the cache */
    { SCENARIO(.what = ALLREDUCE, .layout = 11, .count = 5000, .calls = 2, .wide = true),
      { CHANCE, CHANCE, SAMPLE }, 2, 0 },
    { SCENARIO(.what = MIXED, .layout = 21, .count = 1000, .calls = 10, .wide = true),
      { CHANCE, CHANCE, CHANCE }, 2, 0 },

    /* a log that is spilled meanwhile; one that is released behind what all have left, and connections break */
    { SCENARIO(.what = MIXED, .layout = 21, .count = 300, .calls = 10, .room = SPILLS),
      { CHANCE, CHANCE, CHANCE }, 4, SEES(SPILLED) | SEES(OLD) },
    { SCENARIO(.what = MIXED, .layout = 21, .count = 600, .calls = 10, .room = LEFT),
      { CHANCE, CHANCE, CHANCE }, 4, SEES(RELEASED) | SEES(TORN) },

    /* ... behind snapshots, from which ranks go on */
    { SCENARIO(.what = MIXED, .layout = 21, .count = 300, .calls = 10, .snapshots = true),
      { CHANCE, CHANCE, CHANCE }, 4, SEES(RELEASED) | SEES(WOKEN) | SEES(OLD) },
    { SCENARIO(.what = MIXED, .layout = 111, .count = 300, .calls = 10, .snapshots = true, .in_place = true),
      { CHANCE, CHANCE, CHANCE }, 2, SEES(RELEASED) | SEES(WOKEN) | SEES(OLD) },

    /* whole nodes are lost */
    { SCENARIO(.what = ALLREDUCE, .layout = 21, .count = 40, .calls = 2, .loses = true),
      { CHANCE, SAMPLE, ALL }, 2, SEES(LOST) },
    { SCENARIO(.what = MIXED, .layout = 21, .count = 75, .calls = 10, .loses = true),
      { CHANCE, CHANCE, SAMPLE }, 8, SEES(LOST) | SEES(OLD) },
    { SCENARIO(.what = MIXED, .layout = 12, .count = 300, .calls = 10, .room = SPILLS, .loses = true),
      { CHANCE, CHANCE, CHANCE }, 4, SEES(LOST) | SEES(OLD) | SEES(SPILLED) },
    { SCENARIO(.what = MIXED, .layout = 111, .count = 40, .calls = 10, .loses = true),
      { CHANCE, CHANCE, CHANCE }, 4, SEES(LOST) | SEES(OLD) },

    /* two streams between the nodes */
    { SCENARIO(.what = ALLREDUCE, .layout = 21, .count = 40, .calls = 4, .two = true),
      { CHANCE, SAMPLE, ALL }, 2, 0 },
    { SCENARIO(.what = MIXED, .layout = 21, .count = 75, .calls = 10, .two = true),
      { CHANCE, CHANCE, SAMPLE }, 8, SEES(USES) | SEES(OLD) },
    { SCENARIO(.what = MIXED, .layout = 111, .count = 40, .calls = 10, .two = true),
      { CHANCE, CHANCE, SAMPLE }, 4, SEES(USES) | SEES(OLD) },
    { SCENARIO(.what = MIXED, .layout = 12, .count = 300, .calls = 10, .room = SPILLS, .two = true),
      { CHANCE, CHANCE, CHANCE }, 4, SEES(USES) | SEES(SPILLED) },
    { SCENARIO(.what = MIXED, .layout = 21, .count = 300, .calls = 10, .snapshots = true, .two = true),
      { CHANCE, CHANCE, CHANCE }, 4, SEES(USES) | SEES(RELEASED) | SEES(WOKEN) },
    { SCENARIO(.what = MIXED, .layout = 21, .count = 75, .calls = 10, .loses = true, .two = true),
      { CHANCE, CHANCE, CHANCE }, 4, SEES(USES) | SEES(LOST) },
    { SCENARIO(.what = MIXED, .layout = 21, .count = 600, .calls = 10, .room = LEFT, .two = true),
      { CHANCE, CHANCE, CHANCE }, 4, SEES(USES) | SEES(RELEASED) },
};

static const char *const room_text[] = { "", " spilled", " left" };
static const char *const seen_text[NSEEN] = { "connections", "ended within a frame", "results out of the log",
                                              "extents spilled", "released", "nodes lost", "snapshots woken", "uses of a second stream", "times passed" };

const struct explorer explorer = {
    .name = "apart", .sample = 1 << 1 | 1 << 4 | 1 << 6, .seeds = { 20, 100, 1000 }, .seen_text = seen_text
};

bool search_all(enum tier tier) { return search(searches, sizeof searches / sizeof *searches, tier); }

/* ---- scenarios ---- */

void print_only(void)
{
    const struct scenario *sc = &job.sc;

    printf("%d,%u,%u,%u,%d,%u", sc->what, sc->layout, sc->count, sc->calls, sc->room,
           sc->in_place + 2 * sc->crooked + 4 * sc->wide + 8 * sc->loses + 16 * sc->snapshots + 32 * sc->two);
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

bool find_scenario(const char *only, struct search *s)
{
    static struct scenario sc;
    unsigned what, room, flags;

    if (sscanf(only, "%u,%u,%u,%u,%u,%u", &what, &sc.layout, &sc.count, &sc.calls, &room, &flags) != 6 || what >= NWHAT ||
        room >= NROOMS)
        return false;
    sc.what = (enum what)what;
    sc.room = (enum room)room;
    sc.in_place = flags & 1;
    sc.crooked = flags & 2;
    sc.wide = flags & 4;
    sc.loses = flags & 8;
    sc.snapshots = flags & 16;
    sc.two = flags & 32;
    s->sc = &sc;
    return is_possible(&sc);
}

void print_failed(void)
{
    printf("%s, nodes of %u ranks, %u elements, %u calls", what_text[job.sc.what], job.sc.layout, job.sc.count, job.sc.calls);
}

void print_searched(void)
{
    const struct scenario *sc = &job.sc;

    printf("%-10s nodes of %3u %5u elements%s%s%s%s%s%s%s", what_text[sc->what], sc->layout, sc->count,
           sc->in_place ? " in place" : "", sc->crooked ? " crooked" : "", sc->wide ? " wide" : "", room_text[sc->room],
           sc->loses ? " lost" : "", sc->snapshots ? " snapshots" : "", sc->two ? " two" : "");
}
