/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks of an explored job on several nodes run, and what must be true of the results. */
#include <stdlib.h>
#include <string.h>

#include "ft/collective.h"
#include "ft/ft.h"
#include "ft/shm/cut.h"
#include "ft/shm/wait.h"
#include "ft/test/apart.h"

enum { UNTOUCHED = 0x55555555 };

const char *const what_text[NWHAT] = { "barrier", "bcast", "reduce", "allreduce", "allgather", "allgatherv", "composed", "mixed" };

int32_t contribution(uint32_t call, uint32_t rank, uint32_t i)
{
    uint32_t x = (call + 1) * 2654435761u ^ (rank + 1) * 40503u ^ (i + 1) * 2246822519u;

    return (int32_t)(x ^ x >> 15);
}

static enum what call_of(uint32_t call)
{
    static const enum what mix[] = { ALLREDUCE, BCAST, REDUCE, BARRIER, ALLGATHER, COMPOSED, BCAST, ALLGATHERV, ALLREDUCE, REDUCE };

    return job.sc.what == MIXED ? mix[call % 10] : job.sc.what;
}

static uint32_t count_of(uint32_t call)
{
    if (job.sc.what != MIXED)
        return job.sc.count;
    return call % 3 == 1 ? job.sc.count * 5 : call % 4 == 2 ? 0 : job.sc.count;
}

static uint32_t part_of(uint32_t count, uint32_t rank) { return rank % 3 == 1 ? 0 : count - count / 3 * (rank % 2); }

/* x -> a x + b, in the halves of a word: composition is associative and does not commute. */
static uint32_t composition(uint32_t left, uint32_t right)
{
    uint32_t a = left >> 16, b = left & 0xffff;

    return (a * (right >> 16) & 0xffff) << 16 | ((a * (right & 0xffff) + b) & 0xffff);
}

static void compose(void *ctx, const void *in, void *inout, uint64_t n)
{
    const uint32_t *l = in;
    uint32_t *r = inout;

    (void)ctx;
    for (uint64_t i = 0; i < n; i++)
        r[i] = composition(l[i], r[i]);
}

static int32_t reduced(const struct actor *a, uint32_t i)
{
    uint32_t x = (uint32_t)contribution(a->call, job.world - 1, i);

    for (uint32_t r = job.world - 1; r-- > 0;) {
        uint32_t y = (uint32_t)contribution(a->call, r, i);

        x = call_of(a->call) == COMPOSED ? composition(y, x) : y + x;
    }
    return (int32_t)x;
}

void expect(const struct actor *a, uint32_t i, int32_t want)
{
    if (a->recv[i] != want)
        failed("rank %u incarnation %u call %u: %s: element %u is %d, not %d", a->rank, a->incarnation, a->call,
               what_text[call_of(a->call)], i, a->recv[i], want);
}

static void check_result(const struct actor *a)
{
    uint32_t count = count_of(a->call), root = a->call % job.world, n = 0, at = 0;
    enum what call = call_of(a->call);

    if (call == BARRIER)
        for (uint32_t r = 0; r < job.world; r++)
            if (job.entered[r] <= a->call)
                failed("rank %u leaves barrier %u, which rank %u has not come to", a->rank, a->call, r);
    if (call == BCAST)
        for (n = 0; n < count; n++)
            expect(a, n, contribution(a->call, root, n));
    if (call == ALLREDUCE || call == COMPOSED || (call == REDUCE && a->rank == root))
        for (n = 0; n < count; n++)
            expect(a, n, reduced(a, n));
    if (call == ALLGATHER)
        for (n = 0; n < count * job.world; n++)
            expect(a, n, contribution(a->call, n / count, n % count));
    for (uint32_t r = 0; call == ALLGATHERV && r < job.world; r++) {
        for (uint32_t i = 0; i < part_of(count, r); i++)
            expect(a, at++, contribution(a->call, r, i));
        expect(a, at++, UNTOUCHED);
    }
    for (uint32_t i = ft_max(n, at); i < count * job.world; i++) /* behind a result nothing is written */
        expect(a, i, UNTOUCHED);
}

static int make_call(struct actor *a, struct ft_error *e)
{
    static const struct ft_type type = { .elem = 4, .kind = FT_I32 }, opaque = { .elem = 4, .kind = FT_OPAQUE, .base = FT_U32 };
    struct ft_op sum = { FT_SUM, ft_reduce_find(FT_I32, FT_SUM), NULL, NULL }, user = { .reduction = FT_USER, .user = compose };
    uint32_t count = count_of(a->call), root = a->call % job.world;
    int counts[MAX_WORLD], displs[MAX_WORLD], at = 0;
    const void *send = a->send;
    bool in_place = job.sc.in_place;
    struct ft_stream *s = &a->stream[is_second(a)];

    memset(a->recv, UNTOUCHED & 0xff, sizeof *a->recv * (count + 1) * job.world);
    for (uint32_t i = 0; i < count; i++)
        a->send[i] = contribution(a->call, a->rank, i);
    switch (call_of(a->call)) {
    case BARRIER:
        return ft_barrier(s, 1, e);
    case BCAST:
        if (a->rank == root)
            memcpy(a->recv, a->send, count * 4);
        return ft_bcast(s, a->recv, count, type, (int)root, 2, e);
    case REDUCE:
        if (in_place && a->rank == root)
            send = memcpy(a->recv, a->send, count * 4);
        return ft_reduce(s, send, a->recv, count, type, &sum, (int)root, 3, e);
    case ALLREDUCE:
        if (in_place)
            send = memcpy(a->recv, a->send, count * 4);
        return ft_allreduce(s, send, a->recv, count, type, &sum, 4, e);
    case COMPOSED:
        return ft_allreduce(s, send, a->recv, count, opaque, &user, 5, e);
    case ALLGATHER:
        if (in_place)
            send = memcpy(a->recv + a->rank * count, a->send, count * 4);
        return ft_allgather(s, send, NULL, a->recv, count, type, 6, e);
    default:
        for (uint32_t r = 0; r < job.world; r++) {
            counts[r] = (int)part_of(count, r);
            displs[r] = at;
            at += counts[r] + 1;
        }
        return ft_allgatherv(s, a->send, NULL, a->recv, counts, displs, type, 7, e);
    }
}

/* ---- snapshots ---- */

/* It is between two calls; a fork keeps all, and its memory is its own. */
void register_snapshot(struct actor *a)
{
    struct ft_positions p = ft_positions_world(a->stream[0].unit, a->stream[0].end);

    a->registers = false;
    a->snapshot.alive = true;
    memcpy(a->snapshot.stream, a->stream, sizeof a->stream);
    memcpy(a->snapshot.nodes, a->nodes, sizeof a->nodes);
    for (uint32_t k = 0; k < nstreams(); k++)
        for (uint32_t peer = 0; peer < a->nodes[k].x.n; peer++) {
            a->snapshot.peer[k][peer] = a->nodes[k].x.peer[peer];
            a->snapshot.inbox[k][peer] = a->nodes[k].inbox[peer];
            a->snapshot.reader[k][peer] = a->nodes[k].reader[peer];
        }
    a->snapshot.call = a->call;
    a->snapshot.in = a->in;
    if (a->stream[1].use)
        ft_position_add(&p, 1, ft_stream_position(&a->stream[1]));
    ft_cut_register(&a->node->region, a->local, &p);
}

void drop_snapshot(struct actor *a) { a->snapshot.alive = false; }

static void *copy_of(const void *memory, uint64_t bytes) { return memory ? calloc(1, bytes) : NULL; }

static void *same(const void *memory, uint64_t bytes)
{
    void *to = malloc(bytes);

    return to ? memcpy(to, memory, bytes) : NULL;
}

/* What is in this memory nobody relies on between two calls. */
static void wake_nodes(struct actor *a, uint32_t k)
{
    const struct ft_params *p = &a->node->region.header->params;
    struct ft_nodes *n = &a->nodes[k];

    *n = a->snapshot.nodes[k];
    n->folds = copy_of(n->folds, (uint64_t)p->slot_depth * p->slot_bytes);
    if (n->represents) {
        n->x.peer = same(a->snapshot.peer[k], sizeof a->snapshot.peer[k]);
        n->inbox = same(a->snapshot.inbox[k], sizeof a->snapshot.inbox[k]);
        n->reader = same(a->snapshot.reader[k], sizeof a->snapshot.reader[k]);
    }
    for (uint32_t peer = 0; peer < n->x.n; peer++) {
        n->inbox[peer].bytes = copy_of(n->inbox[peer].bytes, (uint64_t)p->slot_depth * p->slot_bytes);
        n->reader[peer].bytes = copy_of(n->reader[peer].bytes, n->reader[peer].room);
    }
}

/* As ft_resume. */
static void wake(struct actor *a)
{
    memcpy(a->stream, a->snapshot.stream, sizeof a->stream);
    a->call = a->snapshot.call;
    a->in = a->snapshot.in;
    ft_stream_resume(&a->stream[0]);
    if (a->in)
        ft_stream_resume(&a->stream[1]);
    for (uint32_t k = 0; k < nstreams(); k++) {
        wake_nodes(a, k);
        ft_nodes_resume(&a->nodes[k]);
    }
    for (uint32_t k = 0; k < nstreams() && represents(a); k++)
        if (a->nodes[k].s)
            a->nodes[k].wire.start(&a->wire, k);
    run.seen[WOKEN]++;
}

static bool takes_snapshot(const struct actor *a)
{
    return job.sc.snapshots && a->call && (a->call + a->local) % 3 == 0 && (!a->snapshot.alive || a->snapshot.call < a->call);
}

/* ---- a life ---- */

/* As ft_attach, or ft_resume. A representative sleeps for what its node does in some runs only,
   and never for other nodes. */
static void join(struct actor *a)
{
    bool sleeps = job.sleeps && (!represents(a) || job.all_sleep);
    struct ft_wire wire;
    struct ft_error e;

    a->patience = (struct ft_patience){ .spins = sleeps ? 0 : UINT32_MAX, .sleeps = sleeps, .self = a->local,
                                        .doorbells = ft_doorbells_of(&a->node->region) };
    if (represents(a))
        open_wire(a, &wire);
    if (a->snapshot.alive) {
        wake(a);
    } else {
        a->call = 0;
        a->in = false;
        memset(a->stream, 0, sizeof a->stream);
        ft_stream_open(&a->stream[0], &a->node->region, a->local, "WORLD", &a->patience, -1, ft_keeper_spill_fd(a->node->keeper));
        for (uint32_t k = 0; k < nstreams(); k++)
            if (ft_nodes_open(&a->nodes[k], &a->node->region, k, represents(a) ? &wire : NULL, &e))
                failed("%s", e.text);
        ft_nodes_join(a->nodes, &a->stream[0]);
    }
    atomic_store(&ft_region_rank(&a->node->region, a->local)->state, FT_RANK_ATTACHED);
}

static int finalize(struct actor *a, struct ft_error *e)
{
    int err;

    a->node->leaving = true;
    err = ft_collective_rendezvous(&a->stream[0], FT_CALL_FINALIZE, 8, e);
    return err ? err : ft_nodes_leave(a->nodes, e);
}

void close_nodes(struct actor *a)
{
    for (uint32_t k = 0; k < STREAMS; k++)
        ft_nodes_close(&a->nodes[k]);
    memset(a->nodes, 0, sizeof a->nodes);
}

void rank_main(struct actor *a)
{
    struct ft_error e;
    int err = 0;

    for (join(a); !err && a->call < job.sc.calls; a->call++) {
        a->registers = takes_snapshot(a);
        stop_between_calls(a);
        if (job.entered[a->rank] <= a->call)
            job.entered[a->rank] = a->call + 1;
        meet(a, &e);
        err = is_both(a) ? make_both(a, &e) : make_call(a, &e);
        if (err)
            break;
        if (!is_both(a))
            check_result(a);
    }
    if (!err)
        err = finalize(a, &e);
    if (err)
        failed("rank %u incarnation %u call %u: %s", a->rank, a->incarnation, a->call, e.text);
    close_nodes(a);
}
