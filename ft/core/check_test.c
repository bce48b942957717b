/* SPDX-License-Identifier: BSD-3-Clause */
/* --check-replay (ft/core/check.h): a call made again must contribute the same bytes, padding excepted. A rank's second
   incarnation is its stream opened once more. */
#include "ft/core/check.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/hash.h"

enum { N = 3 };

static struct ft_region region;
static struct ft_stream s;
static struct ft_patience patience;
static struct ft_error e;

static void attach(uint32_t rank)
{
    ft_stream_open(&s, &region, rank, "WORLD", &patience, -1, -1);
    s.host = "here";
}

static void begin(void)
{
    struct ft_params p;

    ft_params_default(&p, N, 2, 64u << 20);
    ft_params_check_replay(&p, 64u << 20);
    cr_assert_eq(p.check_units % 512, 0);
    cr_assert_eq(ft_region_create(&region, &p, &e), 0, "%s", e.text);
    attach(1);
}

static void end(void)
{
    ft_region_close(&region);
}

TestSuite(check, .init = begin, .fini = end);

/* One call of the engine up to its contribution, then on to the next unit. */
static int call(enum ft_call which, int root, enum ft_kind kind, const void *data, uint64_t bytes)
{
    struct ft_sig sig = { .call = (uint8_t)which, .reduction = FT_NONE, .kind = (uint8_t)kind, .root = root, .elem = 1, .count = bytes };
    struct ft_coll c = { .s = &s, .bytes = bytes, .elem = 1, .root = root };
    int err = ft_stream_begin(&s, &sig, 5, &e);

    if (which != FT_CALL_BCAST || (uint32_t)root == s.me)
        c.send = ft_view_of(data, bytes, (struct ft_type){ .elem = 1, .kind = (uint8_t)kind });
    if (!err)
        err = ft_check_contribution(&c, &e);
    ft_stream_end(&s, 1, 0);
    return err;
}

static int allreduce(const void *data, uint64_t bytes) { return call(FT_CALL_ALLREDUCE, -1, FT_I8, data, bytes); }

Test(check, the_same_is_the_same)
{
    for (int incarnation = 0; incarnation < 3; incarnation++) {
        attach(1);
        cr_assert_eq(allreduce("abcd", 4), 0);
        cr_assert_eq(allreduce("efgh", 4), 0);
        cr_assert_eq(allreduce(NULL, 0), 0);
    }
}

Test(check, other_data_are_named)
{
    cr_assert_eq(allreduce("abcd", 4), 0);
    cr_assert_eq(allreduce("efgh", 4), 0);
    attach(1);
    cr_assert_eq(allreduce("abcd", 4), 0);
    cr_assert_eq(allreduce("efgi", 4), FT_EDIVERGED);
    cr_assert(strstr(e.text, "rank 1 (host here) was restarted and, at unit 1 of WORLD, in MPI_Allreduce(4 x int8) at "), "%s",
              e.text);
    cr_assert(strstr(e.text, "contributed other data than before its restart"), "%s", e.text);
    cr_assert_null(strchr(e.text, '\n'));
}

Test(check, ranks_do_not_get_into_each_others_way)
{
    cr_assert_eq(allreduce("abcd", 4), 0);
    attach(0);
    cr_assert_eq(allreduce("xxxx", 4), 0);
    attach(1);
    cr_assert_eq(allreduce("abcd", 4), 0);
}

Test(check, only_the_root_contributes_to_a_bcast)
{
    cr_assert_eq(call(FT_CALL_BCAST, 0, FT_I8, "garbage1", 8), 0);
    cr_assert_eq(call(FT_CALL_BCAST, 1, FT_I8, "contents", 8), 0);
    attach(1);
    cr_assert_eq(call(FT_CALL_BCAST, 0, FT_I8, "garbage2", 8), 0);
    cr_assert_eq(call(FT_CALL_BCAST, 1, FT_I8, "Contents", 8), FT_EDIVERGED);
}

Test(check, units_past_the_end_are_not_looked_at)
{
    uint64_t last = region.header->params.check_units - 1;

    s.unit = last;
    cr_assert_eq(allreduce("abcd", 4), 0);
    cr_assert_eq(allreduce("efgh", 4), 0);
    attach(1);
    s.unit = last;
    cr_assert_eq(allreduce("ABCD", 4), FT_EDIVERGED);
    cr_assert_eq(allreduce("EFGH", 4), 0);
}

Test(check, every_byte_and_the_length_count)
{
    unsigned char data[200] = { 0 };
    uint64_t h[201];

    for (int n = 0; n <= 200; n++) {
        h[n] = ft_hash(7, data, (size_t)n);
        for (int k = 0; k < n; k++)
            cr_assert_neq(h[n], h[k], "%d and %d zeros", n, k);
    }
    for (int k = 0; k < 200; k++)
        for (int bit = 0; bit < 8; bit++) {
            data[k] ^= (unsigned char)(1 << bit);
            cr_assert_neq(ft_hash(7, data, 200), h[200], "byte %d", k);
            data[k] ^= (unsigned char)(1 << bit);
        }
    cr_assert_neq(ft_hash(8, data, 200), h[200]);
}

/* In pieces, and copied on the way, it is the same hash: sizes with and without whole lines, with a tail, past the cache. */
Test(check, a_hash_in_pieces_is_that_of_the_whole)
{
    static const size_t sizes[] = { 0, 1, 31, 32, 63, 64, 65, 4095, 100001, (4 << 20) - 1, (4 << 20) + 33, 9 << 20 };
    size_t most = 10 << 20;
    unsigned char *data = malloc(most), *copy = malloc(most);

    cr_assert(data && copy);
    for (size_t i = 0; i < most; i++)
        data[i] = (unsigned char)(i * 2654435761u >> 13);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t shift = 0; shift < 17; shift += 8) {
            size_t n = sizes[i], whole = n / 3 / FT_HASH_BLOCK * FT_HASH_BLOCK;
            struct ft_hashing added, copied;

            memset(copy, 0, n + shift + 1);
            ft_hashing_begin(&added, 5, n);
            ft_hashing_begin(&copied, 5, n);
            ft_hashing_add(&added, data, whole);
            ft_hashing_add(&added, data + whole, n - whole);
            ft_hashing_copy(&copied, copy + shift, data, whole);
            ft_hashing_copy(&copied, copy + shift + whole, data + whole, n - whole);
            cr_assert_eq(ft_hashing_end(&added), ft_hash(5, data, n), "%zu bytes", n);
            cr_assert_eq(ft_hashing_end(&copied), ft_hash(5, data, n), "%zu bytes copied", n);
            cr_assert(memcmp(copy + shift, data, n) == 0 && copy[shift + n] == 0, "%zu bytes to +%zu", n, shift);
        }
    free(copy);
    free(data);
}

/* Two elements of each kind that differ in their padding only, and in nothing but a byte of data. */
Test(check, padding_does_not_count)
{
    enum { ELEMENTS = 700 };
    static unsigned char a[ELEMENTS * 64], b[ELEMENTS * 64];
    static const struct { enum ft_kind kind; size_t padded, data; } of[] = {
        { FT_F64_INT, 12, 8 }, { FT_I64_INT, 15, 11 }, { FT_I16_INT, 2, 4 },
#if defined(__x86_64__)
        { FT_FLD, 10, 9 }, { FT_CLD, 26, 25 }, { FT_FLD_INT, 20, 19 },
#endif
    };

    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        size_t size = ft_kind_size(of[i].kind), n = ELEMENTS * size, last = n - size;

        memset(a, 1, n);
        memset(b, 1, n);
        for (size_t k = 0; k < ELEMENTS; k++)
            b[k * size + of[i].padded] = 9;
        cr_assert_eq(ft_hash_elements(of[i].kind, a, n), ft_hash_elements(of[i].kind, b, n), "%s", ft_kind_text(of[i].kind));
        b[last + of[i].data] = 9;
        cr_assert_neq(ft_hash_elements(of[i].kind, a, n), ft_hash_elements(of[i].kind, b, n), "%s", ft_kind_text(of[i].kind));
    }
    memset(a, 1, 64);
    memset(b, 1, 64);
    for (int kind = 0; kind < FT_NKINDS; kind++)  /* all others: every byte */
        if (kind != FT_F64_INT && kind != FT_I64_INT && kind != FT_I16_INT && kind != FT_FLD && kind != FT_CLD && kind != FT_FLD_INT)
            for (size_t k = 0; k < ft_kind_size((enum ft_kind)kind); k++) {
                b[k] = 2;
                cr_assert_neq(ft_hash_elements((enum ft_kind)kind, a, 64), ft_hash_elements((enum ft_kind)kind, b, 64),
                              "%s", ft_kind_text((enum ft_kind)kind));
                b[k] = 1;
            }
}
