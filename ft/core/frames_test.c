/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node keeps of its log for others, and reads out of it for them (ft/core/frames.c): a region whose log has gone round its table, and
   frames without links. */
#include "ft/core/nodes_op.h"

#include <criterion/criterion.h>

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ft/net/links.h"
#include "ft/shm/cut.h"
#include "ft/shm/walk.h"
#include "ft/shm/keeper.h"

enum { EXTENT = 64 << 10, PER_EXTENT = 4, RESULT = EXTENT / PER_EXTENT - 64, NTABLE = 8, PEER = 1 };

static struct ft_region region;
static struct ft_keeper *keeper;
static struct ft_patience patience = { .sleeps = true };
static struct ft_stream stream;
static struct ft_nodes nodes;
static struct ft_error e;
static uint64_t units, end;

static void keeper_failed(void *arg, const char *line)
{
    (void)arg;
    cr_assert(false, "%s", line);
}

static int no_turn(void *net, struct ft_error *err)
{
    (void)net;
    (void)err;
    return 0;
}

static void no_start(void *net, uint32_t number)
{
    (void)net;
    (void)number;
}

static struct ft_link_words *words(void) { return ft_region_link(&region, 0, PEER); }

/* Node 0 of two, which has no rank but this one. */
static void set_up(void)
{
    static const uint32_t first[3] = { 0, 1, 2 }, rank_at[2] = { 0, 1 };
    struct ft_keeper_config config = { .spill_dir = "/tmp" };
    struct ft_params params;

    ft_params_default(&params, 1, 1, 64 << 20);
    ft_params_nodes(&params, 2, 0, 2);
    params.short_max = params.rooted_max = params.gather_max = 64;
    params.slot_bytes = params.slot_room = params.gather_bytes = params.segment = 1024;
    params.slot_depth = params.short_depth = 2;
    params.extent_bytes = EXTENT;
    params.nextents = NTABLE;
    params.ntable = NTABLE;
    cr_assert(ft_region_create(&region, &params, &e) == 0 && ft_region_map(&region, first, rank_at, &e) == 0 &&
              ft_keeper_open(&keeper, &region, &config, &e) == 0, "%s", e.text);
    ft_keeper_adopt(keeper, keeper_failed, NULL);
    patience.doorbells = ft_doorbells_of(&region);
    ft_stream_open(&stream, &region, 0, "WORLD", &patience, ft_keeper_kick_fd(keeper), ft_keeper_spill_fd(keeper));
    cr_assert(ft_nodes_open(&nodes, &region, 0, &(struct ft_wire){ .turn = no_turn, .start = no_start }, &e) == 0, "%s", e.text);
    ft_nodes_join(&nodes, &stream);
    ft_announce(&words()->wanted, 1);
}

static void want(uint64_t extents)
{
    ft_publish(&stream.counters[0].want, extents * EXTENT);
    ft_keeper_serve(keeper);
}

/* A record, as ft_nodes_commit does it. */
static void commit(void)
{
    struct ft_record head = { .unit = units + 1, .sig = { .call = FT_CALL_BCAST, .length = RESULT } }, gap = ft_walk_gap(units);
    uint64_t at = ft_log_place(&stream.log, end, RESULT);

    want(at / EXTENT + 1);
    if (at != end)
        ft_fill(ft_log_write(&stream.log, end, 0), &gap, sizeof gap);
    ft_fill(ft_log_write(&stream.log, at, RESULT), &head, sizeof head);
    memset(ft_log_write(&stream.log, at, RESULT) + ft_record_offset(RESULT), (int)units, RESULT);
    end = at + ft_record_bytes(RESULT);
    ft_announce(&stream.counters[0].done, ++units);
    ft_publish(&stream.counters[0].done_at, end);
    ft_exchange_commit(&nodes.x, units - 1, ft_record_bytes(RESULT));
}

/* The rank needs nothing below any more. */
static void cut_here(void)
{
    struct ft_positions at = ft_positions_world(units, end);

    ft_cut_register(&region, 0, &at);
    ft_keeper_serve(keeper);
}

/* The peer says so; what is to be done with it. */
static enum ft_take says(enum ft_frame what, uint64_t count)
{
    struct ft_frame_head head = { .type = (uint8_t)what, .unit = what == FT_FRAME_HELLO ? PEER : 0, .count = count };
    enum ft_take take;
    char *sink;

    if (what == FT_FRAME_HELLO) {
        struct ft_frame_head ours;
        const char *payload;

        ft_exchange_connected(&nodes.x, 0);
        cr_assert(ft_nodes_outgoing(&nodes, 0, &ours, &payload, &e) == 0 && ours.type == FT_FRAME_HELLO);
        ft_exchange_sent(&nodes.x, 0);
        head.site = ours.site; /* what both must have alike */
    }
    cr_assert(ft_nodes_incoming(&nodes, 0, &head, &take, &sink, &e) == 0, "%s", e.text);
    return take;
}

static void gets(uint64_t unit)
{
    struct ft_frame_head head;
    const char *payload;

    cr_assert(ft_nodes_outgoing(&nodes, 0, &head, &payload, &e) == 0, "%s", e.text);
    cr_assert(head.type == FT_FRAME_RES && head.unit == unit && head.length == RESULT && payload[7] == (char)unit);
    ft_exchange_sent(&nodes.x, 0);
}

/* The representative waits for a while; does it ask for its node to be replaced? */
static bool gives_up(struct ft_net *net, const struct ft_wire *wire)
{
    struct ft_wait w = { 0 };
    uint64_t rung;

    for (int i = 0; i < 20; i++)
        wire->pause(wire->net, &w, false);
    return ft_look(&words()->lacks) == 1 && read(net->bell, &rung, sizeof rung) == sizeof rung;
}

static uint64_t floor_of(void) { return ft_look(&stream.log.head->floor); }

Test(frames, what_is_acknowledged_is_released, .init = set_up)
{
    while (units < 3 * PER_EXTENT)
        commit();
    cut_here();
    cr_assert_eq(says(FT_FRAME_HELLO, 0), FT_TAKE_DROP);
    ft_keeper_serve(keeper);
    cr_assert_eq(floor_of(), 0);
    for (uint64_t u = 0; u < units; u++)
        gets(u);
    cr_assert_eq(says(FT_FRAME_ACK, 2 * PER_EXTENT), FT_TAKE_DROP);
    ft_keeper_serve(keeper);
    cr_assert_eq(floor_of(), 2);
    cr_assert_eq(says(FT_FRAME_HELLO, PER_EXTENT), FT_TAKE_WRONG); /* RULE 26 */
    cr_assert_eq(ft_look(&words()->lacks), 1);
}

/* links.pml, ACK_KEPT: what a lost node had acknowledged was released while its replacement was being answered, and the rank that answered gave
   the job up: its log could not be read. */
Test(frames, a_replaced_node_takes_back_what_was_acknowledged, .init = set_up)
{
    while (units < 3 * PER_EXTENT)
        commit();
    cr_assert_eq(says(FT_FRAME_HELLO, units - 1), FT_TAKE_DROP);
    gets(units - 1);
    cr_assert_eq(says(FT_FRAME_ACK, units), FT_TAKE_DROP);
    cr_assert_eq(ft_look(&words()->acked_at), 2 * EXTENT);
    ft_exchange_broken(&nodes.x, 0);
    cr_assert_eq(says(FT_FRAME_HELLO, 1), FT_TAKE_DROP);
    gets(1);
    cut_here();
    cr_assert_eq(floor_of(), 0);
    for (uint64_t u = 2; u < units; u++)
        gets(u);
    cr_assert_eq(says(FT_FRAME_ACK, units), FT_TAKE_DROP);
    ft_keeper_serve(keeper);
    cr_assert_eq(floor_of(), 2);
}

/* Extents that had memory already and had not begun were taken for those that had their entries before, on the last round: they were read, and what
   came before them was released too early. */
Test(frames, an_extent_that_has_not_begun_begins_with_no_unit, .init = set_up)
{
    uint64_t from;

    cr_assert_eq(says(FT_FRAME_HELLO, 0), FT_TAKE_DROP);
    while (units < 3 * NTABLE * PER_EXTENT + 2) {
        commit();
        gets(units - 1);
        if (units % PER_EXTENT == 0) {
            cr_assert_eq(says(FT_FRAME_ACK, units), FT_TAKE_DROP);
            cut_here();
        }
    }
    want(end / EXTENT + 4);
    cr_assert_eq(says(FT_FRAME_ACK, units - 1), FT_TAKE_DROP);
    ft_keeper_serve(keeper);
    cr_assert_eq(floor_of(), end / EXTENT);
    cr_assert_eq(ft_look(&words()->acked_at) / EXTENT, end / EXTENT);
    from = floor_of() * PER_EXTENT;
    ft_exchange_broken(&nodes.x, 0);
    cr_assert_eq(says(FT_FRAME_HELLO, from), FT_TAKE_DROP);
    for (uint64_t u = from; u < units; u++)
        gets(u);
}

/* done_at was past a record as soon as it was committed. So every result for another node was copied out of the log, and looked for from the beginning of its
   extent if the one before had not been sent: a millisecond in the middle of a call of 17 us, with several ranks on a host. */
Test(frames, a_result_goes_out_from_where_it_was_made, .init = set_up)
{
    struct ft_coll c = { .s = &stream, .bytes = 2 * 1024, .plan = { .segment = 1024, .units = 2 } };
    struct ft_nodes_op op = { .c = &c, .n = &nodes, .kind = FT_UNIT_BCAST };
    struct ft_frame_head head;
    const char *payload;

    stream.sig.call = FT_CALL_BCAST;
    want(1);
    nodes.op = &op;
    cr_assert_eq(says(FT_FRAME_HELLO, 0), FT_TAKE_DROP);
    ft_exchange_begin(&nodes.x, FT_TREE_BALANCED, FT_UNIT_BCAST, 0, 0, 2, 2);
    for (uint64_t u = 0; u < 2; u++) {
        ft_nodes_commit(&op, u);
        cr_assert_eq(ft_peek(&stream.counters[0].done_at), ft_nodes_at(&op, u));
        cr_assert(ft_nodes_outgoing(&nodes, 0, &head, &payload, &e) == 0, "%s", e.text);
        cr_assert(head.type == FT_FRAME_RES && head.unit == u && payload == ft_nodes_payload(&op, u));
        ft_exchange_sent(&nodes.x, 0);
    }
    cr_assert_eq(ft_exchange_giving(&nodes.x, 0), 2);
}

/* Of another stream: it would be taken for the same unit of this one. */
static void is_strange(struct ft_frame_head head)
{
    enum ft_take take;
    char *sink;

    head.stream = 3;
    cr_assert_eq(ft_nodes_incoming(&nodes, 0, &head, &take, &sink, &e), FT_EJOB);
    cr_assert_str_eq(e.text, "node 1 sends node 0 a frame of stream 3, which that does not have: this is a bug in ftmpi");
}

Test(frames, a_frame_of_a_stream_that_is_not_there_ends_the_job, .init = set_up)
{
    struct ft_frame_head ours;
    const char *payload;

    ft_exchange_connected(&nodes.x, 0);
    cr_assert(ft_nodes_outgoing(&nodes, 0, &ours, &payload, &e) == 0 && ours.type == FT_FRAME_HELLO && ours.stream == 0);
    ft_exchange_sent(&nodes.x, 0);
    is_strange((struct ft_frame_head){ .type = FT_FRAME_HELLO, .unit = PEER, .site = ours.site });
    cr_assert(!nodes.x.peer[0].heard);
    ft_exchange_broken(&nodes.x, 0);
    cr_assert_eq(says(FT_FRAME_HELLO, 0), FT_TAKE_DROP);
    is_strange((struct ft_frame_head){ .type = FT_FRAME_ACK, .count = 1 });
    cr_assert_eq(nodes.x.peer[0].count, 0);
}

/* Two versions: what they say in their frames may be anything, and is not looked at. */
Test(frames, another_version_is_said_before_another_stream, .init = set_up)
{
    struct ft_frame_head head = { .type = FT_FRAME_HELLO, .unit = PEER, .site = 1, .stream = 3 };
    enum ft_take take;
    char *sink;

    ft_exchange_connected(&nodes.x, 0);
    cr_assert_eq(ft_nodes_incoming(&nodes, 0, &head, &take, &sink, &e), FT_EJOB);
    cr_assert(strstr(e.text, "do not work on the same job"), "%s", e.text);
}

/* links.pml, STAYS_STUCK: a node that was replaced with a part of the log, and whose neighbours had left by then, waited for them for ever. */
Test(frames, a_node_that_lacks_what_nobody_gives_it_says_so, .init = set_up)
{
    static struct ft_net net;
    struct ft_wire wire;
    int pair[2], bell = eventfd(0, EFD_NONBLOCK);

    cr_assert(bell >= 0 && socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0);
    cr_assert(ft_net_open(&net, &nodes, &region, pair[1], bell, &wire, &e) == 0, "%s", e.text);
    ft_exchange_begin(&nodes.x, FT_TREE_BALANCED, FT_UNIT_REDUCE, 0, 0, 1, 1);
    cr_assert(!gives_up(&net, &wire));
    ft_publish(&words()->gone, 1);
    nodes.x.leaving = true; /* in MPI_Finalize that says that the last unit is committed */
    cr_assert(!gives_up(&net, &wire));
    nodes.x.leaving = false;
    cr_assert(gives_up(&net, &wire));
}

static void hand_over(int to, int fd, uint64_t generation)
{
    struct ft_link_post post = { .peer = PEER, .generation = generation };
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = { .bytes = { 0 } };
    struct iovec iov = { &post, sizeof post };
    struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control };
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    cr_assert_eq(sendmsg(to, &m, 0), (ssize_t)sizeof post);
}

/* Where another host's representative was first its link waited for this one, which then never asked for any. To the keeper
   there was no link, and it released what that host lacked when the link broke (found by the test `apart`). */
Test(frames, the_log_is_kept_for_a_peer_whose_link_was_there_first, .init = set_up)
{
    static struct ft_net net;
    struct ft_wire wire;
    int pair[2], link[2], bell = eventfd(0, EFD_NONBLOCK);

    cr_assert(bell >= 0 && socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, link) == 0);
    ft_announce(&words()->wanted, 0);
    ft_announce(&words()->posted, 1);
    hand_over(pair[0], link[0], 1);
    cr_assert(ft_net_open(&net, &nodes, &region, pair[1], bell, &wire, &e) == 0, "%s", e.text);
    wire.start(wire.net, 0);
    cr_assert_eq(ft_look(&words()->wanted), 1);
    for (unsigned u = 0; u < 3 * PER_EXTENT; u++)
        commit();
    cut_here();
    cr_assert_eq(floor_of(), 0);
}
