/* SPDX-License-Identifier: BSD-3-Clause */
/* Many nodes, simulated (ft/test/sim.h). Each seed says a number of nodes, a program and a depth, and is run twice: with ranks dying that
   are not representatives, which must not cost a message; and then with representatives, nodes, half of the nodes, and links failing
   at random times. After every event: nobody commits anything but the one right result of each unit, in order; nothing is combined
   out of order, of another unit or twice; memory that is being sent stays; no frame is out of place. And everybody finishes.

   Seeds begin with 1; FT_TIER=full: with any, which is printed, or FT_SEED.

   sim [--seeds N] [--seed S] [--large]     exit 0: nothing found
   sim --table                              what failures cost against the number of nodes, for docs/internals/between-nodes.md */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ft/test/sim.h"

static void write_program(void)
{
    const struct config *c = &job.c;

    for (uint32_t k = 0; k < c->nops; k++) {
        struct op *o = &job.op[k];
        uint64_t units = c->steady || roll(2) || k + 1 == c->nops ? 1 : 1 + roll(8);

        *o = (struct op){ .first = job.units, .end = job.units + units, .root = (uint32_t)roll(c->nodes) };
        o->tree = !c->steady && roll(3) == 0 ? FT_TREE_CHAIN : FT_TREE_BALANCED;
        o->kind = c->steady || k + 1 == c->nops ? FT_UNIT_REDUCE : (enum ft_unit_kind)roll(c->nodes > 1 ? 4 : 3);
        for (uint64_t u = o->first; u < o->end; u++) {
            if (o->kind == FT_UNIT_BCAST)
                job.expected[u] = mix(c->seed, o->root, u);
            else
                for (uint32_t i = 0; i < c->nodes; i++)
                    job.expected[u] ^= mix(c->seed, i, u);
        }
        job.units = o->end;
    }
}

static void something_fails(void)
{
    uint32_t i = job.c.planned ? job.c.victim : (uint32_t)roll(job.c.nodes);
    struct node *n = &job.node[i];
    bool host = roll(100) < job.c.hosts;
    enum fate fate = job.c.planned ? job.c.fate : host ? (roll(8) ? NODE_DIES : HALF_DIES) : (enum fate)roll(NODE_DIES + 3);
    uint32_t p = n->x.n ? (uint32_t)roll(n->x.n) : 0;

    if (!host && fate == NODE_DIES && !job.c.planned)
        fate = REPRESENTATIVE_DIES;
    if (n->left)
        return;
    switch (fate) {
    case REPRESENTATIVE_DIES:
        if (n->alive)
            representative_dies(i, job.c.planned || roll(2), delay(40), delay(100));
        break;
    case NODE_DIES:
        node_dies(i);
        break;
    case LINK_BREAKS:
        if (n->side[p].conn)
            lose(i, p, false);
        break;
    case RANK_DIES:
        rank_dies(i);
        break;
    case HALF_DIES:
        for (uint32_t k = 0; k < job.c.nodes / 2; k++)
            if (!job.node[(i + k) % job.c.nodes].left)
                node_dies((i + k) % job.c.nodes);
        break;
    case FATES:
        break;
    }
}

static void clear(void)
{
    net_free();
    for (uint32_t i = 0; job.node && i < job.c.nodes; i++) {
        free(job.node[i].peer);
        free(job.node[i].side);
    }
    free(job.node);
    free(job.heap);
    job = (struct job){ 0 };
}

static void make_peers(uint32_t i)
{
    struct node *n = &job.node[i];
    uint32_t peers = ft_tree_peers(job.c.nodes, i);

    n->peer = calloc(peers + 1, sizeof *n->peer);
    n->side = calloc(peers + 1, sizeof *n->side);
    if (!n->peer || !n->side)
        abort();
}

/* ranks_die: nothing worse does. Else so many failures as it says, within the time. */
static bool run(const struct config *c, bool ranks_die, uint64_t time)
{
    struct event e;

    clear();
    job.c = *c;
    job.node = calloc(c->nodes, sizeof *job.node);
    if (!job.node)
        abort();
    write_program();
    for (uint32_t i = 0; i < c->nodes; i++) {
        make_peers(i);
        job.node[i].solo = c->steady || roll(2);
        node_starts(i);
    }
    for (uint32_t i = 0; i < c->nodes && ranks_die; i++)
        net_is_there(i);
    for (uint32_t k = 0; !c->planned && !ranks_die && k < c->failures; k++)
        schedule(roll(3) ? roll(time) : time - roll(time / 8 + 1), (struct event){ .what = FAILS });
    while (!failed() && job.left < c->nodes && next_event(&e)) {
        job.events++;
        if (job.events > 20000000)
            fail("no end after %llu events", (unsigned long long)job.events);
        if (e.what == FAILS)
            something_fails();
        else if (e.what == DIALS)
            net_dials(e.node, e.peer);
        else if (e.what == GIVEN)
            net_given(&e);
        else
            node_event(&e);
        if (ranks_die && roll(50) == 0)
            rank_dies((uint32_t)roll(c->nodes));
    }
    for (uint32_t i = 0; i < c->nodes && !failed(); i++)
        if (job.node[i].mine != job.units || !job.node[i].left)
            fail("hang: node %u is at unit %llu of %llu", i, (unsigned long long)job.node[i].mine, (unsigned long long)job.units);
    return !failed();
}

/* Without failures of representatives: one frame for each thing a node owes, over the edges of the unit's tree. (Who hears
   that a peer has left needs none of finalize's unit.) */
static void count_frames(void)
{
    uint64_t due = 0;

    for (uint32_t k = 0; k + 1 < job.c.nops; k++) {
        const struct op *o = &job.op[k];

        due += (o->end - o->first) * (job.c.nodes - 1) * (o->kind == FT_UNIT_BCAST ? 1 : 2);
    }
    if (job.frames[FT_FRAME_HELLO] || job.frames[FT_FRAME_PART] + job.frames[FT_FRAME_RES] - job.last != due ||
        job.last > 2 * job.c.nodes)
        fail("%llu HELLO, %llu PART, %llu RES (%llu of the last unit) where %llu were due", (unsigned long long)job.frames[FT_FRAME_HELLO],
             (unsigned long long)job.frames[FT_FRAME_PART], (unsigned long long)job.frames[FT_FRAME_RES],
             (unsigned long long)job.last, (unsigned long long)due);
}

/* ---- by seed ---- */

static uint64_t all_events, all_failures, all_restarts, all_refetched;

static struct config config_of(uint64_t seed, uint32_t nodes)
{
    uint64_t r = mix(seed, 1, 1) >> 8;
    struct config c = { .seed = seed, .nodes = nodes };

    if (!nodes)
        c.nodes = (uint32_t)(r % 16 < 11 ? 1 + r / 16 % 9 : r % 16 < 15 ? 10 + r / 16 % 30 : 41 + r / 16 % 160);
    r = mix(seed, 2, 2) >> 8;
    c.depth = 1 + (uint32_t)(r % MOST_DEPTH);
    c.nops = 3 + (uint32_t)(r / 8 % 40);
    c.failures = 1 + (uint32_t)(r / 1024 % 12) + c.nodes / 10;
    c.hosts = r / 32768 % 3 == 0 ? 0 : 40;
    c.releases = r / 131072 % 4 == 0;
    return c;
}

static bool attempt(uint64_t seed, uint32_t nodes)
{
    struct config c = config_of(seed, nodes);
    const char *what = "ranks die";

    if (run(&c, true, 0))
        count_frames();
    all_events += job.events;
    if (!failed()) {
        what = "nodes and links fail";
        run(&c, false, job.now);
        all_events += job.events;
        all_failures += c.failures;
        all_restarts += job.restarts;
        all_refetched += job.refetched;
    }
    if (!failed())
        return true;
    printf("FAILED seed %llu: %u nodes, depth %u, %u operations, %u failures%s, %s: %s\n  again: sim %s--seed %llu\n",
           (unsigned long long)seed, c.nodes, c.depth, c.nops, c.failures, c.releases ? ", logs are released" : "", what, job.failure,
           nodes ? "--large " : "", (unsigned long long)seed);
    return false;
}

/* ---- what failures cost ---- */

static uint64_t sum_of_frames(void)
{
    uint64_t sum = 0;

    for (int what = 0; what < FRAMES; what++)
        sum += job.frames[what];
    return sum;
}

static void row(uint32_t nodes)
{
    struct config c = { .seed = 1, .nodes = nodes, .depth = 4, .nops = 40, .steady = true, .at_unit = 20 };
    uint64_t frames, time, *sent = calloc(nodes, sizeof *sent);

    if (!sent || !run(&c, false, 0))
        abort();
    frames = sum_of_frames();
    time = job.now;
    for (uint32_t i = 0; i < nodes; i++) {
        sent[i] = job.node[i].sent;
        if (job.node[i].x.n > job.node[c.victim].x.n)
            c.victim = i;
    }
    printf("| %u | %u |", nodes, ft_tree_height(FT_TREE_BALANCED, nodes));
    c.planned = true;
    for (int fate = REPRESENTATIVE_DIES; fate <= NODE_DIES; fate++) {
        uint32_t concerned = 0;

        c.fate = (enum fate)fate;
        if (!run(&c, false, 0)) {
            puts(job.failure);
            exit(1);
        }
        for (uint32_t i = 0; i < nodes; i++)
            concerned += job.node[i].sent != sent[i];
        printf(" %llu | %u | %llu |", (unsigned long long)(sum_of_frames() - frames), concerned, (unsigned long long)(job.now - time));
    }
    puts("");
    free(sent);
}

static int table(void)
{
    static const uint32_t sizes[] = { 2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1000 };

    puts("| nodes | height | representative: messages | nodes | steps | host: messages | nodes | steps |\n|---|---|---|---|---|---|---|---|");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        row(sizes[i]);
    clear();
    return 0;
}

/* When nothing is asked for: 1, so that a run says something about the code and not about luck. */
static uint64_t first_seed(bool full)
{
    const char *chosen = getenv("FT_SEED");
    uint64_t seed = chosen ? strtoull(chosen, NULL, 10) : full ? (uint64_t)time(NULL) : 1;

    if (seed != 1)
        printf("sim: seeds from %llu on: FT_SEED=%llu\n", (unsigned long long)seed, (unsigned long long)seed);
    return seed;
}

int main(int argc, char **argv)
{
    const char *tier = getenv("FT_TIER");
    bool full = tier && strcmp(tier, "full") == 0, large = false, one = false;
    uint64_t first = argc == 1 ? first_seed(full) : 1, seeds = full ? 5000 : 400;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--table") == 0)
            return table();
        if (strcmp(argv[i], "--large") == 0) {
            large = one = true;
            seeds = 1;
        } else if (i + 1 < argc && strcmp(argv[i], "--seeds") == 0) {
            seeds = strtoull(argv[++i], NULL, 10);
            one = true;
        } else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) {
            first = strtoull(argv[++i], NULL, 10);
            seeds = 1;
            one = true;
        } else {
            fputs("usage: sim [--seeds N] [--seed S] [--large] | --table\n", stderr);
            return 2;
        }
    }
    for (uint64_t seed = first; seed < first + seeds; seed++)
        if (!attempt(seed, large ? 1000 : 0))
            return 1;
    if (!one && !attempt(1, 1000))
        return 1;
    printf("%llu seeds, %llu events, %llu failures: nothing found (all nodes began again %llu times, one %llu times)\n", (unsigned long long)seeds,
           (unsigned long long)all_events, (unsigned long long)all_failures, (unsigned long long)all_restarts, (unsigned long long)all_refetched);
    clear();
    if (argc == 1 && !full && first == 1)
        puts("searched whole");
    return 0;
}
