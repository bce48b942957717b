/* SPDX-License-Identifier: BSD-3-Clause */
/* The largest operation that MPI's int counts allow: 2^31-1 MPI_BYTE, in place, BOR, and every byte of the result
   looked at. An argument gives another count.

     huge [COUNT] */
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Rank r's byte i has the bits that i says, of those whose number is r modulo the ranks; together: all of them. */
static unsigned char whole(size_t i)
{
    return (unsigned char)((i * 2654435761u) >> 13 ^ i);
}

static unsigned char mask_of(int rank, int ranks)
{
    unsigned mask = 0;
    for (int bit = 0; bit < 8; bit++)
        if (bit % ranks == rank) mask |= 1u << bit;
    return (unsigned char)mask;
}

int main(int argc, char **argv)
{
    int rank, ranks, count = INT_MAX;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1) count = atoi(argv[1]);
    unsigned char *buffer = malloc((size_t)count), mask = mask_of(rank, ranks);
    if (!buffer) {
        fprintf(stderr, "rank %d: no memory for %d bytes\n", rank, count);
        return 2;
    }
    for (size_t i = 0; i < (size_t)count; i++) buffer[i] = whole(i) & mask;
    MPI_Allreduce(MPI_IN_PLACE, buffer, count, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < (size_t)count; i++)
        if (buffer[i] != whole(i) && wrong++ == 0) first = i;
    if (wrong) printf("%d WRONG: %zu of %d bytes, the first at %zu\n", rank, wrong, count, first);
    else printf("%d ok: %d bytes\n", rank, count);
    free(buffer);
    MPI_Finalize();
    return wrong ? 1 : 0;
}
