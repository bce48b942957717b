/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes at the edges: bounds said by MPI-1's markers, no extent at all, elements backwards, above one another, at addresses, gigabytes
   apart; elements that come in part. Plain MPI, which has the markers in its library: with any other it prints the same.

     bounds [-o]

   -o  also what Open MPI cannot do: gather and reduce elements backwards */
#include <stdbool.h>
#include <sys/mman.h>

#include "compat-tests/abi/world.h"

extern struct ompi_predefined_datatype_t ompi_mpi_lb, ompi_mpi_ub;
#define MARKS_LB ((MPI_Datatype)(void *)&ompi_mpi_lb)
#define MARKS_UB ((MPI_Datatype)(void *)&ompi_mpi_ub)

static int me, ranks, to, from;
static bool own;

static void print(const char *what, MPI_Datatype type)
{
    MPI_Aint lb, extent, true_lb, true_extent;
    int size;

    OK(MPI_Type_get_extent(type, &lb, &extent));
    OK(MPI_Type_get_true_extent(type, &true_lb, &true_extent));
    OK(MPI_Type_size(type, &size));
    if (me == 0)
        printf("%s: %d bytes, [%ld, %ld), data in [%ld, %ld)\n", what, size, (long)lb, (long)(lb + extent), (long)true_lb,
               (long)(true_lb + true_extent));
}

static MPI_Datatype committed(MPI_Datatype type)
{
    OK(MPI_Type_commit(&type));
    return type;
}

static MPI_Datatype make_struct(int n, const MPI_Aint *at, const MPI_Datatype *types)
{
    int lengths[4] = {1, 1, 1, 1};
    MPI_Datatype type;

    OK(MPI_Type_create_struct(n, lengths, at, types, &type));
    return committed(type);
}

static void markers(void)
{
    const MPI_Aint at[3] = {-8, 0, 24}, inner[2] = {4, 40}, early[2] = {0, 2};
    const MPI_Datatype both[3] = {MARKS_LB, MPI_INT, MARKS_UB}, only_ub[2] = {MPI_INT, MARKS_UB};
    MPI_Datatype type = make_struct(3, at, both), above, padded = make_struct(2, at + 1, only_ub), below, inside, of[2];
    int out[16], in[16];

    print("lower and upper", type);
    print("upper", padded);
    below = make_struct(2, at, both);
    print("lower", below);
    of[0] = type;
    of[1] = MPI_DOUBLE;
    above = make_struct(2, inner, of);
    print("a part has them", above);
    OK(MPI_Type_contiguous(3, type, &inside));
    print("three", inside);
    of[0] = MPI_DOUBLE;
    of[1] = MARKS_UB;
    OK(MPI_Type_free(&inside));
    inside = make_struct(2, early, of);
    print("an end within the data", inside);

    for (int i = 0; i < 16; i++) {
        out[i] = 100 * me + i;
        in[i] = -1;
    }
    OK(MPI_Sendrecv(out, 2, padded, to, 1, in, 2, padded, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < 16; i++)
        CHECK(in[i] == (i == 0 || i == 6 ? 100 * from + i : -1), "%d: %d", i, in[i]);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_free(&above));
    OK(MPI_Type_free(&padded));
    OK(MPI_Type_free(&below));
    OK(MPI_Type_free(&inside));
}

/* The same bytes are sent again and again; all that come are of one place. */
static void no_extent(void)
{
    MPI_Datatype type, vector;
    int out[2] = {me, 7}, in[6] = {0}, n;
    MPI_Status s;

    OK(MPI_Type_create_resized(MPI_2INT, 0, 0, &type));
    type = committed(type);
    print("no extent", type);
    OK(MPI_Sendrecv(out, 3, type, to, 1, in, 6, MPI_INT, from, 1, MPI_COMM_WORLD, &s));
    OK(MPI_Get_elements(&s, MPI_INT, &n));
    CHECK(n == 6, "%d", n);
    for (int i = 0; i < 6; i++)
        CHECK(in[i] == (i % 2 ? 7 : from), "%d: %d", i, in[i]);
    OK(MPI_Type_vector(3, 1, 0, MPI_INT, &vector));
    vector = committed(vector);
    print("no stride", vector);
    memset(in, 0, sizeof in);
    OK(MPI_Bcast(me == 0 ? (void *)&out[1] : in, me == 0 ? 1 : 3, me == 0 ? vector : MPI_INT, 0, MPI_COMM_WORLD));
    for (int i = 0; i < 3 && me != 0; i++)
        CHECK(in[i] == 7, "%d: %d", i, in[i]);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_free(&vector));
}

static void add_pairs(void *in, void *inout, int *len, MPI_Datatype *type)
{
    MPI_Aint lb, extent;

    OK(MPI_Type_get_extent(*type, &lb, &extent));
    for (int i = 0; i < *len; i++)
        for (int k = 0; k < 2; k++)
            ((int *)((char *)inout + i * extent))[-2 * k] += ((int *)((char *)in + i * extent))[-2 * k];
}

/* Each element's second int lies before its first, and each element before the one before it. */
static void backwards(void)
{
    MPI_Datatype vector, type;
    int out[13], in[13], all[16 * 12 + 13];
    MPI_Op op;

    OK(MPI_Type_vector(2, 1, -2, MPI_INT, &vector));
    OK(MPI_Type_create_resized(vector, 0, -16, &type));
    type = committed(type);
    for (int i = 0; i < 13; i++)
        out[i] = 100 * me + i;
    memset(in, -1, sizeof in);
    OK(MPI_Sendrecv(out + 12, 3, type, to, 1, in + 12, 3, type, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < 13; i++)
        CHECK(in[i] == (i % 2 == 0 && i >= 2 ? 100 * from + i : -1), "%d: %d", i, in[i]);
    memset(all, -1, sizeof all);
    OK(MPI_Type_free(&vector));
    if (!own) {
        OK(MPI_Type_free(&type));
        return;
    }
    OK(MPI_Allgather(out + 12, 3, type, all + 12 * ranks, 3, type, MPI_COMM_WORLD));
    for (int r = 0; r < ranks; r++)
        for (int i = 1; i < 13; i++)
            CHECK(all[12 * (ranks - 1 - r) + i] == (i % 2 == 0 ? 100 * r + i : -1), "of %d, %d: %d", r, i, all[12 * (ranks - 1 - r) + i]);
    memset(in, -1, sizeof in);
    OK(MPI_Op_create(add_pairs, 1, &op));
    OK(MPI_Allreduce(out + 12, in + 12, 3, type, op, MPI_COMM_WORLD));
    for (int i = 1; i < 13; i++)
        CHECK(in[i] == (i % 2 == 0 ? 50 * ranks * (ranks - 1) + ranks * i : -1), "%d: %d", i, in[i]);
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&type));
}

/* All buffers are MPI_BOTTOM. */
static void addresses(void)
{
    static double out[3], in[3], all[3 * 16];
    MPI_Aint at[3];
    MPI_Datatype types[3];
    int two[1] = {2};

    for (int i = 0; i < 3; i++)
        out[i] = 10 * me + i;
    for (int k = 0; k < 3; k++) {
        OK(MPI_Get_address(k == 0 ? out + 1 : k == 1 ? in : all, &at[k]));
        OK(MPI_Type_create_hindexed(1, two, &at[k], MPI_DOUBLE, &types[k]));
        OK(MPI_Type_commit(&types[k]));
    }
    OK(MPI_Sendrecv(MPI_BOTTOM, 1, types[0], to, 1, MPI_BOTTOM, 1, types[1], from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(in[0] == 10 * from + 1 && in[1] == 10 * from + 2 && in[2] == 0, "%g, %g", in[0], in[1]);
    OK(MPI_Allgather(MPI_BOTTOM, 1, types[0], MPI_BOTTOM, 1, types[2], MPI_COMM_WORLD));
    for (int i = 0; i < 2 * ranks; i++)
        CHECK(all[i] == 10 * (i / 2) + 1 + i % 2, "%d: %g", i, all[i]);
    OK(MPI_Bcast(MPI_BOTTOM, 1, types[me == 0 ? 0 : 1], 0, MPI_COMM_WORLD));
    CHECK(me == 0 || (in[0] == 1 && in[1] == 2), "%g, %g", in[0], in[1]);
    for (int k = 0; k < 3; k++)
        OK(MPI_Type_free(&types[k]));
}

/* Three ints, further apart than an int can say. */
static void far_apart(void)
{
    const MPI_Aint stride = ((MPI_Aint)1 << 31) + 64;
    char *memory = mmap(NULL, (size_t)(3 * stride), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MPI_Count lb, extent, n;
    MPI_Datatype type;
    MPI_Status s;
    int flat[4];

    CHECK(memory != MAP_FAILED, "no memory");
    OK(MPI_Type_create_hvector(3, 1, stride, MPI_INT, &type));
    type = committed(type);
    OK(MPI_Type_get_extent_x(type, &lb, &extent));
    CHECK(lb == 0 && extent == 2 * stride + 4, "%lld", (long long)extent);
    for (int i = 0; i < 3; i++)
        *(int *)(void *)(memory + i * stride) = 10 * me + i;
    OK(MPI_Sendrecv(memory, 1, type, to, 1, flat, 4, MPI_INT, from, 1, MPI_COMM_WORLD, &s));
    OK(MPI_Get_elements_x(&s, type, &n));
    CHECK(n == 3 && flat[0] == 10 * from && flat[2] == 10 * from + 2, "%lld: %d, %d", (long long)n, flat[0], flat[2]);
    OK(MPI_Bcast(memory, 1, type, 0, MPI_COMM_WORLD));
    CHECK(*(int *)(void *)(memory + 2 * stride) == 2, "%d", *(int *)(void *)(memory + 2 * stride));
    OK(MPI_Type_free(&type));
    munmap(memory, (size_t)(3 * stride));
}

/* Two and a half elements of the five that there is room for: the rest is as it was. */
static void in_part(void)
{
    struct { short a; double b; char c; } out[5], in[5];
    const MPI_Aint at[4] = {0, 8, 16, 24};
    const MPI_Datatype of[4] = {MPI_SHORT, MPI_DOUBLE, MPI_CHAR, MARKS_UB};
    MPI_Datatype type = make_struct(4, at, of), flat = make_struct(2, at, of), begun;
    int lengths[2] = {2, 1}, n;
    MPI_Aint places[2] = {0, 48};
    MPI_Datatype parts[2] = {type, flat};
    MPI_Status s;
    MPI_Count m;

    OK(MPI_Type_create_struct(2, lengths, places, parts, &begun));
    begun = committed(begun);
    memset(out, 1 + me, sizeof out);
    memset(in, 0x55, sizeof in);
    OK(MPI_Sendrecv(out, 1, begun, to, 1, in, 5, type, from, 1, MPI_COMM_WORLD, &s));
    OK(MPI_Get_count(&s, type, &n));
    OK(MPI_Get_elements_x(&s, type, &m));
    CHECK(n == MPI_UNDEFINED && m == 8, "%d, %lld", n, (long long)m);
    for (int i = 0; i < 5; i++) {
        CHECK(((char *)&in[i].a)[1] == (i < 3 ? 1 + from : 0x55) && ((char *)&in[i].b)[7] == (i < 3 ? 1 + from : 0x55) &&
              in[i].c == (i < 2 ? 1 + from : 0x55), "element %d", i);
        CHECK(((char *)&in[i])[2] == 0x55, "a gap of element %d", i);
    }
    OK(MPI_Type_free(&type));
    OK(MPI_Type_free(&flat));
    OK(MPI_Type_free(&begun));
}

int main(int argc, char **argv)
{
    own = argc > 1;
    MPI_Init(&argc, &argv);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    to = (me + 1) % ranks;
    from = (me + ranks - 1) % ranks;
    markers();
    no_extent();
    backwards();
    addresses();
    far_apart();
    in_part();
    printf("%d: as it should be\n", me);
    MPI_Finalize();
    return 0;
}
