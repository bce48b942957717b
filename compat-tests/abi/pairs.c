/* SPDX-License-Identifier: BSD-3-Clause */
/* A predefined pair is a struct of two: sent as one, received as the other, packed without its gap. Plain MPI: with any other it prints
   the same. */
#include <stdbool.h>
#include <stddef.h>

#include "compat-tests/abi/world.h"

enum { N = 3 };

static int me, ranks, to, from;

struct pair {
    const char *name;
    MPI_Datatype pair, first;
    size_t second_at, second_size, extent;
};

#define PAIR(type, first, c) {#type, type, first, offsetof(c, i), sizeof(((c *)0)->i), sizeof(c)}
static const struct pair pairs[] = {
    PAIR(MPI_FLOAT_INT, MPI_FLOAT, struct float_int), PAIR(MPI_DOUBLE_INT, MPI_DOUBLE, struct double_int),
    PAIR(MPI_LONG_INT, MPI_LONG, struct long_int), PAIR(MPI_SHORT_INT, MPI_SHORT, struct short_int),
    PAIR(MPI_2INT, MPI_INT, struct two_int), PAIR(MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE, struct ld_int),
};

static MPI_Datatype struct_of(const struct pair *p)
{
    const int lengths[2] = {1, 1};
    const MPI_Aint at[2] = {0, (MPI_Aint)p->second_at};
    const MPI_Datatype of[2] = {p->first, MPI_INT};
    MPI_Datatype type;

    OK(MPI_Type_create_struct(2, lengths, at, of, &type));
    OK(MPI_Type_commit(&type));
    return type;
}

/* A gap keeps what was there. */
static void check(const struct pair *p, const char *way, const unsigned char *got, const unsigned char *sent, int n)
{
    int first;

    OK(MPI_Type_size(p->first, &first));
    for (size_t i = 0; i < (size_t)n * p->extent; i++) {
        size_t at = i % p->extent;
        bool is_data = at < (size_t)first || (at >= p->second_at && at < p->second_at + p->second_size);

        CHECK(got[i] == (is_data ? sent[i] : 0x55), "%s, %s: byte %zu is %d", p->name, way, i, got[i]);
    }
}

static void look(const struct pair *p)
{
    unsigned char out[N * 32], in[N * 32], packed[N * 32];
    MPI_Datatype type = struct_of(p), strided;
    MPI_Aint lb, extent;
    MPI_Status s;
    int size, n, position = 0;

    for (size_t i = 0; i < sizeof out; i++)
        out[i] = (unsigned char)(i + 1);
    OK(MPI_Type_size(p->pair, &size));
    OK(MPI_Type_get_true_extent(p->pair, &lb, &extent));
    if (me == 0)
        printf("%s: %d bytes, data in [%ld, %ld)\n", p->name, size, (long)lb, (long)(lb + extent));

    memset(in, 0x55, sizeof in);
    OK(MPI_Sendrecv(out, N, p->pair, to, 0, in, N, type, from, 0, MPI_COMM_WORLD, &s));
    OK(MPI_Get_count(&s, type, &n));
    CHECK(n == N, "%s: %d structs", p->name, n);
    check(p, "as a struct", in, out, N);
    memset(in, 0x55, sizeof in);
    OK(MPI_Sendrecv(out, N, type, to, 0, in, N, p->pair, from, 0, MPI_COMM_WORLD, &s));
    OK(MPI_Get_count(&s, p->pair, &n));
    CHECK(n == N, "%s: %d pairs", p->name, n);
    check(p, "from a struct", in, out, N);

    OK(MPI_Pack(out, N, p->pair, packed, sizeof packed, &position, MPI_COMM_WORLD));
    CHECK(position == N * size, "%s: packed, %d bytes", p->name, position);
    memset(in, 0x55, sizeof in);
    position = 0;
    OK(MPI_Unpack(packed, N * size, &position, in, N, type, MPI_COMM_WORLD));
    check(p, "unpacked", in, out, N);

    memset(in, 0x55, sizeof in);
    if (me == 0)
        memcpy(in, out, sizeof in);
    OK(MPI_Bcast(in, N, me % 2 ? p->pair : type, 0, MPI_COMM_WORLD));
    if (me != 0)
        check(p, "broadcast", in, out, N);

    /* Every other one. */
    OK(MPI_Type_vector(2, 1, 2, p->pair, &strided));
    OK(MPI_Type_commit(&strided));
    memset(in, 0x55, sizeof in);
    OK(MPI_Sendrecv(out, 1, strided, to, 0, in, 1, strided, from, 0, MPI_COMM_WORLD, &s));
    check(p, "the first", in, out, 1);
    check(p, "the last", in + 2 * p->extent, out + 2 * p->extent, 1);
    CHECK(in[p->extent] == 0x55, "%s: between", p->name);
    OK(MPI_Type_free(&strided));
    OK(MPI_Type_free(&type));
}

static void sum_of_both(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const struct double_int *a = in;
    struct double_int *b = inout;

    CHECK(*type == MPI_DOUBLE_INT, "another type");
    for (int i = 0; i < *n; i++) {
        b[i].v += a[i].v;
        b[i].i += a[i].i;
    }
}

static void reduce(void)
{
    struct double_int in[N] = {{0}}, out[N];
    MPI_Op op;

    for (int i = 0; i < N; i++) {
        in[i].v = me + i;
        in[i].i = i - me;
    }
    OK(MPI_Op_create(sum_of_both, 1, &op));
    OK(MPI_Allreduce(in, out, N, MPI_DOUBLE_INT, op, MPI_COMM_WORLD));
    OK(MPI_Op_free(&op));
    for (int i = 0; i < N && me == 0; i++)
        printf("%d: %g, %d\n", i, out[i].v, out[i].i);
    OK(MPI_Allreduce(in, out, N, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD));
    for (int i = 0; i < N && me == 0; i++)
        printf("%d: the most is %g, at %d\n", i, out[i].v, out[i].i);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    to = (me + 1) % ranks;
    from = (me + ranks - 1) % ranks;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        look(&pairs[i]);
    reduce();
    printf("%d: as it should be\n", me);
    MPI_Finalize();
    return 0;
}
