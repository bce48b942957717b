/* SPDX-License-Identifier: BSD-3-Clause */
/* Derived datatypes, nested at random from a fixed seed, against a naive reference: a list of every basic element. Sizes and bounds,
   what is packed and unpacked, what the contents say (the same type is made of them again), types freed before those made of them; then
   sent, received, broadcast, gathered and reduced, also as another type of the same basic elements. Each rank has other data.
   Plain MPI: with any other it prints the same.

     types [-n TYPES] [-s SEED] [-o]

   -n  so many types (400)
   -s  so begins the random numbers (1)
   -o  also what is not the same everywhere: "external32", elements of a status, distributed arrays (Open MPI's are too long) */
#include <getopt.h>
#include <stdbool.h>

#include "compat-tests/abi/world.h"

enum { MOST = 4000, ROOM = 1 << 16, MIDDLE = ROOM / 2, COPIES = 2 };

/* The reference. */
struct model {
    int n;                      /* basic elements, in order */
    int at[MOST], width[MOST];
    int lb, ub, align;
    bool bounded;
};

static uint64_t state;
static bool own;
static int me, ranks;
static char memory[ROOM], back[ROOM], expected[ROOM], packed[ROOM], again[ROOM];

/* What rank r has in its memory. */
static char content(int r, int at) { return (char)(at * 7 + (at >> 8) + 1 + r * 101); }

static int upto(int n) /* 0 to n */
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % ((uint64_t)n + 1));
}

/* Open MPI rounds the extent of what is not aligned after each block, not at the end. */
static int place(int at) { return own ? at : at / 8 * 8; }

static int extent(const struct model *m) { return m->ub - m->lb; }

static int size(const struct model *m)
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
static void figures(MPI_Datatype type, const struct model *m);

static void drop(MPI_Datatype *type)
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

/* ---- what is looked at ---- */

static void figures(MPI_Datatype type, const struct model *m)
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

static int packs(MPI_Datatype type, const struct model *m)
{
    int n = 0, position = 0;

    OK(MPI_Pack(memory + MIDDLE, COPIES, type, packed, ROOM, &position, MPI_COMM_WORLD));
    memset(expected, 0, sizeof expected);
    for (int c = 0; c < COPIES; c++)
        for (int i = 0; i < m->n; i++) {
            int at = MIDDLE + c * extent(m) + m->at[i];

            CHECK(!memcmp(packed + n, memory + at, (size_t)m->width[i]), "packed element %d of %d", i, m->n);
            memcpy(expected + at, memory + at, (size_t)m->width[i]);
            n += m->width[i];
        }
    CHECK(position == n, "%d bytes for %d", position, n);
    memset(back, 0, sizeof back);
    position = 0;
    OK(MPI_Unpack(packed, n, &position, back + MIDDLE, COPIES, type, MPI_COMM_WORLD));
    CHECK(position == n && !memcmp(back, expected, sizeof back), "unpacked");
    if (own) {
        MPI_Aint at = 0, room;

        OK(MPI_Pack_external_size("external32", COPIES, type, &room));
        CHECK(room == n, "external32: %ld for %d", (long)room, n);
        OK(MPI_Pack_external("external32", memory + MIDDLE, COPIES, type, again, ROOM, &at));
        for (int i = 0, k = 0; i < m->n * COPIES; k += m->width[i++ % m->n])
            for (int j = 0; j < m->width[i % m->n]; j++)
                CHECK(again[k + j] == packed[k + m->width[i % m->n] - 1 - j], "external32: byte %d of element %d", j, i);
        memset(back, 0, sizeof back);
        at = 0;
        OK(MPI_Unpack_external("external32", again, n, &at, back + MIDDLE, COPIES, type));
        CHECK(at == n && !memcmp(back, expected, sizeof back), "external32: unpacked");
    }
    return n;
}

static void counts(MPI_Datatype type, const struct model *m)
{
    MPI_Status s;
    int got;

    for (int n = 0; n <= 3 * m->n; n += 1 + n % 3) {
        OK(MPI_Status_set_elements(&s, type, n));
        OK(MPI_Get_elements(&s, type, &got));
        CHECK(got == n, "%d elements for %d", got, n);
        OK(MPI_Get_count(&s, type, &got));
        CHECK(got == (n % m->n ? MPI_UNDEFINED : n / m->n), "%d whole ones for %d of %d elements", got, n, m->n);
    }
}

/* ---- from rank to rank ---- */

/* One element more of a rank's, as it is packed; or from there to where it is expected. */
static char *taken(const struct model *m, int r, int element, char *to)
{
    for (int i = 0; i < m->n; i++)
        for (int k = 0; k < m->width[i]; k++)
            *to++ = content(r, MIDDLE + element * extent(m) + m->at[i] + k);
    return to;
}

static const char *expect(const struct model *m, int element, const char *from)
{
    for (int i = 0; i < m->n; i++, from += m->width[i - 1])
        memcpy(expected + MIDDLE + element * extent(m) + m->at[i], from, (size_t)m->width[i]);
    return from;
}

/* `copies` elements of rank r. */
static void take(const struct model *m, int r, int copies, char *to)
{
    for (int c = 0; c < copies; c++)
        to = taken(m, r, c, to);
}

static void expect_from(const struct model *m, int r, int element, int copies)
{
    for (int c = 0; c < copies; c++) {
        taken(m, r, c, again);
        expect(m, element + c, again);
    }
}

static void clear(void)
{
    memset(back, 0x55, sizeof back);
    memset(expected, 0x55, sizeof expected);
}

static void check(const char *how) { CHECK(!memcmp(back, expected, sizeof back), "%s", how); }

/* The same basic elements side by side. */
static MPI_Datatype flat_of(const struct model *m)
{
    static int ones[MOST];
    static MPI_Aint at[MOST];
    static MPI_Datatype types[MOST];
    MPI_Datatype made, flat;
    int bytes = 0;

    for (int i = 0; i < m->n; i++) {
        ones[i] = 1;
        at[i] = bytes;
        types[i] = m->width[i] == 1 ? MPI_CHAR : m->width[i] == 2 ? MPI_SHORT : m->width[i] == 4 ? MPI_INT : MPI_DOUBLE;
        bytes += m->width[i];
    }
    OK(MPI_Type_create_struct(m->n, ones, at, types, &made));
    OK(MPI_Type_create_resized(made, 0, bytes, &flat));
    OK(MPI_Type_free(&made));
    OK(MPI_Type_commit(&flat));
    return flat;
}

static void around(MPI_Datatype type, MPI_Datatype flat, const struct model *m)
{
    int to = (me + 1) % ranks, from = (me + ranks - 1) % ranks, n = COPIES * size(m), got;
    MPI_Datatype other;
    MPI_Request r;
    MPI_Status s;

    clear();
    OK(MPI_Sendrecv(memory + MIDDLE, COPIES, type, to, 1, back + MIDDLE, COPIES + 1, type, from, 1, MPI_COMM_WORLD, &s));
    expect_from(m, from, 0, COPIES);
    check("sent and received");
    OK(MPI_Get_elements(&s, type, &got));
    CHECK(got == COPIES * m->n, "%d elements for %d", got, COPIES * m->n);

    clear();
    OK(MPI_Sendrecv(memory + MIDDLE, COPIES, type, to, 1, back, COPIES, flat, from, 1, MPI_COMM_WORLD, &s));
    take(m, from, COPIES, expected);
    check("received side by side");

    clear();
    take(m, me, COPIES, packed);
    OK(MPI_Type_dup(type, &other));
    OK(MPI_Irecv(back + MIDDLE, COPIES, other, from, 1, MPI_COMM_WORLD, &r));
    OK(MPI_Type_free(&other));
    OK(MPI_Ssend(packed, 1, flat, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    OK(MPI_Send(packed, COPIES, flat, to, 1, MPI_COMM_WORLD));
    OK(MPI_Wait(&r, &s));
    expect_from(m, from, 0, COPIES);
    check("sent side by side");
    OK(MPI_Get_count(&s, MPI_BYTE, &got));
    CHECK(got == n, "%d bytes for %d", got, n);
}

static void broadcasts(MPI_Datatype type, MPI_Datatype flat, const struct model *m, int root)
{
    for (int is_flat = 0; is_flat < 2; is_flat++) {
        clear();
        take(m, root, COPIES, packed);
        if (me == root)
            OK(MPI_Bcast(is_flat ? packed : memory + MIDDLE, COPIES, is_flat ? flat : type, root, MPI_COMM_WORLD));
        else
            OK(MPI_Bcast(is_flat ? back + MIDDLE : back, COPIES, is_flat ? type : flat, root, MPI_COMM_WORLD));
        if (me != root && is_flat)
            expect_from(m, root, 0, COPIES);
        else if (me != root)
            memcpy(expected, packed, (size_t)(COPIES * size(m)));
        check("broadcast");
    }
}

/* So many elements find room, and no byte is in two places. */
static bool are_apart(const struct model *m, int elements)
{
    static char seen[ROOM];

    memset(seen, 0, sizeof seen);
    for (int c = 0; c < elements; c++)
        for (int i = 0; i < m->n; i++)
            for (int k = 0; k < m->width[i]; k++) {
                int at = MIDDLE + c * extent(m) + m->at[i] + k;

                if (at < 0 || at >= ROOM || seen[at]++)
                    return false;
            }
    return true;
}

static void gathers(MPI_Datatype type, MPI_Datatype flat, const struct model *m)
{
    int counts[8], displs[8];

    take(m, me, COPIES, packed);
    for (int how = 0; how < 3; how++) {
        clear();
        for (int r = 0; r < ranks; r++)
            expect_from(m, r, r * COPIES, COPIES);
        if (how == 0)
            OK(MPI_Allgather(memory + MIDDLE, COPIES, type, back + MIDDLE, COPIES, type, MPI_COMM_WORLD));
        else if (how == 1)
            OK(MPI_Allgather(packed, COPIES, flat, back + MIDDLE, COPIES, type, MPI_COMM_WORLD));
        else {
            int at = 0;

            OK(MPI_Unpack(packed, ROOM, &at, back + MIDDLE + me * COPIES * extent(m), COPIES, type, MPI_COMM_WORLD));
            OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, back + MIDDLE, COPIES, type, MPI_COMM_WORLD));
        }
        check("gathered");
    }
    clear();
    for (int r = 0; r < ranks; r++)
        take(m, r, COPIES, expected + r * COPIES * size(m));
    OK(MPI_Allgather(memory + MIDDLE, COPIES, type, back, COPIES, flat, MPI_COMM_WORLD));
    check("gathered side by side");

    for (int how = 0; how < 2; how++) {
        clear();
        for (int r = 0; r < ranks; r++) {
            counts[r] = r % 3;
            displs[r] = (ranks - 1 - r) * 3;
            expect_from(m, r, displs[r], counts[r]);
        }
        OK(MPI_Allgatherv(how ? packed : memory + MIDDLE, counts[me], how ? flat : type, back + MIDDLE, counts, displs, type,
                          MPI_COMM_WORLD));
        check("gathered in parts");
    }
}

/* ---- an operation of the program's ---- */

static const struct model *reduced;

static void combine(void *in, void *inout, int *len, MPI_Datatype *type)
{
    const struct model *m = reduced;

    (void)type;
    for (int c = 0; c < *len; c++)
        for (int i = 0; i < m->n; i++)
            for (int k = 0; k < m->width[i]; k++)
                ((char *)inout)[c * extent(m) + m->at[i] + k] ^= ((char *)in)[c * extent(m) + m->at[i] + k];
}

static void expect_reduced(const struct model *m, int copies)
{
    for (int c = 0; c < copies; c++)
        for (int i = 0; i < m->n; i++)
            for (int k = 0; k < m->width[i]; k++) {
                int at = MIDDLE + c * extent(m) + m->at[i] + k;

                expected[at] = 0;
                for (int r = 0; r < ranks; r++)
                    expected[at] ^= content(r, at);
            }
}

static void reductions(MPI_Datatype type, const struct model *m, int root)
{
    MPI_Op op;
    int at = 0;

    reduced = m;
    OK(MPI_Op_create(combine, root % 2, &op));
    clear();
    OK(MPI_Allreduce(memory + MIDDLE, back + MIDDLE, COPIES, type, op, MPI_COMM_WORLD));
    expect_reduced(m, COPIES);
    check("reduced for all");

    clear();
    take(m, me, COPIES, packed);
    OK(MPI_Unpack(packed, ROOM, &at, back + MIDDLE, COPIES, type, MPI_COMM_WORLD));
    OK(MPI_Allreduce(MPI_IN_PLACE, back + MIDDLE, COPIES, type, op, MPI_COMM_WORLD));
    expect_reduced(m, COPIES);
    check("reduced in place");

    clear();
    OK(MPI_Reduce(memory + MIDDLE, back + MIDDLE, COPIES, type, op, root, MPI_COMM_WORLD));
    if (me == root)
        expect_reduced(m, COPIES);
    check("reduced");

    clear();
    memcpy(back, memory, sizeof back);
    memcpy(expected, memory, sizeof back);
    OK(MPI_Reduce_local(memory + MIDDLE, back + MIDDLE, COPIES, type, op));
    for (int c = 0; c < COPIES; c++)
        for (int i = 0; i < m->n; i++)
            memset(expected + MIDDLE + c * extent(m) + m->at[i], 0, (size_t)m->width[i]);
    check("reduced with itself");
    OK(MPI_Op_free(&op));
}

static void moves(int number, MPI_Datatype type, const struct model *m)
{
    MPI_Datatype flat = flat_of(m);

    around(type, flat, m);
    broadcasts(type, flat, m, number % ranks);
    if (are_apart(m, 3 * ranks)) {
        gathers(type, flat, m);
        reductions(type, m, number % ranks);
    }
    OK(MPI_Type_free(&flat));
}

/* The type that the contents say. */
static MPI_Datatype rebuilt(MPI_Datatype type)
{
    int i[40], ni, na, nt, combiner, d;
    MPI_Datatype t[4], made = MPI_DATATYPE_NULL;
    MPI_Aint a[10];

    OK(MPI_Type_get_envelope(type, &ni, &na, &nt, &combiner));
    if (combiner == MPI_COMBINER_NAMED)
        return type;
    CHECK(ni <= 40 && na <= 10 && nt <= 4, "%d, %d, %d", ni, na, nt);
    OK(MPI_Type_get_contents(type, ni, na, nt, i, a, t));
    switch (combiner) {
    case MPI_COMBINER_DUP: OK(MPI_Type_dup(t[0], &made)); break;
    case MPI_COMBINER_CONTIGUOUS: OK(MPI_Type_contiguous(i[0], t[0], &made)); break;
    case MPI_COMBINER_VECTOR: OK(MPI_Type_vector(i[0], i[1], i[2], t[0], &made)); break;
    case MPI_COMBINER_HVECTOR: OK(MPI_Type_create_hvector(i[0], i[1], a[0], t[0], &made)); break;
    case MPI_COMBINER_INDEXED: OK(MPI_Type_indexed(i[0], i + 1, i + 1 + i[0], t[0], &made)); break;
    case MPI_COMBINER_HINDEXED: OK(MPI_Type_create_hindexed(i[0], i + 1, a, t[0], &made)); break;
    case MPI_COMBINER_INDEXED_BLOCK: OK(MPI_Type_create_indexed_block(i[0], i[1], i + 2, t[0], &made)); break;
    case MPI_COMBINER_HINDEXED_BLOCK: OK(MPI_Type_create_hindexed_block(i[0], i[1], a, t[0], &made)); break;
    case MPI_COMBINER_STRUCT: OK(MPI_Type_create_struct(i[0], i + 1, a, t, &made)); break;
    case MPI_COMBINER_RESIZED: OK(MPI_Type_create_resized(t[0], a[0], a[1], &made)); break;
    case MPI_COMBINER_SUBARRAY:
        d = i[0];
        OK(MPI_Type_create_subarray(d, i + 1, i + 1 + d, i + 1 + 2 * d, i[1 + 3 * d], t[0], &made));
        break;
    case MPI_COMBINER_DARRAY:
        d = i[2];
        OK(MPI_Type_create_darray(i[0], i[1], d, i + 3, i + 3 + d, i + 3 + 2 * d, i + 3 + 3 * d, i[3 + 4 * d], t[0], &made));
        break;
    default: CHECK(false, "combiner %d", combiner);
    }
    for (int k = 0; k < nt; k++)
        drop(&t[k]);
    return made;
}

static void print(int k, MPI_Datatype type, int n)
{
    int ni, na, nt, combiner, bytes;
    MPI_Aint lb, e;
    uint32_t sum = 0;

    if (me != 0)
        return;
    OK(MPI_Type_get_envelope(type, &ni, &na, &nt, &combiner));
    OK(MPI_Type_get_extent(type, &lb, &e));
    OK(MPI_Type_size(type, &bytes));
    for (int i = 0; i < n; i++)
        sum = sum * 31 + (unsigned char)packed[i];
    printf("%d: combiner %d of %d, %d, %d; %d bytes in [%ld, %ld); packed %08x\n", k, combiner, ni, na, nt, bytes, (long)lb,
           (long)(lb + e), (unsigned)sum);
}

static void look_at(int k)
{
    static struct model m;
    MPI_Datatype type = nested(1 + upto(2), &m), same;
    int n;

    if (m.lb < -MIDDLE / 4 || m.ub > MIDDLE / 4) { /* there is no room for it */
        drop(&type);
        return;
    }
    same = rebuilt(type);
    OK(MPI_Type_commit(&type));
    figures(type, &m);
    figures(same, &m);
    n = packs(type, &m);
    if (own && m.n > 0)
        counts(type, &m);
    drop(&type);
    OK(MPI_Type_commit(&same));
    packs(same, &m);
    print(k, same, n);
    if (m.n > 0)
        moves(k, same, &m);
    drop(&same);
}

int main(int argc, char **argv)
{
    int types = 400, option;

    state = 1;
    while ((option = getopt(argc, argv, "n:s:o")) != -1) {
        if (option == 'n')
            types = atoi(optarg);
        else if (option == 's')
            state = strtoull(optarg, NULL, 10);
        else
            own = true;
    }
    MPI_Init(&argc, &argv);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    for (int i = 0; i < ROOM; i++)
        memory[i] = content(me, i);
    for (int k = 0; k < types; k++)
        look_at(k);
    MPI_Finalize();
    return 0;
}
