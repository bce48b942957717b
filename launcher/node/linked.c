/* SPDX-License-Identifier: BSD-3-Clause */
/* Agents that open links for their representatives (launcher/node/links.h): several in one process, which plays the representatives as well, and
   one that is killed again and again while another process goes on in its place. Whatever happens, who wants a link gets one at last, and
   the newest at both ends are the two ends of one connection. All of it with one stream between nodes, and with two.

   linked [SEED [TAKEOVERS]] */
#include "config.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ft/shm/region.h"
#include "ft/shm/word.h"
#include "launcher/net/await.h"
#include "launcher/net/handover.h"
#include "launcher/node/links.h"
#include "launcher/node/check.h"
#include "launcher/wire/greeting.h"

enum { NODES = 3, STREAMS = 2, WAIT_S = 120 };

struct end {
    int fd;
    uint32_t incarnation;
    uint64_t generation;
};

struct node {
    uint32_t number, incarnation;
    bool left;
    struct ft_region region;
    struct ft_links *links;
    struct end ends[STREAMS][NODES]; /* the newest that its representative has */
    struct ft_whereabouts table[NODES];     /* what it has been told */
};

/* The node that is replaced has two lives at a time: the old one does not know it yet. */
static struct node nodes[NODES], again;
static struct event_base *base;
static uint32_t spread;              /* of the job: there are streams 0 to this one */
static bool attentive;               /* representatives look for the ends of connections */
static int dies = -1;                /* an agent dies when it has said that it hands over a link of this stream, and has not done so */

/* Linked with --wrap=ft_handover. */
int __real_ft_handover(const int pair[2], const struct ft_link_post *post, int fd);
int __wrap_ft_handover(const int pair[2], const struct ft_link_post *post, int fd);

int __wrap_ft_handover(const int pair[2], const struct ft_link_post *post, int fd)
{
    if (dies == (int)post->stream)
        raise(SIGKILL);
    return __real_ft_handover(pair, post, fd);
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool look_up(void *arg, uint32_t node, struct ft_whereabouts *peer)
{
    *peer = ((struct node *)arg)->table[node];
    return peer->naddresses > 0;
}

static bool left(void *arg)
{
    return ((struct node *)arg)->left;
}

/* Its address is told to nobody yet. */
static struct ft_whereabouts open_node(struct node *n, uint32_t number, uint32_t incarnation)
{
    struct ft_links_config config = {.secret = secret, .node = number, .nnodes = NODES, .incarnation = incarnation,
                                     .region = &n->region, .spill_fd = -1, .look_up = look_up, .left = left, .arg = n};
    struct ft_whereabouts entry = {.incarnation = incarnation, .up = true};
    struct ft_params params;
    struct ft_error e;

    *n = (struct node){.number = number, .incarnation = incarnation};
    for (int i = 0; i < STREAMS * NODES; i++)
        n->ends[i / NODES][i % NODES].fd = -1;
    ft_params_default(&params, 1, 2, 64 << 20);
    ft_params_nodes(&params, NODES, number, NODES);
    params.spread = spread;
    params.nstreams = 1 + spread;
    CHECK(ft_params_check(&params, &e) == 0 && ft_region_create(&n->region, &params, &e) == 0);
    config.listener = ft_address_listen(number == 1 ? "::1" : "127.0.0.1", NULL, entry.addresses, &entry.naddresses, &e);
    if (config.listener < 0) /* no IPv6 here */
        config.listener = ft_address_listen("127.0.0.1", NULL, entry.addresses, &entry.naddresses, &e);
    CHECK(config.listener >= 0 && ft_links_new(&n->links, &config, &e) == 0);
    return entry;
}

static void serve(struct node *n)
{
    CHECK(ft_links_serve(n->links, base, &say) == 0);
}

static void close_end(struct end *end)
{
    if (end->fd >= 0)
        close(end->fd);
    end->fd = -1;
}

static void close_node(struct node *n)
{
    ft_links_leave(n->links);
    ft_links_free(n->links);
    for (int i = 0; i < STREAMS * NODES; i++)
        close_end(&n->ends[i / NODES][i % NODES]);
    ft_region_close(&n->region);
}

static void tell(struct node *n, uint32_t node, const struct ft_whereabouts *entry)
{
    n->table[node] = *entry;
    ft_links_table_changed(n->links);
}

/* ---- the representative ---- */

static uint64_t posted(const struct node *n, uint32_t stream, uint32_t peer)
{
    return ft_look(&ft_region_link(&n->region, stream, peer)->posted);
}

static _Atomic uint64_t *gone(const struct node *n, uint32_t peer)
{
    return &ft_region_link(&n->region, 0, peer)->gone;
}

static bool receive(struct node *n)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct ft_link_post post;
    struct end *end;
    struct iovec text = {&post, sizeof post};
    struct msghdr h = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    int fd;

    if (recvmsg(ft_links_socket(n->links), &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != (ssize_t)sizeof post)
        return false;
    CHECK(CMSG_FIRSTHDR(&h) && CMSG_FIRSTHDR(&h)->cmsg_type == SCM_RIGHTS && post.stream <= spread);
    CHECK(post.peer < NODES && post.peer != n->number);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&h)), sizeof fd);
    end = &n->ends[post.stream][post.peer];
    CHECK(post.generation <= posted(n, post.stream, post.peer));
    CHECK(post.generation > end->generation);
    close_end(end);
    *end = (struct end){fd, post.peer_incarnation, post.generation};
    return true;
}

static void want(struct node *n, uint32_t stream, uint32_t peer)
{
    ft_announce(&ft_region_link(&n->region, stream, peer)->wanted, posted(n, stream, peer) + 1);
    ft_links_look(n->links); /* the bell */
}

static bool has(const struct node *n, uint32_t stream, uint32_t peer)
{
    const struct end *end = &n->ends[stream][peer];

    return end->fd >= 0 && end->generation >= ft_look(&ft_region_link(&n->region, stream, peer)->wanted);
}

/* It sees that the other end is closed: what was handed over last was, by who died of it, not handed to the other representative. */
static void see_ends(struct node *n)
{
    char c;

    for (uint32_t s = 0; s <= spread; s++)
        for (uint32_t k = 0; k < NODES; k++)
            if (n->ends[s][k].fd >= 0 && recv(n->ends[s][k].fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) == 0) {
                close_end(&n->ends[s][k]);
                want(n, s, k);
            }
}

static void turn(struct node *const *list)
{
    event_base_loop(base, EVLOOP_NONBLOCK);
    for (; *list; list++) {
        while (receive(*list))
            ;
        if (attentive)
            see_ends(*list);
    }
    poll(NULL, 0, 1);
}

static struct node *const all[] = {&nodes[0], &nodes[1], &nodes[2], NULL};

static void settle(struct node *const *list, double s)
{
    for (double until = seconds() + s; seconds() < until;)
        turn(list);
}

/* What one end sends the other gets. */
static bool connected(struct node *a, struct node *b, uint32_t stream)
{
    int x = a->ends[stream][b->number].fd, y = b->ends[stream][a->number].fd, word = rand(), got = 0;
    struct pollfd p = {.fd = y, .events = POLLIN};

    if (x < 0 || y < 0)
        return false;
    while (recv(y, &got, sizeof got, MSG_DONTWAIT) > 0)
        ;
    got = ~word;
    return send(x, &word, sizeof word, MSG_NOSIGNAL) == sizeof word && poll(&p, 1, 200) == 1 &&
           recv(y, &got, sizeof got, 0) == sizeof got && got == word;
}

static void await_link(struct node *a, struct node *b, uint32_t stream, struct node *const *list)
{
    double until = seconds() + WAIT_S;

    do {
        CHECK(seconds() < until);
        turn(list);
    } while (!has(a, stream, b->number) || !connected(a, b, stream) || !connected(b, a, stream));
}

/* ---- what may happen ---- */

static void options_are_set(int fd)
{
    char control[16] = "";
    int value = 0;
    socklen_t size = sizeof value, length = sizeof control - 1;

    CHECK(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &size) == 0 && value);
    CHECK(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &value, &size) == 0 && value);
    /* Where the system's choice is BBR, links had half of the speed. */
    CHECK(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control, &length) == 0 && strncmp(control, "bbr", 3) != 0);
    /* At 10 s, a representative that computed for that long lost the links whose receive buffers were full. */
    CHECK(getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &value, &size) == 0 && value >= 60000);
}

/* Who wants it: the node with the higher number, the lower, both. */
static void every_pair(uint32_t stream)
{
    for (uint32_t a = 0; a < NODES; a++)
        for (uint32_t b = 0; b < a; b++)
            for (int who = 1; who <= 3; who++) {
                if (who & 1)
                    want(&nodes[a], stream, b);
                if (who & 2)
                    want(&nodes[b], stream, a);
                await_link(&nodes[who & 1 ? a : b], &nodes[who & 1 ? b : a], stream, all);
                await_link(&nodes[a], &nodes[b], stream, all);
                options_are_set(nodes[a].ends[stream][b].fd);
                CHECK(nodes[a].ends[stream][b].incarnation == nodes[b].incarnation);
            }
}

/* A link that nobody wants anew stays; and no link is made to whom nobody wants, nor of a stream other than this one. */
static void nothing_without_need(uint32_t stream)
{
    uint64_t before[NODES][NODES];

    for (uint32_t a = 0; a < NODES; a++)
        for (uint32_t b = 0; b < NODES; b++)
            before[a][b] = posted(&nodes[a], stream, b);
    settle(all, 0.3);
    for (uint32_t a = 0; a < NODES; a++)
        for (uint32_t b = 0; b < NODES; b++)
            for (uint32_t s = 0; s <= spread; s++)
                CHECK(posted(&nodes[a], s, b) == (s == stream ? before[a][b] : 0));
}

static void await_all(uint32_t stream)
{
    for (uint32_t a = 0; a < NODES; a++)
        for (uint32_t b = 0; b < NODES; b++)
            if (a != b)
                await_link(&nodes[a], &nodes[b], stream, all);
}

/* All links of a stream end, as one of two ends sees. */
static void break_all(uint32_t stream)
{
    for (uint32_t a = 0; a < NODES; a++)
        for (uint32_t b = 0; b < a; b++)
            close_end(stream ? &nodes[a].ends[stream][b] : &nodes[b].ends[stream][a]);
}

/* What ends one stream's links leaves the other's as they are; and if both end, both come again. */
static void streams_are_apart(void)
{
    struct end before[NODES][NODES];

    for (uint32_t s = 0; s <= spread; s++)
        for (uint32_t a = 0; a < NODES; a++)
            for (uint32_t b = 0; b < a; b++)
                want(&nodes[a], s, b);
    for (uint32_t s = 0; s <= spread; s++)
        await_all(s);
    attentive = true;
    for (uint32_t s = 0; s <= spread; s++) {
        for (uint32_t a = 0; a < NODES; a++)
            memcpy(before[a], nodes[a].ends[spread - s], sizeof before[a]);
        break_all(s);
        await_all(s);
        await_all(spread - s);
        for (uint32_t a = 0; s != spread - s && a < NODES; a++)
            CHECK(!memcmp(before[a], nodes[a].ends[spread - s], sizeof before[a]));
    }
    for (uint32_t s = 0; s <= spread; s++)
        break_all(s);
    for (uint32_t s = 0; s <= spread; s++)
        await_all(s);
    attentive = false;
}

/* Nobody to be reached: it is tried on, and there is a link soon after there is somebody. */
static void who_is_away(uint32_t stream)
{
    struct ft_whereabouts there = nodes[2].table[0], wrong = there;
    uint64_t before = posted(&nodes[2], stream, 0);

    wrong.addresses[0] = nodes[2].table[1].addresses[0]; /* another node answers there */
    tell(&nodes[2], 0, &wrong);
    want(&nodes[2], stream, 0);
    settle(all, 0.2);
    CHECK(posted(&nodes[2], stream, 0) == before);
    CHECK(ft_address_parse(&wrong.addresses[0], "127.0.0.1", 1));
    tell(&nodes[2], 0, &wrong);
    settle(all, 0.2);
    wrong.up = false;
    tell(&nodes[2], 0, &wrong);
    settle(all, 0.1);
    CHECK(posted(&nodes[2], stream, 0) == before);
    tell(&nodes[2], 0, &there);
    await_link(&nodes[2], &nodes[0], stream, all);
}

static void who_has_left(uint32_t stream)
{
    nodes[0].left = true;
    want(&nodes[1], stream, 0);
    for (double until = seconds() + WAIT_S; !ft_look(gone(&nodes[1], 0));) {
        CHECK(seconds() < until);
        turn(all);
    }
    CHECK(!has(&nodes[1], stream, 0));
    for (uint32_t s = 0; s <= spread; s++) { /* it needs no link of any stream */
        want(&nodes[1], s, 0);
        settle(all, 0.05);
        CHECK(!has(&nodes[1], s, 0));
    }
    nodes[1].left = true;
    want(&nodes[0], stream, 1);
    for (double until = seconds() + WAIT_S; !ft_look(gone(&nodes[0], 1));) {
        CHECK(seconds() < until);
        turn(all);
    }
    nodes[0].left = nodes[1].left = false;
    ft_publish(gone(&nodes[0], 1), 0); /* its agent has been told otherwise: it goes on here */
    ft_publish(gone(&nodes[1], 0), 0);
    want(&nodes[1], stream, 0);
    want(&nodes[0], stream, 1);
    await_link(&nodes[1], &nodes[0], stream, all);
}

/* A representative that does not come to it for long finds the newest, and nothing is left open. */
static void who_does_not_take(uint32_t stream)
{
    struct node *const others[] = {&nodes[1], &nodes[2], NULL};
    int low = open("/dev/null", O_RDONLY | O_CLOEXEC);

    for (int i = 0; i < 600; i++) {
        double until = seconds() + WAIT_S;

        want(&nodes[2], stream, 0);
        while (!has(&nodes[2], stream, 0)) {
            CHECK(seconds() < until);
            event_base_loop(base, EVLOOP_NONBLOCK);
            while (receive(&nodes[2]))
                ;
        }
        if (i % 100 == 99)
            settle(others, 0.02);
    }
    settle(others, 0.1);
    while (receive(&nodes[0]))
        ;
    settle(all, 0.1);
    CHECK(connected(&nodes[2], &nodes[0], stream) && connected(&nodes[0], &nodes[2], stream));
    CHECK(dup(low) < low + 100); /* descriptors of those in between are closed */
    close(low);
}

/* arg: a greeting, or nonsense. */
static void say_what(void *arg, int fd, enum ft_auth_kind kind, const struct ft_error *e)
{
    (void)kind;
    (void)e;
    if (fd >= 0 && send(fd, arg, FT_GREETING_BYTES, MSG_NOSIGNAL) < 0)
        CHECK(errno == EPIPE || errno == ECONNRESET);
    if (fd >= 0)
        close(fd);
}

/* The representative of node 1 had left, and what takes that node's place asks node 0 for its log before the table has it there. That the
   one before had left was not forgotten then. */
static void who_had_left_comes_again(struct node *const *list)
{
    struct ft_auth *auth = ft_auth_new(base, secret, &say);
    struct ft_greeting g = {.want = FT_WANT_LOG, .from = 1, .from_incarnation = 1, .to = 0};
    uint8_t text[FT_GREETING_BYTES];

    ft_publish(gone(&nodes[0], 1), 1);
    ft_greeting_put(&g, text);
    CHECK(auth && ft_auth_dial(auth, &nodes[2].table[0].addresses[0], 1, FT_AUTH_FETCH, say_what, text));
    for (double until = seconds() + WAIT_S; ft_look(gone(&nodes[0], 1));) {
        CHECK(seconds() < until);
        turn(list);
    }
    ft_auth_free(auth);
}

/* Node 1 is replaced. Its old life, which nobody has told, gets no link any more, from nobody who knows or has heard of the new one. */
static void who_is_replaced(uint32_t stream)
{
    struct node *const some[] = {&nodes[0], &nodes[1], &nodes[2], &again, NULL};
    struct node *const now[] = {&nodes[0], &nodes[2], &again, NULL};
    struct ft_whereabouts entry = open_node(&again, 1, 1);
    uint64_t before[STREAMS];

    again.table[0] = nodes[1].table[0];
    again.table[2] = nodes[1].table[2];
    serve(&again);
    who_had_left_comes_again(some);
    /* The new one comes before the table does: its number is proof enough that the old one is dead. */
    want(&again, stream, 0);
    await_link(&again, &nodes[0], stream, some);
    CHECK(nodes[0].ends[stream][1].incarnation == 1);
    for (uint32_t s = 0; s <= spread; s++) { /* who has come with one link has come for all */
        before[s] = posted(&nodes[0], s, 1);
        want(&nodes[1], s, 0);
        want(&nodes[0], s, 1); /* who still asks at the old address is told by nobody; the old one is not connected to */
    }
    settle(some, 0.3);
    for (uint32_t s = 0; s <= spread; s++)
        CHECK(posted(&nodes[0], s, 1) <= before[s] + 1 && !has(&nodes[1], s, 0));
    CHECK(nodes[0].ends[stream][1].incarnation == 1);
    /* Node 2, which connects to node 1, is told, the other way round. */
    tell(&nodes[0], 1, &entry);
    tell(&nodes[2], 1, &entry);
    want(&nodes[2], stream, 1);
    await_link(&nodes[2], &again, stream, some);
    CHECK(nodes[2].ends[stream][1].incarnation == 1);
    want(&nodes[0], stream, 1);
    await_link(&nodes[0], &again, stream, some);
    want(&nodes[1], stream, 2);
    settle(some, 0.3);
    CHECK(!has(&nodes[1], stream, 2) && connected(&nodes[2], &again, stream));
    close_node(&nodes[1]);
    want(&again, stream, 2);
    await_link(&again, &nodes[2], stream, now);
}

struct question {
    uint8_t text[FT_GREETING_BYTES];
    enum ft_verdict verdict; /* 0: not yet */
};

static void on_answer(void *arg, int fd, const uint8_t *bytes, const char *why)
{
    struct question *q = arg;
    struct ft_answer a;

    (void)why;
    CHECK(bytes && ft_answer_get(bytes, &a));
    q->verdict = a.verdict;
    close(fd);
}

static void put_question(void *arg, int fd, enum ft_auth_kind kind, const struct ft_error *e)
{
    (void)kind;
    (void)e;
    CHECK(fd >= 0 && send(fd, ((struct question *)arg)->text, FT_GREETING_BYTES, MSG_NOSIGNAL) == FT_GREETING_BYTES);
    CHECK(ft_await_new(base, fd, FT_ANSWER_BYTES, WAIT_S * 1000, on_answer, arg));
}

/* Of a stream that has no links, or none of this kind. */
static void who_has_no_such_stream(void)
{
    struct node *const now[] = {&nodes[0], &nodes[2], &again, NULL};
    struct ft_auth *auth = ft_auth_new(base, secret, &say);
    struct ft_greeting said[] = {{.want = FT_WANT_LINK, .stream = spread + 1}, {.want = FT_WANT_LINK, .stream = UINT32_MAX},
                                 {.want = FT_WANT_LOG, .stream = 1}};

    CHECK(auth);
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        enum ft_auth_kind kind = said[i].want == FT_WANT_LOG ? FT_AUTH_FETCH : FT_AUTH_LINK;
        struct question q = {.verdict = 0};

        said[i].from = 2;
        ft_greeting_put(&said[i], q.text);
        CHECK(ft_auth_dial(auth, &nodes[2].table[0].addresses[0], 1, kind, put_question, &q));
        for (double until = seconds() + WAIT_S; !q.verdict;) {
            CHECK(seconds() < until);
            turn(now);
        }
        CHECK(q.verdict == FT_VERDICT_NODE);
    }
    ft_auth_free(auth);
}

/* Proved, and then not what an agent says. */
static void nonsense(uint32_t stream)
{
    struct node *const now[] = {&nodes[0], &nodes[2], &again, NULL};
    struct ft_auth *auth = ft_auth_new(base, secret, &say);
    struct ft_greeting g = {.want = FT_WANT_LINK, .from = 2, .to = 0};
    uint8_t text[FT_GREETING_BYTES];

    CHECK(auth);
    for (int i = 0; i < 40; i++) {
        ft_greeting_put(&g, text);
        text[rand() % 12] ^= 1 << rand() % 8; /* who it is, or what it wants */
        if (i % 4 == 0)
            for (size_t j = 0; j < sizeof text; j++)
                text[j] = (uint8_t)rand();
        CHECK(ft_auth_dial(auth, &nodes[2].table[0].addresses[0], 1, i % 2 ? FT_AUTH_LINK : FT_AUTH_FETCH, say_what, text));
        settle(now, 0.01);
    }
    settle(now, 0.1);
    ft_auth_free(auth);
    want(&nodes[2], stream, 0);
    await_link(&nodes[2], &nodes[0], stream, now);
}

/* ---- takeovers ---- */

/* Node 2's agent is another process, which is killed at any moment; its successor is forked from here, as a standby is. */
static pid_t start_agent(struct node *n)
{
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing is left of a test that fails */
    base = event_base_new();
    for (uint32_t k = 0; k < NODES; k++)
        if (k != n->number)
            ft_links_forget(nodes[k].links);
    ft_links_forget(n->links);
    serve(n);
    for (;;) {
        event_base_loop(base, EVLOOP_NONBLOCK);
        ft_links_look(n->links);
        usleep(200);
    }
}

static void end_agent(pid_t agent)
{
    kill(agent, SIGKILL);
    CHECK(waitpid(agent, NULL, 0) == agent);
}

/* It dies between the two steps of handing over. Its successor makes another link of this stream, though none is asked for, and no
   other. */
static void who_dies_handing_over(uint32_t stream)
{
    struct node *n = &nodes[2];
    pid_t agent = start_agent(n);
    double until = seconds() + WAIT_S;
    uint64_t before;

    for (uint32_t s = 0; s <= spread; s++) {
        want(n, s, 0);
        await_link(n, &nodes[0], s, all);
    }
    end_agent(agent);
    before = posted(n, spread - stream, 0);
    dies = (int)stream;
    agent = start_agent(n);
    dies = -1;
    want(n, stream, 0);
    while (waitpid(agent, NULL, WNOHANG) == 0) {
        CHECK(seconds() < until);
        turn(all);
    }
    CHECK(posted(n, stream, 0) > n->ends[stream][0].generation && !has(n, stream, 0));
    CHECK(ft_look(&ft_region_link(&n->region, stream, 0)->wanted) == posted(n, stream, 0));
    agent = start_agent(n);
    await_link(n, &nodes[0], stream, all);
    await_link(&nodes[0], n, stream, all);
    if (stream != spread - stream)
        CHECK(posted(n, spread - stream, 0) == before && connected(n, &nodes[0], spread - stream));
    end_agent(agent);
}

static void takeovers(int times)
{
    struct node *n = &nodes[2];
    pid_t agent = start_agent(n);

    attentive = true;
    for (int i = 0; i < times; i++) {
        uint32_t stream = (uint32_t)rand() % (1 + spread);
        bool theirs = rand() % 2;

        if (theirs)
            want(&nodes[0], stream, 2);
        else
            want(n, stream, 0);
        for (int us = rand() % 4000; us > 0; us -= 500) {
            turn(all);
            usleep((useconds_t)(us < 500 ? us : 500));
        }
        end_agent(agent);
        agent = start_agent(n);
        if (rand() % 3) /* or it is killed again before all is well */
            await_link(theirs ? &nodes[0] : n, theirs ? n : &nodes[0], stream, all);
    }
    for (uint32_t s = 0; s <= spread; s++) {
        await_link(n, &nodes[0], s, all);
        await_link(&nodes[0], n, s, all);
    }
    attentive = false;
    end_agent(agent);
}

static void open_all(void)
{
    struct ft_whereabouts entries[NODES];

    base = event_base_new();
    for (uint32_t k = 0; k < NODES; k++)
        entries[k] = open_node(&nodes[k], k, 0);
    for (uint32_t k = 0; k < NODES; k++)
        memcpy(nodes[k].table, entries, sizeof entries);
}

/* In a job with so many streams between nodes, all with the last of them. */
static void run(uint32_t stream, int times)
{
    spread = stream;
    open_all();
    for (uint32_t k = 0; k < NODES; k++)
        serve(&nodes[k]);
    every_pair(stream);
    nothing_without_need(stream);
    streams_are_apart();
    who_is_away(stream);
    who_has_left(stream);
    who_does_not_take(stream);
    who_is_replaced(stream);
    who_has_no_such_stream();
    nonsense(stream);
    close_node(&nodes[0]);
    close_node(&nodes[2]);
    close_node(&again);
    event_base_free(base);

    open_all();
    serve(&nodes[0]);
    serve(&nodes[1]);
    who_dies_handing_over(stream);
    takeovers(times);
    for (uint32_t k = 0; k < NODES; k++)
        close_node(&nodes[k]);
    event_base_free(base);
}

int main(int argc, char **argv)
{
    int times = argc > 2 ? atoi(argv[2]) : 25;

    if (argc > 1)
        seed = (unsigned)atoi(argv[1]);
    srand(seed);
    for (uint32_t stream = 0; stream < STREAMS; stream++)
        run(stream, times);
    return 0;
}
