/* SPDX-License-Identifier: BSD-3-Clause */
/* largejob ROUNDS BYTES global|local [VERSION]: a computation whose state is its checkpoint, with a model of BYTES bytes, which may be more
   than 4 GiB: the one that all ranks have alike, or rank 1's own. In the program it takes little memory: a pattern that is mapped again and
   again, with marks of the state on pages here and there. Rank 1 kills itself in its first life when VERSION is made. What is loaded is
   compared byte by byte. Rank 0 prints each round, and says on stderr which version the job began with. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ftmpi.h"

enum { PATTERN = 64 << 20, BETWEEN = 24 << 20 /* marks; no divisor of the pattern */ };

struct job {
    int rank, rounds, version, dies;
    size_t bytes;
    int local;             /* the large model is rank 1's own */
    unsigned char *large;
    uint64_t state;
};

static uint64_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x7fb5d329728ea185ull;
    x ^= x >> 27;
    return x * 0x81dadef4bc2dd44dull;
}

static void fail(const struct job *j, const char *what)
{
    fprintf(stderr, "rank %d, version %d: %s\n", j->rank, j->version, what);
    MPI_Abort(MPI_COMM_WORLD, 9);
}

static int has_large(const struct job *j) { return !j->local || j->rank == 1; }

static void make_large(struct job *j)
{
    int fd = memfd_create("pattern", 0);
    uint64_t *pattern;

    if (fd < 0 || ftruncate(fd, PATTERN) != 0)
        fail(j, "no memory for the pattern");
    pattern = mmap(NULL, PATTERN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    j->large = mmap(NULL, j->bytes + PATTERN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pattern == MAP_FAILED || j->large == MAP_FAILED)
        fail(j, "no memory for the pattern");
    for (size_t i = 0; i < PATTERN / 8; i++)
        pattern[i] = mix(i + 1);
    for (size_t at = 0; at < j->bytes; at += PATTERN)
        if (mmap(j->large + at, PATTERN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd, 0) == MAP_FAILED)
            fail(j, "the pattern cannot be mapped so often");
    munmap(pattern, PATTERN);
    close(fd);
}

/* The state itself is the first mark; the last one is at the end. */
static void mark(const struct job *j)
{
    for (size_t at = 0; at + 8 <= j->bytes; at += BETWEEN) {
        uint64_t word = j->state ^ at;

        memcpy(j->large + at, &word, 8);
    }
    memcpy(j->large + j->bytes - 8, &j->state, 8);
}

static void check(const struct job *j, const void *model, MPI_Count n)
{
    if (n != (MPI_Count)j->bytes)
        fail(j, "the large model has another size");
    mark(j);
    if (memcmp(model, j->large, j->bytes) != 0)
        fail(j, "the large model is not what was kept");
}

static void load(struct job *j)
{
    void *global, *local;
    MPI_Count nglobal, nlocal;

    MPIX_Checkpoint_load(&global, &nglobal, &local, &nlocal, &j->version);
    if (!j->rank)
        fprintf(stderr, "begins with version %d\n", j->version);
    if (has_large(j))
        make_large(j);
    if (!j->version)
        return;
    memcpy(&j->state, global, sizeof j->state);
    if (!j->local)
        check(j, global, nglobal);
    else if (j->rank == 1)
        check(j, local, nlocal);
    else if (nlocal != j->rank || (nlocal && *(char *)local != (char)j->rank))
        fail(j, "the rank's small model is not what was kept");
}

static void keep(struct job *j)
{
    char small[8] = {(char)j->rank};
    int err;

    if (has_large(j))
        mark(j);
    if (!j->local)
        err = MPIX_Checkpoint(j->large, (MPI_Count)j->bytes, NULL, 0);
    else if (j->rank == 1)
        err = MPIX_Checkpoint(&j->state, sizeof j->state, j->large, (MPI_Count)j->bytes);
    else
        err = MPIX_Checkpoint(&j->state, sizeof j->state, small, j->rank);
    if (err != MPI_SUCCESS)
        fail(j, "the checkpoint cannot be made");
    j->version++;
}

int main(int argc, char **argv)
{
    struct job j = {.state = 1};
    int life;

    if (argc < 4)
        return 2;
    j.rounds = atoi(argv[1]);
    j.bytes = strtoull(argv[2], NULL, 10);
    j.local = strcmp(argv[3], "local") == 0;
    j.dies = argc > 4 ? atoi(argv[4]) : -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
    MPIX_Incarnation(&life);
    load(&j);
    while (j.version < j.rounds) {
        uint64_t mine = mix(j.state + (uint64_t)j.rank);

        MPI_Allreduce(&mine, &j.state, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        if (!j.rank)
            printf("round %d: %016llx\n", j.version + 1, (unsigned long long)j.state);
        keep(&j);
        if (j.rank == 1 && !life && j.version == j.dies)
            raise(SIGKILL);
    }
    if (!j.rank)
        printf("final: %016llx\n", (unsigned long long)j.state);
    MPI_Finalize();
    return 0;
}
