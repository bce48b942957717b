/* SPDX-License-Identifier: BSD-3-Clause */
/* Every predefined datatype x operation x {Allreduce, Allreduce in place, Reduce, Reduce in place} x counts
   from nothing to many segments: each rank makes everybody's input itself and computes, element by element
   with plain C, what must come out. `reductions quick` leaves out the large count. */
#include "world.h"

#define CLASS_i(X) X(MAX) X(MIN) X(SUM) X(PROD) X(LAND) X(BAND) X(LOR) X(BOR) X(LXOR) X(BXOR)
#define CLASS_o(X) X(LAND) X(LOR) X(LXOR)
#define CLASS_r(X) X(MAX) X(MIN) X(SUM) X(PROD)
#define CLASS_c(X) X(SUM) X(PROD)
#define CLASS_p(X) X(MAXLOC) X(MINLOC)
#define CLASS_n(X)

enum op { MAX, MIN, SUM, PROD, LAND, BAND, LOR, BOR, LXOR, BXOR, MAXLOC, MINLOC };

static int rank, size, large = 100003;

static MPI_Op handle(enum op op)
{
    const MPI_Op handles[] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR,
                              MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
    return handles[op];
}

/* How numbers combine; logical operations give 0 or 1. */
static long long combine(enum op op, long long a, long long b)
{
    switch (op) {
    case MAX: return a > b ? a : b;
    case MIN: return a < b ? a : b;
    case SUM: return a + b;
    case PROD: return a * b;
    case LAND: return a && b;
    case LOR: return a || b;
    case LXOR: return !a != !b;
    case BAND: return a & b;
    case BOR: return a | b;
    default: return a ^ b;
    }
}

static long long expect_number(enum op op, uint64_t i)
{
    long long x = small(0, i);

    for (int r = 1; r < size; r++)
        x = combine(op, x, small(r, i));
    return x;
}

static void expect_complex(enum op op, uint64_t i, long long *re, long long *im)
{
    *re = small(0, i), *im = small(0, i + 1);
    for (int r = 1; r < size; r++) {
        long long x = small(r, i), y = small(r, i + 1), z = *re;

        if (op == SUM)
            *re += x, *im += y;
        else
            *re = z * x - *im * y, *im = z * y + *im * x;
    }
}

/* The index part of rank r's pair is 10 - r: among equals the highest rank wins. */
static void expect_pair(enum op op, uint64_t i, int *value, int *index)
{
    *value = small(0, i), *index = 10;
    for (int r = 1; r < size; r++)
        if (small(r, i) == *value || (op == MAXLOC) == (small(r, i) > *value))
            *value = small(r, i), *index = 10 - r;
}

#define FILL_i(T) ((T *)p)[i] = (T)small(r, i)
#define FILL_o(T) FILL_i(T)
#define FILL_r(T) FILL_i(T)
#define FILL_n(T) FILL_i(T)
#define FILL_c(T) ((T *)p)[2 * i] = (T)small(r, i), ((T *)p)[2 * i + 1] = (T)small(r, i + 1)
#define FILL_p(T) ((T *)p)[i].v = (short)small(r, i), ((T *)p)[i].i = (short)(10 - r)

#define RIGHT_i(T) ok = ((const T *)p)[i] == (T)expect_number(op, i)
#define RIGHT_o(T) RIGHT_i(T)
#define RIGHT_r(T) RIGHT_i(T)
#define RIGHT_n(T) ok = 1
#define RIGHT_c(T)                                                                      \
    expect_complex(op, i, &re, &im), ok = ((const T *)p)[2 * i] == (T)re && ((const T *)p)[2 * i + 1] == (T)im
#define RIGHT_p(T)                                                                      \
    expect_pair(op, i, &value, &index), ok = ((const T *)p)[i].v == value && ((const T *)p)[i].i == index

#define FUNCTIONS(type, class, T)                                                       \
    static void fill_##type(void *p, int r, uint64_t n)                                 \
    {                                                                                   \
        for (uint64_t i = 0; i < n; i++) { FILL_##class(T); }                           \
    }                                                                                   \
    static void check_##type(const void *p, enum op op, uint64_t n, const char *what)   \
    {                                                                                   \
        long long re = 0, im = 0;                                                       \
        int value = 0, index = 0, ok = 0;                                               \
        for (uint64_t i = 0; i < n; i++) {                                              \
            RIGHT_##class(T);                                                           \
            CHECK(ok, "%s op %d of %s, element %llu of %llu, %d ranks", what, op, #type, \
                  (unsigned long long)i, (unsigned long long)n, size);                  \
        }                                                                               \
        (void)re, (void)im, (void)value, (void)index, (void)op, (void)p;             \
    }
TYPES(FUNCTIONS)

typedef void filler(void *p, int r, uint64_t n);
typedef void checker(const void *p, enum op op, uint64_t n, const char *what);

static char *send, *recv;

static void one(MPI_Datatype type, filler *fill, checker *check, enum op op, int n)
{
    int root = (n + (int)op) % size;

    fill(send, rank, (uint64_t)n);
    OK(MPI_Allreduce(send, recv, n, type, handle(op), MPI_COMM_WORLD));
    check(recv, op, (uint64_t)n, "Allreduce");
    OK(MPI_Reduce(send, rank == root ? recv : NULL, n, type, handle(op), root, MPI_COMM_WORLD));
    if (rank == root)
        check(recv, op, (uint64_t)n, "Reduce");
    fill(recv, rank, (uint64_t)n);
    OK(MPI_Allreduce(MPI_IN_PLACE, recv, n, type, handle(op), MPI_COMM_WORLD));
    check(recv, op, (uint64_t)n, "Allreduce in place");
    fill(recv, rank, (uint64_t)n);
    OK(MPI_Reduce(rank == root ? MPI_IN_PLACE : recv, rank == root ? recv : NULL, n, type, handle(op), root, MPI_COMM_WORLD));
    if (rank == root)
        check(recv, op, (uint64_t)n, "Reduce in place");
}

static void all_counts(MPI_Datatype type, filler *fill, checker *check, enum op op)
{
    const int counts[] = {0, 1, 3, 1000, large};

    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++)
        one(type, fill, check, op, counts[i]);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    if (argc > 1 && strcmp(argv[1], "quick") == 0)
        large = 5003;
    send = calloc((size_t)large, 32);
    recv = calloc((size_t)large, 32);
    CHECK(send && recv, "no memory");
#define EACH_OP(op) all_counts(type, fill, check, op);
#define EACH_TYPE(t, class, T)                          \
    {                                                   \
        MPI_Datatype type = t;                          \
        filler *fill = fill_##t;                        \
        checker *check = check_##t;                     \
        (void)type, (void)fill, (void)check;            \
        CLASS_##class(EACH_OP)                          \
    }
    TYPES(EACH_TYPE)
    free(send);
    free(recv);
    OK(MPI_Finalize());
    if (rank == 0)
        printf("reductions ok on %d ranks\n", size);
    return 0;
}
