/* SPDX-License-Identifier: BSD-3-Clause */
/* Which way bytes go faster from one processor to another depends on the machine, and no table says it: on an Emerald Rapids a bcast of two ranks takes two thirds of the time by
   single copy, on a Zen 3 the kernel's string copy is slower than shared slots (docs/design.md, section 10). So both ways are tried, with a log as ranks have one: two threads on two of the
   processors that ranks may use do what ft/core/standard.c does, without a call around it. What has just been written takes about as long either way there; what is sent again unchanged,
   which is what benchmarks do, is in both processors' caches then, and half as long on its way by single copy. Programs do both, so both count. */
#include "launcher/probe.h"

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
#include "ft/base/util.h"
#include "ft/shm/wait.h"

enum { BYTES = 128 << 10, PIECE = 32 << 10, RING = 1 << 20, LOG = 1 << 20, ROUNDS = 7, WARM = 1, TIMES = 2, SPINS = 2000 };
#define MOST_NS 5000000ull /* of one round: nobody shares the processors */

enum way { SINGLE, SLOTS, WAYS };

/* The first thread gives, the second one takes. */
struct exchange {
    _Alignas(FT_LINE) _Atomic uint64_t given;  /* pieces, or operations, so far */
    _Alignas(FT_LINE) _Atomic uint64_t taken;
    _Alignas(FT_LINE) char *source, *to, *ring, *log;
    uint64_t ring_at, log_at;                  /* each thread's own: the other one's copy is the same */
    uint64_t ends_ns;
    _Atomic bool failed;
    cpu_set_t processor[2];
};

static void await(struct exchange *x, _Atomic uint64_t *word, uint64_t least)
{
    for (uint32_t spins = 0; atomic_load_explicit(word, memory_order_acquire) < least && !atomic_load_explicit(&x->failed, memory_order_relaxed); spins++)
        if (spins % SPINS == SPINS - 1) {
            sched_yield();
            if (ft_clock_ns() > x->ends_ns)
                atomic_store(&x->failed, true);
        }
}

static void say(_Atomic uint64_t *word, uint64_t value) { atomic_store_explicit(word, value, memory_order_release); }

static char *place(char *base, uint64_t at, uint64_t size) { return base + at % size; }

static void give(struct exchange *x, enum way way, uint64_t n)
{
    if (way == SINGLE) {
        say(&x->given, n + 1);
        ft_copy_past_cache(place(x->log, x->log_at, LOG), x->source, BYTES);
        return;
    }
    for (uint64_t at = 0; at < BYTES; at += PIECE) {
        memcpy(place(x->ring, x->ring_at + at, RING), x->source + at, PIECE);
        say(&x->given, ++n);
    }
}

static void take(struct exchange *x, enum way way, uint64_t n, uint64_t ring_at, uint64_t log_at)
{
    struct iovec to = {x->to, BYTES}, from = {x->source, BYTES};

    if (way == SINGLE) {
        await(x, &x->given, n + 1);
        if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != BYTES)
            atomic_store(&x->failed, true);
        return;
    }
    for (uint64_t at = 0; at < BYTES; at += PIECE) {
        await(x, &x->given, ++n);
        ft_copy_twice(x->to + at, place(x->log, log_at + at, LOG), place(x->ring, ring_at + at, RING), PIECE);
    }
    ft_copy_order(true);
}

/* The ways by turns, each TIMES times: what has just been written, then the same again. */
static enum way way_of(int i) { return i / TIMES % WAYS ? SLOTS : SINGLE; }

/* How far the word of who gives is behind one more operation. */
static uint64_t steps(enum way way) { return way == SINGLE ? 1 : BYTES / PIECE; }

static void *taker(void *arg)
{
    struct exchange *x = arg;
    uint64_t n = 0, ring_at = 0, log_at = 0, done = 0;

    pthread_setaffinity_np(pthread_self(), sizeof x->processor[1], &x->processor[1]);
    for (int i = 0; i < (WARM + ROUNDS) * WAYS * TIMES; i++) {
        enum way way = way_of(i);

        take(x, way, n, ring_at, log_at);
        n += steps(way);
        ring_at += way == SLOTS ? BYTES : 0;
        log_at += BYTES;
        say(&x->taken, ++done);
    }
    return NULL;
}

/* As a program does that has just made what it sends. */
static void rewrite(struct exchange *x)
{
    for (size_t at = 0; at < BYTES; at += FT_LINE)
        x->source[at]++;
}

static double give_one(struct exchange *x, enum way way, uint64_t n, uint64_t done)
{
    uint64_t began_ns = ft_clock_ns();

    x->ends_ns = began_ns + MOST_NS;
    give(x, way, n);
    await(x, &x->taken, done);
    x->ring_at += way == SLOTS ? BYTES : 0;
    x->log_at += BYTES;
    return (double)(ft_clock_ns() - began_ns) * 1e-3;
}

static void run(struct exchange *x, double least_us[WAYS][TIMES])
{
    uint64_t n = 0, done = 0;

    for (int i = 0; i < (WARM + ROUNDS) * WAYS * TIMES; i++) {
        double us, *least = &least_us[way_of(i)][i % TIMES];

        if (i % TIMES == 0)
            rewrite(x);
        us = give_one(x, way_of(i), n, ++done);
        n += steps(way_of(i));
        if (i >= WARM * WAYS * TIMES && (*least <= 0 || us < *least))
            *least = us;
    }
}

/* Two processors that this thread may use. */
static bool find_processors(const cpu_set_t *may, struct exchange *x)
{
    int found = 0;

    for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
        if (CPU_ISSET(cpu, may)) {
            CPU_ZERO(&x->processor[found]);
            CPU_SET(cpu, &x->processor[found++]);
        }
    return found == 2;
}

bool ft_probe_take(struct ft_probe *p)
{
    static struct exchange x;
    const size_t whole = 2 * BYTES + RING + LOG;
    double least_us[WAYS][TIMES] = {{0}};
    pthread_t other;
    cpu_set_t may;
    char *memory;

    memset(&x, 0, sizeof x);
    if (sched_getaffinity(0, sizeof may, &may) < 0 || !find_processors(&may, &x))
        return false;
    memory = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    x.source = memory;
    x.to = memory + BYTES;
    x.ring = memory + 2 * BYTES;
    x.log = x.ring + RING;
    x.ends_ns = ft_clock_ns() + MOST_NS;
    pthread_setaffinity_np(pthread_self(), sizeof x.processor[0], &x.processor[0]);
    if (pthread_create(&other, NULL, taker, &x) != 0) {
        atomic_store(&x.failed, true);
    } else {
        run(&x, least_us);
        pthread_join(other, NULL);
    }
    pthread_setaffinity_np(pthread_self(), sizeof may, &may);
    munmap(memory, whole);
    *p = (struct ft_probe){.single_us = (least_us[SINGLE][0] + least_us[SINGLE][1]) / 2, .slots_us = (least_us[SLOTS][0] + least_us[SLOTS][1]) / 2};
    return !atomic_load(&x.failed);
}

bool ft_probe_allowed(void)
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

bool ft_probe_single(void)
{
    struct ft_probe p;

    return ft_probe_allowed() && ft_probe_take(&p) && p.single_us < p.slots_us;
}
