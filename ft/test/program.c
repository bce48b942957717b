/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks and keeper of an explored job run, and what must be true of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ft/ft.h"
#include "ft/shm/extent.h"
#include "ft/shm/inspect.h"
#include "ft/shm/models.h"
#include "ft/test/explore.h"

const char *const what_text[NWHAT] = { "barrier", "bcast", "reduce", "allreduce", "allgather", "allgatherv", "mixed", "checkpoint", "dense" };

static int32_t truth(uint32_t call, uint32_t rank, uint32_t i)
{
    uint32_t x = (call + 1) * 2654435761u ^ (rank + 1) * 40503u ^ (i + 1) * 2246822519u;

    return (int32_t)(x ^ x >> 15);
}

/* What must be seen of it. A liar who had said nothing before contributes his lie, and nothing else ever. */
static int32_t value(uint32_t call, uint32_t rank, uint32_t i)
{
    return truth(call, rank, i) ^ (job.sc.lies && rank == job.liar && !job.due);
}

static int32_t contribution(const struct actor *r, uint32_t i)
{
    return truth(r->call, r->index, i) ^ (job.sc.lies && r->index == job.liar && r->incarnation > 0);
}

static enum what call_of(uint32_t call)
{
    static const enum what mix[] = { ALLREDUCE, BCAST, REDUCE, BARRIER, ALLGATHER, BCAST, ALLREDUCE, ALLGATHERV };

    if (job.sc.disputed)
        return call ? BARRIER : BCAST;
    if (job.sc.what == DENSE && call > 1)
        return BCAST;
    return job.sc.what >= MIXED ? mix[call % 8] : job.sc.what;
}

static uint32_t count_of(uint32_t call)
{
    return job.sc.what >= MIXED ? (call % 3 == 1 ? job.sc.count * 5 : call % 3 == 2 ? 0 : job.sc.count) : job.sc.count;
}

static uint32_t root_of(uint32_t call) { return job.sc.what == DENSE ? 0 : call % job.sc.ranks; }

static uint32_t part_of(uint32_t count, uint32_t rank) { return rank % 3 == 1 ? 0 : count - count / 3 * (rank % 2); }

static void expect(struct actor *r, const char *what, uint32_t i, int32_t got, int32_t want)
{
    if (got != want)
        failed("rank %u incarnation %u call %u: %s: element %u is %d, not %d", r->index, r->incarnation, r->call, what, i,
               got, want);
}

static int32_t reduced(uint32_t call, uint32_t i)
{
    uint32_t sum = 0;

    for (uint32_t q = 0; q < job.sc.ranks; q++)
        sum += (uint32_t)value(call, q, i);
    return (int32_t)sum;
}

static bool disputes(const struct actor *r) { return job.sc.disputed && r->index == job.sc.ranks - 1; }

static int make_call(struct actor *r, struct ft_error *e)
{
    static const struct ft_type type = { .elem = 4, .kind = FT_I32 };
    struct ft_op op = { FT_SUM, ft_reduce_find(FT_I32, FT_SUM), NULL, NULL };
    uint32_t me = r->index, n = job.sc.ranks, count = count_of(r->call), root = root_of(r->call);
    int counts[MAX_RANKS], displs[MAX_RANKS], at = 0;
    const void *send = r->send;
    struct ft_stream *s = &r->stream;

    if (disputes(r))
        root = me;
    memset(r->recv, 0x55, sizeof r->recv);
    for (uint32_t i = 0; i < count; i++)
        r->send[i] = contribution(r, i);
    switch (call_of(r->call)) {
    case BARRIER:
        return ft_barrier(s, 1, e);
    case BCAST:
        if (me == root)
            memcpy(r->recv, r->send, count * 4);
        return ft_bcast(s, r->recv, count, type, (int)root, 2, e);
    case REDUCE:
        return ft_reduce(s, r->send, r->recv, count, type, &op, (int)root, 3, e);
    case ALLREDUCE:
        if (job.sc.in_place)
            send = memcpy(r->recv, r->send, count * 4);
        return ft_allreduce(s, send, r->recv, count, type, &op, 4, e);
    case ALLGATHER:
        if (job.sc.in_place)
            send = memcpy(r->recv + me * count, r->send, count * 4);
        return ft_allgather(s, send, r->recv, count, type, 5, e);
    default:
        for (uint32_t q = 0; q < n; q++) {
            counts[q] = (int)part_of(count, q);
            displs[q] = at + (int)q;
            at += counts[q];
        }
        return ft_allgatherv(s, r->send, r->recv, counts, displs, type, 6, e);
    }
}

static void check_result(struct actor *r)
{
    uint32_t me = r->index, n = job.sc.ranks, count = count_of(r->call), root = root_of(r->call), at = 0;

    switch (call_of(r->call)) {
    case BARRIER:
        break;
    case BCAST:
        for (uint32_t i = 0; i < count && !disputes(r); i++)
            expect(r, "bcast", i, r->recv[i], value(r->call, root, i));
        break;
    case REDUCE:
        if (me != root)
            break;
        /* fall through */
    case ALLREDUCE:
        for (uint32_t i = 0; i < count; i++)
            expect(r, "reduction", i, r->recv[i], reduced(r->call, i));
        break;
    case ALLGATHER:
        for (uint32_t i = 0; i < count * n; i++)
            expect(r, "allgather", i, r->recv[i], value(r->call, i / count, i % count));
        break;
    default:
        for (uint32_t q = 0; q < n; q++) {
            for (uint32_t i = 0; i < part_of(count, q); i++)
                expect(r, "allgatherv", at + q + i, r->recv[at + q + i], value(r->call, q, i));
            at += part_of(count, q);
        }
    }
}

/* Fork, and tell the agent: a copy it has not been told of dies with the rank. The registration is the agent's, who may be
   killed in it. */
static void take_snapshot(struct actor *r)
{
    struct ft_position p = { .stream[0] = { .unit = r->stream.unit, .end = r->stream.end } };
    struct ft_stream copy = r->stream;

    stop_here(r, -1);
    ft_region_register(&job.region, r->index, &p);
    r->snapshot.stream = copy;
    r->snapshot.call = r->call;
    r->snapshot.alive = true;
}

/* As if it had been reading there when it was forked: a fork does not copy that mapping. */
static void lose_window(struct ft_log *log, uint64_t position)
{
    uint64_t entry = ft_peek(&log->table[position / log->extent_bytes % job.region.header->params.ntable]);

    if (ft_extent_state(entry) == FT_EXTENT_FILE) {
        log->window = (char *)4096;
        log->window_place = ft_extent_place(entry);
    }
}

static void open_stream(struct actor *r)
{
    if (r->woken) {
        r->stream = r->snapshot.stream;
        lose_window(&r->stream.log, r->stream.end);
        r->call = r->snapshot.call;
        r->snapshot.alive = false;  /* it is this one; the next thing it does is to take another */
        ft_stream_resume(&r->stream);
    } else {
        r->call = 0;
        ft_stream_open(&r->stream, &job.region, 0, r->index, "WORLD", &job.patience, -1, ft_keeper_spill_fd(job.keeper));
        open_versions(r);
    }
    atomic_store(&ft_region_rank(&job.region, r->index)->state, FT_RANK_ATTACHED);
}

void rank_main(struct actor *r)
{
    struct ft_error e;

    for (open_stream(r); r->call < job.sc.calls; r->call++) {
        if (!load_version(r) || r->call == job.sc.calls) /* the version after the last call */
            break;
        if (job.sc.snapshots && r->call && (r->call + r->index) % (job.sc.room == FORGETS ? 6 : 3) == 0)
            take_snapshot(r);
        stop_here(r, -1);
        if (make_call(r, &e) != 0) {
            failed("rank %u incarnation %u call %u: %s", r->index, r->incarnation, r->call, e.text);
            break;
        }
        check_result(r);
        if (!make_version(r))
            break;
    }
    drop_versions(r);
    ft_stream_close(&r->stream);
}

/* One with another call goes on, to the next one. Restarted, its own log may tell it before the others do. */
void judge_dispute(void)
{
    if (strstr(job.failure, ": mismatched collectives") || strstr(job.failure, "the program must repeat its calls"))
        job.failure[0] = 0;
    else
        failed("two roots of one bcast, and nobody noticed");
}

/* ---- the keeper ------------------------------------------------------------------------------------- */

static void keeper_failed(void *arg, const char *line)
{
    (void)arg;
    failed("keeper: %s", line);
}

static const struct ft_stream_head *stream_head(void)
{
    return (const struct ft_stream_head *)(const void *)(job.region.base + job.region.header->streams_at);
}

/* How many extents of memory the table names. */
static uint64_t memory_named(void)
{
    const struct ft_params *p = &job.region.header->params;
    const _Atomic uint64_t *table = (const void *)((const char *)stream_head() + job.region.stream.table_at);
    uint64_t n = 0;

    for (uint64_t i = 0; i < p->ntable; i++)
        n += ft_extent_state(ft_peek(&table[i])) == FT_EXTENT_MEMORY;
    return n;
}

static uint64_t spilled_or_forgotten(void) { return ft_peek(&stream_head()->spilled) + ft_peek(&stream_head()->forgotten); }

void keeper_main(struct actor *a)
{
    ft_keeper_adopt(job.keeper, keeper_failed, NULL);
    for (;;) {
        uint64_t gone = spilled_or_forgotten(), memory;

        register_cuts();
        ft_keeper_serve(job.keeper);
        memory = memory_named();
        if (spilled_or_forgotten() != gone && memory != job.region.header->params.nextents)
            failed("the log is spilled or forgotten, but only %llu extents of memory are in use", (unsigned long long)memory);
        check_tables();
        stop_here(a, FT_POINT_WAIT);
    }
}

static bool cuts_allow_release(void)
{
    const struct ft_cut *cuts = (const void *)((const char *)stream_head() + job.region.stream.cuts_at);
    uint64_t end = UINT64_MAX;

    for (uint32_t r = 0; r < job.sc.ranks; r++)
        end = ft_min(end, ft_peek(&cuts[r].end));
    return end / job.region.header->params.extent_bytes > ft_peek(&stream_head()->floor);
}

bool keeper_has_work(void)
{
    const struct ft_counters *c = (const void *)((const char *)stream_head() + job.region.stream.counters_at);
    uint64_t want = 0;
    bool cuts = false;

    for (uint32_t r = 0; r < job.sc.ranks; r++) {
        want = ft_max(want, ft_peek(&c[r].want));
        cuts = cuts || has_cut(r);
    }
    return want > ft_peek(&stream_head()->assigned) || cuts || cuts_allow_release();
}

bool keeper_releases_first(void) { return (job.sc.snapshots || makes_versions()) && ft_peek(&stream_head()->floor) == 0 && cuts_allow_release(); }

/* Memory is full only from the keeper's looking for the oldest extent to the end of that. */
bool keeper_forgets(void)
{
    return job.sc.room == FORGETS && keeper_actor()->kind == FT_POINT_STORE && memory_named() == job.region.header->params.nextents;
}

/* Whatever was killed when: the table says that each piece of memory, and of the file, is used once, that there are as many
   extents as ranks are told, and that the released ones are those below the floor. */
void check_tables(void)
{
    const struct ft_params *p = &job.region.header->params;
    const _Atomic uint64_t *table = (const void *)((const char *)stream_head() + job.region.stream.table_at);
    uint64_t named[2] = { 0, 0 }, assigned = ft_peek(&stream_head()->assigned), floor = ft_peek(&stream_head()->floor);

    for (uint64_t n = assigned > p->ntable ? assigned - p->ntable : 0; n < assigned; n++) {
        uint64_t entry = ft_peek(&table[n % p->ntable]), place = ft_extent_place(entry);
        bool in_file = ft_extent_state(entry) == FT_EXTENT_FILE;

        if (!entry || ft_extent_lap(entry) != n / p->ntable)
            failed("%llu extents are said to be assigned, the table does not have %llu", (unsigned long long)assigned, (unsigned long long)n);
        if ((ft_extent_state(entry) == FT_EXTENT_RELEASED) != (n < floor))
            failed("extent %llu: released or not, the floor is %llu", (unsigned long long)n, (unsigned long long)floor);
        if (ft_extent_state(entry) == FT_EXTENT_RELEASED)
            continue;
        if (named[in_file] >> place & 1)
            failed("extent %llu: its %s %llu is another's", (unsigned long long)n, in_file ? "place in the file" : "memory",
                   (unsigned long long)place);
        named[in_file] |= 1ull << place;
    }
    if (assigned < p->ntable && ft_peek(&table[assigned]))
        failed("the table has more than the %llu extents that are said to be assigned", (unsigned long long)assigned);
}

void note_seen(void)
{
    uint64_t assigned = ft_peek(&stream_head()->assigned), n = job.region.header->params.ntable;

    job.seen.released += ft_peek(&stream_head()->floor);
    job.seen.around += assigned > n ? assigned - n : 0;
    job.seen.spilled += ft_peek(&stream_head()->spilled);
    job.seen.forgotten += ft_peek(&stream_head()->forgotten);
}

void note_killed(const struct actor *a)
{
    const _Atomic uint64_t *checks = (const void *)((const char *)stream_head() + job.region.stream.checks_at);

    if (job.liar != MAX_RANKS)
        return;
    job.liar = a->index;
    job.due = ft_peek(&checks[a->index * job.region.header->params.check_units]) != 0;
}

void judge_lie(void)
{
    bool out = strstr(job.failure, "contributed other data than before its restart") != NULL;

    if (out)
        job.failure[0] = 0;
    else
        failed("rank %u was restarted and contributed other data, and nobody noticed", job.liar);
}

/* ---- memory ----------------------------------------------------------------------------------------- */

/* Small sizes, so that slots are reused and operations cut into units within a few calls. */
void make_region(uint32_t ranks, enum room room, bool snapshots)
{
    struct ft_params params = { .nranks = ranks, .nstreams = 1, .cores = 1, .short_max = 64, .gather_max = 32, .short_depth = 2,
                                .slot_bytes = snapshots || room == RELEASES ? 1024 : room ? 512 : 128, .slot_depth = 2, .trail = 8, .extent_bytes = 4096,
                                .nextents = snapshots || room == RELEASES ? 6 : room ? 4 : 16, .ntable = snapshots ? 16 : 64, .check_units = ranks == 3 || room ? 64 : 0 };
    struct ft_keeper_config config = { .full = room == FORGETS ? FT_FULL_FORGET : FT_FULL_SPILL, .spill_dir = "/dev/shm" };
    struct ft_error e;

    if (ft_region_create(&job.region, &params, &e) != 0 || ft_keeper_open(&job.keeper, &job.region, &config, &e) != 0 ||
        (job.models = ft_models_create(&e)) < 0) {
        fprintf(stderr, "explore: %s\n", e.text);
        exit(2);
    }
    job.patience = (struct ft_patience){ .spins = UINT32_MAX, .sleeps = false, .nasleep = 8,
                                         .asleep = (_Atomic uint8_t *)(job.region.base + job.region.header->asleep_at) };
}

void drop_region(void)
{
    close(job.models);
    ft_keeper_close(job.keeper);
    ft_region_close(&job.region);
}

/* But for what lies in log memory: anything. The keeper finds an empty table, as if it died before the first extent. */
void reset_region(void)
{
    struct ft_header *h = job.region.header;
    char *stream = job.region.base + h->streams_at;

    memset(job.region.base + h->ranks_at, 0, h->asleep_at - h->ranks_at);
    memset(stream, 0, h->stream_bytes);
    memset(job.region.base + h->extents_at, 0xa5, h->size - h->extents_at);
    ((struct ft_stream_head *)(void *)stream)->nranks = job.sc.ranks;
    reset_versions(false);
    if (ftruncate(ft_keeper_spill_fd(job.keeper), 0) != 0)
        failed("the spill file cannot be emptied");
}

/* ---- inspection ------------------------------------------------------------------------------------- */

/* Of a rank that waits, or that is between two calls. What it waits for may have come since it looked, but not if it waits
   again. */
void check_inspection(const struct actor *r, bool again)
{
    const struct ft_params *p = &job.region.header->params;
    struct ft_inspect all[MAX_RANKS];
    const struct ft_inspect *i = &all[r->index];
    bool waits = r->kind == FT_POINT_WAIT, awaited[MAX_RANKS];

    if ((!waits && r->kind != -1) || job.failure[0] || job.sc.disputed) /* who waits for whom is what they dispute */
        return;
    ft_inspect_read(&job.region, all);
    if (i->in_store && !waits)
        failed("rank %u incarnation %u call %u: inspection says it is busy with models", r->index, r->incarnation, r->call);
    if (i->in_store) {  /* for a slot: no call yet */
        if (again && i->sig.call == FT_CALL_CHECKPOINT && !ft_inspect_awaits(p, all, r->index, awaited))
            failed("rank %u incarnation %u waits for nobody before call %u's checkpoint, inspection says", r->index, r->incarnation, r->call);
        return;
    }
    if (i->in_call != waits || i->unit != r->stream.unit ||
        (waits && (i->site != r->stream.site || !ft_sig_equal(&i->sig, &r->stream.sig))))
        failed("rank %u incarnation %u call %u: inspection says unit %llu, %s a call", r->index, r->incarnation, r->call,
               (unsigned long long)i->unit, i->in_call ? "in" : "outside");
    if (waits && !ft_inspect_awaits(p, all, r->index, awaited) && again && !ft_inspect_awaits_memory(p, all, r->index))
        failed("rank %u incarnation %u call %u waits for nobody, inspection says", r->index, r->incarnation, r->call);
    if (waits && awaited[r->index])
        failed("rank %u waits for itself, inspection says", r->index);
}
