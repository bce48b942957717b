/* SPDX-License-Identifier: BSD-3-Clause */
/* copied BYTES SECONDS: a loop of a barrier and a bcast of BYTES, as benchmarks have it, for so long. Rank 1, which receives, prints how many pages of its buffer
   were not its own alone, each time after a barrier: those that a snapshot has, too, so they will be copied when they are written. */
#include <mpi.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CHUNK = 512 };

/* Of pages [at, at + bytes), by /proc/self/pagemap (Documentation/admin-guide/mm/pagemap.rst): present, and not exclusively mapped. It is not open when a call
   is made: a process that has it open gets no snapshots. */
static long shared(const char *at, size_t bytes)
{
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    size_t page = (size_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)at / page + 1, n = bytes / page - 1;
    uint64_t entry[CHUNK];
    long sum = 0;

    if (pagemap < 0) exit(77);
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t k = n - i < CHUNK ? n - i : CHUNK;
        if (pread(pagemap, entry, k * sizeof *entry, (off_t)((first + i) * sizeof *entry)) != (ssize_t)(k * sizeof *entry)) exit(77);
        for (size_t j = 0; j < k; j++) sum += (entry[j] >> 63) && !(entry[j] >> 56 & 1);
    }
    close(pagemap);
    return sum;
}

int main(int argc, char **argv)
{
    int bytes = argc > 2 ? atoi(argv[1]) : 0, rank;
    double seconds = argc > 2 ? atof(argv[2]) : 0;
    long sum = 0;
    char *at = bytes > 1 << 16 ? calloc(1, (size_t)bytes) : NULL;

    if (!at) return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (double began = MPI_Wtime(); !at[0];) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) sum += shared(at, (size_t)bytes);
        if (rank == 0) at[0] = MPI_Wtime() - began > seconds; /* the end, of which all hear */
        MPI_Bcast(at, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    if (rank == 1) printf("%ld\n", sum);
    free(at);
    MPI_Finalize();
    return 0;
}
