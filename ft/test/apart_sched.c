/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks and keepers of several nodes as coroutines over the object code that ships: switched,
   and killed, at crash points only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ft/shm/cut.h"
#include "ft/shm/streams.h"
#include "ft/shm/versions.h"
#include "ft/test/apart.h"

enum { MOST_NAPS = 16 };
#define NAP_NS 2000000000ull  /* longer than a representative waits for a peer that may come back */

struct job job;
static struct actor *running;

/* What representatives go by, who wait for a time (linked with --wrap=ft_clock_ns). */
uint64_t __wrap_ft_clock_ns(void);
uint64_t __wrap_ft_clock_ns(void) { return job.clock_ns; }

/* ---- memory ---- */

/* Small sizes, so that slots are used again and operations cut into units within a few calls. */
static void make_node(struct node *k)
{
    const struct scenario *sc = &job.sc;
    bool spills = sc->room == SPILLS;
    struct ft_params p = { .nranks = k->n, .nstreams = sc->two ? 1 + k->n : 1, .cores = 1, .short_max = 64, .rooted_max = 64, .gather_max = 32,
                           .slot_past_min = 512, .bcast_past_min = 1024, .gather_past_min = 256, .short_depth = 2,
                           .slot_bytes = sc->wide ? 8192 : 256,
                           .segment = sc->wide ? 4096 : 128 /* a cache line for each of two ranks */,
                           .slot_depth = spills ? 4 : 2, .trail = spills ? 16 : 8, .past_cache = 256,
                           .extent_bytes = sc->wide ? 32768 : 4096, .nextents = sc->room ? 4 : 16, .ntable = 64,
                           .world = job.world, .nnodes = job.nnodes, .node = k->number, .spread = sc->two, .keeps_log = sc->loses,
                           .unkept = sc->room == LEFT };
    struct ft_keeper_config config = { .full = FT_FULL_SPILL, .spill_dir = "/dev/shm" };
    struct ft_error e;

    p.gather_bytes = p.slot_room = p.slot_bytes;
    if (ft_region_create(&k->region, &p, &e) != 0 || ft_region_map(&k->region, job.first, job.rank_at, &e) != 0 ||
        ft_keeper_open(&k->keeper, &k->region, &config, &e) != 0) {
        fprintf(stderr, "apart: %s\n", e.text);
        exit(2);
    }
}

/* But for what lies in log memory, which is anything: as the agent leaves it for the first
   incarnations. */
static void reset_region(struct node *k)
{
    struct ft_header *h = k->region.header;

    atomic_store(&h->full, 0);
    atomic_store(&h->starved, 0);
    memset(k->region.base + h->links_at, 0, (1 + h->params.spread) * job.nnodes * sizeof(struct ft_link_words));
    memset(k->region.base + h->ranks_at, 0, h->streams_at - h->ranks_at);
    memset(k->region.base + h->streams_at, 0, h->params.nstreams * h->stream_bytes);
    memset(k->region.base + h->extents_at, 0xa5, h->outcomes_at - h->extents_at);
    ft_streams_found(&k->region);
    ft_versions_renew(&k->region);
    if (ftruncate(ft_keeper_spill_fd(k->keeper), 0) != 0)
        failed("the spill file cannot be emptied");
}

static void place_ranks(void)
{
    uint32_t digits[MAX_NODES], n = 0;

    for (uint32_t rest = job.sc.layout; rest; rest /= 10)
        digits[n++] = rest % 10;
    job.nnodes = n;
    job.world = job.nactors = 0;
    for (uint32_t k = 0; k < n; k++) {
        job.node[k] = (struct node){ .number = k, .n = digits[n - 1 - k], .actor = &job.actor[job.nactors] };
        job.first[k] = job.world;
        for (uint32_t i = 0; i <= job.node[k].n; i++) {
            struct actor *a = &job.actor[job.nactors];

            a->index = job.nactors++;
            a->node = &job.node[k];
            a->local = i;
        }
        job.world += job.node[k].n;
    }
    job.first[n] = job.world;
    for (uint32_t i = 0; i < job.world; i++)
        job.rank_at[i] = job.sc.crooked ? job.world - 1 - i : i;
    for (uint32_t i = 0; i < job.nactors; i++)
        if (!is_keeper(&job.actor[i]))
            job.actor[i].rank = job.rank_at[job.first[job.actor[i].node->number] + job.actor[i].local];
}

void make_job(const struct scenario *sc)
{
    job.sc = *sc;
    place_ranks();
    for (uint32_t k = 0; k < job.nnodes; k++)
        make_node(&job.node[k]);
}

void drop_job(void)
{
    for (uint32_t k = 0; k < job.nnodes; k++) {
        ft_keeper_close(job.node[k].keeper);
        ft_region_close(&job.node[k].region);
    }
}

/* ---- keepers ---- */

static void keeper_failed(void *arg, const char *line)
{
    (void)arg;
    failed("keeper: %s", line);
}

static void keeper_main(struct actor *a)
{
    ft_keeper_adopt(a->node->keeper, keeper_failed, NULL);
    if (job.sc.room == SPILLS && (a->node->number + a->incarnation) % 2) /* memory is short */
        ft_keeper_bound(a->node->keeper, 0);
    for (;;) {
        ft_keeper_serve(a->node->keeper);
        coroutine_stop(&a->at, FT_POINT_WAIT);
    }
}

static bool wants_memory(const struct node *k, uint32_t stream)
{
    struct ft_stream_parts parts = ft_region_stream(&k->region, stream);
    uint64_t want = 0;

    for (uint32_t r = 0; r < k->n; r++)
        want = ft_max(want, ft_max(ft_peek(&parts.counters[r].want), ft_peek(&parts.counters[r].ahead)));
    return want > ft_peek(&parts.head->ready);
}

static bool keeper_has_work(const struct node *k)
{
    bool has = job.sc.room == LEFT || job.sc.snapshots;

    for (uint32_t stream = 0; stream < nstreams(); stream++)
        has = has || wants_memory(k, stream);
    return has;
}

/* ---- lives ---- */

static void begin(void)
{
    struct actor *a = running;

    if (is_keeper(a))
        keeper_main(a);
    else
        rank_main(a);
    a->state = OVER;
    coroutine_end();
}

void stop_between_calls(struct actor *a) { coroutine_stop(&a->at, -1); }

static void start(struct actor *a)
{
    if (!is_keeper(a)) {
        a->registers = false;
        if (a->incarnation && !(a->snapshot.alive ? ft_cut_reaches : ft_cut_withdraw)(&a->node->region, a->local))
            failed("rank %u has nothing to begin from", a->rank);
        ft_region_start_rank(&a->node->region, a->local, a->incarnation);
    }
    coroutine_start(&a->at, begin);
    a->state = READY;
    a->waits = false;
}

/* Who was killed may have owed a ring, also to a rank that is about to sleep. */
static void ring_all(const struct node *k)
{
    for (uint32_t r = 0; r < k->n; r++) {
        atomic_fetch_add(&ft_region_doorbell(&k->region, r)->rings, 1);
        if (k->actor[r].state == ASLEEP)
            k->actor[r].state = READY;
    }
}

static bool is_alive(const struct actor *a) { return a->state != DEAD && a->state != OVER; }

/* Something has been done that others may see. */
static void changed(void)
{
    job.changes++;
    for (uint32_t i = 0; i < job.nactors; i++) {
        struct actor *a = &job.actor[i];

        if (a->state == BLOCKED && (!is_keeper(a) || keeper_has_work(a->node)))
            a->state = READY;
        if (a->state == ASLEEP && coroutine_is_rung(&a->at))
            a->state = READY;
    }
}

static void kill_actor(struct actor *a, bool torn)
{
    killed_at(a->at.point);
    if (torn)
        coroutine_tear(&a->at);
    a->state = DEAD;
    a->incarnation++;
    if (!is_keeper(a)) { /* its memory is no more */
        memset(a->send, 0x77, sizeof a->send);
        memset(a->recv, 0x77, sizeof a->recv);
        close_nodes(a);
        if (represents(a))
            cut_wires(a->node, false);
    }
    ring_all(a->node);
    changed();
}

/* Everything of it is gone, and it begins again with nothing. Who has come to MPI_Finalize may
   have let others leave: it cannot come back then. */
static void lose_node(struct node *k)
{
    for (uint32_t i = 0; i <= k->n; i++)
        if (is_alive(&k->actor[i]))
            kill_actor(&k->actor[i], false);
    cut_wires(k, true);
    reset_region(k);
    for (uint32_t i = 0; i <= k->n; i++) {
        k->actor[i].incarnation = 0;
        drop_snapshot(&k->actor[i]);
    }
    run.seen[LOST]++;
}

/* ---- who goes on ---- */

/* What is to come, or to come back: dead ones first. False: there is nothing. */
static bool bring_on(const struct plan *p)
{
    struct actor *dead[MAX_ACTORS];
    uint32_t n = 0, more = agent_can(), which;

    for (uint32_t i = 0; i < job.nactors; i++)
        if (job.actor[i].state == DEAD)
            dead[n++] = &job.actor[i];
    if (n + more == 0)
        return false;
    which = p->seed ? random_below(n + more) : 0;
    if (which < n)
        start(dead[which]);
    else
        agent_does(which - n);
    changed();
    return true;
}

static struct actor *pick_now(const struct actor *last, const struct plan *p)
{
    struct actor *ready[MAX_ACTORS];
    uint32_t n = 0, from = last ? last->index : 0;

    if (p->seed ? random_below(4) == 0 : !p->late)
        bring_on(p);
    if (!p->seed && !p->switch_always && last && last->state == READY)
        return &job.actor[from];
    do
        for (uint32_t i = 1; i <= job.nactors; i++) {
            struct actor *a = &job.actor[(from + i) % job.nactors];

            if (a->state == READY)
                ready[n++] = a;
        }
    while (!n && bring_on(p));
    return n ? ready[p->seed ? random_below(n) : 0] : NULL;
}

/* `done` of what ranks wait for is published with a ring; calls are not
   (docs/internals/waiting.md): who sleeps for these sleeps its time. So does a representative,
   for which something may have come from other nodes. */
static bool is_quiet(const struct actor *a)
{
    return represents(a) || ft_await_read(&ft_region_doorbell(&a->node->region, a->local)->awaits).kind == FT_AWAIT_CALLED;
}

static bool all_over(void)
{
    bool over = true;

    for (uint32_t i = 0; i < job.nactors; i++)
        over = over && (is_keeper(&job.actor[i]) || job.actor[i].state == OVER);
    return over;
}

/* Nobody can go on but for those who wait for a time. */
static void let_time_pass(void)
{
    job.clock_ns += NAP_NS;
    for (uint32_t i = 0; i < job.nactors; i++)
        if (job.actor[i].state == ASLEEP && is_quiet(&job.actor[i]))
            atomic_fetch_add(&ft_region_doorbell(&job.actor[i].node->region, job.actor[i].local)->rings, 1);
    run.seen[LINGERED]++;
    changed();
}

static struct actor *pick(const struct actor *last, const struct plan *p)
{
    struct actor *a = pick_now(last, p);

    while (!a && !all_over() && job.naps++ < MOST_NAPS) {
        let_time_pass();
        a = pick_now(last, p);
    }
    return a;
}

/* ---- steps ---- */

/* To its next point. Only who waits a second time, has only looked in between and nothing has
   changed meanwhile, stands still. */
static enum state go_on(struct actor *a)
{
    bool looked = !a->at.fresh && a->at.kind >= FT_POINT_WAIT, waited = a->at.kind == FT_POINT_WAIT && !a->at.fresh;

    if (waited)
        a->since = job.changes;
    running = a;
    coroutine_resume(&a->at);
    running = NULL;
    went_on(a->at.point, a->index);
    if (!looked || a->state == OVER) {
        job.naps = 0;
        a->waits = false;
        changed();
    }
    if (a->state == OVER)
        return OVER;
    if (waited)
        a->waits = true;
    if (a->at.kind == FT_POINT_SLEEP && !coroutine_is_rung(&a->at))
        return ASLEEP;
    return a->at.kind == FT_POINT_WAIT && a->waits && a->since == job.changes ? BLOCKED : READY;
}

/* A fault of those that chance decides, or of the plan. */
static void strike(struct actor *a, const struct plan *p)
{
    bool whole = job.sc.loses && !a->node->leaving && (p->seed ? random_below(4) == 0 : p->torn);

    if (job.sc.room == LEFT || (p->seed && random_below(4) == 0)) {
        if (break_wire(a->node))
            changed();
    } else if (whole) {
        lose_node(a->node);
    } else {
        kill_actor(a, p->seed ? random_below(2) : p->torn);
    }
}

/* Chance strikes early or late: a run of many calls is some thousand steps. */
static uint32_t rarity(const struct plan *p) { return 24u << (job.sc.calls > 3 ? 2 * (p->seed / 8 % 4) : p->seed / 8 % 3); }

static void step(struct actor *a, const struct plan *p, uint32_t *faults)
{
    a->state = go_on(a);
    if (a->registers && a->state != OVER)
        register_snapshot(a);
    if (a->state == OVER) {
        if (represents(a))
            cut_wires(a->node, true);
        return;
    }
    if (p->seed ? *faults < p->kills && random_below(rarity(p)) == 0 : run.steps == p->kill_at) {
        strike(a, p);
        (*faults)++;
    }
    count_step();
}

static void check_end(void)
{
    uint64_t logged = ft_region_log_bytes(&job.node[0].region);

    for (uint32_t i = 0; i < job.nactors; i++) {
        struct actor *a = &job.actor[i];

        if (!is_keeper(a) && a->state != OVER)
            failed("%s: rank %u incarnation %u %s call %u", a->state == ASLEEP ? "nobody rings" : "deadlock", a->rank, a->incarnation,
                   a->state == ASLEEP ? "sleeps in" : "hangs in", a->call);
    }
    for (uint32_t k = 0; k < job.nnodes; k++) {
        if (ft_region_log_bytes(&job.node[k].region) != logged)
            failed("nodes 0 and %u have different logs: %llu and %llu bytes", k, (unsigned long long)logged,
                   (unsigned long long)ft_region_log_bytes(&job.node[k].region));
        for (uint32_t stream = 0; stream < nstreams(); stream++) {
            const struct ft_stream_head *head = ft_region_stream(&job.node[k].region, stream).head;

            run.seen[SPILLED] += ft_peek(&head->spilled);
            run.seen[RELEASED] += ft_peek(&head->floor);
        }
    }
}

bool run_job(const struct plan *p)
{
    struct actor *a = NULL;
    uint32_t faults = 0;

    job.sleeps = p->seed ? p->seed % 2 : p->late;
    job.all_sleep = p->seed % 4 == 1;
    job.loses_frames = p->seed ? p->seed % 3 == 0 : p->torn;
    job.changes = 0;
    job.naps = 0;
    job.clock_ns = NAP_NS;
    memset(job.entered, 0, sizeof job.entered);
    reset_wires();
    for (uint32_t k = 0; k < job.nnodes; k++) {
        reset_region(&job.node[k]);
        job.node[k].gone = job.node[k].leaving = false;
    }
    for (uint32_t i = 0; i < job.nactors; i++) {
        job.actor[i].incarnation = 0;
        drop_snapshot(&job.actor[i]);
        start(&job.actor[i]);
    }
    while (!run.failure[0] && (a = pick(a, p)) != NULL)
        step(a, p, &faults);
    check_end();
    return !run.failure[0];
}

bool replay_all(void)
{
    for (uint32_t i = 0; i < job.nactors && !run.failure[0]; i++) {
        struct actor *a = &job.actor[i];
        uint32_t naps = 0;

        if (is_keeper(a))
            continue;
        a->incarnation++;
        start(a);
        while (a->state != OVER && !run.failure[0]) {
            a->state = go_on(a);
            if (a->state != BLOCKED)
                continue;
            job.clock_ns += NAP_NS;
            if (!represents(a) || naps++ == MOST_NAPS)
                failed("rank %u waits in call %u of a replay of what everybody has finished", a->rank, a->call);
        }
    }
    return !run.failure[0];
}
