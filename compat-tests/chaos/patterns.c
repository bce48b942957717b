/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns of messages between two ranks, chosen by a seed: which, between whom, of what sizes, with what tags, in which communicator,
   what of them is under way at the same time, and which collectives run in between. What a rank sends depends on all it has received
   so far, and all that comes is compared with what must come. Every rank prints a running sum now and then, which depends on seed,
   ranks and options only: where MPI leaves an order open the sum has none. Plain MPI: with any other it prints the same, whoever
   was killed.

     patterns [-n STEPS] [-s SEED] [-p DIR] [-o] [-k PATTERN] [-v]

   -p  keeps DIR/rank.N up to date, see progress.h
   -o  orders that MPI leaves open go into what is sent, too, and so into what all others know; and ranks tell each other what they
       were told of it before. A rank that is restarted and decides otherwise than it did is found out, by itself or by others
   -k  this pattern alone; flood (80 MiB from one rank to another, which takes the last first) is played so only
   -v  a line for each step, with what it was

   A rank that finds something wrong says so and ends the job. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compat-tests/chaos/patterns.h"
#include "compat-tests/chaos/progress.h"

#define PATTERN_HALVES(name, least, where) {#name, name##_start, name##_take, least, where},
#define PATTERN_WHOLE(name, least, where) {#name, name##_play, NULL, least, where},
const struct pattern patterns[] = {HALVES(PATTERN_HALVES) WHOLES(PATTERN_WHOLE)};
const int npatterns = sizeof patterns / sizeof *patterns;
enum { CHOSEN_HALVES = 16, ALL_HALVES };
enum { HALF = 2, LATE, LATE_HALF };    /* of twins */

MPI_Comm twins[TWINS];
static MPI_Comm special[ERRORS_COMM + 1];

void play_init(struct play *p, MPI_Comm comm, int tag, uint64_t seed)
{
    *p = (struct play){.comm = comm, .tag = tag, .rng = mix(seed)};
    OK(MPI_Comm_rank(comm, &p->me));
    OK(MPI_Comm_size(comm, &p->n));
    p->mine = mix(seed ^ mix((uint64_t)own.me + 1));
    p->way = below(&p->rng, 1 << 20);
}

/* ---- what of the order was told ---- */

/* Each rank's order at each telling, as it was told: by everybody, of everybody. */
static uint64_t (*heard)[MOST_RANKS], *history;
static unsigned tellings;

/* All tell what their order is now, and again what it was at an earlier time; and their neighbour what it had told then. A
   rank that is restarted hears here what it said itself. */
static void tell(uint64_t rng)
{
    unsigned at = tellings == 0 ? 0 : tellings % 2 ? tellings - 1 : below(&rng, tellings);
    int right = (own.me + 1) % own.ranks, left_of = (own.me + own.ranks - 1) % own.ranks;
    uint64_t mine[2] = {own.order, history[at]}, all[MOST_RANKS][2], back[2], of_me[2];

    if (tellings == 0)
        mine[1] = history[0] = own.order;
    history[tellings] = own.order;
    own.what = "telling";
    OK(MPI_Allgather(mine, 2, MPI_UINT64_T, all, 2, MPI_UINT64_T, MPI_COMM_WORLD));
    CHECK(all[own.me][0] == own.order, "the order was another one: it is %016llx, all have heard %016llx", (unsigned long long)own.order,
          (unsigned long long)all[own.me][0]);
    for (int r = 0; r < own.ranks; r++) {
        heard[tellings][r] = all[r][0];
        CHECK(all[r][1] == heard[at][r], "rank %d tells the order of telling %u otherwise than before: %016llx, it was %016llx", r, at,
              (unsigned long long)all[r][1], (unsigned long long)heard[at][r]);
        note(all[r][0]);
    }
    back[0] = heard[at][right];
    back[1] = at;
    OK(MPI_Sendrecv(back, 2, MPI_UINT64_T, right, 32767, of_me, 2, MPI_UINT64_T, left_of, 32767, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(of_me[1] == at && of_me[0] == history[at], "rank %d heard another order at telling %u: %016llx, it was %016llx", left_of, at,
          (unsigned long long)of_me[0], (unsigned long long)history[at]);
    tellings++;
}

/* ---- a step ---- */

/* Some are late, so that what is open is another thing each time. */
static void dawdle(uint64_t *mine)
{
    struct timespec t = {.tv_nsec = (long)below(mine, 200) * 1000};

    if (below(mine, 4) == 0)
        nanosleep(&t, NULL);
}

static void together(MPI_Comm comm, uint64_t *rng)
{
    uint64_t data[3] = {own.carry, own.came, draw(rng)}, order = own.order;
    int n, root;

    OK(MPI_Comm_size(comm, &n));
    root = (int)below(rng, 1000) % n;
    switch (below(rng, 4)) {
    case 0: OK(MPI_Barrier(comm)); return;
    case 1: OK(MPI_Bcast(data, 1, MPI_UINT64_T, root, comm)); break;
    case 2: OK(MPI_Allreduce(MPI_IN_PLACE, data, 3, MPI_UINT64_T, MPI_BXOR, comm)); break;
    default:
        OK(MPI_Allreduce(MPI_IN_PLACE, &order, 1, MPI_UINT64_T, MPI_SUM, comm));
        note(order);
        return;
    }
    own.came += mix(data[0]);
}

static const struct pattern *only; /* -k */

static const struct pattern *named(const char *name)
{
    for (int i = 0; i < npatterns; i++)
        if (!strcmp(patterns[i].name, name))
            return &patterns[i];
    return NULL;
}

static const struct pattern *choose(uint64_t *rng, bool whole)
{
    const struct pattern *p;

    do
        p = &patterns[whole ? ALL_HALVES + below(rng, (unsigned)(npatterns - ALL_HALVES)) : below(rng, CHOSEN_HALVES)];
    while (own.ranks < p->least);
    return p;
}

static MPI_Comm where(const struct pattern *pattern, uint64_t *rng)
{
    MPI_Comm comm = pattern->where == ANY_COMM ? twins[below(rng, TWINS)] : special[pattern->where];

    bool half = comm == twins[HALF] || comm == twins[LATE_HALF];

    return half && own.ranks / 2 < pattern->least ? MPI_COMM_WORLD : comm; /* the smaller half */
}

static const struct pattern *one_of_halves(uint64_t *rng, const struct pattern *const *chosen, int n)
{
    for (;;) {
        const struct pattern *p = choose(rng, false);
        int i = 0;

        while (i < n && chosen[i] != p)
            i++;
        if (i == n)
            return p;
    }
}

/* In *said: what it was. Tags are used again after 16 steps; nobody is that far ahead, since all tell each other more often. */
static void step(unsigned number, uint64_t seed, char *said)
{
    enum { HALVES_MOST = 4 };
    uint64_t rng = mix(seed) ^ mix(number), mine = mix(rng ^ (uint64_t)own.me);
    const struct pattern *chosen[HALVES_MOST], *whole = NULL;
    struct play plays[HALVES_MOST], play;
    int n = (int)below(&rng, HALVES_MOST), tag = (int)(number % 16) * (HALVES_MOST + 1) * TAGS;

    if (n == 0 || below(&rng, 2))
        whole = choose(&rng, true);
    if (only) {
        n = only->take ? 1 : 0;
        whole = only->take ? NULL : only;
    }
    dawdle(&mine);
    own.step = number;
    own.carry = own.sum;
    own.came = 0;
    for (int i = 0; i < n; i++) {
        chosen[i] = only ? only : one_of_halves(&rng, chosen, i);
        said += sprintf(said, " %s", own.what = chosen[i]->name);
        play_init(&plays[i], where(chosen[i], &rng), tag + i * TAGS, draw(&rng));
        chosen[i]->start(&plays[i]);
    }
    own.what = "collectives";
    while (below(&rng, 3) == 0)
        together(twins[below(&rng, TWINS)], &rng);
    if (whole) {
        sprintf(said, " %s", own.what = whole->name);
        play_init(&play, where(whole, &rng), tag + HALVES_MOST * TAGS, draw(&rng));
        whole->start(&play);
    }
    for (int last = n - 1; last >= 0; last--) {
        int i = (int)below(&mine, (unsigned)last + 1);

        dawdle(&mine);
        own.what = chosen[i]->name;
        chosen[i]->take(&plays[i]);
        chosen[i] = chosen[last];
        plays[i] = plays[last];
    }
    own.what = "end of step";
    end_step();
    own.sum = mix(own.sum ^ mix(own.came));
}

/* The late ones are made when there are many, which a crowd of others sees to: ftmpi has no streams left for them. */
static void make_communicators(void)
{
    MPI_Comm crowd[8];

    twins[0] = MPI_COMM_WORLD;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &twins[1]));
    OK(MPI_Comm_split(MPI_COMM_WORLD, own.me % 2, -own.me, &twins[HALF]));
    for (int i = ANY_TAG_COMM; i <= ERRORS_COMM; i++)
        OK(MPI_Comm_dup(twins[1], &special[i]));
    OK(MPI_Comm_set_errhandler(special[ERRORS_COMM], MPI_ERRORS_RETURN));
    for (int i = 0; i < 8; i++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &crowd[i]));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &twins[LATE]));
    OK(MPI_Comm_split(twins[LATE], own.me % 2, -own.me, &twins[LATE_HALF]));
    for (int i = 0; i < 8; i++)
        OK(MPI_Comm_free(&crowd[i]));
}

static void free_communicators(void)
{
    for (int i = ANY_TAG_COMM; i <= ERRORS_COMM; i++)
        OK(MPI_Comm_free(&special[i]));
    for (int i = 1; i < TWINS; i++)
        OK(MPI_Comm_free(&twins[i]));
}

int main(int argc, char **argv)
{
    enum { TELLS_EVERY = 8 };
    unsigned steps = 400, every;
    uint64_t seed = 1;
    bool verbose = false;

    for (int c; (c = getopt(argc, argv, "n:s:p:ok:v")) != -1;) {
        switch (c) {
        case 'n': steps = (unsigned)strtoul(optarg, NULL, 0); break;
        case 's': seed = strtoull(optarg, NULL, 0); break;
        case 'o': own.ordered = true; break;
        case 'k':
            if ((only = named(optarg)))
                break;
            fprintf(stderr, "no pattern is called %s\n", optarg);
            return 2;
        case 'v': verbose = true; break;
        case 'p':
            if (!progress_open(optarg))
                break;
            return 2;
        default: return 2;
        }
    }
    progress_phase(PROGRESS_IN_INIT);
    MPI_Init(&argc, &argv);
    progress_phase(PROGRESS_RUNS);
    setvbuf(stdout, NULL, _IOLBF, 0);
    own.what = "start";
    MPI_Comm_rank(MPI_COMM_WORLD, &own.me);
    MPI_Comm_size(MPI_COMM_WORLD, &own.ranks);
    CHECK(own.ranks >= (only ? only->least : 1), "at least %d ranks", only->least);
    CHECK(own.ranks <= MOST_RANKS, "at most %d ranks", MOST_RANKS);
    history = calloc(steps / TELLS_EVERY + 2, sizeof *history);
    heard = calloc(steps / TELLS_EVERY + 2, sizeof *heard);
    CHECK(history && heard, "no room");
    make_communicators();

    own.sum = mix((uint64_t)own.me);
    every = steps / 20 ? steps / 20 : 1;
    for (unsigned i = 0; i < steps; i++) {
        char said[200] = "";

        if (i % TELLS_EVERY == 0)
            tell(mix(seed + i));
        step(i, seed, said);
        progress_advance(i + 1);
        if (verbose)
            printf("%d step %u sum %016llx:%s\n", own.me, i + 1, (unsigned long long)own.sum, said);
        else if ((i + 1) % every == 0)
            printf("%d step %u sum %016llx\n", own.me, i + 1, (unsigned long long)own.sum);
    }
    tell(mix(seed + steps));
    printf("%d done %u sum %016llx, told %u times, %u of any source\n", own.me, steps, (unsigned long long)own.sum, tellings, own.any);
    free_communicators();
    progress_phase(PROGRESS_IN_FINALIZE);
    MPI_Finalize();
    progress_phase(PROGRESS_OVER);
    free(history);
    free(heard);
    return 0;
}
