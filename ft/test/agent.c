/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent of an explored job: memory, the keeper of the log, cuts; what must be true of its tables; what it would say of the ranks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    job.seen[WORN] += a->snapshot.alive;
    drop_snapshot(a);
    ft_region_register(&job.region, a->index, &(struct ft_position){ .stream[0] = { .unit = v->unit + 1, .end = v->end } });
}

static void register_cuts(void)
{
    struct ft_version v;

    for (uint32_t r = 0; r < job.sc.ranks; r++) {
        job.registers = true;
        if (find_cut(&job.actor[r], &v))
            register_cut(&job.actor[r], &v);
        job.registers = false;
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
        if (!is_short && spilled_or_forgotten() != gone && memory != job.region.header->params.nextents)
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
        cuts = cuts || find_cut(&job.actor[r], &(struct ft_version){ 0 });
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

/* `done` of short units, and calls (docs/internals/waiting.md): who sleeps for these sleeps its time. */
bool is_quiet(const struct actor *a)
{
    enum ft_await_kind kind = ft_await_read(&ft_region_doorbell(&job.region, a->index)->awaits).kind;
    bool standard = job.sc.what >= BCAST && job.sc.what <= ALLGATHER && job.sc.count * 4 > job.region.header->params.short_max;

    return (kind == FT_AWAIT_DONE && !standard) || kind == FT_AWAIT_ASKED;
}

void note_seen(void)
{
    uint64_t assigned = ft_peek(&stream_head()->assigned), n = job.region.header->params.ntable;

    job.seen[RELEASED] += ft_peek(&stream_head()->floor);
    job.seen[AROUND] += assigned > n ? assigned - n : 0;
    job.seen[SPILLED] += ft_peek(&stream_head()->spilled);
    job.seen[FORGOTTEN] += ft_peek(&stream_head()->forgotten);
    for (uint32_t r = 0; makes_versions() && r < job.sc.ranks; r++)
        job.seen[ANSWERED] += ft_peek(&ft_versions_of(&job.region, r)->answers);
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
void make_region(const struct scenario *sc)
{
    enum room room = sc->room;
    bool snapshots = sc->snapshots;
    uint32_t ranks = sc->ranks;
    struct ft_params params = { .nranks = ranks, .nstreams = 1, .cores = 1, .short_max = 64, .rooted_max = 64, .gather_max = 32, .slot_past_min = 512, .bcast_past_min = 1024,
                                .gather_past_min = 256, .redundant_max = sc->redundant ? 1 << 20 : 512, .short_depth = 2, .slot_bytes = snapshots || room == RELEASES ? 1024 : room && room != LEFT ? 512 : 128, .slot_depth = room == SPILLS ? 4 : 2, .trail = room == SPILLS ? 16 : 8, .past_cache = 256,
                                .extent_bytes = 4096, .nextents = snapshots || room == RELEASES ? 6 : room ? 4 : 16,
                                .ntable = snapshots && sc->what < CHECKPOINTED ? 16 : 64, .check_units = !sc->varies && (ranks == 3 || room) ? 64 : 0,
                                .bootstrap_cache = sc->what == PLACES };
    struct ft_keeper_config config = { .full = room == FORGETS ? FT_FULL_FORGET : FT_FULL_SPILL, .spill_dir = "/dev/shm" };
    struct ft_error e;

    params.gather_bytes = params.slot_bytes;
    params.slot_room = 2 * params.slot_bytes;
    params.unkept = room == LEFT;
    if (ft_region_create(&job.region, &params, &e) != 0 || ft_keeper_open(&job.keeper, &job.region, &config, &e) != 0 ||
        (job.models = ft_models_create(&e)) < 0) {
        fprintf(stderr, "explore: %s\n", e.text);
        exit(2);
    }
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

    atomic_store(&h->full, 0);
    memset(job.region.base + h->ranks_at, 0, h->streams_at - h->ranks_at);
    memset(stream, 0, h->stream_bytes);
    memset(job.region.base + h->extents_at, 0xa5, h->size - h->extents_at);
    ((struct ft_stream_head *)(void *)stream)->nranks = job.sc.ranks;
    reset_versions(false);
    if (ftruncate(ft_keeper_spill_fd(job.keeper), 0) != 0)
        failed("the spill file cannot be emptied");
}

/* ---- the log ---------------------------------------------------------------------------------------- */

/* From where it has not been released each committed unit is found, one after the other. */
void check_log(void)
{
    struct ft_reader reader;
    struct ft_walk walk = { .read = ft_reader_walks, .arg = &reader, .extent_bytes = job.region.header->params.extent_bytes };
    uint64_t committed = UINT64_MAX, floor = ft_peek(&stream_head()->floor), end;
    struct ft_record head;

    ft_reader_open(&reader, &job.region, ft_keeper_spill_fd(job.keeper));
    end = ft_reader_end(&reader);
    for (uint32_t r = 0; r < job.sc.ranks; r++)
        committed = ft_min(committed, ft_peek(&job.actor[0].stream.counters[r].done));
    if (floor * walk.extent_bytes >= end)
        return;
    if (!ft_reader_read(&reader, floor * walk.extent_bytes, &head, sizeof head) || !ft_walk_seek(&walk, head.unit - 1, floor, ft_div_up(end, walk.extent_bytes)) ||
        walk.position != floor * walk.extent_bytes)
        failed("extent %llu, where the log begins, is not found", (unsigned long long)floor);
    while (!job.failure[0] && walk.unit < committed) {
        if (ft_walk_look(&walk, &head) != FT_WALK_RECORD)
            failed("unit %llu of %llu is not at %llu of the log", (unsigned long long)walk.unit, (unsigned long long)committed, (unsigned long long)walk.position);
        ft_walk_on(&walk, &head);
    }
    if (!job.failure[0] && walk.position < end) /* who is killed after `done` may leave done_at behind */
        failed("the log ends at %llu, and its last record at %llu", (unsigned long long)end, (unsigned long long)walk.position);
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

    if (r->kind == -1 && atomic_load(&r->patience.doorbells.asleep[r->index]) != FT_AWAKE)
        failed("rank %u incarnation %u call %u: its flag is up, and it does not sleep", r->index, r->incarnation, r->call);
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
        (waits && !i->in_doubt && (i->site != r->stream.site || !ft_sig_equal(&i->sig, &r->stream.sig))))
        failed("rank %u incarnation %u call %u: inspection says unit %llu, %s a call", r->index, r->incarnation, r->call,
               (unsigned long long)i->unit, i->in_call ? "in" : "outside");
    if (waits && !ft_inspect_awaits(p, all, r->index, awaited) && again && !ft_inspect_awaits_memory(p, all, r->index))
        failed("rank %u incarnation %u call %u waits for nobody, inspection says", r->index, r->incarnation, r->call);
    if (waits && awaited[r->index])
        failed("rank %u waits for itself, inspection says", r->index);
}
