/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of 64 MPI_Isend to posted receives, one way: microseconds a message, and what OSU's programs say: MB/s and messages
   per second, of all pairs together. */
#include "pairs.h"

static void call(const struct bench_case *c)
{
    pairs_stream(c, pairs_peer(c));
}

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &(struct bench){
        .title = "Bandwidth", .pairs = true, .messages = WINDOW, .streams = true, .call = call, .fill = bench_fill,
        .check = pairs_check_second});
}
