/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator's chance and time. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "ft/test/sim.h"

struct job job;

uint64_t mix(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u + c * 0x94d049bb133111ebu + 1;

    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

uint64_t roll(uint64_t below)
{
    job.random++;
    return below ? mix(job.c.seed, job.random, 7) % below : 0;
}

void fail(const char *format, ...)
{
    va_list args;

    if (failed())
        return;
    va_start(args, format);
    vsnprintf(job.failure, sizeof job.failure, format, args);
    va_end(args);
}

static bool before(const struct event *a, const struct event *b)
{
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}

void schedule(uint64_t after, struct event e)
{
    uint32_t i = job.nheap++;

    if (job.nheap > job.room) {
        job.room = job.room ? 2 * job.room : 1024;
        job.heap = realloc(job.heap, job.room * sizeof *job.heap);
        if (!job.heap)
            abort();
    }
    e.at = job.now + after;
    e.order = job.order++;
    for (; i > 0 && before(&e, &job.heap[(i - 1) / 2]); i = (i - 1) / 2)
        job.heap[i] = job.heap[(i - 1) / 2];
    job.heap[i] = e;
}

bool next_event(struct event *e)
{
    struct event last;
    uint32_t i = 0;

    if (job.nheap == 0)
        return false;
    *e = job.heap[0];
    last = job.heap[--job.nheap];
    for (;;) {
        uint32_t child = 2 * i + 1;

        if (child >= job.nheap)
            break;
        if (child + 1 < job.nheap && before(&job.heap[child + 1], &job.heap[child]))
            child++;
        if (!before(&job.heap[child], &last))
            break;
        job.heap[i] = job.heap[child];
        i = child;
    }
    job.heap[i] = last;
    job.now = e->at;
    return true;
}
