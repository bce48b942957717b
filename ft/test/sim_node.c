/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator's nodes: the driver of an exchange, as the engine is one, and what can happen to it. What is in a unit: sim_unit.c. */
#include <string.h>

#include "ft/test/sim.h"

/* ---- links ---- */

void lose(uint32_t i, uint32_t p, bool heard)
{
    struct node *n = &job.node[i];

    if (!heard)
        net_close(n->side[p].conn, i, roll(2), delay(40));
    else
        n->side[p].conn->closed[end_of(n->side[p].conn, i)] = true;
    n->side[p].conn = NULL;
    ft_exchange_broken(&n->x, p);
    if (!n->side[p].given)
        dial(i, p, delay(50));
}

static bool begin_to_send(uint32_t i, uint32_t p)
{
    struct node *n = &job.node[i];
    uint64_t u;
    bool sends = n->x.peer[p].sending;
    enum ft_frame what = ft_exchange_send(&n->x, p, &u);
    struct event e = mine_is(i, SENT);

    if (what == FT_FRAME_NONE)
        return false;
    if (sends)
        fail("node %u begins a frame to node %u in the middle of another", i, n->x.peer[p].node);
    n->side[p].sending = payload(i, what, u);
    if (what == FT_FRAME_PART && n->side[p].sending.unit != u)
        fail("node %u sends the partial of unit %llu for unit %llu", i, (unsigned long long)n->side[p].sending.unit, (unsigned long long)u);
    n->sent++;
    job.frames[what]++;
    job.last += u + 1 == job.units;
    net_push(n->side[p].conn, i, (struct frame){ .what = (uint8_t)what, .unit = u, .count = n->x.mine, .value = n->side[p].sending });
    if (what == FT_FRAME_PART && !job.c.steady) {  /* its memory is read for a while */
        e.peer = p;
        e.conn = n->side[p].conn;
        schedule(delay(20), e);
    } else {
        ft_exchange_sent(&n->x, p);
    }
    return true;
}

static void sent(const struct event *e)
{
    struct node *n = &job.node[e->node];
    const struct ft_peer *peer = &n->x.peer[e->peer];
    struct value now = n->partial[peer->sending_unit % job.c.depth];

    if (n->side[e->peer].conn != e->conn || !peer->sending)
        return;
    if (peer->sending == FT_FRAME_PART && memcmp(&now, &n->side[e->peer].sending, sizeof now) != 0)
        fail("node %u: the partial of unit %llu changes while it is being sent", e->node, (unsigned long long)peer->sending_unit);
    ft_exchange_sent(&n->x, e->peer);
}

/* The first frame from peer p, if it can be read now. */
static bool read_frame(uint32_t i, uint32_t p)
{
    struct node *n = &job.node[i];
    struct frame *f = n->side[p].conn ? net_first(n->side[p].conn, i) : NULL;
    struct event e = mine_is(i, TAKEN);
    enum ft_take take;

    if (!f || n->x.peer[p].taking)
        return false;
    if (f->what == FRAME_END) {
        lose(i, p, true);
        return true;
    }
    if (f->what == FT_FRAME_HELLO) {
        if (!ft_exchange_hello(&n->x, p, f->count)) {
            if (!job.c.releases)
                fail("node %u has released what node %u lacks", i, n->x.peer[p].node);
            all_again();
            return false;
        }
        n->side[p].known = f->value.from;
        net_pop(n->side[p].conn, i);
        return true;
    }
    take = ft_exchange_head(&n->x, p, (enum ft_frame)f->what, f->unit, f->count);
    if (take == FT_TAKE_WRONG)
        fail("node %u, at %llu, gets frame %u of unit %llu from node %u, which says it has %llu: wrong", i, (unsigned long long)n->mine,
             f->what, (unsigned long long)f->unit, n->x.peer[p].node, (unsigned long long)f->count);
    if (take == FT_TAKE_WAIT || take == FT_TAKE_WRONG)
        return false;
    if (take == FT_TAKE_DROP || (job.c.steady && take == FT_TAKE_PART)) {
        if (take == FT_TAKE_PART)
            take_partial(i, p, f);
        net_pop(n->side[p].conn, i);
        ft_exchange_taken(&n->x, p);
        return true;
    }
    e.peer = p;
    e.conn = n->side[p].conn;
    schedule(job.c.steady ? 0 : delay(20), e);
    return false;
}

static void taken(const struct event *e)
{
    struct node *n = &job.node[e->node];
    struct frame f;

    if (n->side[e->peer].conn != e->conn || !n->x.peer[e->peer].taking)
        return;
    f = *net_first(e->conn, e->node);
    net_pop(e->conn, e->node);
    if (f.what == FT_FRAME_PART && f.unit >= n->mine)
        take_partial(e->node, e->peer, &f);
    ft_exchange_taken(&n->x, e->peer);
    if (f.what == FT_FRAME_RES)
        commit(e->node, f.unit, f.value.hash);
}

static void adopt(uint32_t i, uint32_t p)
{
    struct node *n = &job.node[i];
    struct conn *c = n->side[p].given;

    if (!c)
        return;
    n->side[p].given = NULL;
    if (n->side[p].conn)
        net_close(n->side[p].conn, i, roll(2), delay(5));
    n->side[p].conn = c;
    ft_exchange_connected(&n->x, p);
}

/* ---- a representative ---- */

/* It has met this peer, which has not been lost since. */
static bool knows(const struct node *n, uint32_t p) { return n->side[p].known == job.node[n->x.peer[p].node].life; }

static void leave(uint32_t i)
{
    struct node *n = &job.node[i];

    for (uint32_t p = 0; p < n->x.n; p++)
        if (knows(n, p) && job.node[n->x.peer[p].node].mine < job.units)
            fail("node %u leaves, and node %u, which it knows, lacks units", i, n->x.peer[p].node);
    n->left = true;
    job.left++;
    for (uint32_t p = 0; p < n->x.n; p++) {
        struct conn *both[2] = { n->side[p].conn, n->side[p].given };

        n->side[p].conn = n->side[p].given = NULL;
        for (int k = 0; k < 2; k++)
            if (both[k])
                net_close(both[k], i, roll(2), delay(40));
    }
}

/* As the keeper does, of what its link words say. */
static uint64_t acknowledged(const struct ft_exchange *x)
{
    uint64_t least = x->mine;

    for (uint32_t p = 0; p < x->n; p++)
        if (!x->peer[p].gone && x->peer[p].count < least)
            least = x->peer[p].count;
    return least;
}

static void release(uint32_t i)
{
    struct node *n = &job.node[i];
    uint64_t least = acknowledged(&n->x);

    if (!job.c.releases || least <= n->base || last_op(n))
        return;
    for (uint32_t p = 0; p < n->x.n; p++)
        if (knows(n, p) && job.node[n->x.peer[p].node].mine < least)
            fail("node %u releases units below %llu, which node %u lacks", i, (unsigned long long)least, n->x.peer[p].node);
    n->base = least;
    ft_exchange_release(&n->x, least);
}

/* What a program that computes for an hour would keep from others, and what the call's memory is used for. */
static void check_debts(uint32_t i)
{
    struct node *n = &job.node[i];

    for (uint32_t p = 0; p < n->x.n; p++) {
        struct ft_peer before = n->x.peer[p];
        uint64_t u;

        if (before.sending || (before.taking && before.taking != FT_TAKE_DROP + 1) || ft_exchange_send(&n->x, p, &u))
            fail("node %u returns from a call and owes node %u a frame", i, before.node);
        n->x.peer[p] = before;
    }
}

static bool may_return(const struct node *n) { return n->in_call && ft_exchange_over(&n->x) && !ft_exchange_owes(&n->x); }

static void return_from_call(uint32_t i)
{
    struct node *n = &job.node[i];

    if (!may_return(n))
        return;
    check_debts(i);
    if (last_op(n)) {
        if (ft_exchange_settled(&n->x))
            leave(i);
        return;
    }
    n->in_call = false;
    n->op++;
    schedule(delay(roll(8) ? 10 : 300), mine_is(i, CALLS));
}

void look(uint32_t i)
{
    struct node *n = &job.node[i];
    bool more = true;

    while (more && n->alive && n->in_call && !n->left && !failed()) {
        uint64_t u;
        enum ft_step step;

        more = false;
        for (uint32_t p = 0; p < n->x.n && n->alive; p++) {
            adopt(i, p);
            more = read_frame(i, p) || more;
        }
        if (!n->alive)
            return;
        step = ft_exchange_step(&n->x, &u);
        if (step == FT_STEP_FOLD)
            fold(i, u);
        else if (step == FT_STEP_MAKE)
            make(i, u);
        else if (step == FT_STEP_RESULT)
            result(i, u);
        more = more || step != FT_STEP_NONE;
        if (!more && may_return(n))
            break;
        for (uint32_t p = 0; p < n->x.n; p++)
            more = (n->side[p].conn && begin_to_send(i, p)) || more;
        if (n->x.folded > n->x.mine + job.c.depth)
            fail("node %u has folded %llu units beyond %llu", i, (unsigned long long)n->x.folded, (unsigned long long)n->x.mine);
    }
    release(i);
    if (!n->left)
        return_from_call(i);
}

static void calls(uint32_t i)
{
    struct node *n = &job.node[i];
    const struct op *o;

    while (n->mine >= op_of(n)->end && !last_op(n))
        n->op++;  /* answered out of the log */
    o = op_of(n);
    if (n->mine >= o->end) {  /* finalize is: settle what is left to settle */
        ft_exchange_begin(&n->x, o->tree, o->kind, o->root, o->first, o->end, n->own);
        ft_exchange_leave(&n->x);
        n->in_call = true;
        return;
    }
    if (n->own < o->first)
        n->own = o->first;
    if (last_op(n))
        ft_exchange_leave(&n->x);
    ft_exchange_begin(&n->x, o->tree, o->kind, o->root, o->first, o->end, n->own);
    n->in_call = true;
    contribute_later(i);
}

void node_starts(uint32_t i)
{
    struct node *n = &job.node[i];

    n->alive = true;
    n->in_call = false;
    n->op = 0;
    if (n->solo)
        n->own = n->mine;
    memset(n->partial, 0, sizeof n->partial);
    memset(n->made, 0, sizeof n->made);
    ft_exchange_init(&n->x, n->peer, job.c.nodes, i, job.c.depth, n->mine);
    ft_exchange_release(&n->x, n->base);
    for (uint32_t p = 0; p < n->x.n; p++) {
        memset(n->side[p].inbox, 0, sizeof n->side[p].inbox);
        n->side[p].known = UINT32_MAX;
        dial(i, p, delay(10));
    }
    schedule(delay(50), mine_is(i, CALLS));
}

void representative_dies(uint32_t i, bool rudely, uint64_t after, uint64_t back)
{
    struct node *n = &job.node[i];

    n->alive = n->in_call = false;
    n->incarnation++;
    for (uint32_t p = 0; p < n->x.n; p++) {
        struct conn *both[2] = { n->side[p].conn, n->side[p].given };

        n->side[p].conn = n->side[p].given = NULL;
        for (int k = 0; k < 2; k++)
            if (both[k])
                net_close(both[k], i, rudely, after);
    }
    if (back)
        schedule(back, mine_is(i, STARTS));
}

/* It is started again and contributes later: nobody else hears of it. */
void rank_dies(uint32_t i)
{
    struct node *n = &job.node[i];

    if (n->contributing)
        return;
    n->contributing = true;
    schedule(delay(300), mine_is(i, CONTRIBUTES));
}

/* ---- a node ---- */

void node_dies(uint32_t i)
{
    struct node *n = &job.node[i];

    n->life++;
    n->mine = n->own = n->base = 0;
    n->contributing = false;
    representative_dies(i, true, delay(roll(2) ? 20 : 1000), 0);
    schedule(delay(1000), mine_is(i, REPLACED));
}

/* Any prefix of anybody's log will do, even none. But once somebody has left, who would have to answer, the whole log of one that has most. */
static void replaced(uint32_t i)
{
    struct node *n = &job.node[i];
    uint32_t from = job.c.steady ? n->x.peer[0].node : (uint32_t)roll(job.c.nodes);
    uint64_t units = 0;

    for (uint32_t k = 0; k < job.c.nodes && job.left; k++)
        if (job.node[k].mine > job.node[from].mine && (!job.node[k].left || job.node[k].mine > job.node[from].mine + 1))
            from = k;
    if (job.node[from].base == 0)
        units = job.left || job.c.steady || roll(2) ? job.node[from].mine : roll(job.node[from].mine + 1);
    memcpy(n->log, job.node[from].log, units * sizeof *n->log);
    n->mine = n->own = units;
    node_starts(i);
}

/* What a peer that has left would have to answer, and is not here: the node begins anew, with all of somebody's log. */
static void hears_gone(const struct event *e)
{
    struct node *n = &job.node[e->node];
    bool whole = false;

    if (!n->alive || n->left || n->incarnation != e->incarnation || !job.node[n->x.peer[e->peer].node].left)
        return;
    ft_exchange_gone(&n->x, e->peer);
    if (n->mine + 1 >= job.units) {
        look(e->node);
        return;
    }
    for (uint32_t k = 0; k < job.c.nodes; k++)
        whole = whole || (job.node[k].mine + 1 >= job.units && job.node[k].base == 0);
    job.refetched++;
    if (whole)
        node_dies(e->node);
    else if (job.c.releases)
        all_again();
    else
        fail("node %u lacks units below %llu, and node %u has left", e->node, (unsigned long long)n->mine, n->x.peer[e->peer].node);
}

/* A log that somebody needs has been released: all nodes begin again. */
void all_again(void)
{
    job.restarts++;
    job.left = 0;
    for (uint32_t i = 0; i < job.c.nodes; i++) {
        struct node *n = &job.node[i];

        n->life++;
        n->left = false;
        n->contributing = false;
        n->mine = n->own = n->base = 0;
        representative_dies(i, true, delay(20), 500 + delay(100));
    }
}

void node_event(const struct event *e)
{
    struct node *n = &job.node[e->node];
    bool same = n->alive && n->incarnation == e->incarnation;

    switch (e->what) {
    case CALLS:
        if (same)
            calls(e->node);
        break;
    case CONTRIBUTES:
        if (n->life != e->life)
            return;
        n->contributing = false;
        if (n->own < op_of(n)->end && n->own < n->mine + job.c.depth)
            n->own++;
        if (n->in_call)
            ft_exchange_own(&n->x, n->own);
        contribute_later(e->node);
        break;
    case SENT:
        if (same)
            sent(e);
        break;
    case TAKEN:
        if (same)
            taken(e);
        break;
    case RESET:
        if (n->side[e->peer].conn == e->conn)
            lose(e->node, e->peer, true);
        else if (n->side[e->peer].given == e->conn) {
            n->side[e->peer].given = NULL;
            dial(e->node, e->peer, delay(50));
        }
        e->conn->closed[end_of(e->conn, e->node)] = true;
        break;
    case HEARS_GONE:
        hears_gone(e);
        return;
    case STARTS:
        if (n->life == e->life && n->incarnation == e->incarnation && !n->alive)
            node_starts(e->node);
        break;
    case REPLACED:
        if (n->life == e->life && !n->alive)
            replaced(e->node);
        break;
    case ARRIVES:
    case DIALS:
    case GIVEN:
    case FAILS:
        break;
    }
    look(e->node);
}
