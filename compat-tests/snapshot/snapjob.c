/* SPDX-License-Identifier: BSD-3-Clause */
/* snapjob once|again UNITS [FILE]: an MPI program whose output, files and memory follow from what it has read and received only, for
   compat-tests/snapshot/snapat.sh. once: its file may not be there yet, so a rank that starts from the beginning is an error. Each start is
   a line in the file `starts`, rank and pid. Each unit takes a millisecond; half way it goes on calling MPI until FILE is there. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MEMORY = 8192, BLOCK = 512 };

static int rank, size;
static long memory[MEMORY];

static FILE *begin(int once)
{
    char name[32];
    int starts = open("starts", O_WRONLY | O_CREAT | O_APPEND, 0600), fd;

    snprintf(name, sizeof name, "%d %d\n", rank, getpid());
    if (starts < 0 || write(starts, name, strlen(name)) < 0 || close(starts) < 0)
        MPI_Abort(MPI_COMM_WORLD, 20);
    snprintf(name, sizeof name, "part.%d", rank);
    fd = open(name, O_WRONLY | O_CREAT | (once ? O_EXCL : O_TRUNC), 0600);
    if (fd < 0) {
        fprintf(stderr, "rank %d: %s: %s\n", rank, name, strerror(errno));
        MPI_Abort(MPI_COMM_WORLD, 21);
    }
    return fdopen(fd, "w");
}

static long next_input(void)
{
    char line[32];

    return rank == 0 && fgets(line, sizeof line, stdin) ? atol(line) : 0;
}

static long exchange(int unit, long x)
{
    long block[BLOCK], all[64];

    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (unit % 7 == 3) {
        for (int i = 0; i < BLOCK; i++)
            block[i] = rank == unit % size ? x + i : -1;
        MPI_Bcast(block, BLOCK, MPI_LONG, unit % size, MPI_COMM_WORLD);
        x += block[BLOCK - 1];
    }
    if (unit % 11 == 5) {
        MPI_Allgather(&memory[unit % MEMORY], 1, MPI_LONG, all, 1, MPI_LONG, MPI_COMM_WORLD);
        x += all[size - 1];
    }
    return x % 1000003;
}

/* Lines that are begun in one unit and ended in the next, flushed or not. */
static void print(FILE *part, int unit, long x)
{
    printf("rank %d unit %d: %ld%s", rank, unit, x, unit % 4 == 1 ? ", " : "\n");
    if (unit % 3 != 2)
        fflush(stdout);
    if (unit % 10 == 0)
        fprintf(stderr, "rank %d has done %d\n", rank, unit);
    fprintf(part, "unit %d: %ld\n", unit, x);
    if (unit % 5 == 0)
        fflush(part);
}

/* What the file was at first is in the log: a replay waits as long. */
static void hold(const char *file)
{
    int there = 0;

    while (!there) {
        there = rank == 0 && access(file, F_OK) == 0;
        MPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        usleep(1000);
    }
}

int main(int argc, char **argv)
{
    int units = argc > 2 ? atoi(argv[2]) : 0;
    long x = 0;
    FILE *part;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    part = begin(argc > 1 && !strcmp(argv[1], "once"));
    for (int unit = 0; unit < units; unit++) {
        if (argc > 3 && unit == units / 2)
            hold(argv[3]);
        x = exchange(unit, x * 31 + rank + next_input());
        for (int i = unit % 8; i < MEMORY; i += 8)
            memory[i] = memory[(i * 7 + 1) % MEMORY] + x;
        print(part, unit, x + memory[unit % MEMORY]);
        if (rank == unit % size)
            usleep(1000);
    }
    printf("rank %d is done\n", rank);
    fclose(part);
    MPI_Finalize();
    return 0;
}
