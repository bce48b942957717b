/* SPDX-License-Identifier: BSD-3-Clause */
/* How far two cores are from each other: nanoseconds for a cache line to change hands, median and minimum of many
   short rounds. On a virtual machine the answer moves when the host moves the processors; a benchmark
   that straddles such a move compares two machines. No MPI.

     cacheline [CPU CPU]        prints "median minimum" */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 101, HANDOVERS = 4000, STOP = -1 };
static const double enough_ns = 150e6;     /* on a busy machine fewer rounds do */

static _Alignas(128) _Atomic int ball;
static int cpus[2];

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* Each side waits for its parity and passes the next number on. */
static void play(int side, int first, int end)
{
    for (int n = first + side; n < end; n += 2) {
        int at;
        while ((at = atomic_load_explicit(&ball, memory_order_acquire)) != n)
            if (at == STOP) return;
        atomic_store_explicit(&ball, n + 1, memory_order_release);
    }
}

static void *partner(void *arg)
{
    pin(cpus[1]);
    play(1, 0, ROUNDS * HANDOVERS);
    return arg;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    cpus[0] = argc > 2 ? atoi(argv[1]) : 0;
    cpus[1] = argc > 2 ? atoi(argv[2]) : 1;
    pin(cpus[0]);
    pthread_t t;
    if (pthread_create(&t, NULL, partner, NULL)) return 1;
    double ns[ROUNDS], spent = 0;
    int rounds = 0;
    for (int r = 0; r < ROUNDS && spent < enough_ns; r++) {
        struct timespec a, b;
        clock_gettime(CLOCK_MONOTONIC, &a);
        play(0, r * HANDOVERS, (r + 1) * HANDOVERS);
        clock_gettime(CLOCK_MONOTONIC, &b);
        double took = (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
        spent += took;
        ns[rounds++] = took / HANDOVERS;
    }
    /* The last ball of a round is the partner's, which waits for the next one. */
    int expected = rounds * HANDOVERS;
    while (atomic_load_explicit(&ball, memory_order_acquire) != expected)
        ;
    atomic_store_explicit(&ball, rounds < ROUNDS ? STOP : expected, memory_order_release);
    pthread_join(t, NULL);
    qsort(ns, (size_t)rounds, sizeof *ns, ascending);
    printf("%.1f %.1f\n", ns[rounds / 2], ns[0]);
    return 0;
}
