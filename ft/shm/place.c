/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/place.h"

#include <sched.h>
#include <string.h>

#include "ft/shm/wait.h"

/* Where another program needs the processor the kernel moves us away, and is right: no more often than this. */
enum { AGAIN_NS = 50000000 };

/* A moment on this processor alone; then it is back among those it may run on, and stays. */
static void move(struct ft_place *p)
{
    cpu_set_t all, one;

    CPU_ZERO(&one);
    CPU_SET(p->home, &one);
    p->moved_ns = ft_clock_ns();
    if (sched_getaffinity(0, sizeof all, &all) != 0 || !CPU_ISSET(p->home, &all) || sched_setaffinity(0, sizeof one, &one) != 0) {
        p->home = -1;  /* the program has bound itself, or this is not to be had */
        return;
    }
    if (sched_setaffinity(0, sizeof all, &all) == 0)
        return;
    memset(&all, 0xff, sizeof all);  /* its processors are others since then: any of those, and not this one for ever */
    sched_setaffinity(0, sizeof all, &all);
    p->home = -1;
}

void ft_place_open(struct ft_place *p, uint32_t rank, uint32_t n)
{
    cpu_set_t all;
    uint32_t count, nth;

    *p = (struct ft_place){ .home = -1 };
    if (sched_getaffinity(0, sizeof all, &all) != 0 || (count = (uint32_t)CPU_COUNT(&all)) < 2)
        return;
    nth = (uint32_t)((uint64_t)rank * count / n);
    for (p->from = rank; p->from > 0 && (uint64_t)(p->from - 1) * count / n == nth; p->from--)
        ;
    for (p->to = rank + 1; p->to < n && (uint64_t)p->to * count / n == nth; p->to++)
        ;
    for (int cpu = 0; cpu < CPU_SETSIZE && p->home < 0; cpu++)
        if (CPU_ISSET(cpu, &all) && nth-- == 0)
            p->home = cpu;
    move(p);
}

void ft_place_look(struct ft_place *p)
{
    if (p->home >= 0 && sched_getcpu() != p->home && ft_clock_ns() - p->moved_ns >= AGAIN_NS)
        move(p);
}
