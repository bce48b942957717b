/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns of data with gaps: elements of blocks that lie apart, and a last one of another length. What comes is laid out and
   looked at byte by byte, and the gaps have to be as they were. */
#include <string.h>

#include "compat-tests/chaos/patterns.h"

/* An element: so many blocks, `stride` apart, then `last` bytes at `end`. */
struct shape {
    int blocks, length, stride, end, last;
    int packed, extent;
};

enum { GAP = 0x77 };

static struct shape draw_shape(uint64_t rng)
{
    struct shape s = {.blocks = 1 + (int)below(&rng, 40), .length = 1 + (int)below(&rng, 24), .last = 1 + (int)below(&rng, 40)};

    s.stride = s.length + (int)below(&rng, 30);
    s.end = s.blocks * s.stride + (int)below(&rng, 20);
    s.packed = s.blocks * s.length + s.last;
    s.extent = s.end + s.last + (int)below(&rng, 20);
    return s;
}

static MPI_Datatype type_of(const struct shape *s)
{
    MPI_Datatype blocks, both, type;
    int lengths[2] = {1, s->last};
    MPI_Aint at[2] = {0, s->end};
    MPI_Datatype types[2];

    OK(MPI_Type_create_hvector(s->blocks, s->length, s->stride, MPI_BYTE, &blocks));
    types[0] = blocks;
    types[1] = MPI_BYTE;
    OK(MPI_Type_create_struct(2, lengths, at, types, &both));
    OK(MPI_Type_create_resized(both, 0, s->extent, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_free(&blocks));
    OK(MPI_Type_free(&both));
    return type;
}

/* Where byte i of all packed ones is. */
static size_t where(const struct shape *s, size_t i)
{
    size_t in = i % (unsigned)s->packed, at = i / (unsigned)s->packed * (unsigned)s->extent, tail = (unsigned)(s->blocks * s->length);

    return in < tail ? at + in / (unsigned)s->length * (unsigned)s->stride + in % (unsigned)s->length : at + (unsigned)s->end + in - tail;
}

static size_t room_of(const struct shape *s, size_t size) { return size / (unsigned)s->packed * (unsigned)s->extent; }

static unsigned char *blank(const struct shape *s, size_t size) { return memset(space(room_of(s, size)), GAP, room_of(s, size)); }

static unsigned char *laid_out(const struct shape *s, const unsigned char *packed, size_t size)
{
    unsigned char *memory = blank(s, size);

    for (size_t i = 0; i < size; i++)
        memory[where(s, i)] = packed[i];
    return memory;
}

/* The other way round; the gaps are as they were. */
static unsigned char *picked_up(const struct shape *s, const unsigned char *memory, size_t size)
{
    unsigned char *packed = space(size), *again;

    for (size_t i = 0; i < size; i++)
        packed[i] = memory[where(s, i)];
    again = laid_out(s, packed, size);
    CHECK(!memcmp(again, memory, room_of(s, size)), "a gap was written to");
    return packed;
}

/* ---- messages; each side has gaps or none ---- */

static bool sends_gaps(const struct message *m) { return m->key >> 8 & 1; }
static bool receives_gaps(const struct message *m) { return m->key >> 9 & 3; }

void gaps_start(struct play *p)
{
    struct shape s = draw_shape(p->way);
    MPI_Datatype type = type_of(&s);
    MPI_Request request;

    add_random(p, 4 + (int)below(&p->rng, 12), 3, 300000);
    p->requests = space(1024 * sizeof *p->requests);
    p->of = space(1024 * sizeof *p->of);
    p->data = space(1024 * sizeof *p->data);
    for (int i = 0; i < p->count; i++) {
        struct message *m = &p->messages[i];
        int elements;

        m->size -= m->size % (unsigned)s.packed;
        elements = (int)(m->size / (unsigned)s.packed);
        if (m->to == p->me) {
            int k = p->pending++;

            p->of[k] = m;
            p->data[k] = receives_gaps(m) ? blank(&s, m->size) : space(m->size);
            OK(MPI_Irecv(p->data[k], receives_gaps(m) ? elements : (int)m->size, receives_gaps(m) ? type : MPI_BYTE, m->from, m->tag,
                         p->comm, &p->requests[k]));
        }
        if (m->from == p->me) {
            unsigned char *data = contents(m);

            if (sends_gaps(m))
                data = laid_out(&s, data, m->size);
            OK((m->key >> 11 & 3 ? MPI_Isend : MPI_Issend)(data, sends_gaps(m) ? elements : (int)m->size, sends_gaps(m) ? type : MPI_BYTE,
                                                          m->to, m->tag, p->comm, &request));
            end_later(request);
        }
    }
    OK(MPI_Type_free(&type)); /* and goes on being used */
}

void gaps_take(struct play *p)
{
    struct shape s = draw_shape(p->way);

    shuffle_pending(p);
    for (int i = 0; i < p->pending; i++) {
        struct message *m = p->of[i];
        MPI_Status status;

        OK(MPI_Wait(&p->requests[i], &status));
        came(m, receives_gaps(m) ? picked_up(&s, p->data[i], m->size) : p->data[i], &status);
    }
}

/* ---- collectives ---- */

/* Contents of a rank's that all can tell: nothing of an order is in them. */
static unsigned char *told(struct play *p, uint64_t key, int r, size_t size)
{
    unsigned char *data = space(size);
    uint64_t state = key + (unsigned)r;

    (void)p;
    for (size_t i = 0; i < size; i++)
        data[i] = (unsigned char)(draw(&state) >> 40);
    return data;
}

static void is(const unsigned char *data, const unsigned char *should, size_t size, const char *how)
{
    CHECK(!memcmp(data, should, size), "%s: something else came", how);
    for (size_t i = 0; i < size; i += 1 + size / 16)
        own.came += mix((uint64_t)data[i] << 32 | i);
}

static void broadcast(struct play *p, const struct shape *s, MPI_Datatype type, size_t size)
{
    uint64_t key = draw(&p->rng);
    int root = (int)below(&p->rng, (unsigned)p->n), elements = (int)(size / (unsigned)s->packed);
    bool has_gaps = p->me == root || (key + (unsigned)p->me) % 3;
    unsigned char *should = told(p, key, root, size), *data = has_gaps ? blank(s, size) : space(size);

    if (p->me == root)
        data = laid_out(s, should, size);
    OK(MPI_Bcast(data, has_gaps ? elements : (int)size, has_gaps ? type : MPI_BYTE, root, p->comm));
    is(has_gaps ? picked_up(s, data, size) : data, should, size, "bcast");
}

static void gather(struct play *p, const struct shape *s, MPI_Datatype type, size_t size)
{
    uint64_t key = draw(&p->rng);
    int way = (int)below(&p->rng, 4), elements = (int)(size / (unsigned)s->packed), counts[MOST_RANKS], displs[MOST_RANKS];
    size_t all = (unsigned)p->n * size;
    unsigned char *mine = told(p, key, p->me, size), *data = blank(s, all), *should = space(all);

    for (int r = 0; r < p->n; r++) {
        memcpy(should + (unsigned)r * size, told(p, key, r, size), size);
        counts[r] = elements;
        displs[r] = r * elements;
    }
    if (way == 0) {
        OK(MPI_Allgather(laid_out(s, mine, size), elements, type, data, elements, type, p->comm));
    } else if (way == 1) {
        OK(MPI_Allgather(mine, (int)size, MPI_BYTE, data, elements, type, p->comm));
    } else if (way == 2) {
        memcpy(data + (unsigned)p->me * room_of(s, size), laid_out(s, mine, size), room_of(s, size));
        OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, elements, type, p->comm));
    } else {
        OK(MPI_Allgatherv(mine, (int)size, MPI_BYTE, data, counts, displs, type, p->comm));
    }
    is(picked_up(s, data, all), should, all, "allgather");
}

static struct shape combined;

/* inout op in: bytes of their own each, in an order that all have alike. */
static void combine(void *in, void *inout, int *len, MPI_Datatype *type)
{
    size_t size = (size_t)*len * (unsigned)combined.packed;
    unsigned char *to = inout, *from = in;

    (void)type;
    for (size_t i = 0; i < size; i++) {
        unsigned char *at = to + where(&combined, i);

        *at = (unsigned char)(*at + from[where(&combined, i)]);
    }
}

static void reduce(struct play *p, const struct shape *s, MPI_Datatype type, size_t size)
{
    uint64_t key = draw(&p->rng);
    int way = (int)below(&p->rng, 3), root = (int)below(&p->rng, (unsigned)p->n), elements = (int)(size / (unsigned)s->packed);
    unsigned char *should = memset(space(size), 0, size), *mine = laid_out(s, told(p, key, p->me, size), size), *data = blank(s, size);
    MPI_Op op;

    for (int r = 0; r < p->n; r++) {
        const unsigned char *theirs = told(p, key, r, size);

        for (size_t i = 0; i < size; i++)
            should[i] = (unsigned char)(should[i] + theirs[i]);
    }
    combined = *s;
    OK(MPI_Op_create(combine, 1, &op));
    if (way == 0)
        OK(MPI_Allreduce(mine, data, elements, type, op, p->comm));
    else if (way == 1)
        OK(MPI_Allreduce(MPI_IN_PLACE, data = mine, elements, type, op, p->comm));
    else
        OK(MPI_Reduce(mine, data, elements, type, op, root, p->comm));
    if (way != 2 || p->me == root)
        is(picked_up(s, data, size), should, size, "reduce");
    OK(MPI_Op_free(&op));
}

void spread_play(struct play *p)
{
    for (int round = 0; round < 3; round++) {
        struct shape s = draw_shape(draw(&p->rng));
        size_t size = draw_size(&p->rng, below(&p->rng, 8) ? 3000 : 300000);
        MPI_Datatype type = type_of(&s);

        size -= size % (unsigned)s.packed;
        broadcast(p, &s, type, size);
        gather(p, &s, type, size / 4 - size / 4 % (unsigned)s.packed);
        reduce(p, &s, type, size);
        OK(MPI_Type_free(&type));
    }
}
