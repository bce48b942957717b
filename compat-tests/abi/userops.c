/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's own operations: a commutative one, a non-commutative one (composition of affine maps, product of
   2x2 matrices), on predefined types, small contiguous types and types larger than any slot. */
#include "world.h"

static int rank, size, calls;

static uint32_t number(int r, uint64_t i)
{
    return (uint32_t)(i * 2654435761u + (uint32_t)r * 40503u + 12345u) | 1;
}

/* a and b are element i's two halves: maps x -> a x + b, composed left to right. */
static void compose(const uint32_t *l, const uint32_t *r, uint32_t *out)
{
    uint32_t a = l[0] * r[0], b = l[0] * r[1] + l[1];

    out[0] = a, out[1] = b;
}

/* in and inout hold *len elements of a contiguous type of pairs; its size says how many. */
static void affine(void *in, void *inout, int *len, MPI_Datatype *type)
{
    uint32_t *l = in, *r = inout;
    int bytes;

    OK(MPI_Type_size(*type, &bytes));
    for (uint64_t i = 0; i < (uint64_t)*len * (uint64_t)bytes / 8; i++)
        compose(l + 2 * i, r + 2 * i, r + 2 * i);
    calls++;
}

static void matrix(void *in, void *inout, int *len, MPI_Datatype *type)
{
    uint32_t *l = in, *r = inout;

    (void)type;
    for (int i = 0; i < *len; i++, l += 4, r += 4) {
        uint32_t m[4] = {l[0] * r[0] + l[1] * r[2], l[0] * r[1] + l[1] * r[3],
                         l[2] * r[0] + l[3] * r[2], l[2] * r[1] + l[3] * r[3]};
        memcpy(r, m, sizeof m);
    }
}

static void plain_sum(void *in, void *inout, int *len, MPI_Datatype *type)
{
    CHECK(*type == MPI_INT, "the function was not given the datatype of the call");
    for (int i = 0; i < *len; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* words 32-bit numbers per contribution, made of elements of `per` words. */
static void try(MPI_User_function *function, int commute, int per, int n, const char *what)
{
    uint64_t words = (uint64_t)per * (uint64_t)n;
    uint32_t *send = malloc(words * 4 + 4), *recv = malloc(words * 4 + 4), *want = malloc(words * 4 + 4);
    int root = size - 1, len = n, yes = -1;
    MPI_Datatype type;
    MPI_Op op;

    CHECK(send && recv && want, "no memory");
    OK(MPI_Type_contiguous(per, MPI_UNSIGNED, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Op_create(function, commute, &op));
    OK(MPI_Op_commutative(op, &yes));
    CHECK(yes == commute, "Op_commutative says %d", yes);
    for (uint64_t i = 0; i < words; i++)
        send[i] = number(rank, i), want[i] = number(size - 1, i);
    for (int r = size - 2; r >= 0; r--) {
        for (uint64_t i = 0; i < words; i++)
            recv[i] = number(r, i);
        function(recv, want, &len, &type);
    }
    OK(MPI_Allreduce(send, recv, n, type, op, MPI_COMM_WORLD));
    CHECK(memcmp(recv, want, words * 4) == 0, "%s: Allreduce of %d elements of %d words", what, n, per);
    OK(MPI_Reduce(send, recv, n, type, op, root, MPI_COMM_WORLD));
    CHECK(rank != root || memcmp(recv, want, words * 4) == 0, "%s: Reduce of %d elements of %d words", what, n, per);
    memcpy(recv, send, words * 4);
    OK(MPI_Allreduce(MPI_IN_PLACE, recv, n, type, op, MPI_COMM_WORLD));
    CHECK(memcmp(recv, want, words * 4) == 0, "%s: Allreduce in place of %d elements of %d words", what, n, per);
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&type));
    CHECK(op == MPI_OP_NULL && type == MPI_DATATYPE_NULL, "handles after free");
    free(send), free(recv), free(want);
}

static void predefined(int n)
{
    int *in = malloc((size_t)n * 4 + 4), *out = malloc((size_t)n * 4 + 4);
    MPI_Op op;

    CHECK(in && out, "no memory");
    for (int i = 0; i < n; i++)
        in[i] = rank + i;
    OK(MPI_Op_create(plain_sum, 1, &op));
    OK(MPI_Allreduce(in, out, n, MPI_INT, op, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++)
        CHECK(out[i] == size * i + size * (size - 1) / 2, "element %d is %d", i, out[i]);
    OK(MPI_Op_free(&op));
    free(in), free(out);
}

int main(int argc, char **argv)
{
    const int counts[] = {0, 1, 3, 1000, 100003};

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
        predefined(counts[i]);
        try(matrix, 0, 4, counts[i], "matrices");
        try(affine, 0, 2, counts[i], "maps");
    }
    try(affine, 0, 20000, 1, "80 kB elements");        /* more than 64 KiB: larger than a slot */
    try(affine, 0, 20000, 7, "80 kB elements");
    try(affine, 0, 1000000, 2, "4 MB elements");
    try(affine, 0, 10, 1001, "odd elements");           /* 40 bytes: no divisor of any segment */
    try(affine, 0, 0, 5, "elements of nothing");
    CHECK(calls > 0 || size == 1, "never called");
    OK(MPI_Finalize());
    if (rank == 0)
        printf("userops ok on %d ranks\n", size);
    return 0;
}
