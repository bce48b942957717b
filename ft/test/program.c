/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks of an explored job run, and what must be true of the results. */
#include <string.h>

#include "ft/ft.h"
#include "ft/shm/cut.h"
#include "ft/test/explore.h"

const char *const what_text[NWHAT] = { "barrier", "bcast", "reduce", "allreduce", "allgather", "allgatherv", "mixed", "checkpoint", "dense", "lazy", "keys", "places",
                                        "ring", "open", "asks", "probes", "synchronous", "cancels", "burst", "letters", "carried", "passes" };

int32_t truth(uint32_t call, uint32_t rank, uint32_t i)
{
    uint32_t x = (call + 1) * 2654435761u ^ (rank + 1) * 40503u ^ (i + 1) * 2246822519u;

    return (int32_t)(x ^ x >> 15);
}

/* What must be seen of it. A liar who had said nothing before contributes his lie, and nothing else ever. */
static int32_t value(uint32_t call, uint32_t rank, uint32_t i)
{
    return truth(call, rank, i) ^ (job.sc.lies && rank == job.liar && !job.due);
}

static enum what call_of(uint32_t call)
{
    static const enum what mix[] = { ALLREDUCE, BCAST, REDUCE, BARRIER, ALLGATHER, BCAST, ALLREDUCE, ALLGATHERV };

    if (job.sc.disputed)
        return call ? BARRIER : BCAST;
    if (job.sc.two && call % 4 == 2)
        return mix[(call + 2) % 8];  /* on the second stream allgathers, too, which write the log before anybody has come */
    if (job.sc.what == LETTERS)
        return mix[call / 2 % 8];
    if (job.sc.what == DENSE && call > 1)
        return BCAST;
    if (job.sc.what == PLACES && call > 1)
        return call % 2 ? ALLREDUCE : BCAST;  /* each version has the same calls */
    return job.sc.what >= MIXED ? mix[call % 8] : job.sc.what;
}

static uint32_t count_of(uint32_t call)
{
    if (job.sc.what == PLACES && call > 1)
        return ONCE_COUNT;
    if (job.sc.what == PASSES)
        return call % 8 == 6 ? 0 : job.sc.count;
    return job.sc.what >= MIXED ? (call % 3 == 1 ? job.sc.count * 5 : call % 3 == 2 ? 0 : job.sc.count) : job.sc.count;
}

enum { UNTOUCHED = 0x55555555 };

static uint32_t root_of(uint32_t call, uint32_t n)
{
    if (job.sc.what == PASSES)
        return call / 2 % n;
    return job.sc.what == DENSE || job.sc.what == PLACES ? 0 : call % n;
}

int32_t contribution(const struct actor *r, uint32_t call, uint32_t i)
{
    if (job.sc.varies)
        return truth(call, r->index, i) ^ (int32_t)r->incarnation;
    return truth(call, r->index, i) ^ (job.sc.lies && r->index == job.liar && r->incarnation > 0);
}

static uint32_t part_of(uint32_t count, uint32_t rank) { return rank % 3 == 1 ? 0 : count - count / 3 * (rank % 2); }

static void expect(struct actor *r, const char *what, uint32_t i, int32_t got, int32_t want)
{
    if (got != want)
        failed("rank %u incarnation %u call %u: %s: element %u is %d, not %d", r->index, r->incarnation, r->call, what, i,
               got, want);
}

static int32_t reduced(const struct actor *r, uint32_t call, uint32_t i)
{
    uint32_t sum = 0, crew[MAX_RANKS], me, n = crew_of(r, crew, &me);

    for (uint32_t q = 0; q < n; q++)
        sum += (uint32_t)value(call, crew[q], i);
    return (int32_t)sum;
}

/* Behind a result nothing is written. */
static void expect_untouched(struct actor *r, uint32_t from)
{
    for (uint32_t i = from; i < count_of(r->call) * job.sc.ranks; i++)
        expect(r, "behind the result", i, r->recv[i], UNTOUCHED);
}

static bool disputes(const struct actor *r) { return job.sc.disputed && r->index == job.sc.ranks - 1; }

const struct ft_layout *layout_of_all(void)
{
    static struct ft_layout *layout;

    if (job.sc.gaps && !layout) {
        layout = ft_layout_new(2, 4);
        ft_layout_add(layout, (struct ft_layout_part){ .blocks = 1, .n = 1 });
        ft_layout_add(layout, (struct ft_layout_part){ .at = 1, .blocks = 1, .n = 3 });
    }
    return job.sc.gaps ? layout : NULL;
}

static int make_call(struct actor *r, struct ft_error *e)
{
    const struct ft_type type = { .elem = 4, .kind = FT_I32, .layout = layout_of_all() };
    struct ft_op op = { FT_SUM, ft_reduce_find(FT_I32, FT_SUM), NULL, NULL };
    uint32_t crew[MAX_RANKS], me, n = crew_of(r, crew, &me), count = count_of(r->call), root = root_of(r->call, n);
    int counts[MAX_RANKS], displs[MAX_RANKS], at = 0;
    const void *send = r->send;
    struct ft_stream *s = stream_of(r);

    if (disputes(r))
        root = me;
    if (job.come[r->index] <= r->call)
        job.come[r->index] = r->call + 1;
    memset(r->recv, UNTOUCHED & 0xff, sizeof r->recv);
    for (uint32_t i = 0; i < count; i++)
        r->send[i] = contribution(r, r->call, i);
    switch (call_of(r->call)) {
    case BARRIER:
        return ft_barrier(s, 1, e);
    case BCAST:
        if (me == root)
            memcpy(r->recv, r->send, count * 4);
        return ft_bcast(s, r->recv, count, type, (int)root, 2, e);
    case REDUCE:
        if (job.sc.in_place && me == root)
            send = memcpy(r->recv, r->send, count * 4);
        return ft_reduce(s, send, r->recv, count, type, &op, (int)root, 3, e);
    case ALLREDUCE:
        if (job.sc.in_place)
            send = memcpy(r->recv, r->send, count * 4);
        return ft_allreduce(s, send, r->recv, count, type, &op, job.sc.what == PLACES ? ONCE_PLACE : 4, e);
    case ALLGATHER:
        if (job.sc.in_place)
            send = memcpy(r->recv + me * count, r->send, count * 4);
        return ft_allgather(s, send, type.layout, r->recv, count, type, 5, e);
    default:
        for (uint32_t q = 0; q < n; q++) {
            counts[q] = (int)part_of(count, q);
            displs[q] = at + (int)q;
            at += counts[q];
        }
        return ft_allgatherv(s, r->send, type.layout, r->recv, counts, displs, type, 6, e);
    }
}

void expect_bcast(struct actor *r, uint32_t call, uint32_t root, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        expect(r, "bcast", i, r->recv[i], value(call, root, i));
}

void expect_reduced(struct actor *r, uint32_t call, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        expect(r, "reduction", i, r->recv[i], reduced(r, call, i));
}

/* Of elements that several ranks receive: what the first of them had. The root of a bcast has what it sends. */
static void expect_common(struct actor *r, const char *what, uint32_t from, uint32_t n)
{
    int32_t *common = job.common[r->call];

    if (!job.known[r->call])
        memcpy(common + from, r->recv + from, n * sizeof *common);
    for (uint32_t i = from; i < from + n; i++)
        expect(r, what, i, r->recv[i], common[i]);
}

static void check_common(struct actor *r)
{
    uint32_t count = count_of(r->call), at = 0;
    enum what call = call_of(r->call);

    if (call == BARRIER || (call == BCAST && r->index == root_of(r->call, job.sc.ranks)) ||
        (call == REDUCE && r->index != root_of(r->call, job.sc.ranks)))
        return;
    for (uint32_t q = 0; q < job.sc.ranks && call == ALLGATHERV; q++) {
        expect_common(r, "allgatherv", at + q, part_of(count, q));
        at += part_of(count, q);
    }
    if (call != ALLGATHERV)
        expect_common(r, what_text[call], 0, call == ALLGATHER ? count * job.sc.ranks : count);
    job.known[r->call] = true;
}

static void check_result(struct actor *r)
{
    uint32_t crew[MAX_RANKS], me, n = crew_of(r, crew, &me), count = count_of(r->call), root = root_of(r->call, n), at = 0;

    switch (call_of(r->call)) {
    case BARRIER:
        for (uint32_t q = 0; q < n; q++)
            if (job.come[crew[q]] <= r->call)
                failed("rank %u incarnation %u call %u: a barrier is over, and rank %u has not come", r->index, r->incarnation, r->call, crew[q]);
        break;
    case BCAST:
        if (!disputes(r))
            expect_bcast(r, r->call, crew[root], count);
        break;
    case REDUCE:
        if (me != root) {
            expect_untouched(r, 0);
            break;
        }
        /* fall through */
    case ALLREDUCE:
        expect_reduced(r, r->call, count);
        expect_untouched(r, count);
        break;
    case ALLGATHER:
        for (uint32_t i = 0; i < count * n; i++)
            expect(r, "allgather", i, r->recv[i], value(r->call, crew[i / count], i % count));
        break;
    default:
        for (uint32_t q = 0; q < n; q++) {
            for (uint32_t i = 0; i < part_of(count, q); i++)
                expect(r, "allgatherv", at + q + i, r->recv[at + q + i], value(r->call, crew[q], i));
            at += part_of(count, q);
        }
    }
}

/* Fork, and tell the agent: a copy it has not been told of dies with the rank. The registration is the agent's, who may be
   killed in it, and does one at a time. */
static void take_snapshot(struct actor *r)
{
    struct ft_positions p = ft_positions_world(r->ft.world.unit, r->ft.world.end);
    struct ft_stream copy = r->ft.world;
    struct second second = r->second;

    second_position(r, &p);
    do
        stop_here(r, -1);
    while (job.registrar);
    if (ft_cut_is_after(&job.region, r->index, &p)) /* a checkpoint has overtaken it */
        return;
    drop_snapshot(r);
    r->snapshot.stream = copy;
    r->snapshot.second = second;
    r->snapshot.call = r->call;
    r->snapshot.life = r->life;
    copy_versions(r);
    r->snapshot.alive = true;
    job.registrar = r;
    ft_cut_register(&job.region, r->index, &p);
    job.registrar = NULL;
}

static bool takes_snapshot(const struct actor *r)
{
    uint32_t every = job.sc.room == FORGETS ? 6 : 3;

    if (!job.sc.snapshots || r->call == 0 || r->ft.world.loading || (r->call + r->index) % every != 0)
        return false;
    return !r->snapshot.alive || r->snapshot.call != r->call;  /* of which it is the copy */
}

static void open_stream(struct actor *r)
{
    r->ft = (struct ft){ .region = job.region, .kick_fd = -1, .spill_fd = ft_keeper_spill_fd(job.keeper) };
    r->ft.patience = (struct ft_patience){ .spins = job.sleeps ? 0 : UINT32_MAX, .sleeps = job.sleeps, .self = r->index,
                                           .doorbells = ft_doorbells_of(&job.region) };
    if (r->woken) {
        r->ft.world = r->snapshot.stream;
        r->second = r->snapshot.second;
        r->call = r->snapshot.call;
        r->life = r->snapshot.life;
        wake_versions(r);  /* the next thing it does is to take another one */
        run.seen[WOKEN]++;
        ft_stream_resume(&r->ft.world);
        second_resume(r);
        resume_versions(r);
    } else {
        r->call = 0;
        ft_stream_open(&r->ft.world, &job.region, r->index, "WORLD", &r->ft.patience, r->ft.kick_fd, r->ft.spill_fd);
        r->second = (struct second){ 0 };
        open_versions(r);
        open_letters(r);
        r->ft.world.ft = job.sc.what == CARRIED ? &r->ft : NULL;
        begin_life(r);
    }
    atomic_store(&ft_region_rank(&job.region, r->index)->state, FT_RANK_ATTACHED);
}

/* Messages with a collective operation. */
static bool is_mixed(const struct actor *r) { return job.sc.what == CARRIED || job.sc.what == PASSES || (job.sc.what == LETTERS && r->call % 2); }

void rank_main(struct actor *r)
{
    struct ft_error e;

    for (open_stream(r); r->call < job.sc.calls; r->call++) {
        if (!load_version(r) || r->call == job.sc.calls) /* the version after the last call */
            break;
        if (takes_snapshot(r))
            take_snapshot(r);
        if (!make_once(r, 2 * r->call))
            break;
        stop_here(r, -1);
        meet(r, &e);
        part(r);
        if (!begin_letters(r))
            break;
        if (is_out(r) || (sends_letters() && !is_mixed(r)))
            continue;
        if ((is_both(r) ? make_both(r, &e) : make_call(r, &e)) != 0) {
            failed("rank %u incarnation %u call %u: %s", r->index, r->incarnation, r->call, e.text);
            break;
        }
        if (job.sc.varies)
            check_common(r);
        else if (!is_both(r))
            check_result(r);
        if (!end_letters(r) || !make_once(r, 2 * r->call + 1) || !make_version(r))
            break;
    }
    drop_versions(r);
    drop_letters(r);
}

/* One with another call goes on, to the next one. Restarted, its own log may tell it before the others do. */
void judge_dispute(void)
{
    if (strstr(run.failure, ": mismatched collectives") || strstr(run.failure, "the program must repeat its calls"))
        run.failure[0] = 0;
    else
        failed("two roots of one bcast, and nobody noticed");
}
