/* SPDX-License-Identifier: BSD-3-Clause */
/* What is in the frames between nodes, and where it goes (ft/core/nodes.h). */
#include <stdlib.h>
#include <string.h>

#include "ft/base/hash.h"
#include "ft/base/site.h"
#include "ft/base/util.h"
#include "ft/core/nodes_op.h"
#include "ft/shm/walk.h"

/* What two nodes must have alike before one understands the other's records. */
static uint64_t constants(const struct ft_nodes *n)
{
    const struct ft_params *p = n->s->params;
    uint64_t h = ft_hash_mix(p->world ^ (uint64_t)p->nnodes << 32, p->segment ^ (uint64_t)p->slot_depth << 32);

    h = ft_hash_mix(h ^ p->slot_bytes, p->extent_bytes ^ (uint64_t)FT_LAYOUT_VERSION << 48);
    h = ft_hash_mix(h, FT_FRAME_VERSION);
    h ^= ft_hash(1, n->first, (n->n + 1) * sizeof *n->first);
    return h ^ ft_hash(2, n->rank_at, p->world * sizeof *n->rank_at);
}

/* ---- old results ---- */

static bool read_log(void *arg, uint64_t position, void *to, uint64_t n)
{
    struct ft_nodes *nodes = arg;

    return ft_log_try_read(&nodes->s->log, position, to, n);
}

static struct ft_walk walk_of(struct ft_nodes *n)
{
    return (struct ft_walk){ .read = read_log, .arg = n, .extent_bytes = n->s->log.extent_bytes };
}

/* Extents below have begun. `done_at` is behind what is committed, never ahead. */
static uint64_t begun(const struct ft_nodes *n)
{
    return ft_div_up(ft_peek(&ft_stream_counters(n->s, 0)->done_at), n->s->log.extent_bytes);
}

/* To the last extent that begins with unit u or with one before it. False: all that are left begin later. */
static bool seek(struct ft_nodes *n, struct ft_walk *walk, uint64_t u)
{
    uint64_t floor = ft_look(&n->s->log.head->floor);

    if (ft_walk_seek(walk, u, floor, begun(n)))
        return true;
    walk->unit = walk->position = 0;
    return !floor;
}

/* The first unit that can still be read; 0 if that is not known. */
static uint64_t base_unit(struct ft_nodes *n)
{
    uint64_t floor = ft_ask(&n->s->log.head->floor);
    struct ft_record rec;

    return floor && floor < begun(n) && read_log(n, floor * n->s->log.extent_bytes, &rec, sizeof rec) ? rec.unit - 1 : 0;
}

static int damaged(const struct ft_nodes *n, uint64_t u, struct ft_error *e)
{
    return ft_err_set(e, FT_ESPACE, "rank %u cannot read unit %llu of %s in its log, which another host asks for", n->s->me,
                      (unsigned long long)u, n->s->name);
}

/* Committed unit u, as it was logged. Readers go forwards, unit by unit; else they begin anew with the extent: what is between may have been
   released meanwhile (the test `nodes`, 3 2 7 80 krc: a peer was told that its unit is not there). */
static int read_unit(struct ft_nodes *n, struct ft_nodes_reader *reader, uint64_t u, struct ft_record *rec, struct ft_error *e)
{
    struct ft_walk walk = walk_of(n);
    uint64_t length;

    walk.unit = reader->unit;
    walk.position = reader->position;
    if ((walk.unit != u || u == 0) && !seek(n, &walk, u))
        return damaged(n, u, e);
    for (;;) {
        if (ft_walk_look(&walk, rec) != FT_WALK_RECORD)
            return damaged(n, u, e);
        if (walk.unit == u)
            break;
        ft_walk_on(&walk, rec);
    }
    length = rec->sig.length;
    if (length > reader->room) {
        free(reader->bytes);
        reader->room = 0;
        reader->bytes = malloc(length);
        if (!reader->bytes)
            return ft_err_set(e, FT_ENOMEM, "rank %u has no memory to send %llu byte%s", n->s->me,
                              (unsigned long long)length, ft_plural(length));
        reader->room = length;
    }
    if (length && !ft_log_try_read(&n->s->log, walk.position + ft_record_offset(length), reader->bytes, length))
        return damaged(n, u, e);
    ft_walk_on(&walk, rec);
    reader->unit = walk.unit;
    reader->position = walk.position;
    return 0;
}

/* ---- out ---- */

static void part(struct ft_nodes *n, uint64_t u, struct ft_frame_head *head, const char **payload)
{
    struct ft_nodes_op *op = n->op;
    const struct ft_shape *shape = &n->x.shape[n->x.tree];
    uint64_t i = u - n->s->first, from;

    if (op->kind == FT_UNIT_REDUCE) {
        head->length = (uint32_t)ft_coll_result(op->c, i);
        *payload = ft_nodes_partial(op, u);
        return;
    }
    from = ft_nodes_slices_at(op, i, shape->from);
    head->length = (uint32_t)(ft_nodes_slices_at(op, i, shape->to) - from);
    *payload = head->length ? ft_nodes_payload(op, u) + from : NULL;
}

int ft_nodes_outgoing(struct ft_nodes *n, uint32_t p, struct ft_frame_head *head, const char **payload, struct ft_error *e)
{
    struct ft_record rec;
    uint64_t u;
    int err;

    memset(head, 0, sizeof *head);
    head->type = (uint8_t)ft_exchange_send(&n->x, p, &u);
    head->stream = (uint16_t)n->number;
    head->unit = u;
    head->count = n->x.mine;
    *payload = NULL;
    if (head->type == FT_FRAME_HELLO) {
        head->unit = n->node;
        head->site = constants(n);
    }
    if (head->type != FT_FRAME_PART && head->type != FT_FRAME_RES)
        return 0;
    head->sig = n->s->sig;
    head->site = n->s->site;
    if (head->type == FT_FRAME_PART) {
        part(n, u, head, payload);
    } else if (n->op && ft_nodes_hot(n->op, u)) {
        head->length = (uint32_t)ft_coll_result(n->op->c, u - n->s->first);
        *payload = ft_nodes_result(n->op, u);
    } else {
        err = read_unit(n, &n->reader[p], u, &rec, e);
        if (err)
            return err;
        head->length = rec.sig.length;
        head->sig = rec.sig;
        head->sig.length = 0;
        head->site = rec.site;
        *payload = n->reader[p].bytes;
    }
    return 0;
}

/* ---- in ---- */

/* How far the peer is decides what of the log is kept for it: by whole extents, as it is released. */
static void note_count(struct ft_nodes *n, uint32_t p, uint64_t count)
{
    struct ft_link_words *words = ft_region_link(n->region, n->number, n->x.peer[p].node);
    uint64_t acked = ft_peek(&words->acked_at) / n->s->log.extent_bytes;
    struct ft_walk walk = walk_of(n);

    if (acked + 1 < begun(n) && ft_walk_seek(&walk, count, acked, begun(n)) && walk.position > ft_peek(&words->acked_at))
        ft_publish(&words->acked_at, walk.position);
}

/* What it says in its HELLO may be less than before: it was lost. The keeper says a new floor, and then looks at this word again; so it is lowered,
   and then the floor looked at (docs/models.md: ACK_KEPT, LOOK_FIRST). */
static void note_greeting(struct ft_nodes *n, uint32_t p, uint64_t count)
{
    struct ft_link_words *words = ft_region_link(n->region, n->number, n->x.peer[p].node);
    struct ft_walk walk = walk_of(n);
    uint64_t at = seek(n, &walk, count) ? walk.position : ft_look(&n->s->log.head->floor) * n->s->log.extent_bytes;

    if (at < ft_peek(&words->acked_at))
        ft_announce(&words->acked_at, at);
    ft_exchange_release(&n->x, base_unit(n));
}

/* Who has another version says so first, which explains it (greet). */
static int check_stream(const struct ft_nodes *n, uint32_t p, const struct ft_frame_head *head, struct ft_error *e)
{
    if (head->stream == n->number)
        return 0;
    return ft_err_set(e, FT_EJOB, "node %u sends node %u a frame of stream %u, which that does not have: this is a bug in ftmpi",
                      n->x.peer[p].node, n->node, head->stream);
}

static int greet(struct ft_nodes *n, uint32_t p, const struct ft_frame_head *head, enum ft_take *take, struct ft_error *e)
{
    uint32_t peer = n->x.peer[p].node;
    int err;

    *take = FT_TAKE_WRONG;
    if (head->unit != peer || n->x.peer[p].heard)
        return 0;
    if (head->site != constants(n))
        return ft_err_set(e, FT_EJOB, "node %u and node %u do not work on the same job: ftmpi must be of one version, and sizes alike, on all hosts",
                          n->node, peer);
    err = check_stream(n, p, head, e);
    if (err)
        return err;
    note_greeting(n, p, head->count);
    if (!ft_exchange_hello(&n->x, p, head->count)) {
        ft_announce(&ft_region_link(n->region, n->number, peer)->lacks, 1); /* the driver gives the link up, and rings */
        return 0;
    }
    n->reader[p].unit = n->reader[p].position = 0;
    *take = FT_TAKE_DROP;
    return 0;
}

static int mismatch(const struct ft_nodes *n, uint32_t p, const struct ft_frame_head *head, struct ft_error *e)
{
    const struct ft_stream *s = n->s;
    uint32_t peer = n->x.peer[p].node;
    char mine[128], my_site[96], theirs[128], their_site[96];

    return ft_err_set(e, FT_EMISMATCH, "mismatched collectives on %s at unit %llu: rank %u (node %u) calls %s at %s, rank %u (node %u) calls %s "
                      "at %s", s->name, (unsigned long long)head->unit, s->me, n->node, ft_sig_print(&s->sig, mine, sizeof mine),
                      ft_site_print(s->site, my_site, sizeof my_site), n->rank_at[n->first[peer]], peer,
                      ft_sig_print(&head->sig, theirs, sizeof theirs), ft_site_print(head->site, their_site, sizeof their_site));
}

static int make_inbox(struct ft_nodes *n, uint32_t p, struct ft_error *e)
{
    if (!n->inbox[p].bytes)
        n->inbox[p].bytes = malloc((size_t)n->s->params->slot_depth * n->s->params->slot_bytes);
    return n->inbox[p].bytes ? 0 : ft_err_set(e, FT_ENOMEM, "rank %u has no memory for what other hosts send", n->s->me);
}

/* The other nodes' slices that come from p. */
static const struct ft_neighbour *neighbour(const struct ft_nodes *n, uint32_t p)
{
    const struct ft_shape *shape = &n->x.shape[n->x.tree];

    for (uint32_t i = 0; i < shape->n; i++)
        if (shape->of[i].node == n->x.peer[p].node)
            return &shape->of[i];
    return NULL;
}

/* Where the payload goes, and how long it has to be. */
static int find_sink(struct ft_nodes *n, uint32_t p, uint64_t u, enum ft_take take, char **sink, uint64_t *length, struct ft_error *e)
{
    struct ft_nodes_op *op = n->op;
    const struct ft_neighbour *from = neighbour(n, p);
    uint64_t i = u - n->s->first, at;
    int err;

    *length = ft_coll_result(op->c, i);
    if (take == FT_TAKE_RES) {
        *sink = ft_nodes_sink(op, u);
        return 0;
    }
    if (op->kind == FT_UNIT_GATHER) {
        at = ft_nodes_slices_at(op, i, from->from);
        *length = ft_nodes_slices_at(op, i, from->to) - at;
        *sink = ft_nodes_payload(op, u) + at;
        return 0;
    }
    err = make_inbox(n, p, e);
    /* Nothing is in it that is still needed: the place that was used last is in the cache. */
    if (u == ft_exchange_needed(&n->x, p))
        n->inbox[p].from = u;
    *sink = err ? NULL : ft_nodes_inbox(n, p, u);
    return err;
}

/* The window of what is committed here and not consumed is full, or that of what is being sent. */
static bool is_full(const struct ft_nodes *n, uint64_t u)
{
    struct ft_nodes_op *op = n->op;

    return op && u == n->x.mine &&
           (ft_nodes_lags(op) || (op->takes && u >= n->s->first + op->out + n->s->params->slot_depth));
}

/* Its payload goes to a record that has no memory yet. */
static bool lacks_memory(const struct ft_nodes *n, const struct ft_frame_head *head)
{
    const struct ft_exchange *x = &n->x;
    bool in_record = head->type == FT_FRAME_RES ? head->unit == x->mine
                                                : n->op && n->op->kind == FT_UNIT_GATHER && head->unit < x->mine + x->depth;

    return n->op && in_record && head->unit >= x->mine && head->unit < x->end && ft_nodes_lacks_memory(n->op, head->unit);
}

int ft_nodes_incoming(struct ft_nodes *n, uint32_t p, const struct ft_frame_head *head, enum ft_take *take, char **sink,
                      struct ft_error *e)
{
    struct ft_exchange *x = &n->x;
    bool payload = head->type == FT_FRAME_PART || head->type == FT_FRAME_RES;
    uint64_t length;
    int err;

    *sink = NULL;
    *take = FT_TAKE_WRONG;
    if (head->length > n->s->params->extent_bytes || (head->length && !payload))
        return 0;
    if (head->type == FT_FRAME_HELLO)
        return greet(n, p, head, take, e);
    if (!x->peer[p].heard)
        return 0;
    err = check_stream(n, p, head, e);
    if (err)
        return err;
    if (payload && n->op && head->unit >= x->mine && head->unit >= n->s->first && head->unit < x->end && !ft_sig_equal(&head->sig, &n->s->sig))
        return mismatch(n, p, head, e);
    if ((head->type == FT_FRAME_RES && is_full(n, head->unit)) || (payload && lacks_memory(n, head))) {
        *take = FT_TAKE_WAIT;
        return 0;
    }
    *take = ft_exchange_head(x, p, (enum ft_frame)head->type, head->unit, head->count);
    if (*take == FT_TAKE_WRONG)
        return 0;
    note_count(n, p, x->peer[p].count);
    if (*take != FT_TAKE_PART && *take != FT_TAKE_RES)
        return 0;
    err = find_sink(n, p, head->unit, *take, sink, &length, e);
    if (!err && length != head->length)
        *take = FT_TAKE_WRONG;
    return err;
}

void ft_nodes_arrived(struct ft_nodes *n, uint32_t p)
{
    const struct ft_peer *peer = &n->x.peer[p];
    bool result = peer->taking == FT_TAKE_RES + 1;
    uint64_t u = peer->taking_unit;

    ft_exchange_taken(&n->x, p);
    if (result)
        ft_nodes_take_result(n->op, u);
}
