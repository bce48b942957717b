/* SPDX-License-Identifier: BSD-3-Clause */
/* How far the cores of the first and the last rank are from each other right now: nanoseconds for a cache line to change hands, as cacheline.c has it, but in the middle
   of a run, between one size and the next: a virtual machine's cores are moved within seconds. Through a file that both map, so it is the same with
   every MPI; only meanwhile, since ftrun takes no snapshots of a rank that shares memory with others. Each side gives up after a moment, since the other one may
   be dead, or a successor that repeats what it did. Where there are more than two ranks they may share processors: the others sleep meanwhile, and the two are
   kept to the first and the last processor that they may run on (where ftmpi has them anyway, ft/shm/place.h). */
#ifndef LINE_H
#define LINE_H

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct line {
    const char *path;       /* NULL: nothing is measured */
    _Atomic uint64_t *ball; /* and, half a page on, how often it has come to an end */
    uint64_t times;         /* so far: no number is ever passed twice */
};

enum { LINE_BYTES = 4096, LINE_OVER = LINE_BYTES / 2 / sizeof(uint64_t), LINE_SLEEP_US = 200, LINE_HANDOVERS = 2000, LINE_ROUNDS = 5, LINE_LOOKS = 1024 };
static const double line_patience_us = 30000;

static double line_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* false: errno. */
static bool line_map(struct line *l)
{
    int fd = open(l->path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    void *at = fd < 0 || ftruncate(fd, LINE_BYTES) ? MAP_FAILED : mmap(NULL, LINE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) close(fd);
    l->ball = at == MAP_FAILED ? NULL : at;
    return l->ball;
}

static void line_unmap(struct line *l) { munmap((void *)(uintptr_t)l->ball, LINE_BYTES); }

/* A file that is new, or of this job. false: errno. */
static bool line_open(struct line *l, const char *path)
{
    l->path = path;
    if (!line_map(l)) return false;
    line_unmap(l);
    return true;
}

/* Passes on what the other side passes, from `first` until it is `end`. */
static bool line_play(struct line *l, int side, uint64_t first, uint64_t end, double until)
{
    for (uint64_t n = first + (uint64_t)side, at; n <= end; n += 2) {
        for (uint64_t looks = 1; (at = atomic_load_explicit(l->ball, memory_order_acquire)) != n; looks++)
            if (at > n || (looks % LINE_LOOKS == 0 && line_us() > until)) return false;
        if (n < end) atomic_store_explicit(l->ball, n + 1, memory_order_release);
    }
    return true;
}

static int line_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double line_measure(struct line *l, int side)
{
    double until = line_us() + line_patience_us, ns[LINE_ROUNDS];
    uint64_t first = l->times << 32;
    if (side == 0) atomic_store(l->ball, first);
    for (int i = 0; i < LINE_ROUNDS; i++, first += LINE_HANDOVERS) {
        double began = line_us();
        if (!line_play(l, side, first, first + LINE_HANDOVERS, until)) return 0;
        ns[i] = (line_us() - began) * 1e3 / LINE_HANDOVERS;
    }
    qsort(ns, LINE_ROUNDS, sizeof *ns, line_compare);
    return ns[LINE_ROUNDS / 2];
}

/* On the first or the last processor that it may run on. */
static double line_measure_there(struct line *l, int side)
{
    cpu_set_t all, one;
    int cpu = side ? CPU_SETSIZE - 1 : 0;
    double ns;
    if (sched_getaffinity(0, sizeof all, &all)) return 0;
    while (cpu >= 0 && cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &all)) cpu += side ? -1 : 1;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one)) return 0;
    ns = line_measure(l, side);
    sched_setaffinity(0, sizeof all, &all);
    return ns;
}

static void line_sleep(const struct line *l)
{
    const struct timespec t = {.tv_nsec = LINE_SLEEP_US * 1000L};
    for (double until = line_us() + line_patience_us; atomic_load(l->ball + LINE_OVER) < l->times && line_us() < until;) nanosleep(&t, NULL);
}

/* All ranks, at the same time; the first and the last one are told. 0: not known. */
static double line_ns(struct line *l, int rank, int ranks)
{
    double ns = 0;
    l->times++;
    if (!line_map(l)) return 0;
    if (rank > 0 && rank < ranks - 1) line_sleep(l);
    else ns = ranks > 2 ? line_measure_there(l, rank > 0) : line_measure(l, rank);
    if (rank == 0) atomic_store(l->ball + LINE_OVER, l->times);
    line_unmap(l);
    return ns;
}

#endif
