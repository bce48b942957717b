/* SPDX-License-Identifier: BSD-3-Clause */
/* Conditions (condition.h); barriers.

   After a wait a thread takes its mutex again: that is the operation. A replay does not wait: it unlocks, and takes the mutex when its turn
   has come. So in a replay nobody hears of a signal. The wait that a thread comes to where its log ends is over at once, as the standard
   allows: what it waits for may have been signalled in the replay. */
#include "ft/outcome/real.h"

#include <pthread.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#include "ft/outcome/condition.h"
#include "ft/outcome/lock.h"
#include "ft/outcome/robust.h"

struct wait {
    const struct timespec *until;  /* NULL: for ever */
    clockid_t clock;               /* -1: the condition's own */
};

/* The C library's. */
static int wait_theirs(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct wait *w)
{
    if (!w->until)
        return ft_real()->pthread_cond_wait(condition, mutex);
    return w->clock < 0 ? ft_real()->pthread_cond_timedwait(condition, mutex, w->until)
                        : ft_real()->pthread_cond_clockwait(condition, mutex, w->clock, w->until);
}

/* By a caller whose locks are not counted. */
static int wait_only(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct wait *w)
{
    bool unlocked;
    int result, locked = 0;

    if (!ft_condition_is_ours(condition))
        return wait_theirs(condition, mutex, w);
    ft_thread.led = false; /* out of nothing: it goes on sleeping in a copy */
    result = ft_condition_wait(condition, mutex, w->until, w->clock, &unlocked);
    if (unlocked)
        locked = ft_real()->pthread_mutex_lock(mutex);
    return locked ? locked : result;
}

static int lock_again(const struct ft_lock *l, pthread_mutex_t *mutex)
{
    int result = ft_real()->pthread_mutex_lock(mutex);

    return ft_lock_has(result) ? l->result : result;
}

/* It has neither unlocked the mutex nor waited. */
static bool is_refused(int result) { return result == EINVAL || result == EPERM; }

/* The mutex, live. False: it waited for that, and this process has been made of a copy meanwhile. */
static bool lock_live(pthread_mutex_t *mutex, int *locked)
{
    uint32_t life = ft_threads_life;

    ft_idle();
    *locked = ft_real()->pthread_mutex_lock(mutex);
    ft_busy();
    if (life == ft_threads_life)
        return true;
    if (ft_lock_has(*locked))
        ft_robust_give_back(mutex);
    return false;
}

/* From a wait that came to that result, or was none: the mutex is taken again, in a replay when its turn has come. A thread that has slept
   in the process of which this one is a copy is in a replay when it comes here. */
static int come_back(pthread_mutex_t *mutex, int result)
{
    struct ft_lock_at at = ft_lock_at_mutex(mutex);
    struct ft_lock l;
    int locked;

    do
        if (ft_lock_begin(&l, FT_LOCK_CONDITION)) {
            ft_lock_again(&l, at, lock_again(&l, mutex));
            return l.result;
        }
    while (!lock_live(mutex, &locked));
    if (locked)
        result = locked;
    ft_lock_took(at, FT_LOCK_CONDITION, result);
    return result;
}

static int wait_live(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct wait *w)
{
    bool unlocked;
    int result;

    if (ft_condition_is_ours(condition)) {
        if (ft_waits_led())
            return come_back(mutex, 0);
        result = ft_condition_wait(condition, mutex, w->until, w->clock, &unlocked);
        if (unlocked)
            return come_back(mutex, result);
    } else {
        ft_idle();
        result = wait_theirs(condition, mutex, w);
        ft_busy();
    }
    if (is_refused(result))
        ft_lock_told(FT_LOCK_CONDITION, result);
    else
        ft_lock_took(ft_lock_at_mutex(mutex), FT_LOCK_CONDITION, result);
    return result;
}

static int wait_busy(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct wait *w)
{
    const struct ft_outcome *o;
    struct ft_lock l;

    ft_lock_point(FT_LOCK_BEFORE);
    if (!atomic_load(&ft_threads_replay))
        return wait_live(condition, mutex, w);
    o = ft_lock_next(FT_LOCK_CONDITION);
    if (o && is_refused(o->error) && ft_lock_begin(&l, FT_LOCK_CONDITION)) {
        ft_lock_given(&l);
        return l.result;
    }
    ft_real()->pthread_mutex_unlock(mutex);
    return come_back(mutex, 0);
}

/* All of it, but while it sleeps or waits for the mutex. */
static int wait_for(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct wait *w)
{
    FT_BUSY_HERE();
    return wait_busy(condition, mutex, w);
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    return (ft_locks() ? wait_for : wait_only)(condition, mutex, &(struct wait){NULL, -1});
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
    return (ft_locks() ? wait_for : wait_only)(condition, mutex, &(struct wait){until, -1});
}

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
    if (clock < 0) /* a clock of a process, and the like: the C library says what is wrong, and does no more */
        return ft_real()->pthread_cond_clockwait(condition, mutex, clock, until);
    return (ft_locks() ? wait_for : wait_only)(condition, mutex, &(struct wait){until, clock});
}

int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes)
{
    return ft_condition_init(condition, attributes) ? 0 : ft_real()->pthread_cond_init(condition, attributes);
}

/* Nothing waits for the threads that have been woken: they do not look at it any more. */
int pthread_cond_destroy(pthread_cond_t *condition)
{
    return ft_condition_is_ours(condition) ? 0 : ft_real()->pthread_cond_destroy(condition);
}

int pthread_cond_signal(pthread_cond_t *condition)
{
    if (!ft_condition_is_ours(condition))
        return ft_real()->pthread_cond_signal(condition);
    ft_condition_signal(condition);
    return 0;
}

int pthread_cond_broadcast(pthread_cond_t *condition)
{
    if (!ft_condition_is_ours(condition))
        return ft_real()->pthread_cond_broadcast(condition);
    ft_condition_broadcast(condition);
    return 0;
}

/* C11's are the same in the C library; what they say is not. */
static int as_c11(int error)
{
    switch (error) {
    case 0: return thrd_success;
    case ETIMEDOUT: return thrd_timedout;
    case ENOMEM: return thrd_nomem;
    case EBUSY: return thrd_busy;
    default: return thrd_error;
    }
}

static pthread_cond_t *of_c11(cnd_t *condition) { return (pthread_cond_t *)(void *)condition; }

static pthread_mutex_t *of_mtx(mtx_t *mutex) { return (pthread_mutex_t *)(void *)mutex; }

int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    return as_c11((ft_locks() ? wait_for : wait_only)(of_c11(condition), of_mtx(mutex), &(struct wait){NULL, -1}));
}

int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *until)
{
    return as_c11((ft_locks() ? wait_for : wait_only)(of_c11(condition), of_mtx(mutex), &(struct wait){until, -1}));
}

int cnd_init(cnd_t *condition) { return as_c11(pthread_cond_init(of_c11(condition), NULL)); }

void cnd_destroy(cnd_t *condition) { pthread_cond_destroy(of_c11(condition)); }

int cnd_signal(cnd_t *condition) { return as_c11(pthread_cond_signal(of_c11(condition))); }

int cnd_broadcast(cnd_t *condition) { return as_c11(pthread_cond_broadcast(of_c11(condition))); }

/* ---- barriers ---- */

/* The C library's barrier. What it leaves of the structure has the arrivals.

   A thread that sleeps in one when a copy is made goes on sleeping there in the copy. That is right: who has arrived, and who has left, are
   numbers in the barrier, in the memory that is copied, and all members stand somewhere in the same copy. Nobody is led out; who slept asks
   the kernel anew whether the round is still the one that it waits for. The same goes for pthread_join (it sleeps until the word with the
   thread's number is 0, which the kernel clears for whoever has that word), for pthread_once, and for readers and writers. */
struct barrier {
    unsigned in, round, count;
    int shared;
    unsigned out;
    unsigned arrived;
};

_Static_assert(sizeof(struct barrier) <= sizeof(pthread_barrier_t), "a barrier has room for the arrivals");

static struct barrier *of(pthread_barrier_t *barrier) { return (struct barrier *)(void *)barrier; }

int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes, unsigned count)
{
    of(barrier)->arrived = 0;
    return ft_real()->pthread_barrier_init(barrier, attributes, count);
}

/* The arrival is published before it is done: whoever goes on comes after it. The last one to arrive is the one that is told so. */
int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    struct ft_lock_at at = ft_lock_at(barrier);
    struct ft_lock l;
    uint64_t before;
    bool last;
    int result;

    if (!ft_locks())
        return ft_real()->pthread_barrier_wait(barrier);
    ft_busy();
    if (ft_lock_begin(&l, FT_LOCK_BARRIER)) {
        last = ++of(barrier)->arrived % of(barrier)->count == 0;
        ft_lock_again(&l, at, 0);
    } else {
        before = ft_lock_note(at);
        last = ++of(barrier)->arrived % of(barrier)->count == 0;
        ft_lock_tell(FT_LOCK_BARRIER, 0, before);
        ft_lock_publish();
        ft_lock_seen(at);
    }
    ft_idle();
    result = ft_real()->pthread_barrier_wait(barrier);
    return result > 0 ? result : last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}
