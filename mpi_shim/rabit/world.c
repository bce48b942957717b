/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi_shim/rabit/world.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi_shim/ftmpi.h"

/* MPI counts elements in an int: larger calls are made in pieces of this many. */
static const size_t piece = (size_t)1 << 30;

static struct {
    bool active;
    int rank, size;
    bool child;  /* of a rank that forked it: not the rank. (A snapshot goes on with another pid than the one that called MPI_Init.) */
} world = {.size = 1};

static void forked(void)
{
    world.child = true;
}

/* A process that exits with an error does not finalize: finalizing waits for the other ranks, and its status
   is its verdict on the job. A child that the program forked is not the rank. */
static void at_exit(int status, void *unused)
{
    int done = 0;

    (void)unused;
    if (status != 0 || world.child)
        return;
    MPI_Finalized(&done);
    if (!done)
        MPI_Finalize();
}

bool rabit_start(void)
{
    int done = 0, provided;

    if (world.active)
        return true;
    MPI_Finalized(&done);
    if (done) {
        fprintf(stderr, "ftmpi: the program started Rabit's engine after MPI_Finalize\n");
        return false;
    }
    MPI_Initialized(&done);
    if (!done) {
        MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
        pthread_atfork(NULL, NULL, forked);
        on_exit(at_exit, NULL);
    }
    MPIX_Mark_rabit();
    MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world.size);
    world.active = true;
    return true;
}

void rabit_stop(void)
{
    world.active = false;
}

bool rabit_active(void)
{
    return world.active;
}

int rabit_rank(void)
{
    return world.active ? world.rank : 0;
}

int rabit_size(void)
{
    return world.active ? world.size : 1;
}

MPI_Datatype rabit_type(int type)
{
    switch (type) {
    case RABIT_CHAR: return MPI_SIGNED_CHAR;  /* MPI_CHAR is text, which MPI does not add up */
    case RABIT_UCHAR: return MPI_UNSIGNED_CHAR;
    case RABIT_INT: return MPI_INT;
    case RABIT_UINT: return MPI_UNSIGNED;
    case RABIT_LONG: return MPI_LONG;
    case RABIT_ULONG: return MPI_UNSIGNED_LONG;
    case RABIT_FLOAT: return MPI_FLOAT;
    case RABIT_DOUBLE: return MPI_DOUBLE;
    case RABIT_LONGLONG: return MPI_LONG_LONG;
    case RABIT_ULONGLONG: return MPI_UNSIGNED_LONG_LONG;
    }
    return MPI_DATATYPE_NULL;
}

MPI_Op rabit_op(int op)
{
    switch (op) {
    case RABIT_MAX: return MPI_MAX;
    case RABIT_MIN: return MPI_MIN;
    case RABIT_SUM: return MPI_SUM;
    case RABIT_BITOR: return MPI_BOR;
    }
    return MPI_OP_NULL;
}

/* Fills the buffer, unless every byte of it is about to come out of the log. Whether that holds is known for
   the next MPI call only, so a call that takes several is always prepared. */
static void fill(size_t count, rabit_prepare *prepare, void *arg)
{
    int known = 0;

    if (!prepare)
        return;
    if (world.active && count <= piece)
        MPIX_Replaying(MPI_COMM_WORLD, &known);
    if (!known)
        prepare(arg);
}

int rabit_allreduce(void *buf, size_t type_nbytes, size_t count, MPI_Datatype type, MPI_Op op, rabit_prepare *prepare, void *arg)
{
    char *at = buf;
    int err = MPI_SUCCESS;

    fill(count, prepare, arg);
    if (!world.active)
        return err;
    do {  /* also once for a count of zero: it is a collective like any other */
        size_t n = count < piece ? count : piece;

        err = MPI_Allreduce(MPI_IN_PLACE, at, (int)n, type, op, MPI_COMM_WORLD);
        at += n * type_nbytes;
        count -= n;
    } while (count > 0 && !err);
    return err;
}

int rabit_broadcast(void *buf, size_t size, int root)
{
    char *at = buf;
    int err = MPI_SUCCESS;

    if (!world.active)
        return err;
    do {
        size_t n = size < piece ? size : piece;

        err = MPI_Bcast(at, (int)n, MPI_BYTE, root, MPI_COMM_WORLD);
        at += n;
        size -= n;
    } while (size > 0 && !err);
    return err;
}

/* Slices as MPI wants them. Those of more than 2 GiB together go one by one. */
static int gather(char *buf, size_t total, const unsigned long *ends)
{
    int *counts, err = MPI_SUCCESS;

    if (total > INT_MAX) {
        for (int r = 0; r < world.size && !err; r++)
            err = rabit_broadcast(buf + ends[2 * r], ends[2 * r + 1] - ends[2 * r], r);
        return err;
    }
    counts = malloc(2 * (size_t)world.size * sizeof *counts);
    if (!counts)
        return MPI_Abort(MPI_COMM_WORLD, 1);
    for (int r = 0; r < world.size; r++) {
        counts[r] = (int)(ends[2 * r + 1] - ends[2 * r]);
        counts[world.size + r] = (int)ends[2 * r];
    }
    err = MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buf, counts, counts + world.size, MPI_BYTE, MPI_COMM_WORLD);
    free(counts);
    return err;
}

/* A rank knows its own slice and its predecessor's; MPI wants to know everybody's. */
int rabit_allgather(void *buf, size_t total, size_t begin, size_t end)
{
    unsigned long *ends;
    int err;

    if (!world.active)
        return MPI_SUCCESS;
    ends = malloc(2 * (size_t)world.size * sizeof *ends);
    if (!ends)
        return MPI_Abort(MPI_COMM_WORLD, 1);
    ends[2 * world.rank] = begin;
    ends[2 * world.rank + 1] = end;
    err = MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, ends, 2, MPI_UNSIGNED_LONG, MPI_COMM_WORLD);
    for (int r = 0; r < world.size && !err; r++) {
        if (ends[2 * r] <= ends[2 * r + 1] && ends[2 * r + 1] <= total)
            continue;
        /* RabitAllgather of XGBoost 1.7 does this to every caller: its sizes are multiplied twice. */
        fprintf(stderr, "ftmpi: allgather: rank %d's slice is bytes %lu to %lu of %zu\n", r, ends[2 * r], ends[2 * r + 1], total);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (!err)
        err = gather(buf, total, ends);
    free(ends);
    return err;
}

void rabit_print(const char *text)
{
    size_t n = strlen(text);

    fwrite(text, 1, n, stdout);
    if (n == 0 || text[n - 1] != '\n')
        putchar('\n');
    fflush(stdout);
}

void rabit_host(char *name, size_t size)
{
    name[0] = 0;
    gethostname(name, size);
    name[size - 1] = 0;
}
