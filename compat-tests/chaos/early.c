/* SPDX-License-Identifier: BSD-3-Clause */
/* early: others send out of a buffer in which they have posted a receive, before they wait for that. MPI forbids it, and everywhere else it is safe, for
   what they receive answers what they send: so BLACS combines. In a replay the answer is there from the beginning. The receive names its source, or does
   not; what comes between is of another rank. Rank 0 checks what it gets, and answers with something else. */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 1000, ANSWER = 1, AHEAD, ASK };

static void ask(int rank, int size, int round)
{
    int next = rank % (size - 1) + 1, before = (rank + size - 3) % (size - 1) + 1, x[2] = { round, rank }, ahead = round;
    MPI_Request r;

    MPI_Irecv(x, 2, MPI_INT, round % 2 ? MPI_ANY_SOURCE : 0, ANSWER, MPI_COMM_WORLD, &r);
    MPI_Sendrecv(&round, 1, MPI_INT, next, AHEAD, &ahead, 1, MPI_INT, before, AHEAD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(x, 2, MPI_INT, 0, ASK, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (ahead != round || x[0] != -1 || x[1] != rank)
        printf("%d: round %d: %d, %d for %d\n", rank, round, ahead, x[0], x[1]);
}

static void answer(int size, int round)
{
    for (int r = 1; r < size; r++) {
        int x[2];

        MPI_Recv(x, 2, MPI_INT, r, ASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (x[0] != round || x[1] != r)
            printf("0: round %d: rank %d sent %d, %d\n", round, r, x[0], x[1]);
        x[0] = -1;
        MPI_Send(x, 2, MPI_INT, r, ANSWER, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < ROUNDS; round++)
        if (rank)
            ask(rank, size, round);
        else
            answer(size, round);
    printf("%d: %d rounds\n", rank, ROUNDS);
    return MPI_Finalize();
}
