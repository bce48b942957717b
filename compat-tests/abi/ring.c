/* SPDX-License-Identifier: BSD-3-Clause */
#include "compat-tests/abi/ring.h"

int next, before;
MPI_Comm world;
unsigned char out[LARGE], in[LARGE];

void each_part(part *const parts[], int count)
{
    next = (me + 1) % ranks;
    before = (me + ranks - 1) % ranks;
    world = MPI_COMM_WORLD;
    for (int i = 0; i < count; i++) {
        OK(MPI_Barrier(world));
        parts[i]();
    }
    OK(MPI_Barrier(world));
}

unsigned char byte_of(int rank, int what, int i) { return (unsigned char)(rank * 31 + what * 7 + i + (i >> 8) * 3); }

void fill(int what, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out[i] = byte_of(me, what, i);
}

void check(int rank, int what, int bytes)
{
    for (int i = 0; i < bytes; i++)
        CHECK(in[i] == byte_of(rank, what, i), "byte %d of %d of message %d from %d", i, bytes, what, rank);
}

int count_of(const MPI_Status *status, MPI_Datatype type)
{
    int n = -1;

    OK(MPI_Get_count(status, type, &n));
    return n;
}

void check_status(const MPI_Status *status, int source, int tag, int bytes)
{
    int cancelled = -1;

    OK(MPI_Test_cancelled(status, &cancelled));
    CHECK(status->MPI_SOURCE == source && status->MPI_TAG == tag && count_of(status, MPI_BYTE) == bytes && !cancelled,
          "status: from %d, tag %d, %d bytes, not from %d, tag %d, %d", status->MPI_SOURCE, status->MPI_TAG, count_of(status, MPI_BYTE), source,
          tag, bytes);
}

void show(const char *what, const MPI_Status *status)
{
    int cancelled = -1;

    OK(MPI_Test_cancelled(status, &cancelled));
    SAY("%s: source %d, tag %d, %d bytes, cancelled %d", what, status->MPI_SOURCE, status->MPI_TAG, count_of(status, MPI_BYTE), cancelled);
}
