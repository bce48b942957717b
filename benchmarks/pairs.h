/* SPDX-License-Identifier: BSD-3-Clause */
/* What the benchmarks of messages share: rank r of the first half and rank r + ranks / 2 are a pair, so with more than two
   ranks they are OSU's multi-pair tests. */
#ifndef PAIRS_H
#define PAIRS_H

#include "bench.h"

enum { WINDOW = 64, DATA = 1, REPLY = 2 /* tags */ };

static inline bool pairs_first(const struct bench_case *c) { return c->rank < c->ranks / 2; }
static inline int pairs_peer(const struct bench_case *c) { return pairs_first(c) ? c->rank + c->ranks / 2 : c->rank - c->ranks / 2; }

/* A window of messages to the peer, one of them from it. */
static inline void pairs_send_window(const struct bench_case *c, MPI_Request *requests)
{
    for (int i = 0; i < WINDOW; i++) MPI_Isend(c->send, c->count, c->type->mpi, pairs_peer(c), DATA, MPI_COMM_WORLD, &requests[i]);
}

static inline void pairs_receive_window(const struct bench_case *c, int source, MPI_Request *requests)
{
    for (int i = 0; i < WINDOW; i++) MPI_Irecv(c->recv, c->count, c->type->mpi, source, DATA, MPI_COMM_WORLD, &requests[i]);
}

/* One way: the first of a pair sends a window, which the other one answers with 4 bytes. */
static inline void pairs_stream(const struct bench_case *c, int source)
{
    MPI_Request requests[WINDOW];
    int reply = 0;
    if (pairs_first(c)) {
        pairs_send_window(c, requests);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        MPI_Recv(&reply, 1, MPI_INT, pairs_peer(c), REPLY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        pairs_receive_window(c, source, requests);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        MPI_Send(&reply, 1, MPI_INT, pairs_peer(c), REPLY, MPI_COMM_WORLD);
    }
}

/* -c: what has come is what the peer has sent. */
static inline int64_t pairs_check(const struct bench_case *c, int iteration)
{
    return bench_wrong(c->type, c->recv, (size_t)c->count, bench_input, pairs_peer(c), iteration);
}

static inline int64_t pairs_check_second(const struct bench_case *c, int iteration)
{
    return pairs_first(c) ? 0 : pairs_check(c, iteration);
}

#endif
