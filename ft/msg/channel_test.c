/* SPDX-License-Identifier: BSD-3-Clause */
/* Both ends of a channel: what is sent comes once and in order, out of the slot or out of the log; what a sender's predecessor has sent, logged or not,
   is not sent again, and what differs from it is found. */
#include "ft/msg/channel.h"
#include "ft/msg/check.h"

#include <string.h>

#include "ft/msg/log_test.h"

enum { SENDER = 1, RECEIVER = 0, PIECE = EXTENT / 4 };

static struct ft_msg_channel s, r;
static char content[PIECE], other[PIECE], got[PIECE];

static void open_sender(void) { ft_msg_open(&s, &region, SENDER, RECEIVER, SENDER, &patience, -1, ft_keeper_spill_fd(keeper)); }
static void open_receiver(void) { ft_msg_open(&r, &region, SENDER, RECEIVER, RECEIVER, &patience, -1, ft_keeper_spill_fd(keeper)); }

static void set_up(void)
{
    open_region();
    open_sender();
    open_receiver();
    give_memory(s.mine);
    for (int i = 0; i < PIECE; i++) {
        content[i] = (char)(i * 7 + i / 251);
        other[i] = (char)~content[i];
    }
}

TestSuite(channel, .init = set_up, .fini = close_region, .timeout = 60);

/* Message u has n bytes, and says which it is. */
static struct ft_sig sig_of(uint64_t u, uint64_t n)
{
    return (struct ft_sig){ .call = FT_CALL_SEND, .kind = FT_BYTE, .root = (int32_t)u, .elem = 1, .length = (uint32_t)n, .count = n };
}

static int try_send(uint64_t n, const char *bytes, struct ft_unit *said)
{
    struct ft_sig sig = sig_of(s.unit, n);
    struct ft_view v = ft_view_of(bytes, PIECE, (struct ft_type){ .elem = 1 });

    return ft_msg_send(&s, &sig, s.unit * 3, &v, s.unit % 2 ? PIECE - n : 0, said, &e);
}

/* It is in its slot, and no more. */
static void publish(const struct ft_sig *sig, uint64_t site, const char *bytes)
{
    struct ft_view v = ft_view_of(bytes, sig->length, (struct ft_type){ .elem = 1 });

    ft_msg_publish(&s, sig, site, &v, 0);
}

static void send_bytes(uint64_t n, const char *bytes)
{
    struct ft_unit said;

    cr_assert_eq(try_send(n, bytes, &said), 0);
}

static void send_one(uint64_t n) { send_bytes(n, content); }

/* Message u, as try_send would. */
static void publish_one(uint64_t u, uint64_t n, const char *bytes)
{
    struct ft_sig sig = sig_of(u, n);

    publish(&sig, u * 3, bytes + (u % 2 ? PIECE - n : 0));
}

/* The next one is there, has n bytes, and is `bytes`. */
static void take_bytes(uint64_t n, const char *bytes)
{
    struct ft_view v = ft_view_of(got, PIECE, (struct ft_type){ .elem = 1 });
    const char *from = bytes + (r.unit % 2 ? PIECE - n : 0);
    struct ft_sig sig = sig_of(r.unit, n);
    struct ft_unit u;

    cr_assert(ft_msg_look(&r, &u), "message %d", (int)r.unit);
    cr_assert(ft_sig_equal(&u.sig, &sig) && u.site == r.unit * 3, "message %d", (int)r.unit);
    memset(got, 0x55, sizeof got);
    cr_assert_eq(ft_msg_read(&r, &u, 0, n / 3, &v, 0, &e), 0);
    cr_assert_eq(ft_msg_read(&r, &u, n / 3, n - n / 3, &v, n / 3, &e), 0);
    cr_assert_eq(memcmp(got, from, n), 0, "message %d", (int)r.unit);
    cr_assert(n == PIECE || got[n] == 0x55);
    ft_msg_pass(&r, &u);
}

static void take_one(uint64_t n) { take_bytes(n, content); }

static void take_none(void)
{
    struct ft_unit u;

    cr_assert_not(ft_msg_look(&r, &u));
}

/* Of all kinds, in no order that fits the extents. */
static uint64_t size_of(uint64_t u)
{
    static const uint64_t sizes[] = { 0, 17, 16, PIECE, 1, 5000, 15, 2048, 2049, 100, PIECE - 1, 16, 64, 9999, 48 };

    return sizes[u % (sizeof sizes / sizeof sizes[0])];
}

static void send_until(uint64_t to)
{
    while (s.unit < to)
        send_one(size_of(s.unit));
}

static void take_until(uint64_t to)
{
    while (r.unit < to)
        take_one(size_of(r.unit));
}

/* The sender was killed before it could say that unit is logged. */
static void not_logged(uint64_t unit, uint64_t end)
{
    ft_publish(&s.mine->done, unit);
    ft_publish(&s.mine->done_at, end);
    open_sender();
    cr_assert_eq(s.logged, unit);
}

static void replay_until(uint64_t to)
{
    while (s.unit < to) {
        cr_assert(ft_msg_replays(&s));
        send_bytes(size_of(s.unit), other);
    }
}

/* ---- messages ---- */

Test(channel, messages_of_each_size_come)
{
    cr_assert_eq(ft_msg_piece(&s), PIECE);
    take_none();
    for (uint64_t u = 0; u < 100; u++) {
        send_one(size_of(u));
        take_one(size_of(u));
        take_none();
        cr_assert(r.unit == s.unit && r.end == s.end && ft_peek(&r.mine->done) == u + 1 && ft_peek(&s.mine->done) == u + 1);
        cr_assert(ft_peek(&s.mine->done_at) == s.end && ft_peek(&s.member->left_at) == s.end);
    }
}

Test(channel, a_small_one_comes_before_it_is_logged)
{
    struct ft_sig sig = sig_of(0, 16);

    publish(&sig, 0, content);
    cr_assert(ft_peek(&ft_msg_slot(&s)->unit) == 1 && ft_peek(&s.mine->done) == 0);
    take_one(16);
    take_none();
    ft_msg_log(&s);
    cr_assert(s.end == r.end && s.unit == 1 && ft_peek(&s.mine->done) == 1);
    take_none();
}

/* Each slot has had several other messages since. */
Test(channel, a_receiver_that_is_behind_reads_the_log)
{
    send_until(5 * FT_CHANNEL_SLOTS + 3);
    take_until(s.unit);
    take_none();
    cr_assert_eq(r.end, s.end);
    open_receiver();
    take_until(s.unit);
}

Test(channel, a_receiver_falls_behind_and_comes_after)
{
    for (uint64_t behind = 0; behind < 3 * FT_CHANNEL_SLOTS; behind += 11) {
        send_until(s.unit + behind);
        take_until(s.unit);
        take_none();
    }
    cr_assert_eq(r.end, s.end);
}

/* Its sender is about to write the line. */
Test(channel, a_slot_without_number_says_nothing)
{
    send_until(FT_CHANNEL_SLOTS + 2);
    for (int i = 0; i < FT_CHANNEL_SLOTS; i++)
        ft_note(&s.slots[i].unit, 0);
    take_until(s.unit);
    take_none();
}

/* Where the next record does not fit the extent begins after a gap, or with the extent, and small ones go where there is room. */
Test(channel, records_go_round_the_ends_of_extents)
{
    uint64_t gaps = 0, exact = 0;

    for (uint64_t i = 0; s.end < 20 * EXTENT; i++) {
        uint64_t left = EXTENT - s.end % EXTENT, n = i % 3 ? PIECE - 64 * (i % 5) : left <= PIECE && i % 2 ? left - 64 : i % 17, end = s.end;

        send_one(n);
        gaps += s.end != end + ft_record_bytes(n);
        exact += s.end % EXTENT == 0;
        take_one(n);
        cr_assert_eq(r.end, s.end);
    }
    cr_assert(gaps > 3 && exact > 3, "%d gaps, %d ends", (int)gaps, (int)exact);
}

Test(channel, the_log_is_walked_from_any_message_on)
{
    uint64_t ends[60];

    for (int i = 0; i < 60; i++) {
        ends[i] = s.end;
        send_until(s.unit + 1);
    }
    for (uint64_t i = 0; i < 60; i += 7) {
        uint64_t position = ends[i];

        for (uint64_t u = i; u < 60; u++) {
            struct ft_sig sig = sig_of(u, size_of(u));
            struct ft_unit unit;

            cr_assert_eq(ft_msg_walk(&r, u, &position, &unit, &e), 0, "%s", e.text);
            cr_assert(ft_sig_equal(&unit.sig, &sig));
        }
        cr_assert_eq(position, s.end);
    }
    cr_assert_eq(ft_msg_walk(&r, 3, &(uint64_t){ ends[4] }, &(struct ft_unit){ 0 }, &e), FT_ESPACE);
}

Test(channel, what_is_needed_goes_back_and_what_is_known_does_not)
{
    ft_msg_need(&r, 640);
    cr_assert(ft_peek(&r.member->left_at) == 640 && ft_peek(&r.mine->done_at) == 640);
    ft_msg_need(&r, 64); /* a successor */
    cr_assert(ft_peek(&r.member->left_at) == 64 && ft_peek(&r.mine->done_at) == 640);
}

/* Memory is short. A receiver that was ahead of the log said where it ends: its last record was written into memory that was not its any more. */
Test(channel, what_is_logged_is_spilled_and_nothing_else)
{
    struct ft_sig sig;

    while (s.end < EXTENT - FT_LINE)
        send_one(16);
    while (r.unit < s.unit)
        take_one(16);
    sig = sig_of(s.unit, 0);
    publish(&sig, s.unit * 3, NULL);
    take_one(0);
    ft_msg_need(&r, r.end);
    ft_keeper_bound(keeper, 0);
    ft_keeper_serve(keeper);
    cr_assert_eq(ft_keeper_stats(keeper).spilled_bytes, 0);
    ft_msg_log(&s);
    cr_assert(s.end == EXTENT && r.end == EXTENT);
    ft_keeper_serve(keeper);
    cr_assert_eq(ft_keeper_stats(keeper).spilled_bytes, EXTENT);
    open_receiver();
    while (r.unit + 1 < s.unit)
        take_one(16);
    ft_note(&s.slots[r.unit % FT_CHANNEL_SLOTS].unit, 0);
    take_one(0);
    take_none();
}

/* ---- successors ---- */

Test(channel, a_successor_sends_nothing_twice)
{
    uint64_t end;

    send_until(3 * FT_CHANNEL_SLOTS + 7);
    end = s.end;
    open_sender();
    replay_until(3 * FT_CHANNEL_SLOTS + 7);
    cr_assert(s.end == end && !ft_msg_replays(&s) && !ft_msg_is_published(&s));
    send_until(s.unit + 5);
    take_until(s.unit);
    take_none();
}

Test(channel, a_copy_goes_on_where_it_was_made)
{
    struct ft_msg_channel copy;

    send_until(9);
    copy = s;
    send_until(60);
    s = copy;
    ft_msg_resume(&s);
    replay_until(60);
    send_until(64);
    take_until(20);
    copy = r;
    take_until(64);
    send_until(100);
    r = copy;
    ft_msg_resume(&r);
    take_until(100);
    take_none();
}

Test(channel, a_replay_that_differs_is_found)
{
    struct ft_unit said;
    struct ft_sig sig;

    send_until(2 * FT_CHANNEL_SLOTS);
    open_sender();
    replay_until(5);
    cr_assert_eq(try_send(size_of(5) + 1, content, &said), FT_EDIVERGED);
    sig = sig_of(5, size_of(5));
    cr_assert(ft_sig_equal(&said.sig, &sig) && said.site == 15 && s.unit == 5);
    replay_until(2 * FT_CHANNEL_SLOTS);
}

/* What an earlier incarnation has sent is compared, and what is new is not. */
static int check_next(uint64_t n, const char *bytes, struct ft_type type)
{
    struct ft_sig sig = sig_of(s.unit, n);
    struct ft_view v = ft_view_of(bytes, PIECE / type.elem, type);
    struct ft_unit before;

    return ft_msg_check(&s, &sig, &v, s.unit % 2 ? PIECE - n : 0, &before, &e);
}

Test(channel, other_bytes_are_found)
{
    const struct ft_type byte = { .elem = 1, .kind = FT_BYTE };

    cr_assert_eq(check_next(16, content, byte), 0);
    send_until(2 * FT_CHANNEL_SLOTS);
    open_sender();
    for (; s.unit < 2 * FT_CHANNEL_SLOTS; send_one(size_of(s.unit))) {
        uint64_t n = size_of(s.unit);

        cr_assert_eq(check_next(n, content, byte), 0);
        cr_assert_eq(check_next(n, other, byte), n ? FT_EDIVERGED : 0);
        cr_assert_eq(check_next(n + 1, other, byte), 0); /* for ft_msg_send to find */
    }
    cr_assert_eq(check_next(16, other, byte), 0);
}

Test(channel, other_bytes_of_what_is_published_are_found)
{
    struct ft_sig sig = sig_of(0, 16);

    publish(&sig, 77, content);
    open_sender();
    cr_assert_eq(check_next(16, content, (struct ft_type){ .elem = 1, .kind = FT_BYTE }), 0);
    cr_assert_eq(check_next(16, other, (struct ft_type){ .elem = 1, .kind = FT_BYTE }), FT_EDIVERGED);
}

/* Of a double and an int, 4 bytes are no data. */
Test(channel, padding_is_not_compared)
{
    struct ft_type pair = { .elem = 16, .kind = FT_F64_INT };

    send_one(32);
    open_sender();
    memcpy(other, content, PIECE);
    other[13]++;
    cr_assert_eq(check_next(32, other, pair), 0);
    other[11]++;
    cr_assert_eq(check_next(32, other, pair), FT_EDIVERGED);
}

Test(channel, one_that_differs_from_what_is_published_is_found)
{
    struct ft_sig sig = sig_of(0, 16);
    struct ft_unit said;

    publish(&sig, 77, content);
    open_sender();
    cr_assert_eq(try_send(17, other, &said), FT_EDIVERGED);
    cr_assert(ft_sig_equal(&said.sig, &sig) && said.site == 77);
}

/* The receiver may have it: what is logged is what it had. */
Test(channel, what_is_published_is_logged_as_it_is)
{
    for (uint64_t n = 0; n <= FT_CHANNEL_INLINE; n++) {
        struct ft_sig sig = sig_of(n, n);

        publish(&sig, n * 3, content + (n % 2 ? PIECE - n : 0));
        if (n % 3)
            take_one(n);
        open_sender();
        while (s.unit < n)
            send_bytes(s.unit, other);
        cr_assert(ft_msg_is_published(&s) && !ft_msg_replays(&s));
        send_bytes(n, other);
        if (n % 3 == 0)
            take_one(n);
        cr_assert_eq(s.end, r.end);
    }
    send_until(s.unit + 2 * FT_CHANNEL_SLOTS);
    open_receiver();
    for (uint64_t n = 0; n <= FT_CHANNEL_INLINE; n++)
        take_one(n);
}

/* ... also where it begins an extent. */
Test(channel, what_is_published_at_the_end_of_an_extent_is_logged_behind_it)
{
    uint64_t end;

    while (EXTENT - s.end % EXTENT > PIECE)
        send_one(PIECE);
    send_one(EXTENT - s.end % EXTENT - 64 /* where its bytes begin */);
    end = s.end;
    cr_assert_eq(end % EXTENT, 0);
    publish(&(struct ft_sig){ .call = FT_CALL_SEND, .root = (int32_t)s.unit, .elem = 1 }, 0, NULL);
    not_logged(s.unit, end);
    while (ft_msg_replays(&s)) {
        struct ft_unit said;

        cr_assert_eq(ft_msg_walk(&s, s.unit, &s.end, &said, &e), 0);
        ft_msg_go_to(&s, s.unit + 1, s.end);
    }
    cr_assert(s.end == end && ft_msg_is_published(&s));
    ft_msg_log(&s);
    cr_assert_eq(s.end, end + 64);
}

Test(channel, a_long_one_that_is_published_is_not_written_again)
{
    uint64_t end;

    send_until(3); /* message 3 is long */
    end = s.end;
    send_one(PIECE);
    not_logged(3, end);
    replay_until(3);
    cr_assert(ft_msg_is_published(&s));
    send_bytes(PIECE, other);
    take_until(4);
    cr_assert(r.end == s.end && ft_peek(&s.mine->done) == 4);
    send_until(4 + 2 * FT_CHANNEL_SLOTS);
    open_receiver();
    take_until(s.unit);
}

/* A long one as well as one that has a cell: the receiver has it before it is logged, and the successor logs what that has. */
Test(channel, what_is_published_only_is_logged_as_it_is)
{
    static const uint64_t sizes[] = { PIECE, 2048, 100 };

    for (uint64_t u = 0; u < 3; u++) {
        publish_one(u, sizes[u], content);
        take_one(sizes[u]);
        cr_assert(ft_peek(&s.mine->done) == u && s.unit == u);
        open_sender();
        while (ft_msg_replays(&s))
            send_bytes(sizes[s.unit], other);
        cr_assert(s.unit == u && ft_msg_is_published(&s));
        send_bytes(sizes[u], other);
        cr_assert(ft_peek(&s.mine->done) == u + 1 && r.end == s.end);
    }
    send_until(2 * FT_CHANNEL_SLOTS);
    open_receiver();
    for (uint64_t u = 0; u < 3; u++)
        take_one(sizes[u]);
    take_until(s.unit);
}

/* Its predecessor had written some of it, and nobody has heard of that. */
Test(channel, a_long_one_that_is_not_published_is_written_again)
{
    uint64_t end;

    send_until(3);
    end = s.end;
    send_bytes(PIECE, other);
    ft_note(&s.slots[3].unit, 0);
    not_logged(3, end);
    take_until(3);
    take_none();
    replay_until(3);
    cr_assert_not(ft_msg_is_published(&s));
    send_one(PIECE);
    take_until(4);
    cr_assert_eq(r.end, s.end);
}

/* Killed while it wrote a small one into its slot, a ring later than a receiver is. */
Test(channel, a_torn_slot_is_written_again)
{
    send_until(FT_CHANNEL_SLOTS + 2);
    ft_note(&ft_msg_slot(&s)->unit, 0);
    memset(ft_msg_slot(&s)->bytes, 0x77, FT_CHANNEL_INLINE);
    open_sender();
    take_until(FT_CHANNEL_SLOTS + 2);
    take_none();
    replay_until(FT_CHANNEL_SLOTS + 2);
    send_until(FT_CHANNEL_SLOTS + 9);
    take_until(FT_CHANNEL_SLOTS + 9);
}

/* Of both ends at once, one after the other, from the beginning and from a copy. */
Test(channel, both_ends_die_again_and_again)
{
    struct ft_msg_channel sender = s, receiver = r;

    for (uint64_t life = 0; life < 40; life++) {
        uint64_t to = 6 * life + 5;

        s = sender;
        ft_msg_resume(&s);
        replay_until(ft_peek(&s.mine->done));
        send_until(to);
        if (life % 3 == 0)
            sender = s;
        r = receiver;
        ft_msg_resume(&r);
        take_until(to - life % 4);
        if (life % 5 == 0)
            receiver = r;
        if (life % 7 == 6) {
            open_sender();
            open_receiver();
            sender = s;
            receiver = r;
        }
    }
}
