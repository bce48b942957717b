/* SPDX-License-Identifier: BSD-3-Clause */
#include "compat-tests/abi/random_types.h"

#include <getopt.h>

bool own;
int me, ranks;
char memory[ROOM];
static uint64_t state;

char content(int r, int at) { return (char)(at * 7 + (at >> 8) + 1 + r * 101); }

static int upto(int n) /* 0 to n */
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % ((uint64_t)n + 1));
}

/* Open MPI rounds the extent of what is not aligned after each block, not at the end. */
static int place(int at) { return own ? at : at / 8 * 8; }

int extent(const struct model *m) { return m->ub - m->lb; }

int size(const struct model *m)
{
    int bytes = 0;

    for (int i = 0; i < m->n; i++)
        bytes += m->width[i];
    return bytes;
}

static void begin(struct model *m) { *m = (struct model){.align = 1}; }

/* One element of `of` more, at that place; `any`: m has some already. */
static void put(struct model *m, const struct model *of, int at, bool *any)
{
    bool anew = !*any || (of->bounded && !m->bounded);

    for (int i = 0; i < of->n; i++) {
        m->at[m->n] = at + of->at[i];
        m->width[m->n++] = of->width[i];
    }
    if (anew || (of->bounded == m->bounded && at + of->lb < m->lb))
        m->lb = at + of->lb;
    if (anew || (of->bounded == m->bounded && at + of->ub > m->ub))
        m->ub = at + of->ub;
    m->bounded |= of->bounded;
    if (of->align > m->align)
        m->align = of->align;
    *any = true;
}

static void end(struct model *m)
{
    if (!m->bounded)
        m->ub += (m->align - extent(m) % m->align) % m->align;
}

/* ---- types ---- */

static MPI_Datatype leaf(struct model *m)
{
    static const struct { MPI_Datatype type; int width; } basic[] = {{MPI_CHAR, 1}, {MPI_SHORT, 2}, {MPI_INT, 4}, {MPI_DOUBLE, 8}};
    int k = upto(3);

    *m = (struct model){.n = 1, .width = {basic[k].width}, .ub = basic[k].width, .align = basic[k].width};
    return basic[k].type;
}

static MPI_Datatype nested(int depth, struct model *m);

void drop(MPI_Datatype *type)
{
    int a, b, c, combiner;

    OK(MPI_Type_get_envelope(*type, &a, &b, &c, &combiner));
    if (combiner != MPI_COMBINER_NAMED)
        OK(MPI_Type_free(type));
}

static MPI_Datatype several(int depth, struct model *m)
{
    static struct model of[8];
    MPI_Datatype types[2], made;
    int lengths[2] = {1 + upto(1), 1 + upto(1)};
    MPI_Aint at[2] = {place(upto(20) - 10), place(60 + upto(20))};
    bool any = false;

    for (int i = 0; i < 2; i++) {
        struct model part;

        types[i] = nested(depth - 1, &part);
        of[2 * depth + i] = part;
    }
    OK(MPI_Type_create_struct(2, lengths, at, types, &made));
    for (int i = 0; i < 2; i++) {
        const struct model *part = &of[2 * depth + i];

        for (int k = 0; k < lengths[i]; k++)
            put(m, part, (int)at[i] + k * extent(part), &any);
        drop(&types[i]);
    }
    end(m);
    return made;
}

static MPI_Datatype sub_array(MPI_Datatype old, const struct model *of, struct model *m)
{
    int sizes[2] = {3, 4}, part[2] = {1 + upto(1), 1 + upto(2)}, from[2] = {upto(1), upto(1)}, order = upto(1);
    int e = extent(of), across = order == MPI_ORDER_C ? 0 : 1; /* the dimension that varies more slowly */
    MPI_Datatype made;
    bool any = false;

    OK(MPI_Type_create_subarray(2, sizes, part, from, order, old, &made));
    for (int i = 0; i < part[across]; i++)
        for (int k = 0; k < part[!across]; k++)
            put(m, of, ((from[across] + i) * sizes[!across] + from[!across] + k) * e, &any);
    m->lb = 0;
    m->ub = 12 * e;
    m->bounded = true;
    return made;
}

/* In Fortran's order and in C's: element (i, j) belongs to the process of the grid that both dimensions say. */
static MPI_Datatype distributed(MPI_Datatype old, const struct model *of, struct model *m)
{
    int sizes[2] = {5, 4}, how[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, 1 + upto(1)};
    int grid[2] = {2, 2}, rank = upto(3), order = upto(1), across = order == MPI_ORDER_C ? 0 : 1;
    MPI_Datatype made;
    bool any = false;

    OK(MPI_Type_create_darray(4, rank, 2, sizes, how, arguments, grid, order, old, &made));
    for (int i = 0; i < sizes[across]; i++)
        for (int k = 0; k < sizes[!across]; k++) {
            int first = across == 0 ? i : k, second = across == 0 ? k : i;

            if (first / 3 == rank / 2 && second / arguments[1] % 2 == rank % 2)
                put(m, of, (i * sizes[!across] + k) * extent(of), &any);
        }
    m->lb = 0;
    m->ub = 20 * extent(of);
    m->bounded = true;
    return made;
}

static MPI_Datatype of_one(MPI_Datatype old, const struct model *of, struct model *m)
{
    int count = 1 + upto(2), length = 1 + upto(1), e = extent(of), k = upto(8), stride = upto(6) - 2;
    int lengths[3] = {upto(2), 1 + upto(1), upto(1)}, places[3] = {0, 3 + upto(2), -4 - upto(2)};
    MPI_Aint bytes[3] = {place(upto(10)), 64, -64};
    MPI_Datatype made;
    bool any = false;

    if (!own && stride * e == -1) /* Open MPI takes an extent of -1 for none */
        stride = 7;
    switch (k) {
    case 0:
        OK(MPI_Type_contiguous(count, old, &made));
        for (int i = 0; i < count; i++)
            put(m, of, i * e, &any);
        break;
    case 1: case 2:
        if (k == 1)
            OK(MPI_Type_vector(count, length, stride, old, &made));
        else
            OK(MPI_Type_create_hvector(count, length, stride * 5, old, &made));
        for (int i = 0; i < count; i++)
            for (int j = 0; j < length; j++)
                put(m, of, (k == 1 ? i * stride * e : i * stride * 5) + j * e, &any);
        break;
    case 3: case 4:
        if (k == 3)
            OK(MPI_Type_indexed(count, lengths, places, old, &made));
        else
            OK(MPI_Type_create_hindexed(count, lengths, bytes, old, &made));
        for (int i = 0; i < count; i++)
            for (int j = 0; j < lengths[i]; j++)
                put(m, of, (k == 3 ? places[i] * e : (int)bytes[i]) + j * e, &any);
        break;
    case 5: case 6:
        if (k == 5)
            OK(MPI_Type_create_indexed_block(count, length, places, old, &made));
        else
            OK(MPI_Type_create_hindexed_block(count, length, bytes, old, &made));
        for (int i = 0; i < count; i++)
            for (int j = 0; j < length; j++)
                put(m, of, (k == 5 ? places[i] * e : (int)bytes[i]) + j * e, &any);
        break;
    case 7:
        OK(MPI_Type_dup(old, &made));
        *m = *of;
        return made;
    default:
        *m = *of;
        m->lb = upto(8) - 4;
        m->ub = m->lb + e + upto(9);
        m->bounded = true;
        OK(MPI_Type_create_resized(old, m->lb, m->ub - m->lb, &made));
        return made;
    }
    end(m);
    return made;
}

static MPI_Datatype nested(int depth, struct model *m)
{
    struct model of;
    MPI_Datatype old, made;
    int k = upto(9);

    if (depth == 0)
        return leaf(m);
    begin(m);
    if (k == 0)
        return several(depth, m);
    old = nested(depth - 1, &of);
    if (of.n == 0 || of.n > 40 || extent(&of) > 500) /* of nothing: what that is differs */
        k = 0;
    if (k == 0) {
        *m = of;
        return old;
    }
    figures(old, &of);
    made = k == 1 ? sub_array(old, &of, m) : k == 2 && own ? distributed(old, &of, m) : of_one(old, &of, m);
    drop(&old);
    return made;
}

void figures(MPI_Datatype type, const struct model *m)
{
    MPI_Aint lb, e, true_lb, true_extent;
    int bytes, lo = 0, hi = 0;

    for (int i = 0; i < m->n; i++) {
        if (i == 0 || m->at[i] < lo)
            lo = m->at[i];
        if (i == 0 || m->at[i] + m->width[i] > hi)
            hi = m->at[i] + m->width[i];
    }
    OK(MPI_Type_size(type, &bytes));
    OK(MPI_Type_get_extent(type, &lb, &e));
    OK(MPI_Type_get_true_extent(type, &true_lb, &true_extent));
    CHECK(bytes == size(m), "%d for %d", bytes, size(m));
    CHECK(lb == m->lb && e == extent(m), "[%ld, %ld) for [%d, %d)", (long)lb, (long)(lb + e), m->lb, m->ub);
    CHECK(m->n == 0 || (true_lb == lo && true_extent == hi - lo), "[%ld, %ld) for [%d, %d)", (long)true_lb,
          (long)(true_lb + true_extent), lo, hi);
}

void each_type(int argc, char **argv, looker *look)
{
    static struct model m;
    int types = 400;

    state = 1;
    for (int c; (c = getopt(argc, argv, "n:s:o")) != -1;) {
        if (c == 'n')
            types = atoi(optarg);
        else if (c == 's')
            state = strtoull(optarg, NULL, 10);
        else if (c == 'o')
            own = true;
        else
            exit(2);
    }
    MPI_Init(&argc, &argv);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    for (int i = 0; i < ROOM; i++)
        memory[i] = content(me, i);
    for (int k = 0; k < types; k++) {
        MPI_Datatype type = nested(1 + upto(2), &m);

        if (m.lb < -MIDDLE / 4 || m.ub > MIDDLE / 4) /* there is no room for it */
            drop(&type);
        else
            look(k, type, &m);
    }
    MPI_Finalize();
}
