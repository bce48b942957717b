/* SPDX-License-Identifier: BSD-3-Clause */
/* The representation "external32": big endian, without gaps, of sizes that the standard fixes (MPI 3.1 section 13.5.2). Of the types that
   are longer here than there, `long` and its kin keep their value if it fits; long doubles are IEEE quadruples. */
#include "mpi_shim/pack.h"

#include <string.h>

enum how { WHOLE, SIGNED, UNSIGNED, LONG_DOUBLE };

/* A basic element: members of `width` bytes here and `outside` bytes there. */
struct member {
    uint64_t width, outside;
    enum how how;
};
struct element {
    struct member first;
    uint64_t repeat;            /* complex: two */
};

static struct member plain(uint64_t width) { return (struct member){width, width, WHOLE}; }

static struct element element_of(MPI_Datatype type)
{
    const struct member quad = {sizeof(long double), 16, LONG_DOUBLE};
    struct element e = {.first = plain(type->base_elem), .repeat = 1};

    switch (type->base) {
    case FT_C64: case FT_C128: case FT_C256:
        e.repeat = 2;
        e.first = plain(type->base_elem / 2);
        break;
    case FT_FLD: e.first = quad; break;
    case FT_CLD: e.repeat = 2, e.first = quad; break;
    case FT_WCHAR: e.first = (struct member){4, 2, UNSIGNED}; break;
    case FT_OPAQUE: e.first = plain(1); break;
    default: break;
    }
    if (type == MPI_LONG)
        e.first = (struct member){8, 4, SIGNED};
    if (type == MPI_UNSIGNED_LONG)
        e.first = (struct member){8, 4, UNSIGNED};
    return e;
}

/* ---- sizes ---- */

static uint64_t size_of(const struct element *e) { return e->repeat * e->first.outside; }

uint64_t shim_external_size(MPI_Datatype type)
{
    uint64_t size = 0;

    if (type->predefined && !type->parts) {
        struct element e = element_of(type);

        return type->per * size_of(&e);
    }
    for (uint64_t i = 0; i < type->n_parts; i++)
        size += type->parts[i].blocks * type->parts[i].n * shim_external_size(type->parts[i].of);
    return size;
}

/* ---- one number ---- */

/* An x87 number as an IEEE quadruple: the same sign and exponent, and 63 bits of the fraction behind the leading one. */
static unsigned __int128 quad_of(const unsigned char *x87)
{
    uint64_t fraction;
    uint16_t top;

    memcpy(&fraction, x87, 8);
    memcpy(&top, x87 + 8, 2);
    return (unsigned __int128)top << 112 | (unsigned __int128)(fraction & INT64_MAX) << 49;
}

static void x87_of(unsigned __int128 quad, unsigned char *x87)
{
    uint16_t top = (uint16_t)(quad >> 112);
    uint64_t fraction = (uint64_t)(quad >> 49) & INT64_MAX;

    if (top & 0x7fff)
        fraction |= (uint64_t)1 << 63;
    memset(x87, 0, sizeof(long double));
    memcpy(x87, &fraction, 8);
    memcpy(x87 + 8, &top, 2);
}

static char *put(const struct member *m, const char *memory, char *packed)
{
    unsigned char bytes[16] = {0};

    memcpy(bytes, memory, m->width);
    if (m->how == LONG_DOUBLE) {
        unsigned __int128 quad = quad_of(bytes);

        memcpy(bytes, &quad, 16);
    }
    for (uint64_t i = 0; i < m->outside; i++)
        packed[i] = (char)bytes[m->outside - 1 - i];
    return packed + m->outside;
}

static const char *get(const struct member *m, char *memory, const char *packed)
{
    unsigned char bytes[16] = {0};

    for (uint64_t i = 0; i < m->outside; i++)
        bytes[m->outside - 1 - i] = (unsigned char)packed[i];
    if (m->how == LONG_DOUBLE) {
        unsigned __int128 quad;

        memcpy(&quad, bytes, 16);
        x87_of(quad, bytes);
    } else if (m->how == SIGNED && bytes[m->outside - 1] & 0x80) {
        memset(bytes + m->outside, 0xff, m->width - m->outside);
    }
    memcpy(memory, bytes, m->width);
    return packed + m->outside;
}

/* ---- all of them ---- */

static void basic(MPI_Datatype type, char *memory, char **packed, bool unpack)
{
    struct element e = element_of(type);

    for (uint64_t i = 0; i < type->per; i++, memory += type->base_elem) {
        for (uint64_t k = 0; k < e.repeat; k++) {
            char *at = memory + k * e.first.width;

            *packed = unpack ? (char *)(uintptr_t)get(&e.first, at, *packed) : put(&e.first, at, *packed);
        }
    }
}

static void convert(MPI_Datatype type, uint64_t count, char *memory, char **packed, bool unpack)
{
    for (uint64_t c = 0; c < count; c++, memory += type->extent) {
        if (type->predefined && !type->parts) {
            basic(type, memory, packed, unpack);
            continue;
        }
        for (uint64_t k = 0; k < type->n_parts; k++) {
            const struct shim_part *p = &type->parts[k];

            for (uint64_t i = 0; i < p->blocks; i++)
                convert(p->of, p->n, memory + p->at + (int64_t)i * p->stride, packed, unpack);
        }
    }
}

void shim_external_pack(MPI_Datatype type, uint64_t count, const void *memory, void *packed)
{
    char *to = packed;

    convert(type, count, (char *)(uintptr_t)memory, &to, false);
}

void shim_external_unpack(MPI_Datatype type, uint64_t count, void *memory, const void *packed)
{
    char *from = (char *)(uintptr_t)packed;

    convert(type, count, memory, &from, true);
}
