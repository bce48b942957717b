/* SPDX-License-Identifier: BSD-3-Clause */
/* The crash points of a rank whose threads call at the same time (ft/order.h). Its threads are coroutines, and so is a second rank, which
   answers each message of the first with one of the same tag. What pthreads and the recorder do is done here: a mutex, who a thread is, and
   outcomes that a replay gives again before anything is new. The rank is killed with all its threads at any point, and begins again.

   Its messages have the tags of thread and call, so the engine itself says if a successor sends them in another order. What a thread is told it
   is told again. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ft/ft.h"
#include "ft/handle.h"
#include "ft/messages.h"
#include "ft/shm/channels.h"
#include "ft/shm/keeper.h"
#include "ft/test/search.h"

enum { MOST_THREADS = 3, MOST_CALLS = 8, MOST_TOLD = 64, SITE = 40, STANDS_STILL = 20000 /* steps in which nobody does more than look */ };

struct scenario {
    uint32_t threads, calls;
    bool waits;  /* threads wait for what others decide, by probes and for several requests; else for messages and with questions */
};

enum seen { HANDED_OVER /* turns that were written down */, IN_REPLAY /* kills in one */, NSEEN };

struct actor {
    struct coroutine at;
    bool over;
    uint32_t index;              /* of the thread; the last one is the other rank */
};

static struct {
    struct scenario sc;
    struct ft_region region;
    struct ft_keeper *keeper;
    struct ft ft[2];             /* of each rank's process */
    struct ft_comm comm[2];
    struct ft_door door;
    struct actor actor[MOST_THREADS + 1];
    uint32_t incarnation;
    bool switched;
    struct {
        uint32_t recorded, passed;  /* outcomes: ever, and in this incarnation */
        uint32_t ntold, now;        /* words that it was told, likewise */
        uint64_t told[MOST_TOLD];
    } thread[MOST_THREADS];
} job;

static struct actor *running;
static const bool many = true;
static const struct ft_type byte = { .elem = 1, .kind = FT_BYTE };

static struct actor *peer(void) { return &job.actor[job.sc.threads]; }

/* ---- what pthreads do ---- */

static void give_way(void)
{
    if (running)
        coroutine_stop(&running->at, FT_POINT_WAIT);
}

pthread_t pthread_self(void) { return running ? 100 + running->index : 99; }

int sched_yield(void)
{
    give_way();
    return 0;
}

static int *owner_of(pthread_mutex_t *m) { return (int *)(void *)m; }

int pthread_mutex_trylock(pthread_mutex_t *m)
{
    if (*owner_of(m))
        return EBUSY;
    *owner_of(m) = 1;
    return 0;
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
    while (pthread_mutex_trylock(m) != 0)
        give_way();
    return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
    *owner_of(m) = 0;
    return 0;
}

/* ---- what the recorder does ---- */

static bool all_passed(void)
{
    bool all = true;

    for (uint32_t t = 0; t < job.sc.threads; t++)
        all = all && job.thread[t].passed >= job.thread[t].recorded;
    return all;
}

static void live(bool new)
{
    (void)new;
    while (!job.switched && !all_passed())
        give_way();
    job.switched = true;
}

static void calls(bool begins) { (void)begins; }
static uint32_t thread(void) { return running->index; }

/* Of the program, outside of MPI: given again in a replay. */
static void outcome(uint32_t t)
{
    if (job.thread[t].passed == job.thread[t].recorded) {
        live(true);
        job.thread[t].recorded++;
    }
    job.thread[t].passed++;
    coroutine_stop(&running->at, -1);
}

/* ---- the program ---- */

static bool is_good(int err, const struct ft_error *e)
{
    if (err)
        failed("incarnation %u, thread %u: %s", job.incarnation, running->index, e->text);
    return !err && !run.failure[0];
}

static void note(uint32_t t, uint64_t word)
{
    uint32_t i = job.thread[t].now++;

    if (i < job.thread[t].ntold && job.thread[t].told[i] != word)
        failed("incarnation %u, thread %u is told %#llx as number %u, and was told %#llx before", job.incarnation, t, (unsigned long long)word, i,
               (unsigned long long)job.thread[t].told[i]);
    if (i == job.thread[t].ntold && i < MOST_TOLD)
        job.thread[t].told[job.thread[t].ntold++] = word;
}

static void note_told(uint32_t t, const struct ft_told *told) { note(t, (uint64_t)told->source << 32 | (uint32_t)told->tag); }

/* Each function is a call of the program's. */

static bool send(int tag)
{
    struct ft_error e;
    uint64_t bytes = (uint64_t)tag;
    int err;

    ft_order_enter(job.ft[0].order);
    err = ft_send(&job.ft[0], &job.comm[0], &bytes, sizeof bytes, byte, 1, tag, FT_SEND_STANDARD, SITE, &e);
    ft_order_leave(job.ft[0].order);
    return is_good(err, &e);
}

static bool receive(uint32_t t)
{
    struct ft_error e;
    struct ft_told told;
    uint64_t bytes = 0;
    int err;

    ft_order_enter(job.ft[0].order);
    err = ft_recv(&job.ft[0], &job.comm[0], &bytes, sizeof bytes, byte, FT_ANY_SOURCE, FT_ANY_TAG, &told, SITE, &e);
    ft_order_leave(job.ft[0].order);
    if (!is_good(err, &e))
        return false;
    if (bytes != (uint64_t)told.tag)
        failed("incarnation %u, thread %u: %llu with tag %d", job.incarnation, t, (unsigned long long)bytes, told.tag);
    note_told(t, &told);
    return !run.failure[0];
}

/* *m: the message, taken; or NULL. */
static bool probe(uint32_t t, bool waits, struct ft_message **m)
{
    struct ft_error e;
    struct ft_told told;
    bool found;
    int err;

    ft_order_enter(job.ft[0].order);
    err = ft_probe(&job.ft[0], &job.comm[0], FT_ANY_SOURCE, FT_ANY_TAG, waits, &found, &told, m, SITE, &e);
    ft_order_leave(job.ft[0].order);
    if (!is_good(err, &e))
        return false;
    note(t, found);
    if (found)
        note_told(t, &told);
    return !run.failure[0];
}

static bool start(struct ft_message *m, uint64_t *bytes, struct ft_request **r)
{
    struct ft_error e;
    int err;

    ft_order_enter(job.ft[0].order);
    err = m ? ft_mrecv_start(&job.ft[0], m, bytes, sizeof *bytes, byte, SITE, r, &e)
            : ft_recv_start(&job.ft[0], &job.comm[0], bytes, sizeof *bytes, byte, FT_ANY_SOURCE, FT_ANY_TAG, SITE, r, &e);
    ft_order_leave(job.ft[0].order);
    return is_good(err, &e);
}

static bool wait_some(uint32_t t, struct ft_request **r)
{
    struct ft_error e;
    uint32_t which[2], n = 0;
    struct ft_told told;
    int err;

    ft_order_enter(job.ft[0].order);
    err = ft_wait_some(&job.ft[0], r, 2, 1, which, &n, SITE, &e);
    if (!err && n) {
        told = ft_request_told(r[which[0]]);
        ft_request_end(&job.ft[0], r[which[0]]);
        r[which[0]] = NULL;
    }
    ft_order_leave(job.ft[0].order);
    if (!is_good(err, &e))
        return false;
    note(t, which[0]);
    note_told(t, &told);
    return !run.failure[0];
}

/* A message is sent and one is received, of whichever thread; two of each where several requests are waited for. */
static bool call(uint32_t t, uint32_t k)
{
    int tag = (int)(t * MOST_CALLS + k);
    struct ft_message *m = NULL;
    struct ft_request *r[2] = { NULL, NULL };
    uint64_t bytes[2];

    outcome(t);
    if (!job.sc.waits)
        return send(tag) && probe(t, false, NULL) && receive(t);
    if (k % 2)
        return send(tag) && probe(t, true, &m) && start(m, &bytes[0], &r[0]) && wait_some(t, r);
    return send(tag) && send(tag) && start(NULL, &bytes[0], &r[0]) && start(NULL, &bytes[1], &r[1]) && wait_some(t, r) && wait_some(t, r);
}

static uint32_t messages_of(uint32_t k) { return job.sc.waits && k % 2 == 0 ? 2 : 1; }

static void answer_all(void)
{
    uint64_t bytes, n = 0;
    struct ft_told told;
    struct ft_error e;

    for (uint32_t k = 0; k < job.sc.calls; k++)
        n += job.sc.threads * messages_of(k);
    for (uint64_t i = 0; i < n; i++)
        if (!is_good(ft_recv(&job.ft[1], &job.comm[1], &bytes, sizeof bytes, byte, 0, FT_ANY_TAG, &told, SITE, &e), &e) ||
            !is_good(ft_send(&job.ft[1], &job.comm[1], &bytes, sizeof bytes, byte, 0, told.tag, FT_SEND_STANDARD, SITE, &e), &e))
            return;
}

static void begin(void)
{
    struct actor *a = running;

    if (a == peer())
        answer_all();
    else
        for (uint32_t k = 0; k < job.sc.calls && call(a->index, k); k++)
            ;
    a->over = true;
    coroutine_end();
}

/* ---- a run ---- */

static void open_process(uint32_t rank)
{
    struct ft *ft = &job.ft[rank];
    struct ft_error e;

    *ft = (struct ft){ .region = job.region, .kick_fd = -1, .spill_fd = ft_keeper_spill_fd(job.keeper) };
    ft->patience = (struct ft_patience){ .spins = UINT32_MAX, .self = rank, .doorbells = ft_doorbells_of(&job.region) };
    ft_stream_open(&ft->world, &job.region, rank, "WORLD", &ft->patience, ft->kick_fd, ft->spill_fd);
    if (ft_comm_world(ft, &job.comm[rank], &e) != 0)
        failed("%s", e.text);
}

static void start_actor(struct actor *a)
{
    a->over = false;
    coroutine_start(&a->at, begin);
}

/* The rank that has threads, and all of these. */
static void start_threads(void)
{
    ft_region_start_rank(&job.region, 0, job.incarnation);
    open_process(0);
    job.switched = job.incarnation == 0;
    job.ft[0].door = &job.door;
    if (!ft_order_open(&job.ft[0]))
        failed("there is no order");
    for (uint32_t t = 0; t < job.sc.threads; t++) {
        job.thread[t].passed = job.thread[t].now = 0;
        start_actor(&job.actor[t]);
    }
}

static void drop_process(uint32_t rank)
{
    if (job.ft[rank].order)
        free(job.ft[rank].order); /* another thread may be in */
    job.ft[rank].order = NULL;
    ft_messages_close(&job.ft[rank]);
    ft_comm_close(&job.comm[rank]);
}

static void kill_rank(struct actor *a, bool torn)
{
    killed_at(a->at.point);
    run.seen[IN_REPLAY] += ft_order_replays(&job.ft[0]);
    if (torn)
        coroutine_tear(&a->at);
    drop_process(0);
    job.incarnation++;
    start_threads();
}

static struct actor *pick(struct actor *last, const struct plan *p)
{
    uint32_t n = job.sc.threads + 1, from = p->seed ? random_below(n) : last ? last->index : n - 1;

    if (last && !last->over && !p->seed && !p->switch_always && last->at.kind != FT_POINT_WAIT)
        return last;
    if (last && !last->over && p->seed && last->at.kind != FT_POINT_WAIT && random_below(4))
        return last;
    for (uint32_t i = 1; i <= n; i++) {
        struct actor *a = &job.actor[(p->late ? from + n - i : from + i) % n];

        if (!a->over)
            return a;
    }
    return NULL;
}

static void resume(struct actor *a)
{
    running = a;
    coroutine_resume(&a->at);
    running = NULL;
    went_on(a->at.point, a->index);
    count_step();
}

/* Until all are over. *kills: so many there have been. */
static void go_on(const struct plan *p, uint32_t *kills)
{
    struct actor *a = NULL;
    uint32_t still = 0;

    while ((a = pick(a, p)) != NULL && !run.failure[0]) {
        resume(a);
        still = !a->over && (a->at.kind == FT_POINT_WAIT || a->at.kind == FT_POINT_LOOK) ? still + 1 : 0;
        if (a->at.kind == FT_POINT_WAIT)
            ft_keeper_serve(job.keeper);
        if (still > STANDS_STILL)
            failed("hang: incarnation %u", job.incarnation);
        if (a == peer() || run.failure[0] || !p || !(p->seed ? *kills < p->kills && random_below(48) == 0 : run.steps - 1 == p->kill_at))
            continue;
        kill_rank(a, p->seed ? random_below(2) : p->torn);
        (*kills)++;
    }
}

static void keeper_failed(void *arg, const char *line)
{
    (void)arg;
    failed("keeper: %s", line);
}

bool attempt(const struct plan *p)
{
    struct ft_header *h = job.region.header;
    const struct plan undisturbed = { .kill_at = UINT64_MAX };
    uint32_t kills = 0;

    memset(job.region.base + h->ranks_at, 0, h->extents_at - h->ranks_at);
    ft_streams_found(&job.region);
    ft_keeper_adopt(job.keeper, keeper_failed, NULL);
    memset(job.thread, 0, sizeof job.thread);
    job.incarnation = 0;
    ft_region_start_rank(&job.region, 1, 0);
    open_process(1);
    start_threads();
    peer()->index = job.sc.threads;
    start_actor(peer());
    go_on(p, &kills);
    if (!run.failure[0]) { /* once more, and nobody does anything but this rank */
        drop_process(0);
        job.incarnation++;
        start_threads();
        go_on(&undisturbed, &kills);
    }
    run.seen[HANDED_OVER] += job.ft[0].messages ? job.ft[0].messages->answers.nturns : 0;
    drop_process(0);
    drop_process(1);
    return !run.failure[0];
}

/* ---- jobs ---- */

void make_job(const struct scenario *sc)
{
    struct ft_params params = { .nranks = 2, .nnodes = 1, .nstreams = 1, .nchannels = 4, .cores = 1, .short_max = 64, .rooted_max = 64, .gather_max = 32, .slot_past_min = 512,
                                .bcast_past_min = 1024, .gather_past_min = 256, .redundant_max = 512, .short_depth = 2, .slot_bytes = 128, .slot_depth = 2, .trail = 8,
                                .past_cache = 256, .extent_bytes = 4096, .nextents = 32, .ntable = 64, .gather_bytes = 128, .slot_room = 256 };
    struct ft_keeper_config config = { .full = FT_FULL_SPILL, .spill_dir = "/dev/shm" };
    static const _Atomic uint64_t want;
    static const uint64_t answered;
    struct ft_error e;

    job.sc = *sc;
    if (ft_region_create(&job.region, &params, &e) != 0 || ft_keeper_open(&job.keeper, &job.region, &config, &e) != 0) {
        fprintf(stderr, "order: %s\n", e.text);
        exit(2);
    }
    job.door = (struct ft_door){ .region = job.region, .want = &want, .answered = &answered, .switched = &job.switched, .live = live, .many = &many,
                                 .calls = calls, .thread = thread };
    for (uint32_t t = 0; t <= sc->threads; t++)
        job.actor[t].index = t;
}

void drop_job(void)
{
    ft_keeper_close(job.keeper);
    ft_region_close(&job.region);
}

static const struct search searches[] = {
    { SCENARIO(.threads = 2, .calls = 2), { SAMPLE, ALL, ALL }, 4, SEES(HANDED_OVER) | SEES(IN_REPLAY) },
    { SCENARIO(.threads = 2, .calls = 2, .waits = true), { SAMPLE, ALL, ALL }, 4, SEES(HANDED_OVER) | SEES(IN_REPLAY) },
    { SCENARIO(.threads = 3, .calls = 3), { CHANCE, SAMPLE, ALL }, 4, SEES(HANDED_OVER) | SEES(IN_REPLAY) },
    { SCENARIO(.threads = 3, .calls = 3, .waits = true), { CHANCE, SAMPLE, ALL }, 4, SEES(HANDED_OVER) | SEES(IN_REPLAY) },
};

static const char *const seen_text[NSEEN] = { "turns given again", "kills in a replay" };

const struct explorer explorer = { .name = "order", .sample = 1 << 1 | 1 << 6, .seeds = { 40, 100, 400 }, .seen_text = seen_text };

bool search_all(enum tier tier) { return search(searches, sizeof searches / sizeof *searches, tier); }

void print_only(void) { printf("%u,%u,%d", job.sc.threads, job.sc.calls, job.sc.waits); }

bool find_scenario(const char *only, struct search *s)
{
    static struct scenario sc;
    int waits;

    if (sscanf(only, "%u,%u,%d", &sc.threads, &sc.calls, &waits) != 3 || sc.threads > MOST_THREADS || sc.calls > MOST_CALLS)
        return false;
    sc.waits = waits;
    s->sc = &sc;
    return true;
}

void print_failed(void) { printf("%u threads, %u calls%s", job.sc.threads, job.sc.calls, job.sc.waits ? ", waits" : ""); }
void print_searched(void) { printf("%u threads %u calls%s", job.sc.threads, job.sc.calls, job.sc.waits ? " waits" : ""); }
