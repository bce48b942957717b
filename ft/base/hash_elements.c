/* SPDX-License-Identifier: BSD-3-Clause */
/* Apart from hash.c: it knows the kinds of reductions, which what a rank has preloaded (libftcommon.la) has not got. */
#include "ft/base/hash.h"

#include <float.h>
#include <string.h>

enum { PACK = 4096 };

/* The data in an element: at 0 and at `second`. */
struct data {
    size_t first, second_at, second;
};

/* x86's long double is 10 bytes in 16. */
enum { LONG_DOUBLE = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double) };

static struct data data_of(enum ft_kind kind)
{
    switch (kind) {
    case FT_FLD:
        return (struct data){ LONG_DOUBLE, 0, 0 };
    case FT_CLD:
        return (struct data){ LONG_DOUBLE, offsetof(struct ft_cld, im), LONG_DOUBLE };
    case FT_FLD_INT:
        return (struct data){ LONG_DOUBLE, offsetof(struct ft_fld_int, index), sizeof(int) };
    case FT_F64_INT:
        return (struct data){ sizeof(double), offsetof(struct ft_f64_int, index), sizeof(int) };
    case FT_I64_INT:
        return (struct data){ sizeof(long), offsetof(struct ft_i64_int, index), sizeof(int) };
    case FT_I16_INT:
        return (struct data){ sizeof(short), offsetof(struct ft_i16_int, index), sizeof(int) };
    default:
        return (struct data){ ft_kind_size(kind), 0, 0 };
    }
}

/* Elements with padding, packed a piece at a time. */
static uint64_t hash_packed(const struct data *d, size_t size, const unsigned char *from, size_t elements)
{
    unsigned char packed[PACK];
    size_t each = d->first + d->second, n = 0;
    uint64_t h = 0;

    for (; elements > 0; elements--, from += size) {
        memcpy(packed + n, from, d->first);
        memcpy(packed + n + d->first, from + d->second_at, d->second);
        n += each;
        if (n + each > PACK || elements == 1) {
            h = ft_hash(h, packed, n);
            n = 0;
        }
    }
    return h;
}

uint64_t ft_hash_elements(enum ft_kind kind, const void *data, size_t n)
{
    struct data d = data_of(kind);
    size_t size = ft_kind_size(kind);
    uint64_t h = d.first + d.second == size ? ft_hash(0, data, n) : hash_packed(&d, size, data, n / size);

    return h ? h : 1;
}
