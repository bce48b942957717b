/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that does not keep its side of the bargain: started again, it calls something else than the first time.
   Rank 1 dies once after 20 operations, and its successor's 10th operation differs in one respect:

     diverge operation|count|type|root|reduction|fewer|none

   fewer: the successor finalizes where the log goes on. none: nothing differs, the job must succeed. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPERATIONS = 20, ODD = 9 };

static int buffer[64], result[64];

/* Two call sites that can be told apart in the message. */
__attribute__((noinline)) static void first_way(void)
{
    MPI_Bcast(buffer, 8, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(buffer, result, 16, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    result[1]++;  /* keeps the call from becoming a jump: its site is here */
}

__attribute__((noinline)) static void other_way(const char *what)
{
    int root = strcmp(what, "root") == 0;
    MPI_Bcast(buffer, 8, MPI_INT, root, MPI_COMM_WORLD);
    if (strcmp(what, "operation") == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else if (strcmp(what, "count") == 0)
        MPI_Allreduce(buffer, result, 17, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(what, "type") == 0)
        MPI_Allreduce(buffer, result, 16, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(what, "reduction") == 0)
        MPI_Allreduce(buffer, result, 16, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    else
        MPI_Allreduce(buffer, result, 16, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    result[1]++;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "none", *text = getenv("FTMPI_INCARNATION");
    int rank, again = text && strcmp(text, "0") != 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < OPERATIONS; i++) {
        buffer[0] = i;
        if (again && i == ODD && strcmp(what, "none") != 0) {
            if (strcmp(what, "fewer") == 0) break;
            other_way(what);
        } else {
            first_way();
        }
    }
    if (rank == 1 && !again) kill(getpid(), SIGKILL);
    MPI_Allreduce(buffer, result, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0) printf("finished\n");
    return 0;
}
