/* SPDX-License-Identifier: BSD-3-Clause */
/* What a checkpoint has of messages is loaded as it was saved; and damaged, cut off or too long it is refused with one line, or gives other messages:
   nothing is read or written that is not there, and nothing is broken. Its hash finds damage before that (ft/checkpoint.c). */
#include "ft/carry.h"

#include <stdlib.h>
#include <string.h>

#include "ft/messages.h"
#include "ft/msg/log_test.h"

enum { RANK = 0, OTHER = 1, KEPT = 5 };

static struct ft *ft;
static void *bytes;
static uint64_t n;

static void begin(void)
{
    ft = calloc(1, sizeof *ft);
    cr_assert(ft);
    ft->region = region;
    ft->patience = patience;
    ft->world.rank = ft->world.me = RANK;
    ft->kick_fd = -1;
    ft->spill_fd = ft_keeper_spill_fd(keeper);
    cr_assert_eq(ft_made_add(&ft->made, 77), 0);
}

static void end(void)
{
    ft_messages_close(ft);
    ft_made_close(&ft->made);
    free(ft);
}

static struct ft_messages *messages(void)
{
    int err;
    struct ft_messages *m = ft_messages_of(ft, &err, &e);

    cr_assert(m, "%s", e.text);
    return m;
}

static uint64_t length_of(int i) { return i == 1 ? 0 : (uint64_t)i * 13 + 1; }

static void send_to_self(uint64_t comm, int i)
{
    char text[100];
    uint64_t context;
    struct ft_view v = ft_view_of(text, length_of(i), (struct ft_type){ .elem = 1, .kind = FT_BYTE });

    memset(text, 'a' + i, sizeof text);
    cr_assert(ft_comms_context(ft, comm, &context));
    cr_assert_eq(ft_messages_to_self(messages(), &(struct ft_comm){ .context = context, .n = 2, .ft = ft }, &v, length_of(i), 10 + i, NULL, &e), 0);
}

static void set_up(void)
{
    struct ft_positions p;

    open_region();
    begin();
    cr_assert(ft_messages_outgoing(messages(), OTHER, &e), "%s", e.text);
    cr_assert_eq(ft_messages_hear(messages(), OTHER, &e), 0, "%s", e.text);
    for (int i = 0; i < KEPT; i++)
        send_to_self(i % 3, i); /* MPI_COMM_WORLD, MPI_COMM_SELF, and the one that was made */
    cr_assert_eq(ft_carry_save(ft, &bytes, &n, &p, &e), 0, "%s", e.text);
    end();
    begin();
}

static void tear_down(void)
{
    end();
    free(bytes);
    close_region();
}

TestSuite(carry, .init = set_up, .fini = tear_down, .timeout = 60);

/* Into a process of its own, out of memory that ends where they do. */
static int load(const void *damaged, uint64_t size)
{
    void *exact = malloc(size ? size : 1);
    int err;

    cr_assert(exact);
    memcpy(exact, damaged, size);
    end();
    begin();
    memset(&e, 0, sizeof e);
    err = ft_carry_load(ft, exact, size, false, &e);
    free(exact);
    cr_assert(err == 0 || (err == FT_ESYS && strstr(e.text, "what its checkpoint has of messages cannot be read")), "%d: %s", err, e.text);
    return err;
}

Test(carry, as_it_was)
{
    const struct ft_arrived *a;
    int i = 0;

    cr_assert_eq(load(bytes, n), 0);
    for (a = ft_match_oldest(ft->messages->match, RANK); a; a = ft_match_next(ft->messages->match, a), i++) {
        char text[100], wanted[100];

        memset(wanted, 'a' + i, sizeof wanted);
        cr_assert_eq(ft_messages_bytes(a), length_of(i));
        cr_assert_eq(a->is.tag, 10 + i);
        cr_assert_eq(ft_comms_number(ft, a->is.context), (uint64_t)i % 3);
        cr_assert_eq(ft_messages_copy(ft->messages, a, text, &e), 0);
        cr_assert_eq(memcmp(text, wanted, length_of(i)), 0);
    }
    cr_assert_eq(i, KEPT);
}

Test(carry, cut_off)
{
    for (uint64_t size = 0; size < n; size++)
        cr_assert_eq(load(bytes, size), FT_ESYS, "%llu bytes of %llu", (unsigned long long)size, (unsigned long long)n);
}

Test(carry, too_long)
{
    char *more = calloc(1, n + 64);

    memcpy(more, bytes, n);
    for (uint64_t size = n + 1; size <= n + 64; size++)
        cr_assert_eq(load(more, size), FT_ESYS);
    free(more);
}

Test(carry, garbled)
{
    static const unsigned char with[] = { 0x01, 0x80, 0xff };
    unsigned char *damaged = malloc(n);
    int refused = 0;

    for (uint64_t at = 0; at < n; at++)
        for (unsigned i = 0; i < sizeof with; i++) {
            memcpy(damaged, bytes, n);
            damaged[at] ^= with[i];
            refused += load(damaged, n) != 0;
        }
    cr_assert_gt(refused, 500);
    free(damaged);
}

/* A word at a time: as many as there can be. */
Test(carry, of_large_numbers)
{
    static const uint64_t with[] = { 1, 2, 1000, 1ull << 31, 1ull << 32, 1ull << 61, 1ull << 63, UINT64_MAX - 7, UINT64_MAX };
    unsigned char *damaged = malloc(n);

    for (uint64_t at = 0; at < n; at += 8)
        for (unsigned i = 0; i < sizeof with / sizeof *with; i++) {
            memcpy(damaged, bytes, n);
            memcpy(damaged + at, &with[i], 8);
            load(damaged, n);
        }
    free(damaged);
}
