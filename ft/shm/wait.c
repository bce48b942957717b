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

static _Atomic uint8_t *flag_of(const struct ft_patience *p) { return &p->doorbells.asleep[p->self]; }
static struct ft_doorbell *doorbell_of(const struct ft_patience *p) { return &p->doorbells.of[p->self]; }
static uint8_t down(const struct ft_patience *p) { return p->loud ? FT_LOUD : FT_AWAKE; }

void ft_wait_begin(struct ft_patience *p, bool unfenced)
{
    p->unfenced = unfenced && syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
    p->loud = unfenced && !p->unfenced;
    atomic_store_explicit(flag_of(p), down(p), memory_order_seq_cst); /* before it first looks at what others publish */
}

/* Release: it has looked by then, or the kernel has. */
static void lower(struct ft_wait *w, const struct ft_patience *p)
{
    if (!w->due)
        return;
    w->due = false;
    if (p->turns && --p->turns->raised > 0)
        return;
    atomic_store_explicit(flag_of(p), down(p), memory_order_release);
}

void ft_wait_over(struct ft_wait *w, const struct ft_patience *p)
{
    lower(w, p);
    *w = (struct ft_wait){ 0 };
}

/* Messages may come for receives that are under way, and other threads may wait for something else. */
static struct ft_await with_others(const struct ft_patience *p, const struct ft_await *a)
{
    struct ft_await all = *a;

    all.anything |= p->meanwhile != NULL || p->turns;
    return all;
}

/* Another thread has, and is rung for anything. */
static bool others_have_said(const struct ft_patience *p)
{
    return p->turns && p->turns->away > 0 && ft_await_read(&doorbell_of(p)->awaits).anything;
}

void ft_wait_goes_on(struct ft_wait *w, const struct ft_patience *p, const struct ft_await *a)
{
    struct ft_await says = with_others(p, a);

    if (ft_await_is_said(&doorbell_of(p)->awaits, &says) || others_have_said(p))
        return;
    lower(w, p); /* nobody has rung for this yet: it has to be looked for once more with the flag up */
    ft_await_say(&doorbell_of(p)->awaits, &says);
}

/* Other threads are still to be rung. */
void ft_wait_unsay(const struct ft_patience *p)
{
    struct ft_await rest = { .kind = FT_AWAIT_AGENT, .rank = p->self, .anything = true };

    ft_publish(&doorbell_of(p)->awaits.what, p->turns && p->turns->away > 0 ? ft_await_what(&rest) : FT_AWAIT_NOBODY);
}

void ft_wait_stir(const struct ft_patience *p)
{
    if (!p->turns || p->turns->raised == 0)
        return;
    atomic_fetch_add(&doorbell_of(p)->rings, 1);
    ft_wake(&doorbell_of(p)->rings);
}

/* What it waits for has been said. Rung from here on, it does not sleep; and who publishes without ringing, as he sees no flag, has
   done so before the look that follows. */
static void raise_flag(struct ft_wait *w, const struct ft_patience *p)
{
    w->heard = ft_look32(&doorbell_of(p)->rings);
    ft_point_look();
    atomic_store_explicit(flag_of(p), p->loud ? FT_LOUD : FT_ASLEEP, memory_order_seq_cst);
    w->due = true;
    if (p->turns)
        p->turns->raised++;
    if (p->unfenced)
        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
    else
        atomic_thread_fence(memory_order_seq_cst); /* looks are loads with acquire, which may overtake the store */
}

/* Other threads may be in meanwhile. */
static bool lets(const struct ft_wait *w, const struct ft_patience *p) { return p->turns && !w->holds; }

static void sleep_within(struct ft_wait *w, const struct ft_patience *p, uint64_t most_ns)
{
    struct timespec bound = { .tv_nsec = (long)most_ns };
    const _Atomic uint32_t *rings = &doorbell_of(p)->rings;
    uint32_t depth = lets(w, p) ? ft_turns_let(p->turns) : 0;

    ft_point_sleep(rings, w->heard);
    syscall(SYS_futex, rings, FUTEX_WAIT, w->heard, &bound, NULL, 0);
    if (lets(w, p))
        ft_turns_take(p->turns, depth);
    lower(w, p);
}

struct ft_wait ft_wait_for(const struct ft_patience *p, const struct ft_await *a)
{
    struct ft_await says = with_others(p, a);

    if (!others_have_said(p))
        ft_await_say(&doorbell_of(p)->awaits, &says);
    return (struct ft_wait){ 0 };
}

struct ft_wait ft_wait_for_agent(const struct ft_patience *p)
{
    return ft_wait_for(p, &(struct ft_await){ .kind = FT_AWAIT_AGENT, .rank = p->self });
}

__attribute__((noinline, cold)) void ft_wait_ring(const struct ft_patience *p, enum ft_await_kind kind, uint32_t stream, uint64_t below)
{
    ft_point_look();
    ft_doorbells_ring(&p->doorbells, &(struct ft_announced){ .kind = kind, .stream = stream, .rank = p->self, .below = below });
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

/* It has given way often, and for long. */
static bool is_long(struct ft_wait *w, const struct ft_patience *p)
{
    uint64_t now;

    if (!p->sleeps || w->turns - p->spins < p->yields)
        return false;
    now = ft_clock_ns();
    if (w->since_ns == 0)
        w->since_ns = now;
    return now - w->since_ns >= p->yield_ns;
}

/* Of one thread of several: others are let in when they want that, and while it gives way. */
static bool give_turn(struct ft_wait *w, const struct ft_patience *p)
{
    uint32_t depth;

    if (w->turns++ < p->spins && !ft_turns_wanted(p->turns)) {
        pause_once();
        return false;
    }
    depth = ft_turns_let(p->turns);
    sched_yield();
    ft_turns_take(p->turns, depth);
    return w->turns > p->spins && is_long(w, p);
}

FT_HOT bool ft_wait_patience(struct ft_wait *w, const struct ft_patience *p)
{
    if (__builtin_expect(p->meanwhile != NULL, 0))
        p->meanwhile(p->arg);

    ft_point_wait();
    if (__builtin_expect(p->turns != NULL, 0) && !w->holds)
        return give_turn(w, p);
    if (w->turns++ < p->spins) {
        pause_once();
        return false;
    }
    if (p->place)
        ft_place_turn(p->place);
    if (is_long(w, p))
        return true;
    sched_yield();
    return false;
}

FT_HOT bool ft_wait_turn_within(struct ft_wait *w, const struct ft_patience *p, uint64_t most_ns)
{
    if (w->due) {
        ft_point_wait();
        sleep_within(w, p, ft_min(most_ns, ft_min(ft_max(SLEEP_NS, (ft_clock_ns() - w->since_ns) / 2), LONGEST_SLEEP_NS)));
        return true;
    }
    if (ft_wait_patience(w, p))
        raise_flag(w, p);
    return false;
}

FT_HOT bool ft_wait_turn(struct ft_wait *w, const struct ft_patience *p)
{
    return ft_wait_turn_within(w, p, LONGEST_SLEEP_NS) || w->turns % 1024 == 0;
}
