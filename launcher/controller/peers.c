/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/peers.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "launcher/net/channel.h"

enum { HELLO_SECONDS = 5 };

/* A connection. */
struct peer {
    LIST_ENTRY(peer) link;
    struct ft_peers *p;
    struct ft_channel *channel;
    struct event *late;        /* HELLO does not come; or who is not welcome does not go */
    bool known, refused;
    uint32_t node;             /* if known */
};

struct node {
    struct peer *peer;         /* NULL: not connected */
    bool said;
    struct ft_wire_hello hello;
};

struct ft_peers {
    struct event_base *base;
    struct ft_peers_config config;
    LIST_HEAD(, peer) peers;
    struct node nodes[];
};

static void drop(struct peer *peer)
{
    if (peer->known && peer->p->nodes[peer->node].peer == peer)
        peer->p->nodes[peer->node].peer = NULL;
    LIST_REMOVE(peer, link);
    if (peer->late)
        event_free(peer->late);
    ft_channel_free(peer->channel);
    free(peer);
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    drop(arg);
}

static void set_late(struct peer *peer)
{
    struct timeval wait = {.tv_sec = HELLO_SECONDS};

    event_add(peer->late, &wait);
}

static void on_closed(void *arg, struct ft_channel *c, const struct ft_error *e)
{
    struct peer *peer = arg;
    struct ft_peers *p = peer->p;
    bool known = peer->known;
    uint32_t node = peer->node;

    (void)c;
    drop(peer);
    if (known)
        p->config.closed(p->config.arg, node, e);
}

/* A node of an earlier life: its ranks are to end at once, and not when its lease does. */
static void refuse(struct peer *peer)
{
    struct ft_wire_job end = {.phase = FT_JOB_END, .code = 1};

    peer->refused = true;
    ft_channel_send(peer->channel, ft_wire_put_job(&end));
    set_late(peer);
}

static void take_hello(struct peer *peer, const struct ft_wire_frame *f)
{
    struct ft_peers *p = peer->p;
    struct ft_wire_hello hello;
    struct ft_error e;

    if (f->type != FT_WIRE_HELLO || ft_wire_get_hello(f, &hello, &e) < 0 || hello.node >= p->config.nnodes) {
        drop(peer);
        return;
    }
    if (!p->config.welcome(p->config.arg, &hello)) {
        refuse(peer);
        return;
    }
    event_del(peer->late);
    if (p->nodes[hello.node].peer)
        drop(p->nodes[hello.node].peer); /* it knows better than we that this one has broken */
    peer->known = true;
    peer->node = hello.node;
    p->nodes[hello.node].peer = peer;
    p->nodes[hello.node].hello = hello;
    p->nodes[hello.node].said = true;
    p->config.hello(p->config.arg, hello.node);
}

static void on_frame(void *arg, struct ft_channel *c, const struct ft_wire_frame *f)
{
    struct peer *peer = arg;
    struct ft_peers *p = peer->p;
    uint32_t node = peer->node;
    struct ft_error e;

    (void)c;
    if (peer->refused)
        return;
    if (!peer->known) {
        take_hello(peer, f);
        return;
    }
    if (p->config.frame(p->config.arg, node, f, &e) < 0 && p->nodes[node].peer == peer) {
        drop(peer);
        p->config.closed(p->config.arg, node, &e);
    }
}

void ft_peers_add(struct ft_peers *p, int fd)
{
    struct peer *peer = calloc(1, sizeof *peer);
    struct ft_channel_config config = {.frame = on_frame, .closed = on_closed, .arg = peer};

    if (!peer) {
        evutil_closesocket(fd);
        return;
    }
    peer->p = p;
    LIST_INSERT_HEAD(&p->peers, peer, link);
    peer->late = evtimer_new(p->base, on_late, peer);
    peer->channel = ft_channel_new(p->base, fd, &config);
    if (!peer->late || !peer->channel)
        drop(peer);
    else
        set_late(peer);
}

bool ft_peers_connected(const struct ft_peers *p, uint32_t node)
{
    return p->nodes[node].peer != NULL;
}

const struct ft_wire_hello *ft_peers_hello(const struct ft_peers *p, uint32_t node)
{
    return p->nodes[node].said ? &p->nodes[node].hello : NULL;
}

void ft_peers_send(struct ft_peers *p, uint32_t node, struct ft_wire_bytes bytes)
{
    if (p->nodes[node].peer)
        ft_channel_send(p->nodes[node].peer->channel, bytes);
    else
        free(bytes.data);
}

void ft_peers_send_all(struct ft_peers *p, struct ft_wire_bytes bytes)
{
    for (uint32_t i = 0; i < p->config.nnodes; i++) {
        struct ft_wire_bytes copy = {.len = bytes.len};

        if (!p->nodes[i].peer)
            continue;
        copy.data = bytes.data ? malloc(bytes.len) : NULL;
        if (copy.data)
            memcpy(copy.data, bytes.data, bytes.len);
        ft_peers_send(p, i, copy);
    }
    free(bytes.data);
}

void ft_peers_drop(struct ft_peers *p, uint32_t node)
{
    if (p->nodes[node].peer)
        drop(p->nodes[node].peer);
    p->nodes[node].said = false;
}

struct ft_peers *ft_peers_new(struct event_base *base, const struct ft_peers_config *config)
{
    struct ft_peers *p = calloc(1, sizeof *p + config->nnodes * sizeof p->nodes[0]);

    if (!p)
        return NULL;
    p->base = base;
    p->config = *config;
    LIST_INIT(&p->peers);
    return p;
}

void ft_peers_free(struct ft_peers *p)
{
    struct peer *peer;

    if (!p)
        return;
    while ((peer = LIST_FIRST(&p->peers)))
        drop(peer);
    free(p);
}
