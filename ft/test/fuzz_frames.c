/* SPDX-License-Identifier: BSD-3-Clause */
/* A representative (ft/net/links.c, ft/core/frames.c, exchange.c, nodes.c) whose peer says anything: it ends its call, or its link, or the job with
   a line, and writes nowhere else. libFuzzer's entry point; fuzz_driver.c drives it without.

   The first byte chooses which node we are, and the calls. Then come frames: {type, unit, count, length, what is wrong} as differences to what would be
   right, and bytes of the payload. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ft/core/nodes.h"
#include "ft/ft.h"
#include "ft/net/links.h"
#include "ft/shm/keeper.h"
#include "ft/test/fuzz_driver.h"

enum { EXTENT = 64 << 10, EXTENTS = 6, MOST = 2000, CALLS = 6, RECONNECTS = 4 };
enum { WRONG_NODE = 1, WRONG_SIG = 2, WRONG_SITE = 4, RAW = 8, CUT = 16, CLOSED = 32, WRONG_STREAM = 64 };

static struct ft_region regions[2];
static struct ft_keeper *keepers[2];
static int pair[2], bell;

static struct {
    const uint8_t *data;
    size_t n;
    struct ft_nodes *nodes;
    struct ft_net *net;
    struct ft_wire wire;           /* as it should be */
    const struct ft_region *region;
    int peer;                      /* our end of the link */
    uint64_t constants;            /* as it said in its HELLO */
    unsigned reconnects, dry;
    uint64_t bytes;                /* of a payload that would be right */
} in;

static void keeper_failed(void *arg, const char *text)
{
    (void)arg;
    fprintf(stderr, "%s\n", text);
    abort();
}

static void open_region(uint32_t node)
{
    static const uint32_t first[3] = { 0, 1, 2 }, rank_at[2] = { 0, 1 };
    struct ft_keeper_config config = { .spill_dir = "/tmp", .prepare = EXTENTS * EXTENT };
    struct ft_params params;
    struct ft_error e;

    ft_params_default(&params, 1, 1, 64 << 20);
    ft_params_nodes(&params, 2, node, 2);
    params.short_max = params.rooted_max = params.gather_max = 64;
    params.slot_bytes = params.slot_room = params.gather_bytes = params.segment = 1024;
    params.slot_depth = 2;
    params.short_depth = 2;
    params.extent_bytes = EXTENT;
    params.nextents = EXTENTS;
    params.ntable = 16;
    params.keeps_log = 1;
    FT_INVARIANT(ft_region_create(&regions[node], &params, &e) == 0 && ft_region_map(&regions[node], first, rank_at, &e) == 0 &&
                 ft_keeper_open(&keepers[node], &regions[node], &config, &e) == 0, "there is memory");
}

/* As the agent hands a link over. */
static void connect_peer(void)
{
    struct ft_link_words *words = ft_region_link(in.region, 0, 1 - in.nodes->node);
    struct ft_link_post post = { .peer = 1 - in.nodes->node, .generation = ft_max(ft_look(&words->wanted), ft_look(&words->posted) + 1) };
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = { 0 };
    struct iovec text = { &post, sizeof post };
    struct msghdr h = { .msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control };
    struct cmsghdr *c = CMSG_FIRSTHDR(&h);
    int link[2];

    if (in.peer >= 0)
        close(in.peer);
    FT_INVARIANT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, link) == 0, "there are sockets");
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &link[1], sizeof(int));
    ft_announce(&words->posted, post.generation);
    FT_INVARIANT(sendmsg(pair[0], &h, 0) == (ssize_t)sizeof post, "it is handed over");
    close(link[1]);
    in.peer = link[0];
}

static void take_what_it_says(void)
{
    static char bytes[65536];
    struct ft_frame_head head;
    ssize_t n = recv(in.peer, bytes, sizeof bytes, 0);

    if (n < (ssize_t)sizeof head)
        return;
    memcpy(&head, bytes, sizeof head);
    if (head.type == FT_FRAME_HELLO)
        in.constants = head.site;
}

static int64_t next_byte(void)
{
    if (!in.n)
        return 0;
    in.n--;
    return (int8_t)*in.data++;
}

static void say_something(void)
{
    struct ft_frame_head head = { .type = (uint8_t)(next_byte() & 7) };
    int64_t unit = next_byte(), count = next_byte(), length = next_byte(), wrong = next_byte();
    static char payload[8192];
    uint64_t mine = in.nodes->x.mine, n;

    head.unit = head.type == FT_FRAME_HELLO ? 1u - in.nodes->node : mine + (uint64_t)unit;
    head.count = mine + (uint64_t)count;
    head.sig = in.nodes->s->sig;
    head.site = head.type == FT_FRAME_HELLO ? in.constants : in.nodes->s->site;
    if (head.type == FT_FRAME_PART || head.type == FT_FRAME_RES)
        head.length = (uint32_t)(length == 0 ? in.bytes : length < 0 ? in.bytes + (uint64_t)length : (uint64_t)length * 40);
    if (wrong & WRONG_NODE)
        head.unit ^= (uint64_t)next_byte();
    if (wrong & WRONG_SIG)
        ((uint8_t *)&head.sig)[(uint8_t)next_byte() % sizeof head.sig] ^= (uint8_t)next_byte();
    if (wrong & WRONG_SITE)
        head.site += (uint64_t)next_byte() << 40;
    if (wrong & WRONG_STREAM)
        head.stream = (uint16_t)next_byte();
    if (wrong & RAW && in.n >= sizeof head) {
        memcpy(&head, in.data, sizeof head);
        in.data += sizeof head;
        in.n -= sizeof head;
    }
    n = ft_min(head.length, sizeof payload);
    memset(payload, 0x55, sizeof payload);
    memcpy(payload, in.data, ft_min(ft_min(in.n, n), 16));
    in.data += ft_min(ft_min(in.n, n), 16);
    in.n -= ft_min(ft_min(in.n, n), 16);
    if (send(in.peer, &head, wrong & CUT ? (size_t)(wrong & 31) + 20 : sizeof head, MSG_NOSIGNAL) == (ssize_t)sizeof head && n &&
        send(in.peer, payload, n, MSG_NOSIGNAL) < 0)
        return; /* it has closed the link: that is its answer */
    if (wrong & CLOSED)
        shutdown(in.peer, SHUT_RDWR);
}

static int turn(void *net, struct ft_error *e)
{
    int moved = in.wire.turn(net, e);

    if (moved)
        return moved;
    take_what_it_says();
    if (in.net->link[0].fd < 0 && in.reconnects < RECONNECTS) {
        in.reconnects++;
        connect_peer();
        in.wire.start(in.wire.net, 0); /* looks for it */
        return 1;
    }
    if (in.n && in.net->link[0].fd >= 0) {
        say_something();
        return 1;
    }
    return in.dry++ < 4 ? 0 : ft_err_set(e, FT_ESYS, "the peer says no more");
}

static bool pause_turn(void *net, struct ft_wait *w, bool local)
{
    (void)net;
    (void)local;
    w->turns++;
    return true;
}

static void compose(void *ctx, const void *x, void *acc, uint64_t n)
{
    (void)ctx;
    for (uint64_t i = 0; i < n; i++)
        ((uint32_t *)acc)[i] += 2 * ((const uint32_t *)x)[i];
}

static int call(struct ft_stream *s, unsigned what, uint32_t node, struct ft_error *e)
{
    static const struct ft_type type = { .elem = 4, .kind = FT_I32 };
    static uint32_t send[2 * MOST], recv[2 * MOST];
    struct ft_op sum = { .reduction = FT_SUM, .fold = ft_reduce_find(FT_I32, FT_SUM) }, user = { .reduction = FT_USER, .user = compose };
    uint64_t n = what & 16 ? MOST : 1 + what % 200;
    int counts[2] = { (int)(what % 50), (int)(what % 7) }, displs[2] = { 0, MOST };

    in.bytes = ft_min(4 * n, 1024);
    switch (what % 8) {
    case 0: in.bytes = 0; return ft_barrier(s, 1, e);
    case 1: return ft_bcast(s, recv, n, type, (int)node, 1, e);
    case 2: return ft_bcast(s, recv, n, type, 1 - (int)node, 1, e);
    case 3: return ft_allreduce(s, send, recv, n, type, &sum, 1, e);
    case 4: return ft_reduce(s, send, recv, n, type, &user, 0, 1, e);
    case 5: return ft_allgather(s, send, NULL, recv, n / 2, type, 1, e);
    case 6: in.bytes = 4 * (uint64_t)counts[1 - node]; return ft_allgatherv(s, send, NULL, recv, counts, displs, type, 1, e);
    default: return ft_allreduce(s, recv, recv, n, type, &sum, 1, e);
    }
}

static void set_up(uint32_t node, struct ft_stream *s, struct ft_nodes *nodes, struct ft_net *net, const struct ft_patience *patience)
{
    const struct ft_region *r = &regions[node];
    struct ft_wire wire;
    struct ft_error e;

    ft_region_reset(r);
    ft_keeper_adopt(keepers[node], keeper_failed, NULL);
    ft_stream_open(s, r, 0, "MPI_COMM_WORLD", patience, ft_keeper_kick_fd(keepers[node]), ft_keeper_spill_fd(keepers[node]));
    ft_publish(&s->counters[0].want, EXTENTS);
    ft_keeper_serve(keepers[node]);
    FT_INVARIANT(ft_net_open(net, nodes, r, pair[1], bell, &wire, &e) == 0, "there is memory");
    in.wire = wire;
    wire.turn = turn;
    wire.pause = pause_turn;
    FT_INVARIANT(ft_nodes_open(nodes, r, 0, &wire, &e) == 0, "there is memory");
    in.nodes = nodes;
    in.net = net;
    in.region = r;
    connect_peer();
    ft_nodes_join(nodes, s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct ft_net net;
    struct ft_patience patience = { .self = 0 };
    struct ft_nodes nodes;
    struct ft_stream s;
    struct ft_error e = { "" };
    uint32_t node;
    uint64_t before;

    if (n < 1 + CALLS)
        return 0;
    if (!regions[0].base) {
        open_region(0);
        open_region(1);
        bell = eventfd(0, EFD_NONBLOCK);
        FT_INVARIANT(bell >= 0 && socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0, "there are sockets");
    }
    node = data[0] & 1;
    memset(&in, 0, sizeof in);
    in.peer = -1;
    in.data = data + 1 + CALLS;
    in.n = n - 1 - CALLS;
    patience.doorbells = ft_doorbells_of(&regions[node]);
    set_up(node, &s, &nodes, &net, &patience);
    for (int i = 0; i < CALLS; i++) {
        before = ft_peek(&s.counters[0].done);
        in.dry = 0;
        if (call(&s, data[1 + i], node, &e)) {
            FT_INVARIANT(e.text[0] && !strchr(e.text, '\n'), "an end says why in one line");
            break;
        }
        FT_INVARIANT(ft_peek(&s.counters[0].done) > before, "what is returned from is done");
    }
    ft_net_close(&net);
    ft_nodes_close(&nodes);
    if (in.peer >= 0)
        close(in.peer);
    return 0;
}
