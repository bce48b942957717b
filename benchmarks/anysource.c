/* SPDX-License-Identifier: BSD-3-Clause */
/* As bandwidth.c, but received with MPI_ANY_SOURCE. With more than two ranks each receiver has one sender all the same: the others'
   messages go to others. */
#include "pairs.h"

static void call(const struct bench_case *c)
{
    pairs_stream(c, MPI_ANY_SOURCE);
}

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &(struct bench){
        .title = "Any source", .pairs = true, .messages = WINDOW, .streams = true, .call = call, .fill = bench_fill,
        .check = pairs_check_second});
}
