/* SPDX-License-Identifier: BSD-3-Clause */
/* Barrier, Bcast, Allgather, Allgatherv: types, counts from nothing to many segments, every root, in place or not,
   MPI_COMM_SELF, contiguous types on one side and their elements on the other. */
#include "world.h"

static int rank, size, large = 1000003;

static char byte(int r, uint64_t i)
{
    return (char)(i * 31 + (i >> 8) * 17 + (uint64_t)r * 101 + 7);
}

static void fill(char *p, int r, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        p[i] = byte(r, i);
}

static void check(const char *p, int r, uint64_t n, const char *what)
{
    for (uint64_t i = 0; i < n; i++)
        CHECK(p[i] == byte(r, i), "%s: byte %llu of rank %d's %llu, %d ranks", what, (unsigned long long)i, r,
              (unsigned long long)n, size);
}

static void bcast(char *p, int n)
{
    MPI_Datatype pair;

    OK(MPI_Type_contiguous(2, MPI_SHORT, &pair));
    OK(MPI_Type_commit(&pair));
    for (int root = 0; root < size; root++) {
        fill(p, rank, (uint64_t)n * 4);
        OK(MPI_Bcast(p, n * 4, rank % 2 ? MPI_CHAR : MPI_BYTE, root, MPI_COMM_WORLD));
        check(p, root, (uint64_t)n * 4, "Bcast of bytes");
        fill(p, rank, (uint64_t)n * 4);
        OK(rank % 2 ? MPI_Bcast(p, n, pair, root, MPI_COMM_WORLD) : MPI_Bcast(p, 2 * n, MPI_SHORT, root, MPI_COMM_WORLD));
        check(p, root, (uint64_t)n * 4, "Bcast of pairs");
    }
    OK(MPI_Type_free(&pair));
}

static void allgather(char *send, char *recv, int n)
{
    MPI_Datatype pair;
    uint64_t part = (uint64_t)n * 8;

    OK(MPI_Type_contiguous(2, MPI_FLOAT, &pair));
    OK(MPI_Type_commit(&pair));
    fill(send, rank, part);
    OK(MPI_Allgather(send, n, pair, recv, 2 * n, MPI_FLOAT, MPI_COMM_WORLD));
    for (int r = 0; r < size; r++)
        check(recv + r * part, r, part, "Allgather");
    memset(recv, 0, part * (uint64_t)size);
    fill(recv + rank * part, rank, part);
    OK(MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, recv, n, MPI_DOUBLE, MPI_COMM_WORLD));
    for (int r = 0; r < size; r++)
        check(recv + r * part, r, part, "Allgather in place");
    OK(MPI_Type_free(&pair));
}

/* Rank r gives r * n + n % 3 shorts, laid out backwards with a hole of one between. */
static void allgatherv(char *send, char *recv, int n)
{
    int *counts = malloc(2 * sizeof(int) * (size_t)size), *displs = counts + size, at = 0;

    CHECK(counts, "no memory");
    for (int r = size - 1; r >= 0; r--) {
        counts[r] = r * n / size + n % 3;
        displs[r] = at;
        at += counts[r] + 1;
    }
    memset(recv, 99, (size_t)at * 2);
    fill(send, rank, (uint64_t)counts[rank] * 2);
    OK(MPI_Allgatherv(send, counts[rank], MPI_SHORT, recv, counts, displs, MPI_SHORT, MPI_COMM_WORLD));
    for (int r = 0; r < size; r++) {
        check(recv + 2 * displs[r], r, (uint64_t)counts[r] * 2, "Allgatherv");
        CHECK(recv[2 * (displs[r] + counts[r])] == 99, "the hole after rank %d was written to", r);
    }
    memset(recv, 99, (size_t)at * 2);
    fill(recv + 2 * displs[rank], rank, (uint64_t)counts[rank] * 2);
    OK(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, recv, counts, displs, MPI_SHORT, MPI_COMM_WORLD));
    for (int r = 0; r < size; r++)
        check(recv + 2 * displs[r], r, (uint64_t)counts[r] * 2, "Allgatherv in place");
    free(counts);
}

/* The same data as pairs on odd ranks, as single elements on even ones. */
static void allgatherv_pairs(char *send, char *recv, int n)
{
    int *counts = malloc(2 * sizeof(int) * (size_t)size), *displs = counts + size, odd = rank % 2, unit = odd ? 1 : 2;
    MPI_Datatype pair;

    CHECK(counts, "no memory");
    OK(MPI_Type_contiguous(2, MPI_SHORT, &pair));
    OK(MPI_Type_commit(&pair));
    for (int r = 0; r < size; r++) {
        counts[r] = unit * (n + r);
        displs[r] = unit * (r * (n + size) + 1);
    }
    fill(send, rank, 4 * (uint64_t)(n + rank));
    OK(MPI_Allgatherv(send, counts[rank], odd ? pair : MPI_SHORT, recv, counts, displs, odd ? pair : MPI_SHORT, MPI_COMM_WORLD));
    for (int r = 0; r < size; r++)
        check(recv + 4 * (r * (n + size) + 1), r, 4 * (uint64_t)(n + r), "Allgatherv of pairs");
    OK(MPI_Type_free(&pair));
    free(counts);
}

static void self(void)
{
    int in = rank, out = -1, both[2] = {rank, -1}, zero = 0, one = 1;

    OK(MPI_Barrier(MPI_COMM_SELF));
    OK(MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF));
    CHECK(out == rank, "Allreduce on MPI_COMM_SELF gives %d", out);
    OK(MPI_Bcast(&in, 1, MPI_INT, 0, MPI_COMM_SELF));
    OK(MPI_Allgather(&in, 1, MPI_INT, &both[1], 1, MPI_INT, MPI_COMM_SELF));
    CHECK(both[1] == rank, "Allgather on MPI_COMM_SELF gives %d", both[1]);
    OK(MPI_Allgatherv(&in, 1, MPI_INT, &out, &one, &zero, MPI_INT, MPI_COMM_SELF));
    OK(MPI_Reduce(MPI_IN_PLACE, &in, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_SELF));
    CHECK(in == rank && out == rank, "MPI_COMM_SELF");
}

/* Nothing at all is a valid amount, with null pointers and in the middle of everything else. */
static void nothing(void)
{
    int *zeros = calloc(2 * (size_t)size, sizeof(int));

    CHECK(zeros, "no memory");
    OK(MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
    OK(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Allreduce(MPI_IN_PLACE, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Reduce(NULL, NULL, 0, MPI_INT, MPI_SUM, size - 1, MPI_COMM_WORLD));
    OK(MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
    OK(MPI_Allgatherv(NULL, 0, MPI_INT, NULL, zeros, zeros + size, MPI_INT, MPI_COMM_WORLD));
    free(zeros);
}

int main(int argc, char **argv)
{
    const int counts[] = {0, 1, 3, 1000, 70001};
    char *send, *recv;

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    if (argc > 1 && strcmp(argv[1], "quick") == 0)
        large = 100003;
    send = malloc((size_t)large * 8);
    recv = malloc((size_t)large * 8 * (size_t)size);
    CHECK(send && recv, "no memory");
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
        bcast(recv, counts[i]);
        allgather(send, recv, counts[i]);
        allgatherv(send, recv, counts[i]);
        allgatherv_pairs(send, recv, counts[i]);
        nothing();
        OK(MPI_Barrier(MPI_COMM_WORLD));
        self();
    }
    bcast(recv, large);
    allgather(send, recv, large);
    free(send);
    free(recv);
    OK(MPI_Finalize());
    if (rank == 0)
        printf("moves ok on %d ranks\n", size);
    return 0;
}
