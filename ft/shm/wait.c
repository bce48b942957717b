/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/wait.h"

#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A sleep's bound: what a wake-up call that was not made costs at most. Publishers of `done` on the
   short path make none (core/short.c). It grows with the time waited, so a long wait costs few wake-ups. */
enum { SLEEP_NS = 2000000, LONGEST_SLEEP_NS = 128000000 };

/* Giving way costs a switch, and another one to come back. Who is awaited is one of two on its own processor: it runs, or will
   within a switch. So spinning for as long loses no more than giving way does, and wins most of the time. With more ranks on a
   processor it wins only for the last of them to come, whose giving way would let those run that can only wait, each for a switch
   (docs/performance/operations.md has the measurements). */
enum { SWITCH_NS = 4000, MOST_SHARING = 2, LOOKS = 16 };

uint64_t ft_clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void ft_wake(const void *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

bool ft_wait_can_register(void)
{
    long known = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

    return known > 0 && known & MEMBARRIER_CMD_GLOBAL_EXPEDITED && known & MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;
}

void ft_wait_begin(struct ft_patience *p, bool unfenced)
{
    p->unfenced = unfenced && syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
    p->loud = unfenced && !p->unfenced;
    atomic_store_explicit(&p->asleep[p->self], p->loud, memory_order_seq_cst); /* before it first looks at what others publish */
}

void ft_wait_sleep(const struct ft_patience *p, const void *word, uint64_t seen, uint64_t most_ns)
{
    struct timespec bound = { .tv_nsec = (long)most_ns };
    _Atomic uint8_t *flag = &p->asleep[p->self];

    /* seq_cst: before the kernel's own look at the word, as the publisher's store is before its look at
       the flag. The system call is a full barrier on every processor we know; the order says it anyway. */
    atomic_store_explicit(flag, 1, memory_order_seq_cst);
    if (p->unfenced)
        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
    syscall(SYS_futex, word, FUTEX_WAIT, (uint32_t)seen, &bound, NULL, 0);
    atomic_store_explicit(flag, p->loud, memory_order_relaxed);
}

static void pause_once(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

FT_HOT void ft_wait_spin(const struct ft_patience *p, uint32_t r, bool last, _Atomic uint64_t *word, uint64_t least)
{
    const struct ft_place *place = p->place;
    uint64_t began;

    if (!place || place->home < 0 || (place->to - place->from > MOST_SHARING && !last) || ft_place_shares(place, r))
        return;
    began = ft_clock_ns();
    do
        for (int i = 0; i < LOOKS; i++) {
            if (ft_look(word) >= least)
                return;
            pause_once();
        }
    while (ft_clock_ns() - began < SWITCH_NS);
}

FT_HOT uint32_t ft_wait_given_way(const struct ft_patience *p) { return p && p->place ? p->place->turns : 0; }

void ft_wait_let_go_first(const struct ft_patience *p, uint32_t before)
{
    const struct ft_place *place = p->place;

    if (place && place->home >= 0 && place->to - place->from <= MOST_SHARING && place->turns == before)
        sched_yield();
}

FT_HOT bool ft_wait_patience(struct ft_wait *w, const struct ft_patience *p)
{
    uint64_t now;

    ft_point_wait();
    if (w->turns++ < p->spins) {
        pause_once();
        return false;
    }
    if (p->place)
        ft_place_turn(p->place);
    if (!p->sleeps) {
        sched_yield();
        return false;
    }
    if (w->turns - p->spins < p->yields) {
        sched_yield();
        return false;
    }
    now = ft_clock_ns();
    if (w->since_ns == 0)
        w->since_ns = now;
    if (now - w->since_ns < p->yield_ns) {
        sched_yield();
        return false;
    }
    return true;
}

static uint64_t sleep_of(const struct ft_wait *w, uint64_t now)
{
    return ft_min(ft_max(SLEEP_NS, (now - w->since_ns) / 2), LONGEST_SLEEP_NS);
}

void ft_wait_turn_until(struct ft_wait *w, const struct ft_patience *p, _Atomic uint64_t *word, uint64_t seen, uint64_t until_ns)
{
    uint64_t now;

    if (!ft_wait_patience(w, p))
        return;
    now = ft_clock_ns();
    ft_wait_sleep(p, word, seen, now < until_ns ? ft_min(sleep_of(w, now), until_ns - now) : 0);
}

FT_HOT bool ft_wait_turn(struct ft_wait *w, const struct ft_patience *p, _Atomic uint64_t *word, uint64_t seen)
{
    if (ft_wait_patience(w, p)) {
        ft_wait_sleep(p, word, seen, sleep_of(w, ft_clock_ns()));
        return true;
    }
    return w->turns % 1024 == 0;
}
