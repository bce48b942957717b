/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that is not deterministic: what rank 1 contributes to its 10th operation depends on the time. It dies once
   after 20 operations; its successor makes the same calls. For ftrun --check-replay (check_replay.sh).

     stamp bcast|allreduce|in_place|reduce|allgather|allgatherv|large|contiguous|user|send|send_large|send_apart|padding|send_padding|none

   send: to rank 0. padding: only bytes between the elements' fields differ. none: nothing does. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OPERATIONS = 20, ODD = 9, MOST = 64, LARGE = 200000 };

static int rank, size;
static int mine[LARGE], all[LARGE], counts[MOST], displs[MOST];

static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < 2 * *len; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void maxloc(int stamp)
{
    struct { double value; int index; } in, out;

    memset(&in, stamp, sizeof in);
    in.value = rank;
    in.index = rank;
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    if (out.index != size - 1)
        MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Rank 1 sends, rank 0 receives. apart: elements that do not lie side by side. */
static void message(const char *what, int stamp)
{
    int count = strcmp(what, "send_large") ? 4 : LARGE;
    MPI_Datatype type = MPI_INT;
    struct { double value; int index; } padded;

    if (!strcmp(what, "send_apart"))
        MPI_Type_vector(1, 4, 5, MPI_INT, &type);
    if (!strcmp(what, "send_apart"))
        MPI_Type_commit(&type), count = 2;
    memset(&padded, stamp, sizeof padded);
    padded.value = padded.index = 1;
    if (!strcmp(what, "send_padding") && rank == 1)
        MPI_Send(&padded, 1, MPI_DOUBLE_INT, 0, 7, MPI_COMM_WORLD);
    else if (!strcmp(what, "send_padding") && rank == 0)
        MPI_Recv(&padded, 1, MPI_DOUBLE_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (rank == 1)
        MPI_Send(mine, count, type, 0, 7, MPI_COMM_WORLD);
    else if (rank == 0)
        MPI_Recv(all, count, type, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (type != MPI_INT)
        MPI_Type_free(&type);
}

static void operation(const char *what, int i, int stamp)
{
    MPI_Datatype pair;
    MPI_Op op;

    for (int k = 0; k < LARGE; k++)
        mine[k] = i + k + rank;
    mine[3] += stamp;
    for (int r = 0, at = 0; r < size; at += counts[r++]) {
        counts[r] = 4 + r;
        displs[r] = at;
    }
    if (!strncmp(what, "send", 4))
        message(what, stamp);
    else if (!strcmp(what, "bcast"))
        MPI_Bcast(mine, 4, MPI_INT, 1, MPI_COMM_WORLD);
    else if (!strcmp(what, "in_place"))
        MPI_Allreduce(MPI_IN_PLACE, mine, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (!strcmp(what, "reduce"))
        MPI_Reduce(mine, all, 4, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    else if (!strcmp(what, "allgather"))
        MPI_Allgather(mine, 4, MPI_INT, all, 4, MPI_INT, MPI_COMM_WORLD);
    else if (!strcmp(what, "allgatherv"))
        MPI_Allgatherv(mine, counts[rank], MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD);
    else if (!strcmp(what, "large"))
        MPI_Allreduce(mine, all, LARGE, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (!strcmp(what, "contiguous") || !strcmp(what, "user")) {
        MPI_Type_contiguous(2, MPI_INT, &pair);
        MPI_Type_commit(&pair);
        MPI_Op_create(add, 1, &op);
        if (!strcmp(what, "user"))
            MPI_Allreduce(mine, all, 2, pair, op, MPI_COMM_WORLD);
        else
            MPI_Allgather(mine, 2, pair, all, 2, pair, MPI_COMM_WORLD);
        MPI_Op_free(&op);
        MPI_Type_free(&pair);
    } else if (!strcmp(what, "padding"))
        maxloc(stamp);
    else
        MPI_Allreduce(mine, all, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "none", *text = getenv("FTMPI_INCARNATION");
    int again = text && strcmp(text, "0") != 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < OPERATIONS; i++) {
        struct timespec now;

        clock_gettime(CLOCK_REALTIME, &now);
        operation(what, i, rank == 1 && i == ODD && strcmp(what, "none") ? (int)(now.tv_nsec ^ now.tv_sec << 20) : 0);
    }
    if (rank == 1 && !again)
        kill(getpid(), SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        printf("finished\n");
    return 0;
}
