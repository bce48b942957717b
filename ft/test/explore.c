/* SPDX-License-Identifier: BSD-3-Clause */
/* The crash-point explorer (DESIGN section 9.1): runs ranks of one job as coroutines over the object code that
   ships, switches between them only at crash points (ft/shm/point.h), and kills them there.

   For each operation, number of ranks and size: every single crash point under two schedules, with the
   successor started at once or only when nobody else can go on, and with the bytes that were about to be
   written half written or not at all. Then random schedules with several kills, by seed. Every result of
   every incarnation is checked, and in the end every rank is started once more and must get all results
   out of the log alone.

   explore [--seeds N] [--seed S] [--kills K] [--quick]     exit 0: nothing found

   A failure prints what to call to see it again. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "ft/core/op.h"
#include "ft/ft.h"
#include "ft/shm/inspect.h"
#include "ft/shm/keeper.h"
#include "ft/shm/region.h"

#if !defined(__x86_64__)
int main(void)
{
    puts("explore: crash points are breakpoints, which this file knows for x86-64 only");
    return 77;
}
#else

enum { MAX_RANKS = 4, MAX_CALLS = 8, STACK = 256 * 1024, MAX_POINTS = 512, MAX_BYTES = 8192 };

extern const struct ft_point __start_ft_points[], __stop_ft_points[];

/* ---- what the ranks do ------------------------------------------------------------------------------ */

enum what { BARRIER, BCAST, REDUCE, ALLREDUCE, ALLGATHER, ALLGATHERV, MIXED, NWHAT };
static const char *const what_text[] = { "barrier", "bcast", "reduce", "allreduce", "allgather", "allgatherv", "mixed" };

struct scenario {
    enum what what;
    uint32_t ranks;
    uint32_t count;      /* int32 elements per rank */
    uint32_t calls;
    bool in_place;
    bool spill;          /* little log memory, so that the keeper must spill while ranks work and replay */
};

static int32_t value(uint32_t call, uint32_t rank, uint32_t i)
{
    uint32_t x = (call + 1) * 2654435761u ^ (rank + 1) * 40503u ^ (i + 1) * 2246822519u;

    return (int32_t)(x ^ x >> 15);
}

/* ---- ranks as coroutines ---------------------------------------------------------------------------- */

enum state { READY, BLOCKED, DEAD, OVER };

struct rank {
    ucontext_t context;            /* where it starts; */
    jmp_buf here;                  /* where it goes on: switching by _longjmp saves the system calls of swapcontext */
    bool fresh;
    char *stack;
    enum state state;
    uint32_t incarnation, call;
    struct ft_stream stream;
    int kind;                      /* of the point it stands at; -1: between calls */
    char *bulk_to;
    size_t bulk_n;
    const struct ft_point *point;
    int32_t send[MAX_BYTES / 4], recv[MAX_BYTES / 4 * MAX_RANKS];
};

static struct {
    struct scenario sc;
    struct ft_region region;
    struct ft_keeper *keeper;
    struct ft_patience patience;
    struct rank rank[MAX_RANKS];
    jmp_buf scheduler;
    struct rank *running;
    uint64_t steps;                /* points passed in this run */
    char failure[640];
} g;

static bool covered[MAX_POINTS];   /* points at which somebody was killed, this operation */
static bool covered_ever[MAX_POINTS];

static void failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void failed(const char *format, ...)
{
    va_list args;

    if (g.failure[0])
        return;
    va_start(args, format);
    vsnprintf(g.failure, sizeof g.failure, format, args);
    va_end(args);
}

static void stop_here(struct rank *r, int kind)
{
    r->kind = kind;
    if (!_setjmp(r->here))
        _longjmp(g.scheduler, 1);
}

/* Lets r run to its next point or its end. */
static void resume(struct rank *r)
{
    g.running = r;
    if (!_setjmp(g.scheduler)) {
        if (!r->fresh)
            _longjmp(r->here, 1);
        r->fresh = false;
        setcontext(&r->context);
    }
    g.running = NULL;
}

/* A breakpoint: rip is behind it already. The handler runs on the rank's own stack and simply does not
   return until the rank goes on. */
static void on_point(int sig, siginfo_t *info, void *context)
{
    const ucontext_t *uc = context;
    const char *at = (const char *)uc->uc_mcontext.gregs[REG_RIP] - 1;
    struct rank *r = g.running;

    (void)sig;
    (void)info;
    if (!r)
        return;
    for (const struct ft_point *p = __start_ft_points; p < __stop_ft_points; p++)
        if ((const char *)&p->at + p->at == at) {
            r->point = p;
            r->bulk_to = (char *)uc->uc_mcontext.gregs[REG_RDI];
            r->bulk_n = (size_t)uc->uc_mcontext.gregs[REG_RSI];
            stop_here(r, p->kind);
            return;
        }
    abort();
}

static void set_breakpoints(void)
{
    struct sigaction sa = { .sa_sigaction = on_point, .sa_flags = SA_SIGINFO | SA_NODEFER };
    size_t n = (size_t)(__stop_ft_points - __start_ft_points);

    sigaction(SIGTRAP, &sa, NULL);
    if (n == 0 || n > MAX_POINTS) {
        fprintf(stderr, "explore: %zu crash points found, between 1 and %d expected\n", n, MAX_POINTS);
        exit(2);
    }
    for (const struct ft_point *p = __start_ft_points; p < __stop_ft_points; p++) {
        unsigned char *at = (unsigned char *)&p->at + p->at;
        void *page = (void *)((uintptr_t)at & ~4095ul);

        if (mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0 || *at != 0x90) {
            fprintf(stderr, "explore: crash point %td is not a nop that can be replaced\n", p - __start_ft_points);
            exit(2);
        }
        *at = 0xcc;
    }
}

/* ---- the program every rank runs -------------------------------------------------------------------- */

static enum what call_of(uint32_t call)
{
    static const enum what mix[] = { ALLREDUCE, BCAST, REDUCE, BARRIER, ALLGATHER, BCAST, ALLREDUCE, ALLGATHERV };

    return g.sc.what == MIXED ? mix[call % 8] : g.sc.what;
}

static uint32_t count_of(uint32_t call)
{
    return g.sc.what == MIXED ? (call % 3 == 1 ? g.sc.count * 5 : call % 3 == 2 ? 0 : g.sc.count) : g.sc.count;
}

static uint32_t part_of(uint32_t count, uint32_t rank) { return rank % 3 == 1 ? 0 : count - count / 3 * (rank % 2); }

static void expect(struct rank *r, const char *what, uint32_t i, int32_t got, int32_t want)
{
    if (got != want)
        failed("rank %td incarnation %u call %u: %s: element %u is %d, not %d", r - g.rank, r->incarnation, r->call, what, i,
               got, want);
}

static int32_t reduced(uint32_t call, uint32_t i)
{
    uint32_t sum = 0;

    for (uint32_t q = 0; q < g.sc.ranks; q++)
        sum += (uint32_t)value(call, q, i);
    return (int32_t)sum;
}

static int make_call(struct rank *r, struct ft_error *e)
{
    static const struct ft_type type = { 4, FT_I32 };
    struct ft_op op = { FT_SUM, ft_reduce_find(FT_I32, FT_SUM), NULL, NULL };
    uint32_t me = (uint32_t)(r - g.rank), n = g.sc.ranks, count = count_of(r->call), root = r->call % n;
    int counts[MAX_RANKS], displs[MAX_RANKS], at = 0;
    const void *send = r->send;
    struct ft_stream *s = &r->stream;

    memset(r->recv, 0x55, sizeof r->recv);
    for (uint32_t i = 0; i < count; i++)
        r->send[i] = value(r->call, me, i);
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
        if (g.sc.in_place)
            send = memcpy(r->recv, r->send, count * 4);
        return ft_allreduce(s, send, r->recv, count, type, &op, 4, e);
    case ALLGATHER:
        if (g.sc.in_place)
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

static void check_result(struct rank *r)
{
    uint32_t me = (uint32_t)(r - g.rank), n = g.sc.ranks, count = count_of(r->call), root = r->call % n, at = 0;

    switch (call_of(r->call)) {
    case BARRIER:
        break;
    case BCAST:
        for (uint32_t i = 0; i < count; i++)
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

static void program(void)
{
    struct rank *r = g.running;
    struct ft_error e;

    ft_stream_open(&r->stream, &g.region, 0, (uint32_t)(r - g.rank), "WORLD", &g.patience, -1,
                   ft_keeper_spill_fd(g.keeper));
    atomic_store(&ft_region_rank(&g.region, (uint32_t)(r - g.rank))->state, FT_RANK_ATTACHED);
    for (r->call = 0; r->call < g.sc.calls; r->call++) {
        stop_here(r, -1);
        if (make_call(r, &e) != 0) {
            failed("rank %td incarnation %u call %u: %s", r - g.rank, r->incarnation, r->call, e.text);
            break;
        }
        check_result(r);
    }
    ft_stream_close(&r->stream);
    r->state = OVER;
    _longjmp(g.scheduler, 1);
}

static void start(struct rank *r)
{
    ft_region_start_rank(&g.region, (uint32_t)(r - g.rank), r->incarnation);
    getcontext(&r->context);
    r->context.uc_stack.ss_sp = r->stack;
    r->context.uc_stack.ss_size = STACK;
    r->context.uc_link = NULL;
    makecontext(&r->context, program, 0);
    r->state = READY;
    r->fresh = true;
    r->kind = -1;
    r->point = NULL;
}

/* ---- schedules -------------------------------------------------------------------------------------- */

struct plan {
    uint64_t kill_at;        /* step at which the running rank is killed; UINT64_MAX: none */
    bool torn;               /* ... with half of the bytes it was about to write written, as garbage */
    bool late;               /* the successor starts only when nobody else can go on */
    bool switch_always;      /* switch ranks at every point, or only when one cannot go on */
    uint32_t seed;           /* 0: as above; else random choices, */
    uint32_t kills;          /* ... with so many kills at most */
};

static uint32_t random_state;
static uint32_t random_below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % n;
}

static void keeper_failed(void *arg, const char *line)
{
    (void)arg;
    failed("keeper: %s", line);
}

/* Memory as the agent leaves it for the first incarnations, but for what lies in log memory: anything. */
static void reset_region(void)
{
    struct ft_keeper_config config = { .spill_dir = "/dev/shm" };
    struct ft_header *h = g.region.header;
    char *stream = g.region.base + h->streams_at;
    struct ft_error e;

    if (g.keeper)
        ft_keeper_close(g.keeper);
    memset(g.region.base + h->ranks_at, 0, h->asleep_at - h->ranks_at);
    memset(stream, 0, h->stream_bytes);
    memset(g.region.base + h->extents_at, 0xa5, h->size - h->extents_at);
    ((struct ft_stream_head *)(void *)stream)->nranks = g.sc.ranks;
    if (ft_keeper_open(&g.keeper, &g.region, &config, &e) != 0) {
        fprintf(stderr, "explore: %s\n", e.text);
        exit(2);
    }
    ft_keeper_adopt(g.keeper, keeper_failed, NULL);
}

/* The keeper's turn. It is no rank: it is not killed here, and stops at no point. */
static void serve(void)
{
    uint32_t before = ((struct ft_stream_head *)(void *)(g.region.base + g.region.header->streams_at))->assigned;

    ft_keeper_serve(g.keeper);
    if (((struct ft_stream_head *)(void *)(g.region.base + g.region.header->streams_at))->assigned == before)
        return;
    for (uint32_t i = 0; i < g.sc.ranks; i++)
        if (g.rank[i].state == BLOCKED)
            g.rank[i].state = READY;
}

/* What `ftrun status` would say of a rank that waits, or that is between two calls. */
static void inspect(struct rank *r)
{
    struct ft_inspect all[MAX_RANKS];
    uint32_t me = (uint32_t)(r - g.rank);
    const struct ft_inspect *i = &all[me];
    bool waits = r->kind == FT_POINT_WAIT, awaited[MAX_RANKS];

    if ((!waits && r->kind != -1) || !r->stream.block || g.failure[0])
        return;
    ft_inspect_read(&g.region, all);
    if (i->in_call != waits || i->unit != r->stream.unit || (waits && (i->site != r->stream.site || !ft_sig_equal(&i->sig, &r->stream.sig))))
        failed("rank %u incarnation %u call %u: inspection says unit %llu, %s a call", me, r->incarnation, r->call,
               (unsigned long long)i->unit, i->in_call ? "in" : "outside");
    if (waits && !ft_inspect_awaits(&g.region.header->params, all, me, awaited) &&
        !ft_inspect_awaits_memory(&g.region.header->params, all, me))
        failed("rank %u incarnation %u call %u waits for nobody, inspection says", me, r->incarnation, r->call);
    if (waits && awaited[me])
        failed("rank %u waits for itself, inspection says", me);
}

static void kill_rank(struct rank *r, bool torn)
{
    if (r->point) {
        covered[r->point - __start_ft_points] = true;
        covered_ever[r->point - __start_ft_points] = true;
    }
    if (torn && r->kind == FT_POINT_BULK)
        memset(r->bulk_to, 0x99, r->bulk_n / 2 + 1 > r->bulk_n ? r->bulk_n : r->bulk_n / 2 + 1);
    r->state = DEAD;
    r->incarnation++;
}

static struct rank *pick(struct rank *last, const struct plan *p)
{
    struct rank *ready[MAX_RANKS], *dead[MAX_RANKS];
    uint32_t nready = 0, ndead = 0, from = last ? (uint32_t)(last - g.rank) : 0;

    if (!p->seed && !p->switch_always && last && last->state == READY)
        return last;
    for (uint32_t i = 1; i <= g.sc.ranks; i++) {
        struct rank *r = &g.rank[(from + i) % g.sc.ranks];

        if (r->state == READY)
            ready[nready++] = r;
        else if (r->state == DEAD)
            dead[ndead++] = r;
    }
    if (ndead && (!nready || (p->seed ? random_below(4) == 0 : !p->late))) {
        struct rank *r = dead[p->seed ? random_below(ndead) : 0];

        start(r);
        return r;
    }
    if (!nready) {
        serve();
        for (uint32_t i = 0; i < g.sc.ranks; i++)
            if (g.rank[i].state == READY)
                return &g.rank[i];
        return NULL;
    }
    return ready[p->seed ? random_below(nready) : 0];
}

/* One run. False: something was wrong, g.failure says what. */
static bool run(const struct plan *p)
{
    struct rank *r = NULL;
    uint32_t kills = 0;

    random_state = p->seed * 2654435761u + 1;
    g.failure[0] = 0;
    g.steps = 0;
    reset_region();
    for (uint32_t i = 0; i < g.sc.ranks; i++) {
        g.rank[i].incarnation = 0;
        start(&g.rank[i]);
    }
    while ((r = pick(r, p)) != NULL && !g.failure[0]) {
        resume(r);
        /* What it did up to here may be what others wait for. */
        for (uint32_t i = 0; i < g.sc.ranks; i++)
            if (&g.rank[i] != r && g.rank[i].state == BLOCKED && (r->kind != FT_POINT_WAIT || r->state == OVER))
                g.rank[i].state = READY;
        if (r->state == OVER)
            continue;
        inspect(r);
        if (p->seed ? kills < p->kills && random_below(24) == 0 : g.steps == p->kill_at) {
            kill_rank(r, p->seed ? random_below(2) : p->torn);
            kills++;
        } else if (r->kind == FT_POINT_WAIT) {
            r->state = BLOCKED;
        }
        if (p->seed ? random_below(8) == 0 : true)
            serve();
        if (++g.steps > 2000000)
            failed("no end after %llu steps", (unsigned long long)g.steps);
    }
    for (uint32_t i = 0; i < g.sc.ranks; i++)
        if (g.rank[i].state != OVER)
            failed("deadlock: rank %u incarnation %u hangs in call %u", i, g.rank[i].incarnation, g.rank[i].call);
    return !g.failure[0];
}

/* Everybody again, alone and one after the other: all of it must come out of the log. */
static bool replay_all(void)
{
    for (uint32_t i = 0; i < g.sc.ranks && !g.failure[0]; i++) {
        struct rank *r = &g.rank[i];

        r->incarnation++;
        start(r);
        while (r->state != OVER && !g.failure[0]) {
            resume(r);
            if (r->state != OVER && r->kind == FT_POINT_WAIT)
                failed("rank %u waits in call %u of a replay of what everybody has finished", i, r->call);
        }
    }
    return !g.failure[0];
}

/* ---- the search ------------------------------------------------------------------------------------- */

static uint64_t runs;

static bool attempt(const struct plan *p)
{
    runs++;
    if (run(p) && replay_all())
        return true;
    printf("FAILED %s, %u ranks, %u elements, %u calls%s: %s\n"
           "  again: explore --only %d,%u,%u,%u,%d,%d --plan %lld,%d,%d,%d,%u,%u\n",
           what_text[g.sc.what], g.sc.ranks, g.sc.count, g.sc.calls, g.sc.in_place ? ", in place" : "", g.failure,
           g.sc.what, g.sc.ranks, g.sc.count, g.sc.calls, g.sc.in_place, g.sc.spill, (long long)p->kill_at, p->torn, p->late,
           p->switch_always, p->seed, p->kills);
    return false;
}

static bool every_single_crash(bool quick)
{
    for (int way = 0; way < 8; way++) {
        struct plan p = { .kill_at = UINT64_MAX, .torn = way & 1, .late = way & 2, .switch_always = way & 4 };
        uint64_t steps;

        if (quick && (way == 0 || way == 2 || way == 4 || way == 5 || way == 7))
            continue;
        if (!attempt(&p))
            return false;
        /* The crash adds steps, so go on until a run ends before its turn to kill comes. */
        for (p.kill_at = 0, steps = g.steps; p.kill_at < steps; p.kill_at++)
            if (!attempt(&p))
                return false;
    }
    return true;
}

static bool random_crashes(uint32_t first, uint32_t seeds, uint32_t kills)
{
    for (uint32_t seed = first; seed < first + seeds; seed++) {
        struct plan p = { .kill_at = UINT64_MAX, .seed = seed, .kills = 1 + seed % kills };

        if (!attempt(&p))
            return false;
    }
    return true;
}

static uint32_t count_covered(const bool *which)
{
    uint32_t n = 0;

    for (int i = 0; i < MAX_POINTS; i++)
        n += which[i];
    return n;
}

/* Small sizes, so that slots are reused and operations cut into units within a few calls. */
static void make_region(uint32_t ranks, bool spill)
{
    struct ft_params params = { .nranks = ranks, .nstreams = 1, .cores = 1, .short_max = 64, .short_depth = 2,
                                .slot_bytes = spill ? 512 : 128, .slot_depth = 2, .trail = 8, .extent_bytes = 4096,
                                .nextents = spill ? 4 : 16, .ntable = 64 };
    struct ft_error e;

    if (ft_region_create(&g.region, &params, &e) != 0) {
        fprintf(stderr, "explore: %s\n", e.text);
        exit(2);
    }
    g.patience = (struct ft_patience){ .spins = UINT32_MAX, .sleeps = false, .nasleep = 8,
                                       .asleep = (_Atomic uint8_t *)(g.region.base + g.region.header->asleep_at) };
}

static bool search(struct scenario sc, uint32_t seed, uint32_t seeds, uint32_t kills, bool quick)
{
    uint64_t before = runs;
    bool good;

    g.sc = sc;
    memset(covered, 0, sizeof covered);
    good = every_single_crash(quick) && random_crashes(seed, seeds, kills);
    printf("%-10s %u ranks %5u elements%s%s: %3u points killed at, %6llu runs%s\n", what_text[sc.what], sc.ranks, sc.count,
           sc.in_place ? " in place" : "         ", sc.spill ? " spilled" : "        ", count_covered(covered), (unsigned long long)(runs - before),
           good ? "" : "  FAILED");
    fflush(stdout);
    return good;
}

static void drop_region(void)
{
    ft_keeper_close(g.keeper);
    g.keeper = NULL;
    ft_region_close(&g.region);
}

/* A log that is spilled while ranks work and replay: the mapped pages of a file are the smallest extents there can be. */
static bool search_spilled(uint32_t ranks, uint32_t seed, uint32_t seeds, uint32_t kills, bool quick)
{
    struct scenario sc = { .what = MIXED, .ranks = ranks, .count = 300, .calls = MAX_CALLS, .spill = true };
    bool good;

    make_region(ranks, true);
    good = search(sc, seed, seeds, kills, quick);
    drop_region();
    return good;
}

static bool search_all(uint32_t seed, uint32_t seeds, uint32_t kills, bool quick)
{
    for (uint32_t ranks = 2; ranks <= MAX_RANKS; ranks++) {
        make_region(ranks, false);
        for (enum what w = 0; w < NWHAT; w++)
            for (int size = 0; size < 3; size++) {
                /* none, one unit, several units with an odd end */
                struct scenario sc = { .what = w, .ranks = ranks, .count = size == 0 ? 0 : size == 1 ? 5 : 75,
                                       .calls = w == MIXED ? MAX_CALLS : size == 2 ? 3 : 5, .in_place = ranks == 3 };

                if ((w == BARRIER && size) || (w == MIXED && size != 1) || (size == 0 && ranks != 2 && w != BARRIER))
                    continue;
                if (!search(sc, seed, seeds, kills, quick))
                    return false;
            }
        drop_region();
        if (quick && ranks > 2) /* by far the longest */
            continue;
        if (!search_spilled(ranks, seed, seeds, kills, quick))
            return false;
    }
    return true;
}

static int again(const char *only, const char *plan)
{
    struct plan p = { 0 };
    int what, in_place, spill, torn, late, always;
    long long kill_at;

    if (sscanf(only, "%d,%u,%u,%u,%d,%d", &what, &g.sc.ranks, &g.sc.count, &g.sc.calls, &in_place, &spill) != 6 ||
        sscanf(plan, "%lld,%d,%d,%d,%u,%u", &kill_at, &torn, &late, &always, &p.seed, &p.kills) != 6 || what < 0 ||
        what >= NWHAT || g.sc.ranks > MAX_RANKS) {
        fprintf(stderr, "explore: --only and --plan want what a failure printed\n");
        return 2;
    }
    g.sc.what = (enum what)what;
    g.sc.in_place = in_place;
    g.sc.spill = spill;
    p.kill_at = (uint64_t)kill_at;
    p.torn = torn;
    p.late = late;
    p.switch_always = always;
    make_region(g.sc.ranks, spill);
    if (!attempt(&p))
        return 1;
    puts("nothing found");
    return 0;
}

static int usage(void)
{
    fprintf(stderr, "usage: explore [--seeds N] [--seed FIRST] [--kills K] [--quick]\n");
    return 2;
}

int main(int argc, char **argv)
{
    const char *only = NULL, *plan = NULL, *tier = getenv("FT_TIER");
    uint32_t seeds = 300, seed = 1, kills = 6;
    bool quick = tier && strcmp(tier, "quick") == 0, seeds_given = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            quick = true;
        } else if (i + 1 < argc && strcmp(argv[i], "--seeds") == 0) {
            seeds = (uint32_t)atoi(argv[++i]);
            seeds_given = true;
        } else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) {
            seed = (uint32_t)atoi(argv[++i]);
        } else if (i + 1 < argc && strcmp(argv[i], "--kills") == 0) {
            kills = (uint32_t)atoi(argv[++i]);
        } else if (i + 1 < argc && strcmp(argv[i], "--only") == 0) {
            only = argv[++i];
        } else if (i + 1 < argc && strcmp(argv[i], "--plan") == 0) {
            plan = argv[++i];
        } else {
            return usage();
        }
    }
    if (seed == 0 || kills == 0)
        return usage();
    if (quick && !seeds_given)
        seeds = 40;
    set_breakpoints();
    for (int i = 0; i < MAX_RANKS; i++)
        g.rank[i].stack = malloc(STACK);
    if (only || plan)
        return only && plan ? again(only, plan) : usage();
    if (!search_all(seed, seeds, kills, quick))
        return 1;
    printf("explore: %u of %td crash points were killed at, %llu runs, nothing found\n", count_covered(covered_ever),
           __stop_ft_points - __start_ft_points, (unsigned long long)runs);
    return 0;
}
#endif
