/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections between representatives, in memory, and the agents that make them: what
   ft/net/links.c does with sockets, and launchers with struct ft_link_words. A frame goes in two
   pieces, and comes in two: between them others run, and ends die. */
#include <string.h>

#include "ft/shm/wait.h"
#include "ft/shm/word.h"
#include "ft/test/apart.h"

enum {
    CONNECTIONS = 24, FRAMES = 3, MOST_PAYLOAD = 8192,
    LOOK_TURNS = 4,           /* as in ft/net/links.c: turns between looks for new connections */
    LOCAL_NS = 1000000
};

/* What one end has sent and the other one has not taken. */
struct way {
    struct { struct ft_frame_head head; uint64_t there; char payload[MOST_PAYLOAD]; } frame[FRAMES];
    uint32_t first, n;
};

enum end { AGENTS /* not handed over yet */, POSTED, HELD, CLOSED };

struct connection {
    bool used, broken;
    uint32_t stream, node[2];
    enum end end[2];
    struct way way[2];        /* from end 0, from end 1 */
};

static struct connection pool[CONNECTIONS];

static bool has_left(uint32_t node) { return job.node[node].actor[0].state == OVER; }

static int end_of(const struct connection *c, uint32_t node) { return c->node[1] == node; }

static void close_end(struct connection *c, uint32_t node)
{
    c->end[end_of(c, node)] = CLOSED;
    c->used = c->end[0] != CLOSED || c->end[1] != CLOSED;
}

/* ---- the representative's ---- */

static struct ft_exchange *exchange(const struct apart_wire *w, uint32_t stream) { return &w->owner->nodes[stream].x; }

static struct ft_link_words *words(const struct apart_wire *w, uint32_t stream, uint32_t p)
{
    return ft_region_link(&w->owner->node->region, stream, exchange(w, stream)->peer[p].node);
}

static void want(struct apart_wire *w, uint32_t stream, uint32_t p, uint64_t generation)
{
    _Atomic uint64_t *wanted = &words(w, stream, p)->wanted;

    if (ft_peek(wanted) < generation)
        ft_announce(wanted, generation);
}

static void drop(struct apart_wire *w, uint32_t stream, uint32_t p)
{
    struct apart_link *l = &w->link[stream][p];

    if (l->at < 0)
        return;
    run.seen[TORN] += l->taking || l->sending;
    close_end(&pool[l->at], w->owner->node->number);
    *l = (struct apart_link){ .at = -1, .generation = l->generation };
    ft_exchange_broken(exchange(w, stream), p);
    w->owner->nodes[stream].lingers = true;
}

static void look_for(struct apart_wire *w, uint32_t stream)
{
    struct ft_exchange *x = exchange(w, stream);

    for (uint32_t p = 0; p < x->n; p++) {
        int at = w->owner->node->posted[stream][x->peer[p].node].at;

        if (at < 0)
            continue;
        w->owner->node->posted[stream][x->peer[p].node].at = -1;
        drop(w, stream, p);
        pool[at].end[end_of(&pool[at], w->owner->node->number)] = HELD;
        w->link[stream][p].at = at;
        w->link[stream][p].generation = w->owner->node->posted[stream][x->peer[p].node].generation;
        ft_exchange_connected(x, p);
        run.seen[ADOPTED]++;
    }
}

static void look_for_connections(struct apart_wire *w)
{
    for (uint32_t stream = 0; stream < nstreams(); stream++)
        look_for(w, stream);
}

/* 1: something went out; 0; an error. */
static int push(struct apart_wire *w, uint32_t stream, uint32_t p, struct ft_error *e)
{
    struct ft_nodes *n = &w->owner->nodes[stream];
    struct apart_link *l = &w->link[stream][p];
    struct way *way = &pool[l->at].way[end_of(&pool[l->at], w->owner->node->number)];
    uint32_t last = (way->first + way->n + FRAMES - 1) % FRAMES, next = (last + 1) % FRAMES;
    struct ft_frame_head head;
    int err;

    if (l->sending) {
        uint64_t length = way->frame[last].head.length, there = way->frame[last].there;

        ft_point_store();
        memcpy(way->frame[last].payload + there, l->payload + there, length - there);
        way->frame[last].there = length;
        l->sending = false;
        ft_exchange_sent(&n->x, p);
        return 1;
    }
    if (way->n == FRAMES)
        return 0;
    err = ft_nodes_outgoing(n, p, &head, &l->payload, e);
    if (err || head.type == FT_FRAME_NONE)
        return err;
    if (head.length > MOST_PAYLOAD) {
        failed("a frame of %u bytes", head.length);
        return 0;
    }
    run.seen[OLD] += head.type == FT_FRAME_RES && l->payload && l->payload == n->reader[p].bytes;
    ft_point_store();
    way->frame[next].head = head;
    way->frame[next].there = head.length / 2;
    if (head.length)
        memcpy(way->frame[next].payload, l->payload, way->frame[next].there);
    way->n++;
    if (head.length)
        l->sending = true;
    else
        ft_exchange_sent(&n->x, p);
    return 1;
}

static int decide(struct apart_wire *w, uint32_t stream, uint32_t p, const struct ft_frame_head *head, struct ft_error *e)
{
    struct apart_link *l = &w->link[stream][p];
    enum ft_take take;
    int err = ft_nodes_incoming(&w->owner->nodes[stream], p, head, &take, &l->sink, e);

    if (err || take == FT_TAKE_WAIT)
        return err;
    if (take == FT_TAKE_WRONG) {
        failed("rank %u refuses frame %u of unit %llu of stream %u from node %u", w->owner->rank, head->type,
               (unsigned long long)head->unit, stream, exchange(w, stream)->peer[p].node);
        return 0;
    }
    l->taking = true;
    l->taken = 0;
    return 1;
}

/* 1: something has come; 0; an error. */
static int pull(struct apart_wire *w, uint32_t stream, uint32_t p, struct ft_error *e)
{
    struct apart_link *l = &w->link[stream][p];
    struct connection *c = &pool[l->at];
    struct way *way = &c->way[!end_of(c, w->owner->node->number)];
    uint64_t length, n;
    int moved = 0;

    if (!way->n)
        return 0;
    length = way->frame[way->first].head.length;
    if (!l->taking && (moved = decide(w, stream, p, &way->frame[way->first].head, e)) <= 0)
        return moved;
    n = way->frame[way->first].there - l->taken;
    if (n && l->sink)
        ft_fill(l->sink + l->taken, way->frame[way->first].payload + l->taken, n);
    l->taken += n;
    if (l->taken < length)
        return moved || n;
    ft_point_store();
    l->taking = false;
    way->first = (way->first + 1) % FRAMES;
    way->n--;
    ft_nodes_arrived(&w->owner->nodes[stream], p);
    return 1;
}

/* Its end is seen when all has been read that came before it. */
static bool has_ended(const struct apart_wire *w, const struct apart_link *l)
{
    const struct connection *c = &pool[l->at];
    int other = !end_of(c, w->owner->node->number);
    const struct way *way = &c->way[other];

    return c->broken || (c->end[other] == CLOSED && (!way->n || (l->taking && l->taken == way->frame[way->first].there)));
}

static int turn_of(struct apart_wire *w, uint32_t stream, struct ft_error *e)
{
    int moved = 0, err;

    for (uint32_t p = 0; p < exchange(w, stream)->n; p++) {
        struct apart_link *l = &w->link[stream][p];

        if (l->at < 0)
            continue;
        if (has_ended(w, l)) {
            drop(w, stream, p);
            want(w, stream, p, l->generation + 1);
            continue;
        }
        if ((err = push(w, stream, p, e)) < 0)
            return err;
        moved |= err;
        if ((err = pull(w, stream, p, e)) < 0)
            return err;
        moved |= err;
    }
    return moved;
}

static int turn(void *net, struct ft_error *e)
{
    struct apart_wire *w = net;
    int moved = 0;

    if (++w->turns % LOOK_TURNS == 0)
        look_for_connections(w);
    for (uint32_t stream = 0; stream < nstreams() && moved >= 0; stream++) {
        int more = w->owner->nodes[stream].s ? turn_of(w, stream, e) : 0;

        moved = more < 0 ? more : moved | more;
    }
    return moved;
}

static bool pause_turn(void *net, struct ft_wait *wait, bool local)
{
    struct apart_wire *w = net;

    if (local)
        ft_wait_turn_within(wait, &w->owner->patience, LOCAL_NS);
    else
        ft_wait_patience(wait, &w->owner->patience);
    look_for_connections(w);
    return w->turns % 4 == 0;
}

static void ring(void *net) { (void)net; }

/* Connections that an earlier incarnation had are gone with it; those that wait are as good as
   new ones, and are wanted, too (was a log released that a peer lacked). */
static void start(void *net, uint32_t stream)
{
    struct apart_wire *w = net;

    look_for_connections(w);
    for (uint32_t p = 0; p < exchange(w, stream)->n; p++)
        want(w, stream, p, w->link[stream][p].at < 0 ? ft_look(&words(w, stream, p)->posted) + 1 : w->link[stream][p].generation);
}

static void forget_links(struct apart_wire *w)
{
    for (uint32_t stream = 0; stream < STREAMS; stream++)
        for (uint32_t p = 0; p < MAX_NODES; p++)
            w->link[stream][p].at = -1;
}

void open_wire(struct actor *a, struct ft_wire *wire)
{
    a->wire = (struct apart_wire){ .owner = a };
    forget_links(&a->wire);
    *wire = (struct ft_wire){ .net = &a->wire, .turn = turn, .start = start, .pause = pause_turn, .ring = ring };
}

/* ---- ends and faults ---- */

static void forget_posted(struct node *k)
{
    for (uint32_t stream = 0; stream < STREAMS; stream++)
        for (uint32_t peer = 0; peer < MAX_NODES; peer++)
            k->posted[stream][peer].at = -1;
}

void reset_wires(void)
{
    for (int i = 0; i < CONNECTIONS; i++)
        pool[i].used = false;
    for (uint32_t k = 0; k < job.nnodes; k++)
        forget_posted(&job.node[k]);
}

void cut_wires(struct node *k, bool all)
{
    for (int i = 0; i < CONNECTIONS; i++) {
        struct connection *c = &pool[i];
        int end = end_of(c, k->number);

        if (!c->used || c->node[end] != k->number || c->end[end] == CLOSED || (c->end[end] != HELD && !all))
            continue;
        if (job.loses_frames)
            c->broken = true;
        close_end(c, k->number);
    }
    if (all)
        forget_posted(k);
    forget_links(&k->actor[0].wire);
}

bool break_wire(struct node *k)
{
    for (int i = 0; i < CONNECTIONS; i++) {
        struct connection *c = &pool[i];

        if (!c->used || c->broken || c->end[0] != HELD || c->end[1] != HELD || c->node[end_of(c, k->number)] != k->number)
            continue;
        c->broken = true;
        return true;
    }
    return false;
}

/* ---- the agents ---- */

static bool lacks(uint32_t stream, uint32_t a, uint32_t b)
{
    const struct ft_link_words *w = ft_region_link(&job.node[a].region, stream, b);

    return ft_peek(&w->wanted) > ft_peek(&w->posted);
}

/* Some end of it is still the agents'. */
static bool on_its_way(uint32_t stream, uint32_t a, uint32_t b)
{
    for (int i = 0; i < CONNECTIONS; i++)
        if (pool[i].used && pool[i].stream == stream && pool[i].node[0] == a && pool[i].node[1] == b && (pool[i].end[0] == AGENTS || pool[i].end[1] == AGENTS))
            return true;
    return false;
}

static void make_connection(uint32_t stream, uint32_t a, uint32_t b)
{
    for (int i = 0; i < CONNECTIONS; i++)
        if (!pool[i].used) {
            pool[i].used = true;
            pool[i].broken = false;
            pool[i].stream = stream;
            pool[i].node[0] = a;
            pool[i].node[1] = b;
            for (int end = 0; end < 2; end++) {
                pool[i].end[end] = AGENTS;
                pool[i].way[end].first = pool[i].way[end].n = 0;
            }
            return;
        }
    failed("there are more connections than there can be");
}

static void hand_over(int i, int end)
{
    uint32_t k = pool[i].node[end], peer = pool[i].node[!end], stream = pool[i].stream;
    _Atomic uint64_t *posted = &ft_region_link(&job.node[k].region, stream, peer)->posted;

    if (job.node[k].posted[stream][peer].at >= 0) /* the older one is closed when both are found */
        close_end(&pool[job.node[k].posted[stream][peer].at], k);
    pool[i].end[end] = POSTED;
    atomic_store(posted, atomic_load(posted) + 1);
    job.node[k].posted[stream][peer].at = i;
    job.node[k].posted[stream][peer].generation = atomic_load(posted);
}

static void tell_gone(uint32_t k)
{
    job.node[k].gone = true;
    for (uint32_t other = 0; other < job.nnodes; other++)
        if (other != k)
            atomic_store(&ft_region_link(&job.node[other].region, 0, k)->gone, 1);
}

/* Counts what agents can do, and does number `which` of it. */
static uint32_t agents(uint32_t which)
{
    uint32_t n = 0;

    for (int i = 0; i < CONNECTIONS; i++)
        for (int end = 0; end < 2; end++)
            if (pool[i].used && pool[i].end[end] == AGENTS && n++ == which)
                hand_over(i, end);
    for (uint32_t a = 0; a < job.nnodes; a++) {
        for (uint32_t b = a + 1; b < job.nnodes; b++)
            for (uint32_t s = 0; s < nstreams(); s++)
                if ((lacks(s, a, b) || lacks(s, b, a)) && !has_left(a) && !has_left(b) && !on_its_way(s, a, b) && n++ == which)
                    make_connection(s, a, b);
        if (has_left(a) && !job.node[a].gone && n++ == which)
            tell_gone(a);
    }
    return n;
}

uint32_t agent_can(void) { return agents(UINT32_MAX); }
void agent_does(uint32_t i) { agents(i); }
