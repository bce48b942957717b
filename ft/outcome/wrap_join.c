/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for the end of a thread. pthread_join always waits, and is the same in a replay. These may find that it has not ended yet.

   Who waits is led out of that in a copy (stand.h): there the other thread may end before it did so for the predecessor. So the wait is ours, for
   the word that the kernel clears when a thread ends, and the C library is asked when nobody can be stopped. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "ft/outcome/condition.h"
#include "ft/outcome/lock.h"
#include "ft/outcome/task.h"

enum { LED = -1 };

/* NULL: does not wait. */
struct limit {
    clockid_t clock;
    const struct timespec *until;  /* NULL: for ever */
};

static bool is_known(const struct limit *l)
{
    return (l->clock == CLOCK_REALTIME || l->clock == CLOCK_MONOTONIC) && (!l->until || (l->until->tv_nsec >= 0 && l->until->tv_nsec < 1000000000));
}

/* LED: this process has been made of a copy meanwhile. */
static int wait_for_end(pthread_t thread, const struct limit *l)
{
    const _Atomic uint32_t *number = (const void *)((uintptr_t)thread + (uintptr_t)ft_task_layout.number); /* NOLINT(performance-no-int-to-ptr) */
    int operation = FUTEX_WAIT_BITSET | (l->clock == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0);
    uint32_t now;

    if (ft_waits_led())
        return LED;
    now = atomic_load(number);
    return now ? (int)FT_WAITING(ft_condition_sleep((const void *)number, operation, now, l->until)) : 0;
}

static int join_live(pthread_t thread, void **value, const struct limit *l)
{
    int result, waited;

    if (l && !ft_task_layout.known) /* there are no copies then */
        return ft_real()->pthread_clockjoin_np(thread, value, l->clock, l->until);
    for (;;) {
        result = ft_real()->pthread_tryjoin_np(thread, value);
        if (result != EBUSY || !l)
            return result;
        if (!is_known(l))
            return EINVAL;
        waited = wait_for_end(thread, l);
        if (waited == LED)
            return LED;
        if (waited != ETIMEDOUT)
            continue;
        result = ft_real()->pthread_tryjoin_np(thread, value);
        return result == EBUSY ? ETIMEDOUT : result;
    }
}

/* All of it, but while it sleeps. */
static int join(pthread_t thread, void **value, const struct limit *l)
{
    struct ft_lock_at at = ft_lock_at_nothing();
    struct ft_lock lock;
    int result;
    FT_BUSY_HERE();

    do
        if (ft_lock_begin(&lock, FT_LOCK_JOIN)) {
            if (lock.result)
                ft_lock_given(&lock);
            else
                ft_lock_again(&lock, at, ft_real()->pthread_join(thread, value));
            return lock.result;
        }
    while ((result = join_live(thread, value, l)) == LED);
    ft_lock_end(at, FT_LOCK_JOIN, result);
    return result;
}

int pthread_tryjoin_np(pthread_t thread, void **value)
{
    return ft_locks() ? join(thread, value, NULL) : ft_real()->pthread_tryjoin_np(thread, value);
}

int pthread_timedjoin_np(pthread_t thread, void **value, const struct timespec *until)
{
    return ft_locks() ? join(thread, value, &(struct limit){CLOCK_REALTIME, until}) : ft_real()->pthread_timedjoin_np(thread, value, until);
}

int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock, const struct timespec *until)
{
    return ft_locks() ? join(thread, value, &(struct limit){clock, until}) : ft_real()->pthread_clockjoin_np(thread, value, clock, until);
}
