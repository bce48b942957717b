/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/condition.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ft/outcome/real.h"
#include "ft/outcome/threads.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the number is the first half of the state");

enum { SHARED = 1, MONOTONIC = 2 }; /* what the C library says of a condition, in a word of it; of ours that word says the same */

static int flags_at;             /* which of its 32-bit words */

/* ---- whose they are ---- */

enum { WORDS = sizeof(pthread_cond_t) / sizeof(uint32_t) };

/* The word that differs in one that the C library has made so. -1: there is not just one. */
static int find_flags(int shared, clockid_t clock, uint32_t flags)
{
    pthread_condattr_t attributes;
    uint32_t words[WORDS] = {0};
    pthread_cond_t made;
    int at = -1, n = 0;

    memset(&made, 0, sizeof made);
    pthread_condattr_init(&attributes);
    pthread_condattr_setpshared(&attributes, shared);
    pthread_condattr_setclock(&attributes, clock);
    if (ft_real()->pthread_cond_init(&made, &attributes) != 0)
        return -1;
    memcpy(words, &made, sizeof words);
    for (int i = 0; i < WORDS; i++)
        if (words[i]) {
            n++;
            at = words[i] == flags ? i : -1;
        }
    return n == 1 ? at : -1;
}

/* Those that processes share are known by a word that is not ours to say. A C library that has it elsewhere is another one. */
static bool knows_shared(void)
{
    int at = find_flags(PTHREAD_PROCESS_SHARED, CLOCK_REALTIME, SHARED);

    if (at < (int)(sizeof(uint64_t) / sizeof(uint32_t)) || at != find_flags(PTHREAD_PROCESS_SHARED, CLOCK_MONOTONIC, SHARED | MONOTONIC))
        return false;
    flags_at = at;
    return true;
}

_Atomic int ft_condition_whose;

/* Two threads may both do it, with the same result. */
bool ft_condition_decide(void)
{
    bool ours = ft_start_is_recorded() && knows_shared();

    atomic_store(&ft_condition_whose, ours ? FT_CONDITION_OURS : FT_CONDITION_THEIRS);
    return ours;
}

/* Before the start looks at the environment, and changes it. */
__attribute__((constructor(101))) static void decide(void) { (void)ft_condition_ours(); }

static uint32_t *flags_of(const pthread_cond_t *condition) { return (uint32_t *)(uintptr_t)condition + flags_at; }

bool ft_condition_is_ours(const pthread_cond_t *condition) { return ft_condition_ours() && !(*flags_of(condition) & SHARED); }

bool ft_condition_init(pthread_cond_t *condition, const pthread_condattr_t *attributes)
{
    int shared = PTHREAD_PROCESS_PRIVATE;
    clockid_t clock = CLOCK_REALTIME;

    if (attributes) {
        pthread_condattr_getpshared(attributes, &shared);
        pthread_condattr_getclock(attributes, &clock);
    }
    if (!ft_condition_ours() || shared != PTHREAD_PROCESS_PRIVATE)
        return false;
    memset(condition, 0, sizeof *condition);
    *flags_of(condition) = clock == CLOCK_MONOTONIC ? MONOTONIC : 0;
    return true;
}

/* ---- the state: the number, and how many wait at most ----

   All orders are relaxed: what a waiter and a signal have to know of each other the mutex orders. The waiter is counted before it
   unlocks; who has changed what it waits for has had the mutex after that.

   The count is a hint. It is never too low, or a signal would wake nobody. A waiter that leaves does not touch it: as soon as it is
   woken the condition may be destroyed, and its memory be something else. So after time-outs, and where a copy leads threads out of their
   waits, it is too high, and as many signals make a system call for nothing. */

static const uint64_t ONE_WAITS = (uint64_t)1 << 32;

static _Atomic uint64_t *state_of(pthread_cond_t *condition) { return (_Atomic uint64_t *)(void *)condition; }

/* What a condition begins with. In the same memory there may have been another one, and a thread that has left that one's mutex and does not
   sleep yet. If the number were the same it would sleep here. */
static uint32_t first_number(void)
{
    static _Atomic uint32_t last;
    uint32_t number;

    do
        number = atomic_fetch_add_explicit(&last, 0x9e3779b9, memory_order_relaxed) + 0x9e3779b9;
    while (!number);
    return number;
}

static uint32_t next_number(uint64_t state)
{
    uint32_t number = (uint32_t)state + 1;

    return number ? number : 1; /* 0: nobody has waited yet */
}

/* Returns the number that is there. */
static uint32_t arrive(_Atomic uint64_t *state)
{
    uint64_t now = atomic_load_explicit(state, memory_order_relaxed), next;

    do {
        next = (uint32_t)now ? now : now | first_number();
        if (next < UINT64_MAX - ONE_WAITS)
            next += ONE_WAITS;
    } while (!atomic_compare_exchange_weak_explicit(state, &now, next, memory_order_relaxed, memory_order_relaxed));
    return (uint32_t)next;
}

static long futex(const void *word, int operation, uint32_t value, const struct timespec *until)
{
    register const struct timespec *r10 __asm__("r10") = until;
    register const void *r8 __asm__("r8") = NULL;
    register long r9 __asm__("r9") = FUTEX_BITSET_MATCH_ANY;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_futex), "D"(word), "S"(operation), "d"(value), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static void wake(const void *word, int most) { (void)futex(word, FUTEX_WAKE_PRIVATE, (uint32_t)most, NULL); }

void ft_condition_signal(pthread_cond_t *condition)
{
    _Atomic uint64_t *state = state_of(condition);
    uint64_t now = atomic_load_explicit(state, memory_order_relaxed), next;

    do {
        if (now < ONE_WAITS)
            return;
        next = ((now >> 32) - 1) << 32 | next_number(now);
    } while (!atomic_compare_exchange_weak_explicit(state, &now, next, memory_order_relaxed, memory_order_relaxed));
    wake(condition, 1);
}

void ft_condition_broadcast(pthread_cond_t *condition)
{
    _Atomic uint64_t *state = state_of(condition);
    uint64_t now = atomic_load_explicit(state, memory_order_relaxed);

    do {
        if (now < ONE_WAITS)
            return;
    } while (!atomic_compare_exchange_weak_explicit(state, &now, next_number(now), memory_order_relaxed, memory_order_relaxed));
    wake(condition, INT_MAX);
}

/* ---- waiting ---- */

struct waiter {
    const void *word;            /* only the kernel reads it from here on */
    uint32_t number;
    int operation;
    const struct timespec *until;
    pthread_mutex_t *mutex;
    bool waits;                  /* a copy may be made (ft_waits_begin) */
};

/* The one place where a thread waits for a condition, or another thread's end: a bare system call, and nothing of the C library's is held. Who is
   led out of here is as one that was woken. It is cancelled as in a system call of the C library: at once, by a signal. EINTR: the kernel looks at
   the number again, and until is a point of time.

   noipa: the compiler is not to find that nothing here throws. Wherever in it the signal comes, the caller's cleanup handler is run. */
#ifdef __clang__
#define ALONE noinline
#else
#define ALONE noipa
#endif
__attribute__((ALONE)) long ft_condition_sleep(const void *word, int operation, uint32_t number, const struct timespec *until)
{
    long error;
    int type;

    if (until && until->tv_sec < 0)
        return ETIMEDOUT; /* the kernel does not know such times */
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    do
        error = -futex(word, operation, number, until);
    while (error == EINTR);
    pthread_setcanceltype(type, NULL);
    return error;
}

/* What has woken it may have been a signal: that is for another one then. The cleanup handlers of the program run next, with the mutex
   locked; it does not wait any more. */
static void be_cancelled(void *arg)
{
    struct waiter *w = arg;

    ft_waits_end(&w->waits);
    wake(w->word, 1);
    ft_real()->pthread_mutex_lock(w->mutex);
}

static long sleep_cancellable(struct waiter *w)
{
    long error;

    pthread_cleanup_push(be_cancelled, w);
    w->waits = ft_waits_begin();
    error = ft_condition_sleep(w->word, w->operation, w->number, w->until);
    ft_waits_end(&w->waits);
    pthread_cleanup_pop(0);
    return error;
}

/* As the C library does. */
static _Noreturn void fail(long error)
{
    fprintf(stderr, "libftmpi_rank: a wait for a condition failed: %s\n", strerror((int)error));
    abort();
}

int ft_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until, clockid_t clock, bool *unlocked)
{
    struct waiter w = {.word = condition, .operation = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, .until = until, .mutex = mutex};
    int error;
    long slept;

    *unlocked = false;
    if (until && (until->tv_nsec < 0 || until->tv_nsec >= 1000000000))
        return EINVAL;
    if (clock < 0)
        clock = *flags_of(condition) & MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    if (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME)
        return EINVAL;
    if (clock == CLOCK_REALTIME)
        w.operation |= FUTEX_CLOCK_REALTIME;
    w.number = arrive(state_of(condition));
    error = ft_real()->pthread_mutex_unlock(mutex);
    if (error)
        return error;
    *unlocked = true;
    slept = sleep_cancellable(&w);
    /* EAGAIN: the number is another one. EFAULT: the memory is gone, so it was woken. */
    if (slept && slept != EAGAIN && slept != ETIMEDOUT && slept != EFAULT)
        fail(slept);
    return slept == ETIMEDOUT ? ETIMEDOUT : 0;
}
