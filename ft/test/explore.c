/* SPDX-License-Identifier: BSD-3-Clause */
/* The crash-point explorer (DESIGN section 9.1): runs ranks and keeper of one job as coroutines over the object
   code that ships, switches between them only at crash points (ft/shm/point.h), and kills them there.

   For each operation, number of ranks and size the search of search.h. Every result of every incarnation is
   checked, and in the end every rank is started once more and must get all results out of the log alone. */
#include <stdio.h>

#include "ft/test/explore.h"

bool attempt(const struct plan *p)
{
    bool undecided;

    if (!run_job(p))
        return false;
    undecided = job.due || job.sc.disputed;
    if (!undecided)
        check_log();
    return !run.failure[0] && (undecided || job.sc.room == LEFT || replay_all());
}

/* ---- what is searched ---- */

static const struct search searches[] = {
    /* every single crash with a successor that contributes other data (--check-replay): short and standard */
    { SCENARIO(.what = ALLREDUCE, .ranks = 3, .count = 5, .calls = 3, .lies = true), { SAMPLE, SAMPLE, ALL }, 0, 0 },
    { SCENARIO(.what = ALLREDUCE, .ranks = 3, .count = 75, .calls = 2, .lies = true), { SAMPLE, SAMPLE, ALL }, 0, 0 },

    /* two ranks that take themselves for the root of one bcast write into the same entries of the log */
    { SCENARIO(.what = BCAST, .ranks = 3, .count = 75, .calls = 2, .disputed = true), { SAMPLE, SAMPLE, ALL }, 8, 0 },

    /* pipelined: more units than slots, of a log that is spilled meanwhile */
    { SCENARIO(.what = BCAST, .ranks = 2, .count = 300, .calls = 4, .room = SPILLS), { SAMPLE, ALL, ALL }, 2, 0 },
    { SCENARIO(.what = REDUCE, .ranks = 2, .count = 300, .calls = 4, .in_place = true, .room = SPILLS), { SAMPLE, ALL, ALL }, 2, 0 },
    { SCENARIO(.what = REDUCE, .ranks = 3, .count = 300, .calls = 4, .in_place = true, .room = SPILLS), { SAMPLE, SAMPLE, ALL }, 2, 0 },
    { SCENARIO(.what = REDUCE, .ranks = 4, .count = 300, .calls = 4, .room = LEFT), { CHANCE, CHANCE, CHANCE }, 1, 0 },
    { SCENARIO(.what = ALLGATHER, .ranks = 2, .count = 300, .calls = 4, .in_place = true, .room = SPILLS), { SAMPLE, ALL, ALL }, 2, 0 },

    /* redundant: of a log that is spilled meanwhile; with ranks that go on from snapshots; with checkpoints */
    { SCENARIO(.what = ALLREDUCE, .ranks = 2, .count = 300, .calls = 4, .in_place = true, .room = SPILLS, .redundant = true), { SAMPLE, ALL, ALL }, 2, 0 },
    { SCENARIO(.what = MIXED, .ranks = 2, .count = 300, .calls = MORE_CALLS, .snapshots = true, .redundant = true), { CHANCE, CHANCE, ALL }, 4,
      SEES(WOKEN) | SEES(RELEASED) | SEES(SPILLED) | SEES(RESETS) },
    { SCENARIO(.what = CHECKPOINTED, .ranks = 2, .count = 300, .calls = 12, .room = RELEASES, .redundant = true), { CHANCE, CHANCE, ALL }, 4, SEES(RELEASED) | SEES(LOADS) },
    /* ... of a result that came out of the bootstrap cache a rank owes its chunk of the log (was a real crash, that few seeds find) */
    { SCENARIO(.what = KEYS, .ranks = 2, .count = 300, .calls = 13, .room = RELEASES, .snapshots = true, .redundant = true), { CHANCE, CHANCE, ALL }, 80, SEES(AHEAD) },

    /* successors that contribute other data, unchecked: redundant and what three ranks do */
    { SCENARIO(.what = MIXED, .ranks = 2, .count = 75, .calls = MAX_CALLS, .varies = true), { SAMPLE, ALL, ALL }, 4, 0 },
    { SCENARIO(.what = MIXED, .ranks = 2, .count = 300, .calls = MAX_CALLS, .in_place = true, .room = SPILLS, .varies = true), { CHANCE, SAMPLE, ALL }, 4, 0 },
    { SCENARIO(.what = MIXED, .ranks = 2, .count = 75, .calls = MAX_CALLS, .redundant = true, .varies = true), { SAMPLE, ALL, ALL }, 4, 0 },
    { SCENARIO(.what = MIXED, .ranks = 3, .count = 75, .calls = MAX_CALLS, .varies = true), { CHANCE, SAMPLE, ALL }, 4, 0 },

    /* data with gaps */
    { SCENARIO(.what = MIXED, .ranks = 2, .count = 300, .calls = MAX_CALLS, .gaps = true), { SAMPLE, ALL, ALL }, 4, 0 },
    { SCENARIO(.what = MIXED, .ranks = 4, .count = 300, .calls = MAX_CALLS, .gaps = true), { CHANCE, CHANCE, ALL }, 4, 0 },
    { SCENARIO(.what = LETTERS, .ranks = 2, .count = 300, .calls = 12, .gaps = true), { CHANCE, SAMPLE, ALL }, 4, SEES(NOES) | SEES(CANCELLED) },

    /* ranks that go on from snapshots, and a log that is released behind these: in a table of 16 extents, which a run goes around */
    { SCENARIO(.what = MIXED, .ranks = 2, .count = 300, .calls = MORE_CALLS, .snapshots = true), { SAMPLE, ALL, ALL }, 4,
      SEES(WOKEN) | SEES(RELEASED) | SEES(AROUND) | SEES(SPILLED) | SEES(RESETS) },
    { SCENARIO(.what = MIXED, .ranks = 3, .count = 300, .calls = MORE_CALLS, .snapshots = true), { NOTHING, NOTHING, CHANCE }, 4,
      SEES(WOKEN) | SEES(RELEASED) | SEES(AROUND) | SEES(SPILLED) | SEES(RESETS) },

    /* a second stream, which ranks come into and leave: spilled, released behind cuts that belong together, forgotten, not kept */
    { SCENARIO(.what = MIXED, .ranks = 2, .count = 300, .calls = MAX_CALLS, .room = SPILLS, .two = true), { CHANCE, ALL, ALL }, 2, SEES(SPILLED) },
    { SCENARIO(.what = MIXED, .ranks = 2, .count = 300, .calls = MORE_CALLS, .snapshots = true, .two = true), { CHANCE, ALL, ALL }, 4,
      SEES(WOKEN) | SEES(RELEASED) | SEES(SPILLED) | SEES(RESETS) | SEES(USES) },
    { SCENARIO(.what = MIXED, .ranks = 3, .count = 300, .calls = MORE_CALLS, .snapshots = true, .two = true), { CHANCE, CHANCE, CHANCE }, 4,
      SEES(WOKEN) | SEES(RELEASED) | SEES(SPILLED) | SEES(RESETS) | SEES(USES) },
    { SCENARIO(.what = MIXED, .ranks = 2, .count = 450, .calls = MORE_CALLS, .room = FORGETS, .snapshots = true, .two = true), { CHANCE, CHANCE, ALL }, 4,
      SEES(FORGOTTEN) | SEES(USELESS) | SEES(RESETS) },
    { SCENARIO(.what = MIXED, .ranks = 4, .count = 75, .calls = MAX_CALLS, .two = true), { CHANCE, CHANCE, CHANCE }, 4, 0 },
    { SCENARIO(.what = MIXED, .ranks = 3, .count = 300, .calls = MORE_CALLS, .room = LEFT, .two = true), { CHANCE, CHANCE, CHANCE }, 4, SEES(RELEASED) | SEES(USES) },

    /* ranks that make checkpoints and go on from them, a log that is released behind these, everybody restarted with the newest, and
       sometimes no memory for one */
    { SCENARIO(.what = CHECKPOINTED, .ranks = 2, .count = 300, .calls = 12, .room = RELEASES), { SAMPLE, SAMPLE, ALL }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(LACKING) | SEES(RESETS) },
    { SCENARIO(.what = CHECKPOINTED, .ranks = 3, .count = 300, .calls = 12, .room = RELEASES), { CHANCE, CHANCE, CHANCE }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(LACKING) | SEES(RESETS) },
    { SCENARIO(.what = DENSE, .ranks = 2, .count = 300, .calls = 12, .room = RELEASES), { CHANCE, CHANCE, ALL }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(LACKING) | SEES(RESETS) },
    { SCENARIO(.what = DENSE, .ranks = 3, .count = 300, .calls = 12, .room = RELEASES), { NOTHING, NOTHING, CHANCE }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(LACKING) | SEES(RESETS) },

    /* lazy ones, of which few are kept */
    { SCENARIO(.what = LAZY, .ranks = 2, .count = 300, .calls = 14, .room = RELEASES), { CHANCE, CHANCE, ALL }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(LACKING) | SEES(RESETS) | SEES(UNKEPT) },
    { SCENARIO(.what = LAZY, .ranks = 3, .count = 300, .calls = 14, .room = RELEASES), { NOTHING, NOTHING, CHANCE }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(LACKING) | SEES(RESETS) | SEES(UNKEPT) },

    /* the bootstrap cache */
    { SCENARIO(.what = KEYS, .ranks = 2, .count = 300, .calls = 13, .room = RELEASES), { CHANCE, CHANCE, ALL }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(RESETS) | SEES(ANSWERED) | SEES(AHEAD) },
    { SCENARIO(.what = KEYS, .ranks = 3, .count = 300, .calls = 13, .room = RELEASES), { NOTHING, NOTHING, CHANCE }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(RESETS) | SEES(ANSWERED) | SEES(AHEAD) },
    { SCENARIO(.what = PLACES, .ranks = 2, .count = 300, .calls = 14, .room = RELEASES), { CHANCE, CHANCE, ALL }, 8,
      SEES(LOADS) | SEES(RESETS) | SEES(ANSWERED) | SEES(REPEATED) },
    { SCENARIO(.what = PLACES, .ranks = 3, .count = 300, .calls = 14, .room = RELEASES), { NOTHING, NOTHING, CHANCE }, 4,
      SEES(LOADS) | SEES(RESETS) | SEES(ANSWERED) },

    /* messages: who dies begins again */
    { SCENARIO(.what = RING, .ranks = 2, .count = 625, .calls = 2), { SAMPLE, ALL, ALL }, 1, 0 },
    { SCENARIO(.what = RING, .ranks = 2, .count = 4500, .calls = 2), { CHANCE, SAMPLE, ALL }, 1, 0 }, /* a message of more pieces than there are slots */
    { SCENARIO(.what = RING, .ranks = 3, .count = 625, .calls = 2), { CHANCE, SAMPLE, ALL }, 1, 0 },
    { SCENARIO(.what = OPEN, .ranks = 2, .count = 300, .calls = 2), { SAMPLE, ALL, ALL }, 1, 0 },
    { SCENARIO(.what = OPEN, .ranks = 3, .count = 300, .calls = 1), { SAMPLE, ALL, ALL }, 4, 0 },
    { SCENARIO(.what = ASKS, .ranks = 2, .count = 300, .calls = 2), { SAMPLE, ALL, ALL }, 1, SEES(NOES) },
    { SCENARIO(.what = ASKS, .ranks = 3, .count = 300, .calls = 2), { CHANCE, SAMPLE, ALL }, 4, SEES(NOES) },
    { SCENARIO(.what = PROBES, .ranks = 2, .count = 300, .calls = 2), { SAMPLE, ALL, ALL }, 1, SEES(NOES) },
    { SCENARIO(.what = PROBES, .ranks = 3, .count = 300, .calls = 1), { CHANCE, SAMPLE, ALL }, 4, SEES(NOES) },
    { SCENARIO(.what = SYNCHRONOUS, .ranks = 2, .count = 300, .calls = 2), { SAMPLE, ALL, ALL }, 1, SEES(NOES) },
    { SCENARIO(.what = SYNCHRONOUS, .ranks = 3, .count = 300, .calls = 2), { CHANCE, SAMPLE, ALL }, 4, SEES(NOES) },
    { SCENARIO(.what = CANCELS, .ranks = 2, .count = 300, .calls = 2), { SAMPLE, ALL, ALL }, 1, SEES(CANCELLED) },
    { SCENARIO(.what = CANCELS, .ranks = 3, .count = 300, .calls = 2), { CHANCE, SAMPLE, ALL }, 4, SEES(CANCELLED) },
    { SCENARIO(.what = BURST, .ranks = 2, .count = 1000, .calls = 1), { SAMPLE, ALL, ALL }, 4, 0 },
    { SCENARIO(.what = LETTERS, .ranks = 2, .count = 300, .calls = 12), { CHANCE, SAMPLE, ALL }, 4, SEES(NOES) | SEES(CANCELLED) },
    { SCENARIO(.what = LETTERS, .ranks = 3, .count = 300, .calls = 12), { CHANCE, CHANCE, ALL }, 4, SEES(NOES) | SEES(CANCELLED) },

    /* ... with checkpoints, at which some are under way */
    { SCENARIO(.what = CARRIED, .ranks = 2, .count = 300, .calls = MORE_CALLS, .room = RELEASES), { CHANCE, CHANCE, ALL }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(LACKING) | SEES(RESETS) },
    { SCENARIO(.what = CARRIED, .ranks = 3, .count = 300, .calls = MORE_CALLS, .room = RELEASES), { CHANCE, CHANCE, CHANCE }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(LACKING) | SEES(RESETS) },
    { SCENARIO(.what = CARRIED, .ranks = 2, .count = 300, .calls = MORE_CALLS, .in_place = true, .room = RELEASES), { CHANCE, CHANCE, ALL }, 4,
      SEES(LOADS) | SEES(LACKING) | SEES(RESETS) },

    /* collectives that are messages; also of a log that is spilled */
    { SCENARIO(.what = PASSES, .ranks = 2, .count = 300, .calls = MAX_CALLS), { SAMPLE, ALL, ALL }, 2, 0 },
    { SCENARIO(.what = PASSES, .ranks = 3, .count = 75, .calls = MAX_CALLS), { CHANCE, SAMPLE, ALL }, 4, 0 },
    { SCENARIO(.what = PASSES, .ranks = 4, .count = 75, .calls = MAX_CALLS), { CHANCE, CHANCE, CHANCE }, 4, 0 },
    { SCENARIO(.what = PASSES, .ranks = 3, .count = 300, .calls = MORE_CALLS, .in_place = true, .room = SPILLS), { CHANCE, CHANCE, CHANCE }, 4, SEES(SPILLED) },

    /* ... whose bytes are other ones in each incarnation of the sender: those of the receiver get the same */
    { SCENARIO(.what = RING, .ranks = 2, .count = 300, .calls = 2, .varies = true), { SAMPLE, ALL, ALL }, 4, 0 },
    { SCENARIO(.what = BURST, .ranks = 2, .count = 1000, .calls = 1, .varies = true), { SAMPLE, ALL, ALL }, 4, 0 },

    /* ... of a log that is spilled, forgotten, not kept */
    { SCENARIO(.what = RING, .ranks = 2, .count = 900, .calls = 6, .room = SPILLS), { CHANCE, SAMPLE, ALL }, 4, SEES(SPILLED) },
    { SCENARIO(.what = LETTERS, .ranks = 3, .count = 900, .calls = 12, .room = SPILLS), { CHANCE, CHANCE, CHANCE }, 4, SEES(SPILLED) },
    { SCENARIO(.what = LETTERS, .ranks = 2, .count = 900, .calls = 12, .room = FORGETS), { CHANCE, CHANCE, CHANCE }, 4, SEES(FORGOTTEN) | SEES(RESETS) },
    { SCENARIO(.what = LETTERS, .ranks = 3, .count = 900, .calls = 12, .room = LEFT), { CHANCE, CHANCE, CHANCE }, 4, SEES(RELEASED) },

    /* snapshots and checkpoints in one job: the log is released by whichever is older */
    { SCENARIO(.what = CHECKPOINTED, .ranks = 2, .count = 300, .calls = 12, .room = RELEASES, .snapshots = true), { CHANCE, CHANCE, ALL }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(RESETS) | SEES(WOKEN) | SEES(WORN) },
    { SCENARIO(.what = KEYS, .ranks = 3, .count = 300, .calls = 13, .room = RELEASES, .snapshots = true), { NOTHING, CHANCE, CHANCE }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(RESETS) | SEES(WOKEN) | SEES(WORN) | SEES(ANSWERED) },
    { SCENARIO(.what = LAZY, .ranks = 2, .count = 300, .calls = 14, .room = RELEASES, .snapshots = true), { NOTHING, CHANCE, CHANCE }, 4,
      SEES(RELEASED) | SEES(LOADS) | SEES(RESETS) | SEES(WOKEN) | SEES(WORN) | SEES(UNKEPT) },

    /* a log of which the oldest part is forgotten: who dies starts over with all the others, or not. Also one operation that is larger than all
       memory; and with snapshots, some of which are of no use when they are needed */
    { SCENARIO(.what = MIXED, .ranks = 2, .count = 300, .calls = MAX_CALLS, .room = FORGETS), { CHANCE, CHANCE, ALL }, 4, SEES(FORGOTTEN) | SEES(RESETS) },
    { SCENARIO(.what = BCAST, .ranks = 2, .count = MAX_BYTES / 4, .calls = 1, .room = FORGETS), { CHANCE, CHANCE, ALL }, 1, SEES(FORGOTTEN) },
    { SCENARIO(.what = MIXED, .ranks = 2, .count = 300, .calls = MORE_CALLS, .room = FORGETS, .snapshots = true), { CHANCE, CHANCE, ALL }, 4,
      SEES(FORGOTTEN) | SEES(USELESS) | SEES(RESETS) },
    { SCENARIO(.what = MIXED, .ranks = 3, .count = 300, .calls = MAX_CALLS, .room = FORGETS), { CHANCE, CHANCE, CHANCE }, 4,
      SEES(FORGOTTEN) | SEES(RESETS) },
    { SCENARIO(.what = BCAST, .ranks = 3, .count = MAX_BYTES / 4, .calls = 1, .room = FORGETS), { CHANCE, CHANCE, CHANCE }, 1, SEES(FORGOTTEN) },
    { SCENARIO(.what = MIXED, .ranks = 3, .count = 300, .calls = MORE_CALLS, .room = FORGETS, .snapshots = true), { CHANCE, CHANCE, CHANCE }, 4,
      SEES(FORGOTTEN) | SEES(USELESS) | SEES(RESETS) },

    /* a log that is not kept */
    { SCENARIO(.what = MIXED, .ranks = 2, .count = 300, .calls = MORE_CALLS, .room = LEFT), { CHANCE, CHANCE, CHANCE }, 4, 0 },
    { SCENARIO(.what = BCAST, .ranks = 2, .count = MAX_BYTES / 4, .calls = 4, .room = LEFT), { CHANCE, CHANCE, CHANCE }, 1, 0 },
    { SCENARIO(.what = ALLGATHER, .ranks = 2, .count = MAX_BYTES / 4, .calls = 4, .room = LEFT), { CHANCE, CHANCE, CHANCE }, 1, 0 },
    { SCENARIO(.what = MIXED, .ranks = 3, .count = 900, .calls = MORE_CALLS, .room = LEFT), { CHANCE, CHANCE, CHANCE }, 4, SEES(RELEASED) },
    { SCENARIO(.what = BCAST, .ranks = 3, .count = MAX_BYTES / 4, .calls = 4, .room = LEFT), { CHANCE, CHANCE, CHANCE }, 1, SEES(RELEASED) },
};

static const char *const room_text[] = { "", " spilled", " forgotten", " released", " left" };

static const char *const seen_text[NSEEN] = {
    "extents released", "assigned in an entry used before", "spilled", "forgotten", "restarts of all", "snapshots woken", "of no use",
    "of the second stream once more", "given up for a checkpoint", "versions loaded", "with no memory for them", "not kept", "calls answered from the cache",
    "before their turn", "done again in doubt", "noes", "receives cancelled"
};

const struct explorer explorer = {
    .name = "explore", .sample = 1 << 1 | 1 << 3 | 1 << 6, .seeds = { 40, 70, 300 }, .seen_text = seen_text
};

/* Every operation with none, one unit, several units with an odd end; in a log that is spilled while ranks work and replay: the mapped
   pages of a file are the smallest extents there can be. */
static bool search_operations(uint32_t ranks, enum tier tier)
{
    struct search s = { .singles = { SAMPLE, ranks > 2 ? SAMPLE : ALL, ALL }, .times = 1 };
    const struct search spills[] = {
        { SCENARIO(.what = MIXED, .ranks = ranks, .count = 300, .calls = MAX_CALLS, .room = SPILLS), { SAMPLE, ALL, ALL }, 1, 0 },
        { SCENARIO(.what = BCAST, .ranks = ranks, .count = MAX_BYTES / 4, .calls = 1, .room = SPILLS), { CHANCE, CHANCE, CHANCE }, 1, 0 },
    };

    for (enum what w = 0; w <= MIXED; w++)
        for (int size = 0; size < 3; size++) {
            struct scenario sc = { .what = w, .ranks = ranks, .count = size == 0 ? 0 : size == 1 ? 5 : 75,
                                   .calls = w == MIXED ? MAX_CALLS : size == 2 ? 3 : 5, .in_place = ranks == 3 };

            if ((w == BARRIER && size) || (w == MIXED && size != 1) || (size == 0 && ranks != 2 && w != BARRIER))
                continue;
            s.sc = &sc;
            if (!search(&s, 1, tier))
                return false;
        }
    if (tier != FULL && ranks > 2) /* by far the longest */
        return true;
    return search(spills, 2, tier);
}

bool search_all(enum tier tier)
{
    if (!search(searches, sizeof searches / sizeof *searches, tier))
        return false;
    for (uint32_t ranks = 2; ranks <= MAX_RANKS; ranks++)
        if (!search_operations(ranks, tier))
            return false;
    return true;
}

/* ---- scenarios ---- */

void print_only(void)
{
    const struct scenario *sc = &job.sc;

    printf("%d,%u,%u,%u,%d,%d,%d,%d", sc->what, sc->ranks, sc->count, sc->calls, sc->in_place, sc->room, sc->snapshots,
           sc->lies + 2 * sc->disputed + 4 * sc->redundant + 8 * sc->varies + 16 * sc->two + 32 * sc->gaps);
}

bool find_scenario(const char *only, struct search *s)
{
    static struct scenario sc;
    int what, in_place, room, snapshots, flags;

    if (sscanf(only, "%d,%u,%u,%u,%d,%d,%d,%d", &what, &sc.ranks, &sc.count, &sc.calls, &in_place, &room, &snapshots, &flags) != 8 ||
        what < 0 || what >= NWHAT || sc.ranks > MAX_RANKS)
        return false;
    sc.what = (enum what)what;
    sc.in_place = in_place;
    sc.room = (enum room)room;
    sc.snapshots = snapshots;
    sc.lies = flags & 1;
    sc.disputed = flags & 2;
    sc.redundant = flags & 4;
    sc.varies = flags & 8;
    sc.two = flags & 16;
    sc.gaps = flags & 32;
    s->sc = &sc;
    s->times = !sc.lies;
    return true;
}

void print_failed(void)
{
    printf("%s, %u ranks, %u elements, %u calls%s", what_text[job.sc.what], job.sc.ranks, job.sc.count, job.sc.calls,
           job.sc.in_place ? ", in place" : "");
}

void print_searched(void)
{
    const struct scenario *sc = &job.sc;

    printf("%-11s %u ranks %5u elements%s%s%s%s", what_text[sc->what], sc->ranks, sc->count, sc->in_place ? " in place" : "",
           sc->snapshots ? " snapshots" : "", room_text[sc->room],
           sc->two ? " two streams" : sc->lies ? " lies" : sc->disputed ? " disputed" : sc->redundant && sc->varies ? " redundant varies" : sc->redundant ? " redundant" : sc->varies ? " varies" : sc->gaps ? " gaps" : "");
}
