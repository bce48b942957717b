/* SPDX-License-Identifier: BSD-3-Clause */
/* clocks: prints what time it is by four clocks, and is killed. Its successor prints the times that it is told. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

int main(int argc, char **argv)
{
    const char *incarnation = getenv("FTMPI_INCARNATION");
    int one = 1, sum = 0;
    struct timeval day;
    struct timespec t;

    MPI_Init(&argc, &argv);
    clock_gettime(CLOCK_MONOTONIC, &t);
    gettimeofday(&day, NULL);
    printf("%lld.%09ld %lld.%06ld %012ld %.9f\n", (long long)t.tv_sec, t.tv_nsec, (long long)day.tv_sec, (long)day.tv_usec, (long)clock(), MPI_Wtime());
    fflush(stdout);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (incarnation && !strcmp(incarnation, "0"))
        raise(SIGKILL);
    MPI_Finalize();
    return 0;
}
