/* SPDX-License-Identifier: BSD-3-Clause */
/* Random datatypes: sizes and bounds, what is packed and unpacked, what the contents say (the same type is made of them again), types freed
   before those made of them. sent_types.c: in messages and collectives. Plain MPI: with any other it prints the same.

     types [-n TYPES] [-s SEED] [-o]

   -n: so many types (400). -s: so begin the random numbers (1). -o: also what is not the same everywhere: "external32", elements of a
   status, distributed arrays (Open MPI's are too long) */
#include "compat-tests/abi/random_types.h"

static char back[ROOM], expected[ROOM], packed[ROOM], again[ROOM];

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

static void look_at(int k, MPI_Datatype type, const struct model *m)
{
    MPI_Datatype same = rebuilt(type);
    int n;

    OK(MPI_Type_commit(&type));
    figures(type, m);
    figures(same, m);
    n = packs(type, m);
    if (own && m->n > 0)
        counts(type, m);
    drop(&type);
    OK(MPI_Type_commit(&same));
    packs(same, m);
    print(k, same, n);
    drop(&same);
}

int main(int argc, char **argv)
{
    each_type(argc, argv, look_at);
    return 0;
}
