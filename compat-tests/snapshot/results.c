/* SPDX-License-Identifier: BSD-3-Clause */
/* Large results, which a snapshot in front of the call that receives them does not have: what lies around them in the same pages it has,
   and results that are contributions, too. The memory is moved to grow. "refused": the call's key has been used, so it receives nothing, and what was there
   stays. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "ftmpi.h"
#include "rounds.h"

enum { WORDS = 24 << 10, GROWS = 2 << 10, EVERY = 50, GUARD = 77 };  /* uint64_t; not at the beginning of a page */

static void fill(struct rounds *r, uint64_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++) words[i] = r->sum * 31 + i + (uint64_t)r->at;
}

static void mix(struct rounds *r, const uint64_t *words, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum = sum * 31 + words[i];
    rounds_mix(r, sum);
}

/* The first call after the pause is the one that most snapshots are made in front of: another one in each round. */
static void receive(const struct rounds *r, const uint64_t *send, uint64_t *recv, int n)
{
    int root = (int)(r->at / 6 % (unsigned)r->ranks), part = n / r->ranks;

    switch (r->at % 6) {
    case 0: MPI_Allreduce(send, recv, n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD); break;
    case 1: MPI_Allreduce(MPI_IN_PLACE, recv, n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD); break;
    case 2: MPI_Reduce(send, recv, n, MPI_UINT64_T, MPI_MAX, root, MPI_COMM_WORLD); break;
    case 3: MPI_Allgather(send, part, MPI_UINT64_T, recv, part, MPI_UINT64_T, MPI_COMM_WORLD); break;
    case 4: MPI_Allgather(MPI_IN_PLACE, 0, MPI_UINT64_T, recv, part, MPI_UINT64_T, MPI_COMM_WORLD); break;
    case 5: MPI_Bcast(recv, n / 2, MPI_UINT64_T, root, MPI_COMM_WORLD); break;
    }
}

static void be_refused(const struct rounds *r, const uint64_t *send, uint64_t *recv, int n)
{
    int code, class;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPIX_Allreduce_cached(send, recv, n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, "the first round's");
    MPI_Error_class(code, &class);
    MUST(r, class == (r->at == 1 ? MPI_SUCCESS : MPI_ERR_ARG));
}

int main(int argc, char **argv)
{
    struct rounds r;
    size_t n = WORDS;
    uint64_t *area, *send, *recv;

    rounds_begin(&r, argc, argv);
    area = calloc(n + 2 * GUARD, sizeof *area);
    send = calloc(n, sizeof *send);
    MUST(&r, area && send);
    while (rounds_more(&r)) {
        if (r.at % EVERY == 0) {
            area = realloc(area, (n + GROWS + 2 * GUARD) * sizeof *area);
            MUST(&r, area);
            memset(area + n + GUARD, 0, (GROWS + GUARD) * sizeof *area);
            free(send);
            send = calloc(n + GROWS, sizeof *send);
            MUST(&r, send);
            n += GROWS;
        }
        recv = area + GUARD;
        for (size_t i = 0; i < GUARD; i++) area[i] += r.sum, recv[n + i] += r.sum + i;
        fill(&r, send, n);
        if (strcmp(r.what, "refused") == 0)
            be_refused(&r, send, recv, (int)n);
        else
            receive(&r, send, recv, (int)n);
        mix(&r, area, n + 2 * GUARD);
    }
    free(area);
    free(send);
    return rounds_end(&r);
}
