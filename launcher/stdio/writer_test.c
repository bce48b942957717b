/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread that writes files (launcher/stdio/writer.h): pieces in order, not too many at a time, and nobody waits for one that stands still. */
#include "config.h"
#include "launcher/stdio/writer.h"

#include <criterion/criterion.h>
#include <event2/event.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PIECES = 3000, BYTES = 4096 };

static struct event_base *base;
static struct ft_writer *w;
static char data[BYTES];
static uint64_t given, heard;
static atomic_ullong put;
static int stands[2]; /* a pipe: what is written waits for its end */

static int put_piece(const struct ft_writer_piece *p, struct ft_error *e)
{
    (void)e;
    put += p->len;
    return p->at % 3 == 0; /* some fail */
}

static void heard_of(const struct ft_writer_piece *p, int error, const struct ft_error *e)
{
    (void)e;
    cr_assert_eq(p->at, heard, "in the order in which they were given");
    cr_assert_eq(error, p->at % 3 == 0);
    heard++;
}

static void more(void *arg)
{
    struct ft_writer_piece p = {.write = put_piece, .done = heard_of, .data = data, .len = BYTES};

    (void)arg;
    for (; given < PIECES && !ft_writer_full(w); given++) {
        p.at = given;
        cr_assert(ft_writer_add(w, &p));
    }
    cr_assert_leq(given - heard, (1 << 20) / BYTES, "no more than a MiB is on its way");
    if (heard == PIECES)
        event_base_loopbreak(base);
}

Test(writer, pieces_are_written_in_order_and_a_mib_at_a_time)
{
    base = event_base_new();
    w = ft_writer_new(base, more, NULL);
    cr_assert(base && w);
    more(NULL);
    event_base_dispatch(base);
    cr_expect_eq(put, (unsigned long long)PIECES * BYTES);
    cr_expect_eq(ft_writer_added(w), PIECES);
    cr_expect_eq(ft_writer_done(w), PIECES);
    cr_expect(ft_writer_free(w));
    event_base_free(base);
}

static int stand_still(const struct ft_writer_piece *p, struct ft_error *e)
{
    char byte;

    (void)p, (void)e;
    put = 1;
    cr_assert_eq(read(stands[0], &byte, 1), 0);
    put = 2;
    return 0;
}

static void nothing(void *arg) { (void)arg; }

/* put has come to this. */
static void await(unsigned long long there)
{
    const struct timespec soon = {.tv_nsec = 1000000};

    while (put != there)
        nanosleep(&soon, NULL);
}

/* It took its thread's number out of memory that the thread had freed. */
Test(writer, one_that_stands_still_is_left_to_itself, .timeout = 60)
{
    struct ft_writer_piece p = {.write = stand_still, .done = heard_of, .data = data, .len = 1};

    cr_assert_eq(pipe(stands), 0);
    base = event_base_new();
    w = ft_writer_new(base, nothing, NULL);
    cr_assert(base && w && ft_writer_add(w, &p) && ft_writer_add(w, &p));
    await(1);
    cr_expect_not(ft_writer_free(w));
    event_base_free(base);
    close(stands[1]);
    await(2);
}
