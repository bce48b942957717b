/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program that wants memory: for compat-tests/agent/memory.sh.

     hog [MIB:ROUNDS | MIB:FILE | pLINES | s]...   one after the other: has so much, and writes all of it in each round;
                                                   so many rounds, or until there is a file. Or prints so many lines,
                                                   or opens a socket, which closes its snapshots

   What it prints of each round depends on what all ranks have. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WORDS = 20000, MIB = 1 << 20, PAUSE_US = 5000 };

static double words[WORDS], sum;
static int rank, rounds;

static void round_of(char *memory, size_t bytes)
{
    memset(memory, rounds + rank, bytes);
    for (int i = 0; i < WORDS; i++)
        words[i] = i + rank + rounds;
    MPI_Allreduce(MPI_IN_PLACE, words, WORDS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sum += words[rounds % WORDS] + memory[(size_t)rounds * 7919 % bytes];
    rounds++;
}

/* Rank 0 says it: a file that comes is not seen by all at once. */
static int is_there(const char *file)
{
    int there = access(file, F_OK) == 0;

    MPI_Bcast(&there, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return there;
}

static void print_lines(long lines)
{
    for (long i = 0; i < lines; i++)
        printf("%d line %ld\n", rank, i);
    fflush(stdout);
}

static void phase(const char *what)
{
    char *end;
    size_t bytes = strtoul(what, &end, 10) * MIB;
    long left = strtol(end + 1, NULL, 10);
    char *memory = malloc(bytes);

    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (; left > 0; left--) {
        round_of(memory, bytes);
        printf("%d %d %.17g\n", rank, rounds, sum);
    }
    while (end[1] > '9' && !is_there(end + 1)) {
        round_of(memory, bytes);
        usleep(PAUSE_US);
    }
    free(memory);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < argc; i++)
        if (*argv[i] == 'p')
            print_lines(strtol(argv[i] + 1, NULL, 10));
        else if (*argv[i] == 's')
            sum += socket(AF_UNIX, SOCK_DGRAM, 0) < 0;
        else
            phase(argv[i]);
    MPI_Finalize();
    return 0;
}
