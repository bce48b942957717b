/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Send and MPI_Recv to and fro: microseconds one way, of the average pair. */
#include "pairs.h"

static void call(const struct bench_case *c)
{
    int peer = pairs_peer(c);
    if (pairs_first(c)) {
        MPI_Send(c->send, c->count, c->type->mpi, peer, DATA, MPI_COMM_WORLD);
        MPI_Recv(c->recv, c->count, c->type->mpi, peer, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(c->recv, c->count, c->type->mpi, peer, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(c->send, c->count, c->type->mpi, peer, DATA, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &(struct bench){
        .title = "Latency", .pairs = true, .messages = 2, .call = call, .fill = bench_fill, .check = pairs_check});
}
