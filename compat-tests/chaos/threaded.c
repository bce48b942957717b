/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of each rank that call MPI at the same time (MPI_THREAD_MULTIPLE): messages and collectives, each thread's on a communicator of its
   own, which it makes itself, and all threads' on MPI_COMM_WORLD. A seed chooses what each thread does. Each thread makes a
   sum of what it has received; the sums are printed at the end and depend on seed, ranks, threads and steps only. Plain MPI: with
   any other it prints the same, whoever was killed.

     threaded [-t THREADS] [-n STEPS] [-s SEED] [-p DIR] [-o] [-d] [-k PATTERN]

   -p  keeps DIR/rank.N up to date, see progress.h
   -o  threads tell the other ranks in which order things came that MPI leaves open, and later what they told before. A rank that is
       restarted and follows another order than it did is found out
   -d  rank 1 kills itself in the middle
   -k  this pattern alone, a number

   A thread that finds something wrong says so and ends the job. */
#include <getopt.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "compat-tests/chaos/progress.h"

enum { MOST_RANKS = 16, MOST_THREADS = 8, TOLD_EVERY = 4, MOST_TOLD = 1000, SELF_TAG = 100, SHARED_TAG = 300, WORLD_TAG = 400, STEP_TAG = 1000, LARGE = 300000 };

struct thread {
    pthread_t id;
    int t, me, n;
    MPI_Comm comm;
    uint64_t rng;                  /* the same for this thread of every rank */
    uint64_t sum, order;
    int step, tellings;
    uint64_t history[MOST_TOLD], heard[MOST_TOLD][MOST_RANKS];
};

static int threads = 3, steps = 100, only = -1;
static uint64_t seed = 1;
static bool ordered, dies;
static struct thread *all;

#define CHECK(condition, ...)                                                              \
    do                                                                                     \
        if (!(condition)) {                                                                \
            fprintf(stderr, "threaded: rank %d thread %d step %d: ", x->me, x->t, x->step); \
            fprintf(stderr, __VA_ARGS__);                                                  \
            fprintf(stderr, "\n");                                                         \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                  \
        }                                                                                  \
    while (0)
#define OK(call) CHECK((call) == MPI_SUCCESS, "%s", #call)

static uint64_t mix(uint64_t v)
{
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

static int below(struct thread *x, int n)
{
    x->rng += 0x9e3779b97f4a7c15u;
    return (int)(mix(x->rng) % (uint64_t)n);
}

/* What rank r's thread t says in this step. */
static uint64_t word(const struct thread *x, int r, int t) { return mix(seed ^ mix((uint64_t)(r * MOST_THREADS + t) << 32 | (uint64_t)x->step)); }

static void note(struct thread *x, uint64_t v) { x->sum = mix(x->sum ^ v); }
static void come(struct thread *x, uint64_t v) { x->order = mix(x->order ^ v); }

/* ---- patterns ---- */

static void ring(struct thread *x)
{
    int right = (x->me + 1) % x->n, left = (x->me + x->n - 1) % x->n;
    uint64_t mine = word(x, x->me, x->t), theirs = 0;

    OK(MPI_Sendrecv(&mine, 1, MPI_UINT64_T, right, 5, &theirs, 1, MPI_UINT64_T, left, 5, x->comm, MPI_STATUS_IGNORE));
    CHECK(theirs == word(x, left, x->t), "another message came round");
    note(x, theirs);
}

static void ping_pong(struct thread *x)
{
    int other = x->me ^ 1;
    uint64_t v = word(x, x->me & ~1, x->t);

    for (int i = 0; other < x->n && i < 10; i++) {
        if ((x->me ^ i) & 1)
            OK(MPI_Recv(&v, 1, MPI_UINT64_T, other, i, x->comm, MPI_STATUS_IGNORE));
        else
            OK(MPI_Send(&v, 1, MPI_UINT64_T, other, i, x->comm));
        v = mix(v);
    }
    note(x, v);
}

static void reduce(struct thread *x)
{
    uint64_t v = word(x, x->me, x->t), sum = 0, expected = 0;

    OK(MPI_Allreduce(&v, &sum, 1, MPI_UINT64_T, MPI_SUM, x->comm));
    for (int r = 0; r < x->n; r++)
        expected += word(x, r, x->t);
    CHECK(sum == expected, "another sum");
    note(x, sum);
}

static void reduce_much(struct thread *x)
{
    int n = 1 + below(x, LARGE);
    uint64_t *v = malloc((size_t)n * sizeof *v);

    for (int i = 0; i < n; i++)
        v[i] = word(x, x->me, x->t) + (uint64_t)i;
    OK(MPI_Allreduce(MPI_IN_PLACE, v, n, MPI_UINT64_T, MPI_BXOR, x->comm));
    for (int i = 0; i < n; i += 1 + n / 100) {
        uint64_t expected = 0;

        for (int r = 0; r < x->n; r++)
            expected ^= word(x, r, x->t) + (uint64_t)i;
        CHECK(v[i] == expected, "another value at %d", i);
    }
    note(x, v[n - 1]);
    free(v);
}

static void bcast(struct thread *x)
{
    int root = below(x, x->n);
    uint64_t v = x->me == root ? word(x, root, x->t) : 0;

    OK(MPI_Bcast(&v, 1, MPI_UINT64_T, root, x->comm));
    CHECK(v == word(x, root, x->t), "another word");
    OK(MPI_Barrier(x->comm));
    note(x, v);
}

static void any_source(struct thread *x)
{
    int root = below(x, x->n);
    uint64_t v = word(x, x->me, x->t), sum = 0;

    if (x->me != root)
        OK(MPI_Send(&v, 1, MPI_UINT64_T, root, STEP_TAG + x->step, x->comm));
    for (int i = 1; x->me == root && i < x->n; i++) {
        MPI_Status s;

        OK(MPI_Recv(&v, 1, MPI_UINT64_T, MPI_ANY_SOURCE, STEP_TAG + x->step, x->comm, &s));
        CHECK(v == word(x, s.MPI_SOURCE, x->t), "another word of rank %d", s.MPI_SOURCE);
        sum += v;
        come(x, v);
    }
    note(x, sum);
}

static void any_request(struct thread *x)
{
    MPI_Request r[2 * MOST_RANKS];
    uint64_t mine[MOST_RANKS], theirs[MOST_RANKS], sum = 0;
    int way = below(x, 3);

    for (int i = 0; i < x->n; i++) {
        mine[i] = word(x, x->me, x->t) + (uint64_t)i;
        OK(MPI_Irecv(&theirs[i], 1, MPI_UINT64_T, i, 9, x->comm, &r[i]));
    }
    for (int i = 0; i < x->n; i++)
        OK(MPI_Isend(&mine[i], 1, MPI_UINT64_T, i, 9, x->comm, &r[x->n + i]));
    for (int left = 2 * x->n; left > 0;) {
        int which[2 * MOST_RANKS], n = 0, flag = 0;

        if (way == 0) {
            OK(MPI_Waitany(2 * x->n, r, which, MPI_STATUS_IGNORE));
            n = 1;
        } else if (way == 1) {
            OK(MPI_Waitsome(2 * x->n, r, &n, which, MPI_STATUSES_IGNORE));
        } else {
            OK(MPI_Testany(2 * x->n, r, which, &flag, MPI_STATUS_IGNORE));
            n = flag;
        }
        for (int i = 0; i < n; i++)
            if (which[i] < x->n) {
                CHECK(theirs[which[i]] == word(x, which[i], x->t) + (uint64_t)x->me, "another word of rank %d", which[i]);
                come(x, (uint64_t)which[i]);
                sum += theirs[which[i]];
            }
        left -= n;
    }
    note(x, sum);
}

static void probes(struct thread *x)
{
    int right = (x->me + 1) % x->n, way = below(x, 3), found = 0;
    uint64_t mine = word(x, x->me, x->t), theirs = 0;
    MPI_Message message;
    MPI_Status s;

    OK(MPI_Send(&mine, 1, MPI_UINT64_T, right, 11, x->comm));
    if (way == 0) {
        OK(MPI_Mprobe(MPI_ANY_SOURCE, 11, x->comm, &message, &s));
        OK(MPI_Mrecv(&theirs, 1, MPI_UINT64_T, &message, &s));
    } else {
        if (way == 1)
            OK(MPI_Probe(MPI_ANY_SOURCE, 11, x->comm, &s));
        while (way == 2 && !found)
            OK(MPI_Iprobe(MPI_ANY_SOURCE, 11, x->comm, &found, &s));
        OK(MPI_Recv(&theirs, 1, MPI_UINT64_T, s.MPI_SOURCE, 11, x->comm, &s));
    }
    CHECK(theirs == word(x, (x->me + x->n - 1) % x->n, x->t), "another word");
    note(x, theirs);
}

static void tests(struct thread *x)
{
    int left = (x->me + x->n - 1) % x->n, flag = 0;
    uint64_t mine = word(x, x->me, x->t), theirs = 0;
    MPI_Request r, s;

    OK(MPI_Irecv(&theirs, 1, MPI_UINT64_T, left, 13, x->comm, &r));
    OK(MPI_Issend(&mine, 1, MPI_UINT64_T, (x->me + 1) % x->n, 13, x->comm, &s));
    while (!flag)
        OK(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&s, MPI_STATUS_IGNORE));
    CHECK(theirs == word(x, left, x->t), "another word");
    note(x, theirs);
}

static void communicators(struct thread *x)
{
    MPI_Comm dup, half;
    uint64_t v = word(x, x->me, x->t), sum = 0;

    OK(MPI_Comm_dup(x->comm, &dup));
    OK(MPI_Comm_split(dup, x->me & 1, 0, &half));
    OK(MPI_Allreduce(&v, &sum, 1, MPI_UINT64_T, MPI_SUM, half));
    note(x, sum);
    OK(MPI_Comm_free(&half));
    OK(MPI_Bcast(&sum, 1, MPI_UINT64_T, 0, dup));
    OK(MPI_Comm_free(&dup));
    note(x, sum);
}

static void large(struct thread *x)
{
    int n = 1 + below(x, LARGE), right = (x->me + 1) % x->n, left = (x->me + x->n - 1) % x->n;
    uint64_t *mine = malloc((size_t)n * sizeof *mine), *theirs = malloc((size_t)n * sizeof *theirs);

    for (int i = 0; i < n; i++)
        mine[i] = word(x, x->me, x->t) + (uint64_t)i;
    OK(MPI_Sendrecv(mine, n, MPI_UINT64_T, right, 15, theirs, n, MPI_UINT64_T, left, 15, x->comm, MPI_STATUS_IGNORE));
    for (int i = 0; i < n; i++)
        CHECK(theirs[i] == word(x, left, x->t) + (uint64_t)i, "another word at %d", i);
    note(x, theirs[n - 1]);
    free(mine);
    free(theirs);
}

static void in_the_world(struct thread *x)
{
    int right = (x->me + 1) % x->n, left = (x->me + x->n - 1) % x->n;
    uint64_t mine = word(x, x->me, x->t), theirs = 0;

    OK(MPI_Sendrecv(&mine, 1, MPI_UINT64_T, right, WORLD_TAG + x->t, &theirs, 1, MPI_UINT64_T, left, WORLD_TAG + x->t, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    CHECK(theirs == word(x, left, x->t), "another word");
    note(x, theirs);
}

enum { PATTERNS = 12 };
static void (*const patterns[PATTERNS])(struct thread *x) = {ring, ping_pong, reduce, reduce_much, bcast, any_source, any_request, probes, tests,
                                                             communicators, large, in_the_world};

/* From thread to thread of one rank. */
static void around(struct thread *x)
{
    uint64_t mine = word(x, x->me, x->t), theirs = 0;
    int before = (x->t + threads - 1) % threads;

    OK(MPI_Send(&mine, 1, MPI_UINT64_T, x->me, SELF_TAG + (x->t + 1) % threads, MPI_COMM_WORLD));
    OK(MPI_Recv(&theirs, 1, MPI_UINT64_T, x->me, SELF_TAG + x->t, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(theirs == word(x, x->me, before), "another word of thread %d", before);
    note(x, theirs);
}

/* Each thread sends one to some rank's threads, and takes one of those that come: which, MPI leaves open. */
static void shared(struct thread *x)
{
    uint64_t v = word(x, x->me, x->t);

    OK(MPI_Send(&v, 1, MPI_UINT64_T, (x->me + 1) % x->n, SHARED_TAG, MPI_COMM_WORLD));
    OK(MPI_Recv(&v, 1, MPI_UINT64_T, MPI_ANY_SOURCE, SHARED_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    come(x, v);
}

/* What a rank has told before it tells again. */
static void tell(struct thread *x)
{
    int at = x->tellings ? (int)(mix((uint64_t)x->step ^ seed) % (uint64_t)x->tellings) : 0;
    uint64_t mine[2] = {x->order, x->history[at]}, told[MOST_RANKS][2];

    if (x->tellings == 0)
        mine[1] = x->order;
    x->history[x->tellings] = x->order;
    OK(MPI_Allgather(mine, 2, MPI_UINT64_T, told, 2, MPI_UINT64_T, x->comm));
    CHECK(told[x->me][0] == x->order, "the order was another one");
    for (int r = 0; r < x->n; r++) {
        x->heard[x->tellings][r] = told[r][0];
        CHECK(told[r][1] == x->heard[at][r], "rank %d tells the order of telling %d otherwise than before", r, at);
    }
    x->tellings += x->tellings < MOST_TOLD - 1;
}

static void *play(void *arg)
{
    struct thread *x = arg;

    for (x->step = 0; x->step < steps; x->step++) {
        int which = below(x, PATTERNS);

        patterns[only >= 0 && only < PATTERNS ? only : which](x);
        if (only < 0 || only == PATTERNS)
            around(x);
        if (only < 0 || only == PATTERNS + 1)
            shared(x);
        if (ordered && x->step % TOLD_EVERY == 0)
            tell(x);
        if (dies && x->me == 1 && x->t == 0 && x->step == steps / 2)
            raise(SIGKILL);
        if (x->t == 0)
            progress_advance((uint64_t)x->step + 1);
    }
    return NULL;
}

/* ---- the program ---- */

int main(int argc, char **argv)
{
    const char *dir = NULL;
    int option, me, n, provided, main_thread = 0;

    while ((option = getopt(argc, argv, "t:n:s:p:odk:")) != -1)
        switch (option) {
        case 't': threads = atoi(optarg); break;
        case 'n': steps = atoi(optarg); break;
        case 's': seed = strtoull(optarg, NULL, 10); break;
        case 'p': dir = optarg; break;
        case 'o': ordered = true; break;
        case 'd': dies = true; break;
        case 'k': only = atoi(optarg); break;
        default: return 2;
        }
    if (dir && progress_open(dir) != 0)
        return 1;
    progress_phase(PROGRESS_IN_INIT);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Is_thread_main(&main_thread);
    if (provided != MPI_THREAD_MULTIPLE || !main_thread || n > MOST_RANKS || threads < 1 || threads > MOST_THREADS) {
        fprintf(stderr, "threaded: cannot be played: the level is %d\n", provided);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    progress_phase(PROGRESS_RUNS);
    all = calloc((size_t)threads, sizeof *all);
    for (int t = 0; t < threads; t++) {
        all[t].t = t, all[t].me = me, all[t].n = n;
        all[t].rng = mix(seed + (uint64_t)t);
        MPI_Comm_dup(MPI_COMM_WORLD, &all[t].comm);
    }
    for (int t = 1; t < threads; t++)
        if (pthread_create(&all[t].id, NULL, play, &all[t]) != 0)
            MPI_Abort(MPI_COMM_WORLD, 3);
    play(&all[0]);
    for (int t = 1; t < threads; t++)
        pthread_join(all[t].id, NULL);
    for (int t = 0; t < threads; t++) {
        printf("%d thread %d sum %016llx\n", me, t, (unsigned long long)all[t].sum);
        MPI_Comm_free(&all[t].comm);
    }
    free(all);
    progress_phase(PROGRESS_IN_FINALIZE);
    MPI_Finalize();
    progress_phase(PROGRESS_OVER);
    return 0;
}
