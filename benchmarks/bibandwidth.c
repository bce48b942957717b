/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of 64 MPI_Isend both ways at once: microseconds a message, and MB/s and messages per second of both ways and all pairs
   together. */
#include "pairs.h"

static void call(const struct bench_case *c)
{
    MPI_Request requests[2 * WINDOW];
    pairs_receive_window(c, pairs_peer(c), requests);
    pairs_send_window(c, requests + WINDOW);
    MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &(struct bench){
        .title = "Bidirectional Bandwidth", .pairs = true, .messages = 2 * WINDOW, .streams = true, .call = call, .fill = bench_fill,
        .check = pairs_check});
}
