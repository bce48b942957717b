/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators that come and go leave no memory: those with a stream, and others.

     come_and_go ROUNDS */
#include "compat-tests/abi/world.h"

/* KiB of private memory and of address space. */
static void measure(long *memory, long *space)
{
    char line[128];
    FILE *f = fopen("/proc/self/status", "r");

    CHECK(f, "no /proc");
    while (fgets(line, sizeof line, f)) {
        sscanf(line, "RssAnon: %ld", memory);
        sscanf(line, "VmSize: %ld", space);
    }
    fclose(f);
}

static int sum_over(MPI_Comm comm, int value)
{
    int sum;

    OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
    return sum;
}

int main(int argc, char **argv)
{
    MPI_Comm crowd[16], of[2] = {MPI_COMM_WORLD};
    int rounds = argc > 1 ? atoi(argv[1]) : 1000, me;
    long memory[2], space[2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 0; i < 16; i++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &crowd[i]));
    of[1] = crowd[15];
    for (int i = 0; i < 15; i++)
        OK(MPI_Comm_free(&crowd[i]));
    for (int i = 0; i < rounds; i++) {
        MPI_Comm made, half;

        OK(MPI_Comm_dup(of[i / 2 % 2], &made));
        OK(MPI_Comm_split(of[i % 2], me % 2, 0, &half));
        if (i % 16 == 0)
            sum_over(half, sum_over(made, i));
        OK(MPI_Comm_free(&made));
        OK(MPI_Comm_free(&half));
        if (i == rounds / 4)
            measure(&memory[0], &space[0]);
    }
    measure(&memory[1], &space[1]);
    OK(MPI_Comm_free(&crowd[15]));
    CHECK(memory[1] < memory[0] + 1024 && space[1] < space[0] + 1024, "memory %ld to %ld KiB, address space %ld to %ld KiB", memory[0], memory[1],
          space[0], space[1]);
    printf("%d: %d and %d come and gone\n", me, rounds, rounds);
    MPI_Finalize();
    return 0;
}
