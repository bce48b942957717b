/* SPDX-License-Identifier: BSD-3-Clause */
/* Private memory of a rank, in KiB, from /proc/self/smaps_rollup: what this process alone holds. Compiled with
   -DBARE it is the same program without MPI. Rank 0 prints "at main, after MPI_Init, after a hundred allreduces". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef BARE
#include <mpi.h>
#endif

static long private_kib(void)
{
    char line[256];
    long sum = 0, v;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    if (!f) return -1;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "Private_Clean: %ld", &v) == 1 || sscanf(line, "Private_Dirty: %ld", &v) == 1 ||
            sscanf(line, "Private_Hugetlb: %ld", &v) == 1)
            sum += v;
    fclose(f);
    return sum;
}

int main(int argc, char **argv)
{
    long at_main = private_kib(), after_init = at_main, after_use = at_main;
    int rank = 0;
#ifndef BARE
    MPI_Init(&argc, &argv);
    after_init = private_kib();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double in = rank, out;
    for (int i = 0; i < 100; i++) MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    after_use = private_kib();
    MPI_Finalize();
#else
    (void)argc;
    (void)argv;
#endif
    if (rank == 0) printf("%ld %ld %ld\n", at_main, after_init, after_use);
    return 0;
}
