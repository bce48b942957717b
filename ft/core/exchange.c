/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/exchange.h"

#include "ft/base/util.h"

enum {
    LEAD = 4,            /* HALVES, units: one PART is on its way while what became of the one before it is made and comes back */
    ACK_UNITS = 256,     /* a peer that has sent nothing for so long says how far it is, ... */
    ACK_BYTES = 4 << 20  /* ... or after so much of the log */
};

/* ---- who is around us ---- */

/* The peer of this node, put where the order of numbers wants it if it is not there. */
static struct ft_peer *place(struct ft_exchange *x, uint32_t node)
{
    uint32_t i = x->n;

    for (uint32_t p = 0; p < x->n; p++)
        if (x->peer[p].node == node)
            return &x->peer[p];
    for (; i > 0 && x->peer[i - 1].node > node; i--)
        x->peer[i] = x->peer[i - 1];
    x->peer[i] = (struct ft_peer){ .node = node };
    x->n++;
    return &x->peer[i];
}

void ft_exchange_init(struct ft_exchange *x, struct ft_peer *peer, uint32_t nodes, uint32_t me, uint32_t depth, uint64_t mine)
{
    *x = (struct ft_exchange){ .nodes = nodes, .me = me, .depth = depth, .peer = peer, .mine = mine, .own = mine, .folded = mine };
    for (int tree = 0; tree < FT_TREES; tree++) {
        const struct ft_shape *shape = &x->shape[tree];

        ft_tree_shape(&x->shape[tree], (enum ft_tree)tree, nodes, me);
        for (uint32_t i = 0; i < shape->n; i++)
            place(x, shape->of[i].node)->role[tree] = (uint8_t)shape->of[i].role;
    }
}

int ft_exchange_peer(const struct ft_exchange *x, uint32_t node)
{
    for (uint32_t p = 0; p < x->n; p++)
        if (x->peer[p].node == node)
            return (int)p;
    return -1;
}

static enum ft_role role(const struct ft_exchange *x, const struct ft_peer *p)
{
    return (enum ft_role)p->role[x->tree];
}

/* HALVES: whether it is our half of the tree whose root combines unit u. */
static bool is_ours(const struct ft_exchange *x, uint64_t u)
{
    return (x->me >= x->nodes / 2) == (u & 1);
}

/* HALVES: unit u has been combined here, and may not be committed yet. */
static bool is_made(const struct ft_exchange *x, uint64_t u)
{
    return x->kind == FT_UNIT_HALVES && u < x->made && is_ours(x, u);
}

/* HALVES: the one with whom we take turns. */
static bool takes_turns(const struct ft_exchange *x, const struct ft_peer *p)
{
    return x->kind == FT_UNIT_HALVES && role(x, p) == FT_ROLE_EDGE;
}

static bool gets_part(const struct ft_exchange *x, const struct ft_peer *p, uint64_t u)
{
    return takes_turns(x, p) ? !is_ours(x, u) : role(x, p) == FT_ROLE_UP || role(x, p) == FT_ROLE_EDGE;
}

static bool gives_part(const struct ft_exchange *x, const struct ft_peer *p, uint64_t u)
{
    return takes_turns(x, p) ? is_ours(x, u) : role(x, p) == FT_ROLE_DOWN || role(x, p) == FT_ROLE_EDGE;
}

/* The first unit that the peer may lack and for which nothing has gone to it. */
static uint64_t first_owed(const struct ft_exchange *x, const struct ft_peer *p)
{
    uint64_t u = ft_max(p->out, p->count);

    while (u < p->ahead && gets_part(x, p, u))
        u++;
    return u;
}

/* ---- the operation ---- */

void ft_exchange_begin(struct ft_exchange *x, enum ft_tree tree, enum ft_unit_kind kind, uint32_t root, uint64_t first, uint64_t end,
                       uint64_t own)
{
    for (uint32_t p = 0; p < x->n; p++) {  /* nothing of the operation before was for who is not in its tree */
        struct ft_peer *peer = &x->peer[p];

        peer->out = first_owed(x, peer);
        if (role(x, peer) == FT_ROLE_NONE && peer->out >= ft_max(peer->answer, x->first))
            peer->out = ft_max(peer->out, first);
    }
    x->tree = tree;
    x->kind = kind;
    x->root = root;
    x->first = first;
    x->end = end;
    x->own = own;
    x->folded = x->made = x->mine;
}

void ft_exchange_own(struct ft_exchange *x, uint64_t own)
{
    x->own = ft_max(x->own, own);
}

static bool sends_part(const struct ft_exchange *x, uint64_t u)
{
    for (uint32_t p = 0; p < x->n; p++)
        if (x->peer[p].sending == FT_FRAME_PART && x->peer[p].sending_unit == u)
            return true;
    return false;
}

static bool takes(const struct ft_exchange *x, enum ft_take take, uint64_t u)
{
    for (uint32_t p = 0; p < x->n; p++)
        if (x->peer[p].taking == take + 1 && x->peer[p].taking_unit == u)
            return true;
    return false;
}

/* Everybody of that role has given us unit u. */
static bool came(const struct ft_exchange *x, enum ft_role from, uint64_t u)
{
    for (uint32_t p = 0; p < x->n; p++)
        if (role(x, &x->peer[p]) == from && x->peer[p].in <= u)
            return false;
    return true;
}

static bool has_parent(const struct ft_exchange *x)
{
    return x->shape[x->tree].depth > 0;
}

/* Who has left had the last unit committed. It has no payload, and who left does not answer. */
static bool last_is_known(const struct ft_exchange *x)
{
    for (uint32_t p = 0; p < x->n; p++)
        if (x->peer[p].gone && x->leaving && x->mine + 1 == x->end)
            return true;
    return false;
}

static bool result_is_due(const struct ft_exchange *x)
{
    uint64_t u = x->mine;

    if (u >= x->end || sends_part(x, u) || takes(x, FT_TAKE_RES, u))
        return false;
    if (last_is_known(x))
        return true;
    if (x->kind == FT_UNIT_BCAST)
        return x->me == x->root && x->own > u;
    if (x->kind == FT_UNIT_HALVES)
        return is_made(x, u);
    return !has_parent(x) && x->folded > u && came(x, FT_ROLE_EDGE, u);
}

/* What has been folded stays so while we live: the other half may have combined it already, so a child that comes again, and is not as
   deterministic as it should be, changes nothing. */
static bool fold_is_due(const struct ft_exchange *x)
{
    uint64_t u = x->folded;

    return u < x->end && u < x->own && u < x->mine + x->depth && x->kind != FT_UNIT_BCAST && came(x, FT_ROLE_DOWN, u);
}

/* HALVES: the next unit that is combined here. */
static uint64_t next_of_ours(const struct ft_exchange *x)
{
    uint64_t u = ft_max(x->mine, x->made);

    return is_ours(x, u) ? u : u + 1;
}

static bool make_is_due(const struct ft_exchange *x)
{
    uint64_t u = next_of_ours(x);

    return x->kind == FT_UNIT_HALVES && !has_parent(x) && u < x->end && u <= x->mine + 1 && u < x->folded && came(x, FT_ROLE_EDGE, u) &&
           !takes(x, FT_TAKE_RES, u);
}

enum ft_step ft_exchange_step(const struct ft_exchange *x, uint64_t *u)
{
    if (result_is_due(x)) {
        *u = x->mine;
        return FT_STEP_RESULT;
    }
    if (make_is_due(x)) {
        *u = next_of_ours(x);
        return FT_STEP_MAKE;
    }
    if (fold_is_due(x)) {
        *u = x->folded;
        return FT_STEP_FOLD;
    }
    return FT_STEP_NONE;
}

void ft_exchange_folded(struct ft_exchange *x, uint64_t u)
{
    x->folded = ft_max(x->folded, u + 1);
}

void ft_exchange_made(struct ft_exchange *x, uint64_t u)
{
    x->made = u + 1;
}

void ft_exchange_commit(struct ft_exchange *x, uint64_t u, uint64_t bytes)
{
    x->mine = u + 1;
    x->folded = ft_max(x->folded, x->mine);
    x->bytes += bytes;
}

/* ---- connections ---- */

void ft_exchange_connected(struct ft_exchange *x, uint32_t p)
{
    ft_exchange_broken(x, p);
    x->peer[p].up = true;
}

/* What has come over it and is not folded or committed is forgotten: a peer that comes back, perhaps as another incarnation, gives it again. */
void ft_exchange_broken(struct ft_exchange *x, uint32_t p)
{
    struct ft_peer *peer = &x->peer[p];

    peer->up = peer->greeted = peer->heard = peer->farewell = false;
    peer->sending = FT_FRAME_NONE;
    peer->taking = 0;
    peer->in = 0;
}

bool ft_exchange_hello(struct ft_exchange *x, uint32_t p, uint64_t count)
{
    struct ft_peer *peer = &x->peer[p];

    peer->count = count;  /* a node that was lost may have less than it had */
    if (count < x->base)
        return false;
    peer->heard = true;
    peer->gone = false;
    peer->out = peer->ahead = count;
    peer->in = 0;
    peer->answer = x->mine;
    return true;
}

/* ---- what goes out ---- */

/* The frame for the next unit that peer may lack, if there is one and it can be sent. A partial whose result is coming in stays: the unit
   would be committed, and the partial's memory used again, in the middle of it. */
static enum ft_frame next_unit(const struct ft_exchange *x, const struct ft_peer *peer, uint64_t *u)
{
    enum ft_role to = role(x, peer);
    uint64_t owed = first_owed(x, peer);

    *u = owed;
    if (owed < x->mine || (takes_turns(x, peer) && is_made(x, owed)))
        return to != FT_ROLE_NONE || owed < ft_max(peer->answer, x->first) ? FT_FRAME_RES : FT_FRAME_NONE;
    if (takes_turns(x, peer) && is_ours(x, owed)) { /* it waits for that result: meanwhile the next PART */
        *u = ft_max(owed, peer->ahead);
        *u += is_ours(x, *u);
        if (*u >= owed + LEAD)
            return FT_FRAME_NONE;
    }
    if (*u >= x->folded || *u >= x->end || x->kind == FT_UNIT_BCAST || takes(x, FT_TAKE_RES, *u))
        return FT_FRAME_NONE;
    return gets_part(x, peer, *u) ? FT_FRAME_PART : FT_FRAME_NONE;
}

static bool must_tell(const struct ft_exchange *x, const struct ft_peer *peer)
{
    return x->mine - peer->told >= ACK_UNITS || x->bytes - peer->told_bytes >= ACK_BYTES;
}

static enum ft_frame next_frame(const struct ft_exchange *x, const struct ft_peer *peer, uint64_t *u)
{
    enum ft_frame frame;

    *u = 0;
    if (!peer->up || peer->sending)
        return FT_FRAME_NONE;
    if (!peer->greeted)
        return FT_FRAME_HELLO;
    if (!peer->heard)
        return FT_FRAME_NONE;
    frame = next_unit(x, peer, u);
    if (frame)
        return frame;
    *u = 0;
    if (x->leaving && ft_exchange_over(x))
        return peer->farewell ? FT_FRAME_NONE : FT_FRAME_BYE;
    return must_tell(x, peer) ? FT_FRAME_ACK : FT_FRAME_NONE;
}

enum ft_frame ft_exchange_send(struct ft_exchange *x, uint32_t p, uint64_t *u)
{
    struct ft_peer *peer = &x->peer[p];
    enum ft_frame frame = next_frame(x, peer, u);

    if (frame) {
        peer->sending = (uint8_t)frame;
        peer->sending_unit = *u;
        peer->told = x->mine;
        peer->told_bytes = x->bytes;
    }
    return frame;
}

void ft_exchange_sent(struct ft_exchange *x, uint32_t p)
{
    struct ft_peer *peer = &x->peer[p];

    switch ((enum ft_frame)peer->sending) {
    case FT_FRAME_HELLO:
        peer->greeted = true;
        break;
    case FT_FRAME_PART:
        peer->ahead = peer->sending_unit + 1;
        peer->out = first_owed(x, peer);
        break;
    case FT_FRAME_RES:
        peer->out = peer->sending_unit + 1;
        break;
    case FT_FRAME_BYE:
        peer->farewell = true;
        break;
    case FT_FRAME_ACK:
    case FT_FRAME_NONE:
        break;
    }
    peer->sending = FT_FRAME_NONE;
}

uint64_t ft_exchange_giving(const struct ft_exchange *x, uint32_t p)
{
    const struct ft_peer *peer = &x->peer[p];
    uint64_t u;

    if (peer->sending == FT_FRAME_RES)
        return peer->sending_unit;
    return peer->up && peer->heard && next_unit(x, peer, &u) == FT_FRAME_RES ? u : x->mine;
}

/* ---- what comes in ---- */

/* RES beats PART. Early ones stay in the link: all that this peer has for the units before has come, so nothing behind it is needed for
   these. */
static enum ft_take take_result(const struct ft_exchange *x, uint64_t u)
{
    if (u < x->mine)
        return FT_TAKE_DROP;
    if (u > x->mine || u >= x->end)
        return FT_TAKE_WAIT;
    if (takes(x, FT_TAKE_RES, u) || sends_part(x, u) || is_made(x, u))
        return FT_TAKE_WAIT;
    return x->kind == FT_UNIT_GATHER && takes(x, FT_TAKE_PART, u) ? FT_TAKE_WAIT : FT_TAKE_RES;
}

static enum ft_take take_partial(const struct ft_exchange *x, const struct ft_peer *peer, uint64_t u)
{
    uint64_t next = ft_max(peer->in, x->mine);

    if (u < x->mine)
        return FT_TAKE_DROP;
    if (u >= x->end)
        return FT_TAKE_WAIT;
    if (x->kind == FT_UNIT_BCAST || !gives_part(x, peer, u))
        return FT_TAKE_WRONG;
    if (u > next + !gives_part(x, peer, next))
        return FT_TAKE_WRONG;  /* there is a gap */
    if (u >= x->mine + x->depth)
        return FT_TAKE_WAIT;
    if ((role(x, peer) == FT_ROLE_DOWN && u < x->folded) || is_made(x, u))
        return FT_TAKE_DROP;
    return x->kind == FT_UNIT_GATHER && takes(x, FT_TAKE_RES, u) ? FT_TAKE_WAIT : FT_TAKE_PART;
}

/* HALVES: PARTs of units above may have come before it, and it may be of the first unit that the peer has not committed, or of the next. What is
   committed here is dropped, also if the operation is over by then. */
static bool is_result(const struct ft_exchange *x, const struct ft_peer *peer, uint64_t u, uint64_t count)
{
    if (u >= x->end || (takes_turns(x, peer) && !is_ours(x, u))) /* of an operation that has not been called here it may be such a one */
        return u <= count + 1;
    return u < x->mine || (u < count && u >= peer->in);
}

enum ft_take ft_exchange_head(struct ft_exchange *x, uint32_t p, enum ft_frame frame, uint64_t u, uint64_t count)
{
    struct ft_peer *peer = &x->peer[p];
    enum ft_take take = FT_TAKE_WRONG;

    if (!peer->heard || peer->taking || count < peer->count)
        return FT_TAKE_WRONG;
    peer->count = count;
    if (frame == FT_FRAME_ACK || frame == FT_FRAME_BYE) {
        peer->gone = peer->gone || frame == FT_FRAME_BYE;
        return FT_TAKE_DROP;
    }
    if (frame == FT_FRAME_RES && is_result(x, peer, u, count))
        take = take_result(x, u);
    else if (u >= peer->in && frame == FT_FRAME_PART && u >= count)
        take = take_partial(x, peer, u);
    if (take <= FT_TAKE_DROP) {
        peer->taking = (uint8_t)(take + 1);
        peer->taking_unit = u;
    }
    return take;
}

uint64_t ft_exchange_needed(const struct ft_exchange *x, uint32_t p)
{
    if (role(x, &x->peer[p]) != FT_ROLE_EDGE)
        return x->folded;
    return x->kind == FT_UNIT_HALVES ? next_of_ours(x) : x->mine;
}

void ft_exchange_taken(struct ft_exchange *x, uint32_t p)
{
    struct ft_peer *peer = &x->peer[p];

    if (peer->taking)
        peer->in = ft_max(peer->in, peer->taking_unit + 1);
    peer->taking = 0;
}

/* ---- when may a call return, what may be released, who may leave ---- */

bool ft_exchange_owes(const struct ft_exchange *x)
{
    for (uint32_t p = 0; p < x->n; p++) {
        const struct ft_peer *peer = &x->peer[p];
        uint64_t u;

        if (peer->sending || (peer->taking && peer->taking != FT_TAKE_DROP + 1) || next_frame(x, peer, &u))
            return true;
    }
    return false;
}

void ft_exchange_release(struct ft_exchange *x, uint64_t base)
{
    x->base = ft_max(x->base, base);
}

void ft_exchange_leave(struct ft_exchange *x)
{
    x->leaving = true;
}

void ft_exchange_gone(struct ft_exchange *x, uint32_t p)
{
    x->peer[p].gone = true;
}

bool ft_exchange_settled(const struct ft_exchange *x)
{
    if (!ft_exchange_over(x) || ft_exchange_owes(x))
        return false;
    for (uint32_t p = 0; p < x->n; p++)
        if (!x->peer[p].gone && x->peer[p].count < x->mine)
            return false;
    return true;
}
