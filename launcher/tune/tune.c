/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads on two of the processors that ranks may use do what the engine does with the bytes
   of an operation, without a call around it, and with a log as ranks have one: memory that is in
   no cache. What has just been written and what is sent again unchanged, which is in both
   processors' caches then, both count: programs do both. */
#include "config.h"
#include "launcher/tune/tune.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "ft/base/copy.h"
#include "ft/base/reduce.h"
#include "ft/base/util.h"
#include "ft/shm/wait.h"
#include "launcher/base/say.h"
#include "launcher/policy/rank_policy.h"

enum { BYTES = 128 << 10, PIECE = 32 << 10, RING = 10 * BYTES, ROUNDS = 7, WARM = 1, TIMES = 2, SPINS = 2000 };
#define MOST_NS 5000000ull /* of one operation: nobody shares the processors */

/* One of two threads: its memory, and what it has given to the other one. Words only grow:
   operation i begins with i * STEPS. */
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
    char *log;
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
static char *in_log(uint64_t i, uint64_t at) { return trial.log + i * BYTES + at; }

/* ---- the ways: what side `me` does in operation i, of which this is a piece ---- */

/* Side 0 gives, side 1 has it in the end. */
static void slots(struct side *me, struct side *other, uint64_t i, bool past_cache)
{
    for (uint64_t at = 0, step = i * STEPS; at < BYTES; at += PIECE) {
        step++;
        if (me->number == 0) {
            ft_copy(in_ring(me, i, at), me->own + at, PIECE, past_cache);
            say(&me->given, step);
        } else {
            await(&other->given, step);
            ft_copy_twice(me->result + at, in_log(i, at), in_ring(other, i, at), PIECE);
        }
    }
    ft_copy_order(true);
}

static void slots_cached(struct side *me, struct side *other, uint64_t i) { slots(me, other, i, false); }
static void slots_past(struct side *me, struct side *other, uint64_t i) { slots(me, other, i, true); }

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

/* Side 0 writes into the log, where side 1 reads it and then, as another rank on its own
   processor would, side 0 does: lines that another core has read by then are slow to come back. */
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

enum { SLOTS_CACHED, SLOTS_PAST, WRITTEN_CACHED, WRITTEN_PAST, HALVED, DOUBLED, WAYS };
static void (*const ways[WAYS])(struct side *, struct side *, uint64_t) = {
    [SLOTS_CACHED] = slots_cached, [SLOTS_PAST] = slots_past, [WRITTEN_CACHED] = written_cached, [WRITTEN_PAST] = written_past,
    [HALVED] = halved, [DOUBLED] = doubled};

/* Each TIMES times: what has just been written, then the same again. */
enum { OPERATIONS = (WARM + ROUNDS) * TIMES * WAYS };
static uint64_t way_of(uint64_t i) { return i / TIMES % WAYS; }

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
    ways[way_of(i)](me, other, i);
    say(&me->met, 2 * i + 2);
    await(&other->met, 2 * i + 2);
    return ft_clock_ns() - began_ns;
}

static void *follow(void *arg)
{
    struct side *me = arg;

    pthread_setaffinity_np(pthread_self(), sizeof me->processor, &me->processor);
    for (uint64_t i = 0; i < OPERATIONS; i++)
        operate(me, &trial.side[0], i);
    return NULL;
}

static void lead(double least_us[WAYS][TIMES])
{
    for (uint64_t i = 0; i < OPERATIONS; i++) {
        double us, *least = &least_us[way_of(i)][i % TIMES];

        atomic_store(&trial.ends_ns, ft_clock_ns() + MOST_NS);
        us = (double)operate(&trial.side[0], &trial.side[1], i) * 1e-3;
        if (i >= WARM * TIMES * WAYS && (*least <= 0 || us < *least))
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

static void lay_out(char *memory, size_t of_side)
{
    for (uint32_t k = 0; k < 2; k++) {
        struct side *s = &trial.side[k];

        s->number = k;
        s->own = memory + k * of_side;
        s->result = s->own + BYTES;
        s->ring = s->result + BYTES;
    }
    trial.log = memory + 2 * of_side;
    for (uint64_t i = 0; i < OPERATIONS; i++)
        ft_copy_past_cache(in_log(i, 0), trial.side[0].own, BYTES);
}

bool ft_tune_take(struct ft_tune *t)
{
    const size_t of_side = 2 * BYTES + RING, whole = 2 * of_side + OPERATIONS * BYTES;
    double least_us[WAYS][TIMES] = {{0}};
    pthread_t other;
    cpu_set_t may;
    char *memory;

    memset(&trial, 0, sizeof trial);
    trial.add = ft_reduce_find(FT_I32, FT_SUM);
    if (sched_getaffinity(0, sizeof may, &may) < 0 || !find_processors(&may) || !(memory = map(whole)))
        return false;
    lay_out(memory, of_side);
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
    *t = (struct ft_tune){.slots_cached_us = mean(least_us[SLOTS_CACHED]), .slots_past_us = mean(least_us[SLOTS_PAST]),
                          .written_cached_us = mean(least_us[WRITTEN_CACHED]), .written_past_us = mean(least_us[WRITTEN_PAST]),
                          .halved_us = mean(least_us[HALVED]), .doubled_us = mean(least_us[DOUBLED])};
    return !atomic_load(&trial.failed);
}

/* ---- what is said ---- */

/* A job has calls around this, and a result that somebody waits for: a tenth tells nothing. */
#define CLEARLY 1.1

int ft_tune_run(void)
{
    struct ft_tune t;
    bool far, halved;

    if (!ft_tune_take(&t)) {
        ft_say(&(struct ft_say){0}, "--tune: nothing can be tried here: it takes two processors (this may use those of taskset -cp $$) that no other program needs meanwhile");
        return FT_CODE_JOB;
    }
    far = t.slots_past_us + t.written_past_us < (t.slots_cached_us + t.written_cached_us) / CLEARLY;
    halved = t.halved_us < t.doubled_us / CLEARLY;
    printf("# ftrun --tune: two processors of %s, us for 128 KiB. For " SYSCONFDIR "/ftmpi.conf or ~/.config/ftmpi/ftmpi.conf\n", ft_say_host());
    printf("cores = %s  # written through the cache, past it: slots %.1f, %.1f; log %.1f, %.1f\n", far ? "far" : "near", t.slots_cached_us, t.slots_past_us,
           t.written_cached_us, t.written_past_us);
    printf("allreduce = %s  # of two ranks: each makes a half %.1f, all of it %.1f\n", halved ? "halved" : "doubled", t.halved_us, t.doubled_us);
    return 0;
}
