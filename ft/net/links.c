/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/net/links.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    DEAR = 15,                /* a turn that asks sockets takes as long as so many that look at a word */
    LOOK_TURNS = 32,          /* turns between looks for new sockets */
    LOCAL_NS = 1000000,       /* longest sleep for something of this node's: peers may want something */
    SHORT_MS = 2, LONG_MS = 100,
    NO_FD = -1
};

/* ---- sockets come and go ---- */

static struct ft_exchange *exchange(const struct ft_net_link *l) { return &l->nodes->x; }

static struct ft_link_words *words(const struct ft_net *net, const struct ft_net_link *l)
{
    return ft_region_link(net->region, l->nodes->number, exchange(l)->peer[l->p].node);
}

/* Those of a stream begin there. */
static struct ft_net_link *links_of(const struct ft_net *net, uint32_t stream) { return &net->link[stream * net->npeers]; }

/* There is a socket, and this rank has come into its stream: until then all that comes is too early. */
static bool is_open(const struct ft_net_link *l) { return l->fd != NO_FD && l->nodes->s; }

static void ring(const struct ft_net *net)
{
    uint64_t one = 1;

    if (write(net->bell, &one, sizeof one) < 0) {
        /* full: the agent has not looked for long, and will see this, too */
    }
}

static void want(const struct ft_net *net, const struct ft_net_link *l, uint64_t generation)
{
    _Atomic uint64_t *wanted = &words(net, l)->wanted;

    if (ft_peek(wanted) < generation)
        ft_announce(wanted, generation);
    ring(net);
}

static void forget(struct ft_net_link *l)
{
    l->sending = l->headed = l->taking = false;
    l->from = l->to = 0;
}

static void drop(struct ft_net_link *l)
{
    if (l->fd == NO_FD)
        return;
    close(l->fd);
    l->fd = NO_FD;
    forget(l);
    ft_exchange_broken(exchange(l), l->p);
    l->nodes->lingers = true;
}

static void broken(struct ft_net *net, struct ft_net_link *l)
{
    drop(l);
    want(net, l, l->generation + 1);
}

/* The link that a socket is of, or NULL. */
static struct ft_net_link *link_of(struct ft_net *net, const struct ft_link_post *post)
{
    int p = post->stream <= net->region->header->params.spread ? ft_exchange_peer(&net->nodes[post->stream].x, post->peer) : -1;

    return p < 0 ? NULL : &links_of(net, post->stream)[p];
}

static void adopt(struct ft_net *net, const struct ft_link_post *post, int fd)
{
    struct ft_net_link *l = link_of(net, post);

    if (!l || post->generation <= l->generation) {
        close(fd);
        return;
    }
    drop(l);
    l->fd = fd;
    l->generation = post->generation;
    ft_exchange_connected(exchange(l), l->p);
}

/* What the agent has handed over. True: something. */
static bool look_for_sockets(struct ft_net *net)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct ft_link_post post;
    bool found = false;

    for (;;) {
        struct iovec iov = { &post, sizeof post };
        struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control };
        struct cmsghdr *c;
        int fd;

        if (recvmsg(net->post, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != (ssize_t)sizeof post)
            return found;
        c = CMSG_FIRSTHDR(&m);
        if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
        adopt(net, &post, net->aside ? net->aside(fd) : fd);
        found = true;
    }
}

/* One load each, while nothing has come. */
static bool is_posted(const struct ft_net *net)
{
    for (const struct ft_net_link *l = net->link; l < net->link + net->n; l++)
        if (ft_look(&words(net, l)->posted) > l->generation)
            return true;
    return false;
}

/* ---- out ---- */

static ssize_t send_pieces(struct ft_net_link *l)
{
    struct iovec iov[2];
    struct msghdr m = { .msg_iov = iov };
    uint64_t done = l->written < sizeof l->out ? 0 : l->written - sizeof l->out;

    if (l->written < sizeof l->out)
        iov[m.msg_iovlen++] = (struct iovec){ (char *)&l->out + l->written, sizeof l->out - l->written };
    iov[m.msg_iovlen++] = (struct iovec){ (char *)(uintptr_t)l->payload + done, l->out.length - done };
    return sendmsg(l->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* 1: something went out; 0; an error that ends the job. A link that breaks is none. */
static int push(struct ft_net *net, struct ft_net_link *l, struct ft_error *e)
{
    uint64_t whole;
    ssize_t n;

    if (!l->sending) {
        int err = ft_nodes_outgoing(l->nodes, l->p, &l->out, &l->payload, e);

        if (err || l->out.type == FT_FRAME_NONE)
            return err;
        l->sending = true;
        l->written = 0;
        if (l->out.length <= FT_NET_SMALL) {
            memcpy(l->small, &l->out, sizeof l->out);
            if (l->out.length)
                memcpy(l->small + sizeof l->out, l->payload, l->out.length);
        }
    }
    whole = sizeof l->out + l->out.length;
    n = l->out.length <= FT_NET_SMALL ? send(l->fd, l->small + l->written, whole - l->written, MSG_DONTWAIT | MSG_NOSIGNAL) : send_pieces(l);
    if (n < 0) {
        if (errno != EAGAIN && errno != EINTR)
            broken(net, l);
        return 0;
    }
    l->written += (uint64_t)n;
    if (l->written == whole) {
        l->sending = false;
        ft_exchange_sent(exchange(l), l->p);
    }
    return 1;
}

/* ---- in ---- */

/* False: nothing there now, or the link is broken. */
static bool receive(struct ft_net *net, struct ft_net_link *l, struct iovec *iov, size_t parts, uint64_t *got)
{
    struct msghdr m = { .msg_iov = iov, .msg_iovlen = parts };
    ssize_t n = parts == 1 ? recv(l->fd, iov->iov_base, iov->iov_len, MSG_DONTWAIT) : recvmsg(l->fd, &m, MSG_DONTWAIT);

    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
            broken(net, l);
        return false;
    }
    *got = (uint64_t)n;
    return true;
}

/* Behind a large frame another one is likely: of that only the head, or more would be copied than a call costs. */
static uint64_t stage_room(const struct ft_net_link *l)
{
    return (l->in.length > sizeof l->stage ? sizeof l->in : sizeof l->stage) - l->to;
}

/* Into the stage, behind what is there. */
static bool fill_stage(struct ft_net *net, struct ft_net_link *l)
{
    struct iovec iov;
    uint64_t got;

    if (l->from == l->to)
        l->from = l->to = 0;
    if (l->from) {
        memmove(l->stage, l->stage + l->from, l->to - l->from);
        l->to -= l->from;
        l->from = 0;
    }
    iov = (struct iovec){ l->stage + l->to, stage_room(l) };
    if (!receive(net, l, &iov, 1, &got))
        return false;
    l->to += got;
    return true;
}

/* The rest of a payload, straight to where it is needed; what follows it, into the stage. */
static bool fill_sink(struct ft_net *net, struct ft_net_link *l)
{
    struct iovec iov[2];
    uint64_t got, n;

    if (l->from < l->to) {
        n = ft_min(l->left, l->to - l->from);
        if (l->sink)
            ft_fill(l->sink, l->stage + l->from, n);
        l->from += n;
    } else {
        uint64_t most = l->sink ? l->left : ft_min(l->left, sizeof net->scrap);
        bool whole = most == l->left;

        iov[0] = (struct iovec){ l->sink ? l->sink : net->scrap, most };
        l->from = l->to = 0;
        iov[1] = (struct iovec){ l->stage, stage_room(l) };
        if (!receive(net, l, iov, whole ? 2 : 1, &got))
            return false;
        n = ft_min(got, most);
        l->to = got - n;
    }
    l->left -= n;
    if (l->sink)
        l->sink += n;
    return true;
}

static void finish(struct ft_net_link *l)
{
    l->taking = false;
    ft_nodes_arrived(l->nodes, l->p);
}

/* What to do with the frame whose head is there. 1, 0: it waits, or an error. */
static int decide(struct ft_net *net, struct ft_net_link *l, struct ft_error *e)
{
    enum ft_take take;
    int err = ft_nodes_incoming(l->nodes, l->p, &l->in, &take, &l->sink, e);

    if (err || take == FT_TAKE_WAIT)
        return err;
    if (take == FT_TAKE_WRONG) {
        broken(net, l);
        return 1;
    }
    l->headed = false;
    l->left = l->in.length;
    l->taking = true;
    if (!l->left)
        finish(l);
    return 1;
}

/* One step: at most one system call. */
static int step(struct ft_net *net, struct ft_net_link *l, struct ft_error *e)
{

    if (l->taking) {
        if (!fill_sink(net, l))
            return 0;
        if (!l->left)
            finish(l);
        return 1;
    }
    if (!l->headed) {
        if (l->to - l->from < sizeof l->in && (!fill_stage(net, l) || l->to - l->from < sizeof l->in))
            return 0;
        memcpy(&l->in, l->stage + l->from, sizeof l->in);
        l->from += sizeof l->in;
        l->headed = true;
    }
    return decide(net, l, e);
}

/* A frame that is in the stage as a whole is taken at once. */
static int pull(struct ft_net *net, struct ft_net_link *l, struct ft_error *e)
{
    int moved = 0, err;

    do {
        err = step(net, l, e);
        moved |= err > 0;
    } while (err > 0 && l->taking && l->to > l->from);
    return err < 0 ? err : moved;
}

/* ---- for ft/core/nodes.h ---- */

static int turn(void *arg, struct ft_error *e)
{
    struct ft_net *net = arg;
    int moved = 0, err;

    if (++net->turns % LOOK_TURNS == 0 && is_posted(net))
        look_for_sockets(net);
    for (struct ft_net_link *l = net->link; l < net->link + net->n; l++) {
        if (!is_open(l))
            continue;
        /* All that can go, before anything is read: what comes in between is looked at once then
           (docs/performance/hosts.md, "Segments"). */
        while ((err = push(net, l, e)) > 0)
            moved = 1;
        if (err < 0)
            return err;
        if (!is_open(l))
            continue;
        if ((err = pull(net, l, e)) < 0)
            return err;
        moved |= err;
    }
    return moved;
}

/* Until a socket can be read or written, or the agent has sent another one. A link whose next frame waits is not looked at: it could be
   read all the time. */
static void sleep_on_sockets(struct ft_net *net, uint64_t waited_ns)
{
    struct pollfd *polls = net->polls;
    nfds_t n = 0;

    for (const struct ft_net_link *l = net->link; l < net->link + net->n; l++)
        if (is_open(l) && (!l->headed || l->sending))
            polls[n++] = (struct pollfd){ .fd = l->fd, .events = (short)((l->headed ? 0 : POLLIN) | (l->sending ? POLLOUT : 0)) };
    polls[n++] = (struct pollfd){ .fd = net->post, .events = POLLIN };
    poll(polls, n, (int)ft_min(ft_max(SHORT_MS, waited_ns / 2000000), LONG_MS));
}

/* What is still to come of this stream nobody gives us: a word to say so, or NULL. */
static _Atomic uint64_t *find_stuck(const struct ft_net *net, const struct ft_nodes *nodes)
{
    const struct ft_net_link *links = links_of(net, nodes->number);
    const struct ft_exchange *x = &nodes->x;
    _Atomic uint64_t *lacks = NULL;

    if (ft_exchange_over(x))
        return NULL;
    for (uint32_t p = 0; p < x->n; p++)
        if (ft_look(&ft_region_link(net->region, 0, x->peer[p].node)->gone))
            lacks = &words(net, &links[p])->lacks;
        else if (!x->peer[p].heard || x->peer[p].count > x->mine)
            return NULL;
    return lacks && !ft_peek(lacks) ? lacks : NULL;
}

/* Peers have left, and those who have not give us no more; but we are not in MPI_Finalize yet: this node was replaced, and got a part of the
   log. The agent has it replaced again (docs/models.md, STAYS_STUCK). */
static void say_if_stuck(const struct ft_net *net)
{
    for (uint32_t stream = 0; stream <= net->region->header->params.spread && !net->nodes->x.leaving; stream++) {
        _Atomic uint64_t *lacks = find_stuck(net, &net->nodes[stream]);

        if (!lacks)
            continue;
        ft_announce(lacks, 1);
        ring(net);
    }
}

static bool pause_turn(void *arg, struct ft_wait *w, bool local)
{
    struct ft_net *net = arg;
    const struct ft_patience *patience = net->nodes->s->patience;

    w->turns += DEAR;
    if (local ? !ft_wait_turn_within(w, patience, LOCAL_NS) : !ft_wait_patience(w, patience))
        return net->turns % 1024 == 0;
    if (is_posted(net) && look_for_sockets(net))
        return false;
    if (!local)
        sleep_on_sockets(net, ft_clock_ns() - w->since_ns);
    say_if_stuck(net);
    return true;
}

static void ring_for(void *arg) { ring(arg); }

/* Sockets that an earlier incarnation had are gone with it; those that wait in the socketpair are as good as new ones. They are wanted, too:
   by that the keeper knows that something of the log is kept for the other end. */
static void start(void *arg, uint32_t stream)
{
    struct ft_net *net = arg;

    look_for_sockets(net);
    for (const struct ft_net_link *l = links_of(net, stream); l < links_of(net, stream + 1); l++)
        want(net, l, l->fd == NO_FD ? ft_look(&words(net, l)->posted) + 1 : l->generation);
}

static int make_links(struct ft_net *net, struct ft_error *e)
{
    const struct ft_params *p = &net->region->header->params;

    net->npeers = ft_tree_peers(p->nnodes, p->node);
    net->n = (1 + p->spread) * net->npeers;
    net->link = calloc(net->n, sizeof *net->link);
    net->fds = calloc(net->n, sizeof *net->fds);
    net->polls = calloc(net->n + 1, sizeof *net->polls);
    if (!net->link || !net->fds || !net->polls)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < net->n; i++) {
        net->link[i].nodes = &net->nodes[i / net->npeers];
        net->link[i].p = i % net->npeers;
        net->link[i].fd = NO_FD;
    }
    return 0;
}

int ft_net_open(struct ft_net *net, struct ft_nodes *nodes, const struct ft_region *region, int post, int bell, struct ft_wire *wire,
                struct ft_error *e)
{
    memset(net, 0, sizeof *net);
    net->nodes = nodes;
    net->region = region;
    net->post = post;
    net->bell = bell;
    *wire = (struct ft_wire){ .net = net, .turn = turn, .pause = pause_turn, .start = start, .ring = ring_for };
    return make_links(net, e);
}

int ft_net_descriptors(struct ft_net *net)
{
    int n = 0;

    for (uint32_t i = 0; i < net->n; i++)
        if (net->link[i].fd != NO_FD)
            net->fds[n++] = net->link[i].fd;
    return n;
}

void ft_net_resume(struct ft_net *net)
{
    for (uint32_t i = 0; i < net->n; i++) {
        net->link[i].fd = NO_FD;
        forget(&net->link[i]);
    }
    for (uint32_t stream = 0; stream <= net->region->header->params.spread; stream++)
        if (net->nodes[stream].s)
            start(net, stream);
}

void ft_net_close(struct ft_net *net)
{
    for (uint32_t i = 0; i < net->n && net->link; i++)
        if (net->link[i].fd != NO_FD)
            close(net->link[i].fd);
    free(net->link);
    free(net->fds);
    free(net->polls);
}
