/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator's network: connections that agents make for representatives, which learn of it each at its own time; frames in order on
   a connection, and in no order between connections; ends that close politely (what is on its way arrives, then the end) or not. */
#include <stdlib.h>

#include "ft/test/sim.h"

/* Node a's representative needs a connection to its peer p: its agent tries after a while. */
void dial(uint32_t a, uint32_t p, uint64_t after)
{
    schedule(after, (struct event){ .what = DIALS, .node = a, .peer = p });
}

static struct conn *newest(uint32_t a, uint32_t b)
{
    for (struct conn *c = job.conns; c; c = c->next)
        if (c->node[0] == (a < b ? a : b) && c->node[1] == (a < b ? b : a))
            return c;
    return NULL;
}

static struct conn *connection(uint32_t a, uint32_t b)
{
    struct conn *c = calloc(1, sizeof *c);

    if (!c)
        abort();
    *c = (struct conn){ .next = job.conns, .node = { a < b ? a : b, a < b ? b : a }, .number = ++job.nconns };
    return job.conns = c;
}

void net_is_there(uint32_t a)
{
    struct node *n = &job.node[a];

    for (uint32_t p = 0; p < n->x.n; p++) {
        uint32_t b = n->x.peer[p].node;
        uint64_t u;

        n->side[p].conn = a < b ? connection(a, b) : newest(a, b);
        ft_exchange_connected(&n->x, p);
        ft_exchange_send(&n->x, p, &u);
        ft_exchange_sent(&n->x, p);
        ft_exchange_hello(&n->x, p, 0);
    }
}

void net_dials(uint32_t a, uint32_t p)
{
    const struct node *n = &job.node[a];
    uint32_t b = n->x.peer[p].node;
    const struct node *m = &job.node[b];
    struct conn *c;

    if (!n->alive || n->left)
        return;
    if (m->left) {
        schedule(delay(20), (struct event){ .what = HEARS_GONE, .node = a, .peer = p, .incarnation = n->incarnation });
        return;
    }
    if (!m->alive)
        return;  /* it dials when it starts */
    c = newest(a, b);
    if (c && !c->closed[0] && !c->closed[1])
        return;
    c = connection(a, b);
    schedule(delay(10), (struct event){ .what = GIVEN, .node = a, .peer = p, .incarnation = n->incarnation, .conn = c });
    schedule(delay(10), (struct event){ .what = GIVEN, .node = b, .peer = (uint32_t)ft_exchange_peer(&m->x, a),
                                        .incarnation = m->incarnation, .conn = c });
}

/* The agent hands a connection over. The newest counts. */
void net_given(const struct event *e)
{
    struct node *n = &job.node[e->node];
    struct conn *had = n->side[e->peer].given ? n->side[e->peer].given : n->side[e->peer].conn;

    if (!n->alive || n->left || n->incarnation != e->incarnation || (had && had->number > e->conn->number)) {
        net_close(e->conn, e->node, true, delay(5));
        return;
    }
    /* Reset on its way here. It was handed over once, and was a link that nobody missed: its RESET had come and gone (seed 150). */
    if (e->conn->closed[end_of(e->conn, e->node)]) {
        if (!had)
            dial(e->node, e->peer, delay(50));
        return;
    }
    if (n->side[e->peer].given)
        net_close(n->side[e->peer].given, e->node, true, delay(5));
    n->side[e->peer].given = e->conn;
    look(e->node);
}

/* This node's end is closed. Rudely: the other end learns after a time, and what it has not read by then is lost. */
void net_close(struct conn *c, uint32_t node, bool rudely, uint64_t after)
{
    int end = end_of(c, node);
    uint32_t other = c->node[!end];
    int p = ft_exchange_peer(&job.node[other].x, node);

    if (c->closed[end])
        return;
    c->closed[end] = true;
    if (c->closed[!end])
        return;
    if (rudely)
        schedule(after, (struct event){ .what = RESET, .node = other, .peer = (uint32_t)p, .conn = c });
    else
        net_push(c, node, (struct frame){ .what = FRAME_END });
}

/* A frame has been written: it comes after all that was written before. */
void net_push(struct conn *c, uint32_t from, struct frame f)
{
    int to = !end_of(c, from);
    struct queue *q = &c->to[to];
    uint64_t at = job.now + delay(30);

    if (c->closed[to])
        return;
    if (q->n == q->room) {
        q->room = q->room ? 2 * q->room : 8;
        q->frames = realloc(q->frames, q->room * sizeof *q->frames);
        if (!q->frames)
            abort();
    }
    q->last = at > q->last ? at : q->last;
    f.at = q->last;
    q->frames[q->n++] = f;
    schedule(f.at - job.now, (struct event){ .what = ARRIVES, .node = c->node[to] });
}

struct frame *net_first(struct conn *c, uint32_t to)
{
    struct queue *q = &c->to[end_of(c, to)];

    return q->first < q->n && q->frames[q->first].at <= job.now ? &q->frames[q->first] : NULL;
}

void net_pop(struct conn *c, uint32_t to)
{
    struct queue *q = &c->to[end_of(c, to)];

    if (++q->first == q->n)
        q->first = q->n = 0;
}

void net_free(void)
{
    while (job.conns) {
        struct conn *c = job.conns;

        job.conns = c->next;
        free(c->to[0].frames);
        free(c->to[1].frames);
        free(c);
    }
}
