/* SPDX-License-Identifier: BSD-3-Clause */
/* What can be wrong with cached operations: misuse WHAT, one thing each. Where a rank has to come back by a checkpoint for it, rank 1 (or
   all) dies in the third version. A program that gets to its end prints "end" and what it has got on the way. */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ftmpi.h"

enum { MANY = 8200 /* more operations than contributions are noted of */ };

static int rank, size, life, version;
static const char *what;
static bool is(const char *name) { return !strcmp(what, name); }

static int64_t sum(int64_t x, const char *key)
{
    MPIX_Allreduce_cached(MPI_IN_PLACE, &x, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, key);
    return x;
}

static __attribute__((noinline)) int64_t plain_sum(int64_t x)
{
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return x;
}

static __attribute__((noinline)) int64_t plain_max(int64_t x)
{
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return x;
}

/* Arguments that are refused, and the stream goes on. */
static void refused(void)
{
    char key[257];
    int64_t x = 1;
    int err[5];

    memset(key, 'k', sizeof key - 1);
    key[256] = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    err[0] = MPIX_Allreduce_cached(MPI_IN_PLACE, &x, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, "");
    err[1] = MPIX_Bcast_cached(&x, 1, MPI_INT64_T, 0, MPI_COMM_WORLD, key);
    key[255] = 0;
    err[2] = MPIX_Bcast_cached(&x, 1, MPI_INT64_T, 0, MPI_COMM_WORLD, key);
    err[3] = MPIX_Allreduce_cached(MPI_IN_PLACE, &x, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, key);
    err[4] = MPIX_Bcast_cached(NULL, 1, MPI_INT64_T, 0, MPI_COMM_WORLD, "buffer");
    for (int i = 0; i < 5; i++)
        MPI_Error_class(err[i], &err[i]);
    printf("rank %d: %d %d %d %d %d, sum %lld\n", rank, err[0] == MPI_ERR_ARG, err[1] == MPI_ERR_ARG, err[2] == MPI_SUCCESS,
           err[3] == MPI_ERR_ARG, err[4] == MPI_ERR_BUFFER, (long long)sum(rank, "after"));
}

/* In each version, before its checkpoint; rank 1's second life leaves out the first part of the first two. */
static void once(void)
{
    int32_t two[2] = {rank, 1};
    float single = 1;

    if (is("twice") || is("others"))
        sum(1, is("twice") ? "a" : rank == 1 ? "b" : "a");
    if (is("twice"))
        sum(2, "a");
    if (is("size") || is("type") || is("operation") || is("kind")) {
        if (life == 0)
            MPIX_Allreduce_cached(MPI_IN_PLACE, two, 1, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD, "a");
        else if (is("size"))
            MPIX_Allreduce_cached(MPI_IN_PLACE, two, 2, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD, "a");
        else if (is("type"))
            MPIX_Allreduce_cached(MPI_IN_PLACE, &single, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, "a");
        else if (is("operation"))
            MPIX_Allreduce_cached(MPI_IN_PLACE, two, 1, MPI_INT32_T, MPI_MAX, MPI_COMM_WORLD, "a");
        else
            MPIX_Bcast_cached(two, 1, MPI_INT32_T, 0, MPI_COMM_WORLD, "a");
    }
    if (is("unknown"))
        sum(1, life ? "never" : "a");
    if (is("unknown-place") && life)
        plain_max(1);
    for (int i = 0; is("many") && version == 0 && i < MANY; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (is("mixed") || is("many"))
        plain_sum(1);
    if (is("order")) {
        if ((rank + (life > 0)) % 2 == 0 || !life)
            plain_sum(rank), plain_max(rank);
        else
            plain_max(rank), plain_sum(rank);
    }
}

static void round_of(void)
{
    double x[4] = {rank, 1, 2, version};

    if (life == 0 && version == 2 && (rank == 1 || is("order")))
        raise(SIGKILL);
    if (is("again"))
        sum(1, NULL);
    if (is("mixed") || is("many"))
        plain_sum(is("many") ? 2 : 1);
    MPI_Allreduce(MPI_IN_PLACE, x, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Only this rank, or without ftrun: nothing has to be kept. */
static void alone(void)
{
    int64_t x = 5, y = 6;

    MPIX_Allreduce_cached(MPI_IN_PLACE, &x, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_SELF, "self");
    MPIX_Bcast_cached(&y, 1, MPI_INT64_T, 0, MPI_COMM_SELF, "self too");
    printf("rank %d alone: %lld %lld\n", rank, (long long)x, (long long)y);
}

int main(int argc, char **argv)
{
    what = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPIX_Incarnation(&life);
    if (is("refused"))
        refused();
    if (is("alone"))
        alone();
    MPIX_Checkpoint_load(NULL, NULL, NULL, NULL, &version);
    once();
    for (; version < 4; version++) {
        round_of();
        MPIX_Checkpoint(NULL, 0, NULL, 0);
    }
    printf("end\n");
    MPI_Finalize();
    return 0;
}
