/* SPDX-License-Identifier: BSD-3-Clause */
/* Random datatypes in every call that moves data: sent, received, broadcast, gathered and reduced, also as another type of the same basic
   elements. Plain MPI.

     sent_types [-n TYPES] [-s SEED] [-o]

   As types.c. */
#include "compat-tests/abi/random_types.h"

static char back[ROOM], expected[ROOM], packed[ROOM], again[ROOM];
static int sent;

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
    MPI_Datatype flat;

    if (m->n > 0) {
        flat = flat_of(m);
        OK(MPI_Type_commit(&type));
        around(type, flat, m);
        broadcasts(type, flat, m, number % ranks);
        if (are_apart(m, 3 * ranks)) {
            gathers(type, flat, m);
            reductions(type, m, number % ranks);
        }
        OK(MPI_Type_free(&flat));
        sent++;
    }
    drop(&type);
}

int main(int argc, char **argv)
{
    each_type(argc, argv, moves);
    printf("%d: %d types are sent\n", me, sent);
    return 0;
}
