/* SPDX-License-Identifier: BSD-3-Clause */
/* Which way bytes go faster from one processor to another depends on the machine, and no table says it: on an Emerald Rapids a bcast of two ranks takes two thirds of the time by
   single copy, on a Zen 3 the kernel's string copy is slower than shared slots; and an allreduce is faster doubled there, halved here (docs/design.md, section 10). So all ways are tried,
   with a log as ranks have one: two threads on two of the processors that ranks may use do what ft/core/standard.c does, without a call around it. What has just been written takes about
   as long either way there; what is sent again unchanged, which is what benchmarks do, is in both processors' caches then, and half as long on its way by single copy. Programs do both,
   so both count. */
#include "launcher/agent/probe.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ft/base/copy.h"
#include "ft/base/reduce.h"
#include "ft/base/util.h"
#include "ft/shm/wait.h"

/* A ring and a log of so many operations that none finds in them what the same way left there: what halves write of the log is in no cache. */
enum { BYTES = 128 << 10, PIECE = 32 << 10, RING = 10 * BYTES, LOG = RING, ROUNDS = 7, WARM = 1, TIMES = 2, SPINS = 2000, MOST_WAYS = 4 };
#define MOST_NS 5000000ull /* of one operation: nobody shares the processors */

/* One of two threads: its memory, and what it has given to the other one. Words only grow: operation i begins with i * STEPS. */
enum { STEPS = BYTES / PIECE + 1 };
struct side {
    _Alignas(FT_LINE) _Atomic uint64_t given;
    _Alignas(FT_LINE) _Atomic uint64_t made, met;
    _Alignas(FT_LINE) char *own, *result, *ring;
    uint32_t number;
    cpu_set_t processor;
};

static struct trial {
    struct side side[2];
    void (*const *ways)(struct side *, struct side *, uint64_t); /* by turns */
    uint64_t nways;
    char *log;
    uint64_t log_bytes;
    ft_fold *add;  /* of integers */
    _Atomic uint64_t ends_ns;
    _Atomic bool failed;
} trial;

static void await(_Atomic uint64_t *word, uint64_t least)
{
    for (uint32_t spins = 0; atomic_load_explicit(word, memory_order_acquire) < least && !atomic_load_explicit(&trial.failed, memory_order_relaxed); spins++)
        if (spins % SPINS == SPINS - 1) {
            sched_yield();
            if (ft_clock_ns() > atomic_load_explicit(&trial.ends_ns, memory_order_relaxed))
                atomic_store(&trial.failed, true);
        }
}

static void say(_Atomic uint64_t *word, uint64_t value) { atomic_store_explicit(word, value, memory_order_release); }

static char *in_ring(const struct side *s, uint64_t i, uint64_t at) { return s->ring + (i * BYTES + at) % RING; }
static char *in_log(uint64_t i, uint64_t at) { return trial.log + (i * BYTES + at) % trial.log_bytes; }

/* ---- the ways: what side `me` does in operation i, of which this is a piece ---- */

/* Side 0 gives, side 1 has it in the end. */
static void single_copy(struct side *me, struct side *other, uint64_t i)
{
    struct iovec to = {me->result, BYTES}, from = {other->own, BYTES};

    if (me->number == 0) {
        say(&me->given, i * STEPS + 1);
        ft_copy_past_cache(in_log(i, 0), me->own, BYTES);
        return;
    }
    await(&other->given, i * STEPS + 1);
    if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != BYTES)
        atomic_store(&trial.failed, true);
}

static void slots(struct side *me, struct side *other, uint64_t i)
{
    for (uint64_t at = 0, step = i * STEPS; at < BYTES; at += PIECE) {
        step++;
        if (me->number == 0) {
            memcpy(in_ring(me, i, at), me->own + at, PIECE);
            say(&me->given, step);
        } else {
            await(&other->given, step);
            ft_copy_twice(me->result + at, in_log(i, at), in_ring(other, i, at), PIECE);
        }
    }
    ft_copy_order(true);
}

/* The sum of both, for both: each makes a half and reads the other one's in the log. */
static void halved(struct side *me, struct side *other, uint64_t i)
{
    enum { HALF = PIECE / 2 };
    uint64_t mine = me->number * HALF, theirs = HALF - mine;

    for (uint64_t at = 0, step = i * STEPS; at < BYTES; at += PIECE) {
        memcpy(in_ring(me, i, at) + theirs, me->own + at + theirs, HALF);
        say(&me->given, ++step);
    }
    for (uint64_t at = 0, step = i * STEPS; at < BYTES; at += PIECE) {
        await(&other->given, ++step);
        trial.add(me->own + at + mine, in_ring(other, i, at) + mine, in_log(i, at) + mine, HALF / sizeof(int32_t));
        say(&me->made, step);
        await(&other->made, step);
        memcpy(me->result + at + mine, in_log(i, at) + mine, HALF);
        ft_copy_lines(me->result + at + theirs, in_log(i, at) + theirs, HALF);
    }
}

/* Each makes all of it, and logs a half. */
static void doubled(struct side *me, struct side *other, uint64_t i)
{
    enum { HALF = PIECE / 2 };
    uint64_t mine = me->number * HALF;

    for (uint64_t at = 0, step = i * STEPS; at < BYTES; at += PIECE) {
        memcpy(in_ring(me, i, at), me->own + at, PIECE);
        say(&me->given, ++step);
    }
    for (uint64_t at = 0, step = i * STEPS; at < BYTES; at += PIECE) {
        await(&other->given, ++step);
        trial.add(me->own + at, in_ring(other, i, at), me->result + at, PIECE / sizeof(int32_t));
        ft_copy_past_cache_unordered(in_log(i, at) + mine, me->result + at + mine, HALF);
    }
    ft_copy_order(true);
}

/* Side 0 writes into the log, where side 1 reads it and then, as another rank on its own processor would, side 0 does: lines that another core has read by then are slow to come back. */
static void written(struct side *me, struct side *other, uint64_t i, bool past_cache)
{
    for (uint64_t at = 0, step = i * STEPS; at < BYTES; at += PIECE) {
        step++;
        if (me->number == 0) {
            ft_copy(in_log(i, at), me->own + at, PIECE, past_cache);
            say(&me->given, step);
        } else {
            await(&other->given, step);
            ft_copy_lines(me->result + at, in_log(i, at), PIECE);
        }
    }
    say(&me->made, i * STEPS + 1);
    if (me->number == 1)
        return;
    await(&other->made, i * STEPS + 1);
    ft_copy_lines(me->result, in_log(i, 0), BYTES);
}

static void written_cached(struct side *me, struct side *other, uint64_t i) { written(me, other, i, false); }
static void written_past(struct side *me, struct side *other, uint64_t i) { written(me, other, i, true); }

/* ---- by turns ---- */

/* Each TIMES times: what has just been written, then the same again. */
static void (*const of_two[MOST_WAYS])(struct side *, struct side *, uint64_t) = {single_copy, slots, halved, doubled};
static void (*const of_more[])(struct side *, struct side *, uint64_t) = {written_cached, written_past};

static uint64_t operations(void) { return (WARM + ROUNDS) * TIMES * trial.nways; }
static uint64_t way_of(uint64_t i) { return i / TIMES % trial.nways; }

/* As a program does that has just made what it sends. */
static void rewrite(struct side *me)
{
    for (size_t at = 0; at < BYTES; at += FT_LINE)
        me->own[at]++;
}

/* ns from when both are there until both are through. */
static uint64_t operate(struct side *me, struct side *other, uint64_t i)
{
    uint64_t began_ns;

    if (i % TIMES == 0)
        rewrite(me);
    say(&me->met, 2 * i + 1);
    await(&other->met, 2 * i + 1);
    began_ns = ft_clock_ns();
    trial.ways[way_of(i)](me, other, i);
    say(&me->met, 2 * i + 2);
    await(&other->met, 2 * i + 2);
    return ft_clock_ns() - began_ns;
}

static void *follow(void *arg)
{
    struct side *me = arg;

    pthread_setaffinity_np(pthread_self(), sizeof me->processor, &me->processor);
    for (uint64_t i = 0; i < operations(); i++)
        operate(me, &trial.side[0], i);
    return NULL;
}

static void lead(double least_us[MOST_WAYS][TIMES])
{
    for (uint64_t i = 0; i < operations(); i++) {
        double us, *least = &least_us[way_of(i)][i % TIMES];

        atomic_store(&trial.ends_ns, ft_clock_ns() + MOST_NS);
        us = (double)operate(&trial.side[0], &trial.side[1], i) * 1e-3;
        if (i >= WARM * TIMES * trial.nways && (*least <= 0 || us < *least))
            *least = us;
    }
}

/* Two processors that this thread may use. */
static bool find_processors(const cpu_set_t *may)
{
    int found = 0;

    for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
        if (CPU_ISSET(cpu, may)) {
            CPU_ZERO(&trial.side[found].processor);
            CPU_SET(cpu, &trial.side[found++].processor);
        }
    return found == 2;
}

/* In small pages, as a region is. */
static char *map(size_t n)
{
    char *memory = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, n, MADV_NOHUGEPAGE);
    if (madvise(memory, n, MADV_POPULATE_WRITE) < 0)
        memset(memory, 0, n);
    return memory;
}

static double mean(const double us[TIMES]) { return (us[0] + us[1]) / 2; }

/* Of more than two ranks each operation has memory of the log to itself, which is in no cache, as the log of a job is: that is half of what there is to find out. */
static void set_up(uint32_t nranks)
{
    memset(&trial, 0, sizeof trial);
    trial.ways = nranks == 2 ? of_two : of_more;
    trial.nways = nranks == 2 ? MOST_WAYS : sizeof of_more / sizeof of_more[0];
    trial.log_bytes = nranks == 2 ? LOG : BYTES * operations();
}

bool ft_probe_take(struct ft_probe *p, uint32_t nranks)
{
    const size_t of_side = 2 * BYTES + (nranks == 2 ? RING : 0);
    double least_us[MOST_WAYS][TIMES] = {{0}};
    pthread_t other;
    cpu_set_t may;
    size_t whole;
    char *memory;

    set_up(nranks);
    whole = 2 * of_side + trial.log_bytes;
    trial.add = ft_reduce_find(FT_I32, FT_SUM);
    if (sched_getaffinity(0, sizeof may, &may) < 0 || !find_processors(&may))
        return false;
    memory = map(whole);
    if (!memory)
        return false;
    for (uint32_t k = 0; k < 2; k++) {
        struct side *s = &trial.side[k];

        s->number = k;
        s->own = memory + k * of_side;
        s->result = s->own + BYTES;
        s->ring = s->result + BYTES;
    }
    trial.log = memory + 2 * of_side;
    for (uint64_t at = 0; nranks > 2 && at < trial.log_bytes; at += BYTES)
        ft_copy_past_cache(trial.log + at, trial.side[0].own, BYTES);
    trial.ends_ns = ft_clock_ns() + MOST_NS;
    pthread_setaffinity_np(pthread_self(), sizeof trial.side[0].processor, &trial.side[0].processor);
    if (pthread_create(&other, NULL, follow, &trial.side[1]) != 0) {
        atomic_store(&trial.failed, true);
    } else {
        lead(least_us);
        pthread_join(other, NULL);
    }
    pthread_setaffinity_np(pthread_self(), sizeof may, &may);
    munmap(memory, whole);
    if (nranks == 2)
        *p = (struct ft_probe){.single_us = mean(least_us[0]), .slots_us = mean(least_us[1]), .halved_us = mean(least_us[2]), .doubled_us = mean(least_us[3])};
    else
        *p = (struct ft_probe){.cached_us = mean(least_us[0]), .past_us = mean(least_us[1])};
    return !atomic_load(&trial.failed);
}

/* Whether ranks of one user may read each other's memory, as far as can be seen before there are any. */
static bool allowed(void)
{
    char scope = '0', byte = 0, copy = 1;
    struct iovec to = {&copy, 1}, from = {&byte, 1};
    int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);

    if (fd >= 0 && read(fd, &scope, 1) != 1)
        scope = 0;
    if (fd >= 0)
        close(fd);
    return scope == '0' && process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1;
}

/* Halves are written into the log through the cache, and the trial's log is smaller than a job's: what it misses is that part at least (docs/design.md, section 10). */
#define HALVES_MISS 1.15

static bool choose_of_more(struct ft_params *p)
{
    struct ft_probe found;

    if (p->ring)
        return true;
    if (!ft_probe_take(&found, p->nranks))
        return false;
    if (found.past_us < found.cached_us)
        ft_params_write_past(p);
    return true;
}

static bool choose_of_two(struct ft_params *p, enum ft_single single_copy, enum ft_allreduce allreduce)
{
    bool may = ft_params_may_single(p) && (single_copy == FT_SINGLE_ON || (single_copy == FT_SINGLE_AUTO && allowed()));
    struct ft_probe found;
    bool wanted = (may && single_copy == FT_SINGLE_AUTO) || allreduce == FT_ALLREDUCE_AUTO, tried = wanted && ft_probe_take(&found, 2);

    if (may && (single_copy == FT_SINGLE_ON || (tried && found.single_us < found.slots_us)))
        ft_params_single_copy(p);
    if (allreduce == FT_ALLREDUCE_DOUBLED || (allreduce == FT_ALLREDUCE_AUTO && tried && found.doubled_us < HALVES_MISS * found.halved_us))
        ft_params_double(p);
    return tried || !wanted;
}

bool ft_probe_choose(struct ft_params *p, enum ft_single single_copy, enum ft_allreduce allreduce)
{
    if (p->nnodes <= 1 && p->nranks == 2)
        return choose_of_two(p, single_copy, allreduce);
    return p->nnodes > 1 || p->nranks < 2 || choose_of_more(p);
}
