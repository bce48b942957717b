/* SPDX-License-Identifier: BSD-3-Clause */
/* A training program: what it does once (data sizes, a seed, histogram bounds) comes lazily in the first round after it has loaded,
   and before; then rounds, each with a checkpoint. A restarted rank comes to the first part while the others are in a round.

     boot HOW ROUNDS DEATHS [WORD...]
       HOW     keys, places (cached, without a key), plain (calls of MPI proper)
       DEATHS  rank,version,seq,life[,USEC][;...]: there the rank kills itself before its seq-th operation of that version; with
               USEC its node is lost so many microseconds later (-1: when the file BOOT_KEPT is there), both of its ftrun processes by
               SIGKILL; seed:N:M: any rank before any operation in its first two lives, about once in M; timer:N:M: at any instruction, within M
               microseconds of the beginning of each of its first two lives; or none
       WORD    shuffle: who has loaded a version has another order; early: the first part is before the load; skip: who has
               loaded leaves one out, as XGBoost does;
               random: the seed is really random, known to rank 0 alone; helper: all sums through one function, the call's place;
               gaps: the bounds are elements with gaps, added by a function of the program's;
               slow: a pause in each round; parts: with plain, an allgatherv in the first part, whose result is looked at
   Prints the same whatever dies. */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "ftmpi.h"

#include "compat-tests/checkpoint/lose_node.h"

enum { VALUES = 3000, BOUNDS = 20000, STEPS = 3, MOST_RANKS = 8 };

static int rank, size, life, loaded, version, seq;
static const char *how, *deaths;
static bool shuffle, early, skip, randomly, helper, slow, parts, gaps;

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

/* Before its node is lost: the checkpoint has to be somewhere. */
static void wait_until_kept(void)
{
    const char *file = getenv("BOOT_KEPT");

    fflush(stdout);
    while (file && access(file, F_OK) != 0)
        usleep(10000);
}

/* Called before each operation. */
static void may_die(void)
{
    unsigned long seed, in;

    if (sscanf(deaths, "seed:%lu:%lu", &seed, &in) == 2) {
        if (life < 2 && mix(mix(seed * 1000 + (uint64_t)rank) + (uint64_t)(version * 1000 + seq * 10 + life)) % in == 0)
            raise(SIGKILL);
    } else if (strncmp(deaths, "timer", 5)) {
        for (const char *d = deaths; d; d = strchr(d, ';')) {
            int r, v, s, l, usec, n;

            d += *d == ';';
            n = sscanf(d, "%d,%d,%d,%d,%d", &r, &v, &s, &l, &usec);
            if (n < 4 || r != rank || v != version || s != seq || l != life)
                continue;
            if (n == 4)
                raise(SIGKILL);
            if (usec < 0)
                wait_until_kept();
            lose_node(usec > 0 ? usec : 0);
        }
    }
    seq++;
}

/* SIGALRM is not handled: it kills. */
static void set_timer(void)
{
    unsigned long seed, within;

    if (sscanf(deaths, "timer:%lu:%lu", &seed, &within) == 2 && life < 2) {
        uint64_t us = 1 + mix(seed * 64 + (uint64_t)(rank * 2 + life)) % within;

        setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_sec = (time_t)(us / 1000000), .tv_usec = (suseconds_t)(us % 1000000)}},
                  NULL);
    }
}

static __attribute__((noinline)) void sum_u64(uint64_t *x, int n)
{
    MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

struct boot {
    uint64_t columns, rows;
    uint32_t seed;
    float bounds[BOUNDS];
    bool done[6];
};

static void get_columns(struct boot *b)
{
    b->columns = 7 + (uint64_t)rank;
    if (!strcmp(how, "plain"))
        MPI_Allreduce(MPI_IN_PLACE, &b->columns, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    else
        MPIX_Allreduce_cached(MPI_IN_PLACE, &b->columns, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD, strcmp(how, "keys") ? NULL : "columns");
}

static void get_rows(struct boot *b)
{
    b->rows = 1000 + (uint64_t)rank;
    if (!strcmp(how, "plain") && helper)
        sum_u64(&b->rows, 1);
    else if (!strcmp(how, "plain"))
        MPI_Allreduce(MPI_IN_PLACE, &b->rows, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    else
        MPIX_Allreduce_cached(MPI_IN_PLACE, &b->rows, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, strcmp(how, "keys") ? NULL : "rows");
}

static void get_seed(struct boot *b)
{
    b->seed = rank ? 0 : 12345;
    if (randomly && !rank)
        b->seed = (uint32_t)mix((uint64_t)time(NULL) ^ (uint64_t)getpid());
    if (!strcmp(how, "plain"))
        MPI_Bcast(&b->seed, 1, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    else
        MPIX_Bcast_cached(&b->seed, 1, MPI_UINT32_T, 0, MPI_COMM_WORLD, strcmp(how, "keys") ? NULL : "seed");
}

static void get_nothing(struct boot *b)
{
    if (!strcmp(how, "plain"))
        MPI_Allreduce(MPI_IN_PLACE, b->bounds, 0, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    else
        MPIX_Allreduce_cached(MPI_IN_PLACE, b->bounds, 0, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, strcmp(how, "keys") ? NULL : "nothing");
}

struct wide { float value, gap; };

static void add_wide(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((struct wide *)inout)[i].value += ((struct wide *)in)[i].value;
}

static void add_with_gaps(float *bounds)
{
    static struct wide wide[BOUNDS];
    const char *key = strcmp(how, "keys") ? NULL : "bounds";
    MPI_Datatype type;
    MPI_Op op;

    MPI_Type_create_resized(MPI_FLOAT, 0, sizeof *wide, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add_wide, 1, &op);
    for (int i = 0; i < BOUNDS; i++)
        wide[i] = (struct wide){bounds[i], (float)i};
    if (!strcmp(how, "plain"))
        MPI_Allreduce(MPI_IN_PLACE, wide, BOUNDS, type, op, MPI_COMM_WORLD);
    else
        MPIX_Allreduce_cached(MPI_IN_PLACE, wide, BOUNDS, type, op, MPI_COMM_WORLD, key);
    for (int i = 0; i < BOUNDS; i++) {
        bounds[i] = wide[i].value;
        if (wide[i].gap != (float)i)
            printf("rank %d: gap %d is %g\n", rank, i, (double)wide[i].gap);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

static void get_bounds(struct boot *b)
{
    for (int i = 0; i < BOUNDS; i++)
        b->bounds[i] = (float)((i + 1) % (rank + 2));
    if (gaps)
        add_with_gaps(b->bounds);
    else if (!strcmp(how, "plain"))
        MPI_Allreduce(MPI_IN_PLACE, b->bounds, BOUNDS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    else
        MPIX_Allreduce_cached(MPI_IN_PLACE, b->bounds, BOUNDS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, strcmp(how, "keys") ? NULL : "bounds");
}

/* Rank r's part has r + 1 values, and the last one's is first. */
static void get_parts(struct boot *b)
{
    int counts[MOST_RANKS], at[MOST_RANKS], values[MOST_RANKS], all[MOST_RANKS * (MOST_RANKS + 1) / 2] = {0};

    (void)b;
    if (size > MOST_RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int r = size - 1, end = 0; r >= 0; end += counts[r--]) {
        counts[r] = r + 1;
        at[r] = end;
        values[r] = rank * 100 + r;
    }
    MPI_Allgatherv(values, rank + 1, MPI_INT, all, counts, at, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < counts[r]; i++)
            if (all[at[r] + i] != r * 100 + i)
                printf("rank %d: value %d of rank %d is %d\n", rank, i, r, all[at[r] + i]);
}

static void boot(struct boot *b)
{
    static void (*const get[])(struct boot *) = {get_columns, get_rows, get_seed, get_nothing, get_bounds, get_parts};
    int n = parts ? 6 : 5;
    int from = shuffle && (loaded || early) ? life * 2 + rank * (life > 0) : 0;

    for (int i = 0; i < n; i++) {
        int which = (i + from) % n;

        if (b->done[which] || (skip && loaded && which == 0))
            continue;
        may_die();
        get[which](b);
        b->done[which] = true;
    }
    if (skip && loaded)
        b->columns = 7 + (uint64_t)size - 1;
}

static uint64_t digest(const double *x)
{
    uint64_t h = 0, w;

    for (int i = 0; i < VALUES; i++) {
        memcpy(&w, &x[i], sizeof w);
        h = mix(h ^ w);
    }
    return h;
}

/* Ends with a checkpoint; what it computes hangs on all that was got in the first part. */
static void train(double *x, struct boot *b, int round)
{
    uint64_t used = b->columns * 31 + b->rows * 7 + (randomly ? b->rows : b->seed);
    double part[VALUES];
    uint64_t wrong = 0;

    for (int i = 0; i < BOUNDS; i++)
        used += (uint64_t)b->bounds[i] * (uint64_t)(i + 1);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < VALUES; i++)
            part[i] = x[i] * 0.5 + (double)(mix(used + (uint64_t)(i + round * 7 + step + rank)) % 1000);
        may_die();
        MPI_Allreduce(MPI_IN_PLACE, part, VALUES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        memcpy(x, part, sizeof part);
        wrong = (uint64_t)part[step] % 100 + (uint64_t)rank;
        may_die();
        if (helper)
            sum_u64(&wrong, 1);
        else
            MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        x[0] += (double)wrong;
    }
    if (rank == 0) /* before the checkpoint: who loads it goes on after it */
        printf("version %d: %016llx\n", round + 1, (unsigned long long)digest(x));
    may_die();
    MPIX_Checkpoint(x, VALUES * sizeof *x, NULL, 0);
}

int main(int argc, char **argv)
{
    static double x[VALUES];
    static struct boot b;
    MPI_Count n;
    void *model;
    int rounds;

    if (argc < 4)
        return 2;
    how = argv[1];
    rounds = atoi(argv[2]);
    deaths = argv[3];
    for (int i = 4; i < argc; i++) {
        shuffle = shuffle || !strcmp(argv[i], "shuffle");
        early = early || !strcmp(argv[i], "early");
        skip = skip || !strcmp(argv[i], "skip");
        randomly = randomly || !strcmp(argv[i], "random");
        helper = helper || !strcmp(argv[i], "helper");
        slow = slow || !strcmp(argv[i], "slow");
        parts = parts || !strcmp(argv[i], "parts");
        gaps = gaps || !strcmp(argv[i], "gaps");
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPIX_Incarnation(&life);
    set_timer();
    if (early)
        boot(&b);
    MPIX_Checkpoint_load(&model, &n, NULL, NULL, &version);
    loaded = version;
    if (loaded)
        memcpy(x, model, sizeof x);
    for (; version < rounds; version++, seq = 0) {
        if (slow)
            usleep(30000);
        boot(&b); /* what there is not yet */
        train(x, &b, version);
    }
    printf("rank %d: %016llx\n", rank, (unsigned long long)digest(x));
    MPI_Finalize();
    return 0;
}
