/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent of an explored job: memory, the keeper of the log, cuts; what must be true of its tables; what it would say of the ranks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ft/shm/cut.h"
#include "ft/shm/extent.h"
#include "ft/shm/inspect.h"
#include "ft/shm/models.h"
#include "ft/shm/transfer.h"
#include "ft/shm/walk.h"
#include "ft/test/explore.h"

/* ---- cuts of checkpoints, as in launcher/snap/cut.c ---- */

/* A snapshot is the faster way back, for a time. */
static bool is_worn(const struct actor *a, uint64_t version) { return (version * 7 + a->index + job.seed) % 3 == 0; }

static bool find_cut(const struct actor *a, struct ft_version *v)
{
    return makes_versions() && ft_versions_newest(&job.region, 0, v) && !v->base && ft_versions_moves_cut(&job.region, a->index, v) &&
           !a->decided && (!a->snapshot.alive || is_worn(a, v->version));
}

static void register_cut(struct actor *a, const struct ft_version *v)
{
    struct ft_positions p;

    if (!ft_versions_positions(&job.region, a->index, v, &p))
        return;
    run.seen[WORN] += a->snapshot.alive;
    drop_snapshot(a);
    ft_cut_register(&job.region, a->index, &p);
}

static void register_cuts(void)
{
    struct ft_version v;

    for (uint32_t r = 0; r < job.sc.ranks; r++) {
        if (job.registrar)
            return;
        job.registrar = keeper_actor();
        if (find_cut(&job.actor[r], &v))
            register_cut(&job.actor[r], &v);
        job.registrar = NULL;
    }
}

/* A durable checkpoint is due, now and then. */
static void want_one(void)
{
    struct ft_version v;

    if (job.sc.what != LAZY || job.seed % 4 != 1)
        return;
    ft_versions_newest(&job.region, 0, &v);
    if (ft_peek(&ft_versions_head(&job.region)->wanted) != v.version + 2)
        ft_publish(&ft_versions_head(&job.region)->wanted, v.version + 2);
}

/* ---- the keeper ---- */

static void keeper_failed(void *arg, const char *line)
{
    (void)arg;
    failed("keeper: %s", line);
}

static struct ft_stream_parts parts_of(uint32_t stream) { return ft_region_stream(&job.region, stream); }

/* How many extents of memory the tables name: of the one after those that are said to have some, too. */
static uint64_t memory_named(void)
{
    uint64_t named = 0;

    for (uint32_t s = 0; s < nlogs(); s++) {
        struct ft_stream_parts parts = parts_of(s);
        uint64_t most = ft_peek(&parts.head->ready) / job.region.header->params.extent_bytes + 2;

        for (uint64_t i = 0; i < ft_min(most, parts.ntable); i++)
            named += ft_extent_state(ft_peek(&parts.table[i])) == FT_EXTENT_MEMORY;
    }
    return named;
}

static uint64_t spilled_or_forgotten(void)
{
    uint64_t sum = 0;

    for (uint32_t s = 0; s < nlogs(); s++)
        sum += ft_peek(&parts_of(s).head->spilled) + ft_peek(&parts_of(s).head->forgotten);
    return sum;
}

void keeper_main(struct actor *a)
{
    bool is_short = job.sc.room == SPILLS && a->incarnation % 2; /* of memory: ft_keeper_bound */

    ft_keeper_adopt(job.keeper, keeper_failed, NULL);
    if (is_short)
        ft_keeper_bound(job.keeper, 0);
    for (;;) {
        uint64_t gone = spilled_or_forgotten(), memory;

        register_cuts();
        want_one();
        ft_keeper_serve(job.keeper);
        memory = memory_named();
        if (!is_short && spilled_or_forgotten() != gone && memory < job.region.header->params.nextents)
            failed("the log is spilled or forgotten, but only %llu extents of memory are in use", (unsigned long long)memory);
        check_tables();
        stop_here(a, FT_POINT_WAIT);
    }
}

static bool cuts_allow_release(uint32_t stream)
{
    return ft_cut_floor(&job.region, stream) / job.region.header->params.extent_bytes > ft_peek(&parts_of(stream).head->floor);
}

static bool wants_more(uint32_t stream)
{
    struct ft_stream_parts parts = parts_of(stream);
    uint64_t want = 0;

    for (uint32_t r = 0; r < parts.n; r++)
        want = ft_max(want, ft_max(ft_peek(&parts.counters[r].want), ft_peek(&parts.counters[r].ahead)));
    return want > ft_peek(&parts.head->ready);
}

bool keeper_has_work(void)
{
    bool work = false;

    for (uint32_t s = 0; s < nlogs(); s++)
        work = work || wants_more(s) || cuts_allow_release(s);
    for (uint32_t r = 0; r < job.sc.ranks; r++)
        work = work || find_cut(&job.actor[r], &(struct ft_version){ 0 });
    return work;
}

bool keeper_releases_first(void)
{
    bool first = false;

    for (uint32_t s = 0; s < nlogs(); s++)
        first = first || (ft_peek(&parts_of(s).head->floor) == 0 && cuts_allow_release(s));
    return first && (job.sc.snapshots || makes_versions());
}

/* Memory is full only from the keeper's looking for the oldest extent to the end of that. */
bool keeper_forgets(void)
{
    return job.sc.room == FORGETS && keeper_actor()->at.kind == FT_POINT_STORE && memory_named() >= job.region.header->params.nextents;
}

/* named: whose memory is known, and whose place in the file. */
static void check_table(uint32_t stream, uint64_t named[2])
{
    struct ft_stream_parts parts = parts_of(stream);
    uint64_t ready = ft_peek(&parts.head->ready), assigned = ft_div_up(ready, job.region.header->params.extent_bytes);
    uint64_t floor = ft_peek(&parts.head->floor), size = parts.ntable;

    for (uint64_t n = assigned > size ? assigned - size : 0; n < assigned; n++) {
        uint64_t entry = ft_peek(&parts.table[n % size]), place = ft_extent_place(entry);
        bool in_file = ft_extent_state(entry) == FT_EXTENT_FILE;

        if (!entry || ft_extent_lap(entry) != n / size)
            failed("%llu extents are said to have memory, the table does not have %llu", (unsigned long long)assigned, (unsigned long long)n);
        if ((ft_extent_state(entry) == FT_EXTENT_RELEASED) != (n < floor))
            failed("extent %llu: released or not, the floor is %llu", (unsigned long long)n, (unsigned long long)floor);
        if (ft_extent_state(entry) == FT_EXTENT_RELEASED)
            continue;
        if (named[in_file] >> place & 1)
            failed("extent %llu: its %s %llu is another's", (unsigned long long)n, in_file ? "place in the file" : "memory",
                   (unsigned long long)place);
        named[in_file] |= 1ull << place;
    }
    assigned += stream > 0; /* one may be entered that has no memory yet */
    if (assigned < size && ft_peek(&parts.table[assigned]))
        failed("the table has more than the %llu extents that are said to have memory", (unsigned long long)assigned);
}

/* Whatever was killed when: the tables say that each piece of memory, and of the file, is used once, that there are as many
   extents as ranks are told, and that the released ones are those below the floor. */
void check_tables(void)
{
    uint64_t named[2] = { 0, 0 };

    for (uint32_t s = 0; s < nlogs(); s++)
        check_table(s, named);
}

static void note_stream(const struct ft_stream_head *head, uint64_t n)
{
    uint64_t assigned = ft_peek(&head->ready) / job.region.header->params.extent_bytes;

    run.seen[RELEASED] += ft_peek(&head->floor);
    run.seen[AROUND] += assigned > n ? assigned - n : 0;
    run.seen[SPILLED] += ft_peek(&head->spilled);
    run.seen[FORGOTTEN] += ft_peek(&head->forgotten);
}

/* `done` of short units, and calls (docs/internals/waiting.md): who sleeps for these sleeps its time. */
bool is_quiet(const struct actor *a)
{
    enum ft_await_kind kind = ft_await_read(&ft_region_doorbell(&job.region, a->index)->awaits).kind;
    bool standard = job.sc.what >= BCAST && job.sc.what <= ALLGATHER && job.sc.count * 4 > job.region.header->params.short_max;

    return (kind == FT_AWAIT_DONE && !standard) || kind == FT_AWAIT_ASKED;
}

void note_seen(void)
{
    for (uint32_t s = 0; s < nlogs(); s++)
        note_stream(parts_of(s).head, parts_of(s).ntable);
    for (uint32_t r = 0; makes_versions() && r < job.sc.ranks; r++)
        run.seen[ANSWERED] += ft_peek(&ft_versions_of(&job.region, r)->answers);
}

void note_killed(const struct actor *a)
{
    const _Atomic uint64_t *checks = parts_of(0).checks;

    if (job.liar != MAX_RANKS)
        return;
    job.liar = a->index;
    job.due = ft_peek(&checks[a->index * job.region.header->params.check_units]) != 0;
}

void judge_lie(void)
{
    bool out = strstr(run.failure, "contributed other data than before its restart") != NULL;

    if (out)
        run.failure[0] = 0;
    else
        failed("rank %u was restarted and contributed other data, and nobody noticed", job.liar);
}

/* ---- memory ----------------------------------------------------------------------------------------- */

/* Small sizes, so that slots are reused and operations cut into units within a few calls. */
void make_job(const struct scenario *sc)
{
    enum room room = sc->room;
    bool snapshots = sc->snapshots;
    uint32_t ranks = sc->ranks;
    struct ft_params params = { .nranks = ranks, .nstreams = sc->two ? 1 + ranks : 1, .nchannels = sc->what >= RING ? ranks * ranks : 0, .cores = 1, .short_max = 64, .rooted_max = 64, .gather_max = 32, .slot_past_min = 512, .bcast_past_min = 1024,
                                .gather_past_min = 256, .redundant_max = sc->redundant ? 1 << 20 : 512, .short_depth = 2, .slot_bytes = snapshots || room == RELEASES ? 1024 : room && room != LEFT ? 512 : 128, .slot_depth = room == SPILLS ? 4 : 2, .trail = room == SPILLS ? 16 : 8, .past_cache = 256,
                                .extent_bytes = 4096, .nextents = snapshots || room == RELEASES ? 6 : room ? 4 : 16,
                                .ntable = snapshots && sc->what < CHECKPOINTED ? 16 : 64, .check_units = !sc->varies && !sc->two && (ranks == 3 || room) ? 64 : 0,
                                .bootstrap_cache = sc->what == PLACES };
    struct ft_keeper_config config = { .full = room == FORGETS ? FT_FULL_FORGET : FT_FULL_SPILL, .spill_dir = "/dev/shm" };
    struct ft_error e;

    job.sc = *sc;
    params.gather_bytes = sc->two ? 1024 : params.slot_bytes; /* what is in flight of an allgather is more than an extent */
    params.slot_room = (ranks == MAX_RANKS ? 1 : 2) * params.slot_bytes; /* without turns the depth is all that keeps units apart */
    params.unkept = room == LEFT;
    if (ft_region_create(&job.region, &params, &e) != 0 || ft_keeper_open(&job.keeper, &job.region, &config, &e) != 0 ||
        (job.models = ft_models_create(&e)) < 0) {
        fprintf(stderr, "explore: %s\n", e.text);
        exit(2);
    }
}

void drop_job(void)
{
    close(job.models);
    ft_keeper_close(job.keeper);
    ft_region_close(&job.region);
}

/* But for what lies in log memory: anything. The keeper finds an empty table, as if it died before the first extent. */
void reset_region(void)
{
    struct ft_header *h = job.region.header;

    atomic_store(&h->full, 0);
    atomic_store(&h->starved, 0);
    memset(job.region.base + h->ranks_at, 0, h->streams_at - h->ranks_at);
    memset(job.region.base + h->streams_at, 0, h->params.nstreams * h->stream_bytes + h->params.nchannels * h->channel_bytes);
    memset(job.region.base + h->extents_at, 0xa5, h->size - h->extents_at);
    ft_streams_found(&job.region);
    reset_versions(false);
    if (ftruncate(ft_keeper_spill_fd(job.keeper), 0) != 0)
        failed("the spill file cannot be emptied");
}

/* ---- the log ---------------------------------------------------------------------------------------- */

/* Of messages numbers go on when all begin with a version: there were few before that. */
static bool jumps(uint32_t stream) { return job.sc.what == CARRIED && stream >= job.region.header->params.nstreams; }

/* From where it has not been released each committed unit is found, one after the other. */
static void check_log_of(uint32_t stream)
{
    struct ft_stream_parts parts = parts_of(stream);
    struct ft_reader reader;
    struct ft_walk walk = { .read = ft_reader_walks, .arg = &reader, .extent_bytes = job.region.header->params.extent_bytes };
    uint64_t committed = UINT64_MAX, floor = ft_peek(&parts.head->floor), end;
    struct ft_record head;

    ft_reader_open(&reader, &job.region, stream, ft_keeper_spill_fd(job.keeper));
    end = ft_reader_end(&reader);
    for (uint32_t r = 0; r < parts.n; r++)
        committed = ft_min(committed, ft_peek(&parts.counters[r].done));
    if (floor * walk.extent_bytes >= end)
        return;
    if (!ft_reader_read(&reader, floor * walk.extent_bytes, &head, sizeof head) || !ft_walk_seek(&walk, head.unit - 1, floor, ft_div_up(end, walk.extent_bytes)) ||
        walk.position != floor * walk.extent_bytes)
        failed("extent %llu, where the log begins, is not found", (unsigned long long)floor);
    while (!run.failure[0] && walk.unit < committed) {
        if (ft_walk_look(&walk, &head) == FT_WALK_DAMAGED && jumps(stream))
            walk.unit = ft_max(walk.unit, head.unit - 1);
        if (ft_walk_look(&walk, &head) != FT_WALK_RECORD)
            failed("unit %llu of %llu is not at %llu of the log", (unsigned long long)walk.unit, (unsigned long long)committed, (unsigned long long)walk.position);
        ft_walk_on(&walk, &head);
    }
    if (!run.failure[0] && walk.position < end) /* who is killed after `done` may leave done_at behind */
        failed("the log ends at %llu, and its last record at %llu", (unsigned long long)end, (unsigned long long)walk.position);
}

void check_log(void)
{
    for (uint32_t s = 0; s < nlogs(); s++)
        check_log_of(s);
}

/* ---- inspection ------------------------------------------------------------------------------------- */

/* What it says of the call that r waits in, on the stream that r has named: r is yet to see others there, or has called it. */
static bool is_call_of(const struct actor *r, const struct ft_inspect *i)
{
    struct ft_await a = ft_await_read(&ft_region_doorbell(&job.region, r->index)->awaits);
    const struct ft_stream *s = a.stream ? &r->second.stream : &r->ft.world;

    if (!i->in_call || i->stream != a.stream || i->first != s->unit || i->in_join != (a.kind == FT_AWAIT_JOINED))
        return false;
    return i->in_join || i->in_doubt || (i->site == s->site && ft_sig_equal(&i->sig, &s->sig));
}

/* All of them make the call. */
static bool are_of_crew(const struct actor *r, const struct ft_inspect *i, const bool *awaited)
{
    uint32_t crew[MAX_RANKS], me, n = i->stream ? crew_of(r, crew, &me) : 0;

    for (uint32_t q = 0; i->stream && q < job.sc.ranks; q++) {
        bool in = false;

        for (uint32_t k = 0; k < n; k++)
            in |= crew[k] == q;
        if (awaited[q] && !in)
            return false;
    }
    return true;
}

/* Of a rank that waits, or that is between two calls. What it waits for may have come since it looked, but not if it waits
   again. */
void check_inspection(const struct actor *r, bool again)
{
    struct ft_inspect all[MAX_RANKS];
    const struct ft_inspect *i = &all[r->index];
    bool waits = r->at.kind == FT_POINT_WAIT, awaited[MAX_RANKS];

    if (r->at.kind == -1 && atomic_load(&r->ft.patience.doorbells.asleep[r->index]) != FT_AWAKE)
        failed("rank %u incarnation %u call %u: its flag is up, and it does not sleep", r->index, r->incarnation, r->call);
    if ((!waits && r->at.kind != -1) || run.failure[0] || job.sc.disputed || sends_letters()) /* who waits for whom is what they dispute; of messages
                                                                                                       it is not said yet */
        return;
    ft_inspect_read(&job.region, all);
    if (i->in_store && !waits)
        failed("rank %u incarnation %u call %u: inspection says it is busy with models", r->index, r->incarnation, r->call);
    if (i->in_store) {  /* for a slot: no call yet */
        if (again && i->sig.call == FT_CALL_CHECKPOINT && !ft_inspect_awaits(&job.region, all, r->index, awaited))
            failed("rank %u incarnation %u waits for nobody before call %u's checkpoint, inspection says", r->index, r->incarnation, r->call);
        return;
    }
    if (i->unit != r->ft.world.unit || (waits ? !is_call_of(r, i) : i->in_call))
        failed("rank %u incarnation %u call %u: inspection says unit %llu, %s call, unit %llu of stream %u", r->index, r->incarnation, r->call,
               (unsigned long long)i->unit, i->in_join ? "in no" : i->in_call ? "in a" : "outside a", (unsigned long long)i->first, i->stream);
    if (waits && !ft_inspect_awaits(&job.region, all, r->index, awaited) && again && !ft_inspect_awaits_memory(&job.region, all, r->index))
        failed("rank %u incarnation %u call %u waits for nobody, inspection says", r->index, r->incarnation, r->call);
    if (waits && awaited[r->index])
        failed("rank %u waits for itself, inspection says", r->index);
    if (waits && !are_of_crew(r, i, awaited))
        failed("rank %u incarnation %u call %u waits for a rank that is not in its stream, inspection says", r->index, r->incarnation, r->call);
}
