/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a job stands still when a host is lost, for `benchmarks/hosts --lost`: -n allreduces of 8 bytes, one each millisecond, which is rank 0's doing.
   Rank 0 prints "begun" after the first, and of each that took longer than 100 ms "CALLED ENDED", in nanoseconds of CLOCK_MONOTONIC. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LONG_NS 100000000ull

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
    int rank, size, n = argc == 3 && strcmp(argv[1], "-n") == 0 ? atoi(argv[2]) : 0, wrong = 0;

    if (n < 1) {
        fprintf(stderr, "usage: gap -n OPERATIONS\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < n; i++) {
        double mine = rank + i, sum = 0;
        uint64_t called = now_ns(), ended;
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        ended = now_ns();
        wrong += sum != (double)size * i + size * (size - 1) / 2.0;
        if (rank == 0 && i == 0) printf("begun\n");
        if (rank == 0 && i > 0 && ended - called > LONG_NS) printf("%llu %llu\n", (unsigned long long)called, (unsigned long long)ended);
        if (rank == 0 && i < 2) fflush(stdout);
        if (rank == 0) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    MPI_Finalize();
    if (wrong) fprintf(stderr, "rank %d: %d wrong results\n", rank, wrong);
    return wrong != 0;
}
