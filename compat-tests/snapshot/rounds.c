/* SPDX-License-Identifier: BSD-3-Clause */
#include "rounds.h"

#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compat-tests/chaos/progress.h"

static uint64_t scramble(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

_Noreturn void rounds_wrong(const struct rounds *r, const char *file, int line, const char *what)
{
    int error = errno;
    const char *name = strrchr(file, '/');
    fprintf(stderr, "%s:%d: rank %d, round %u: not so: %s (%s)\n", name ? name + 1 : file, line, r->rank, r->at, what, strerror(error));
    _exit(9);
}

void rounds_begin(struct rounds *r, int argc, char **argv)
{
    const char *progress = NULL;
    *r = (struct rounds){.n = 100, .dir = ".", .what = ""};
    for (int c; (c = getopt(argc, argv, "n:w:p:o:")) != -1;) {
        if (c == 'n') r->n = (unsigned)atoi(optarg);
        else if (c == 'w') r->pause_us = (unsigned)atoi(optarg);
        else if (c == 'p') progress = optarg;
        else if (c == 'o') r->dir = optarg;
        else exit(2);
    }
    if (optind < argc) r->what = argv[optind];
    if (progress && progress_open(progress)) exit(2);
    progress_phase(PROGRESS_IN_INIT);
    MPI_Init(&argc, &argv);
    progress_phase(PROGRESS_RUNS);
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->ranks);
    r->sum = scramble((uint64_t)r->rank);
    setvbuf(stdout, NULL, _IOLBF, 0);
}

void rounds_mix(struct rounds *r, uint64_t value)
{
    r->sum = scramble(r->sum ^ scramble(value));
}

uint64_t rounds_draw(const struct rounds *r, unsigned i)
{
    return scramble(scramble(((uint64_t)r->rank << 32) + r->at) + i);
}

const char *rounds_path(const struct rounds *r, const char *name)
{
    static char path[4096];
    MUST(r, snprintf(path, sizeof path, "%s/%s.%d", r->dir, name, r->rank) < (int)sizeof path);
    return path;
}

/* Signals of the program's timers may end a sleep. */
static void pause_for(unsigned us)
{
    struct timespec left = {us / 1000000, (long)(us % 1000000) * 1000};
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
}

/* Everybody's sum goes into everybody's: in one way or another, by round. */
static void exchange(struct rounds *r)
{
    uint64_t in[4] = {r->sum, r->at, scramble(r->sum), 1}, out[4] = {0};
    int root = (int)(r->at % (unsigned)r->ranks);
    MPI_Allreduce(in, out, 4, MPI_UINT64_T, r->at % 2 ? MPI_SUM : MPI_BXOR, MPI_COMM_WORLD);
    if (r->at % 3 == 0) MPI_Bcast(&out[3], 1, MPI_UINT64_T, root, MPI_COMM_WORLD);
    if (r->at % 5 == 0) MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++) rounds_mix(r, out[i]);
}

bool rounds_more(struct rounds *r)
{
    unsigned every = r->n / 10 ? r->n / 10 : 1;
    if (r->at) {
        exchange(r);
        progress_advance(r->at);
        if (r->at % every == 0) printf("%d round %u sum %016llx\n", r->rank, r->at, (unsigned long long)r->sum);
        if (r->pause_us) pause_for(r->pause_us);
    }
    return r->at++ < r->n;
}

int rounds_end(struct rounds *r)
{
    printf("%d done sum %016llx\n", r->rank, (unsigned long long)r->sum);
    progress_phase(PROGRESS_IN_FINALIZE);
    MPI_Finalize();
    progress_phase(PROGRESS_OVER);
    return 0;
}
