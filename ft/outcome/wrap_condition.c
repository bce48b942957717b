/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for a condition, for the end of a thread; barriers.

   After a wait a thread takes its mutex again: that is the operation. A replay does not wait: it unlocks, and takes the mutex when its turn
   has come. So in a replay nobody hears of a signal. The wait that a thread comes to where its log ends is over at once, as the standard
   allows: what it waits for may have been signalled in the replay. */
#include "ft/outcome/real.h"

#include <pthread.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#include "ft/outcome/lock.h"

struct wait {
    const struct timespec *until;  /* NULL: for ever */
    clockid_t clock;               /* -1: the condition's own */
};

static int wait_live(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct wait *w)
{
    if (!w->until)
        return ft_real()->pthread_cond_wait(condition, mutex);
    return w->clock < 0 ? ft_real()->pthread_cond_timedwait(condition, mutex, w->until)
                        : ft_real()->pthread_cond_clockwait(condition, mutex, w->clock, w->until);
}

static int lock_again(const struct ft_lock *l, pthread_mutex_t *mutex)
{
    int result = ft_real()->pthread_mutex_lock(mutex);

    return ft_lock_has(result) ? l->result : result;
}

/* It has neither unlocked the mutex nor waited. */
static bool is_refused(int result) { return result == EINVAL || result == EPERM; }

static int wait_and_tell(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct wait *w)
{
    int result;

    ft_lock_point(FT_LOCK_BEFORE);
    result = wait_live(condition, mutex, w);
    if (is_refused(result))
        ft_lock_told(FT_LOCK_CONDITION, result);
    else
        ft_lock_took(ft_lock_at_mutex(mutex), FT_LOCK_CONDITION, result);
    return result;
}

static int wait_for(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct wait *w)
{
    struct ft_lock_at at = ft_lock_at_mutex(mutex);
    const struct ft_outcome *o;
    struct ft_lock l;

    if (!atomic_load(&ft_threads_replay))
        return wait_and_tell(condition, mutex, w);
    o = ft_lock_next(FT_LOCK_CONDITION);
    if (o && is_refused(o->error) && ft_lock_begin(&l, FT_LOCK_CONDITION)) {
        ft_lock_given(&l);
        return l.result;
    }
    ft_real()->pthread_mutex_unlock(mutex);
    if (ft_lock_begin(&l, FT_LOCK_CONDITION)) {
        ft_lock_again(&l, at, lock_again(&l, mutex));
        return l.result;
    }
    ft_real()->pthread_mutex_lock(mutex);
    ft_lock_took(at, FT_LOCK_CONDITION, 0);
    return 0;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    if (!ft_locks())
        return ft_real()->pthread_cond_wait(condition, mutex);
    return wait_for(condition, mutex, &(struct wait){NULL, -1});
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
    if (!ft_locks())
        return ft_real()->pthread_cond_timedwait(condition, mutex, until);
    return wait_for(condition, mutex, &(struct wait){until, -1});
}

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
    if (!ft_locks())
        return ft_real()->pthread_cond_clockwait(condition, mutex, clock, until);
    return wait_for(condition, mutex, &(struct wait){until, clock});
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

int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    if (!ft_locks())
        return ft_real()->cnd_wait(condition, mutex);
    return as_c11(wait_for((pthread_cond_t *)(void *)condition, (pthread_mutex_t *)(void *)mutex, &(struct wait){NULL, -1}));
}

int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *until)
{
    if (!ft_locks())
        return ft_real()->cnd_timedwait(condition, mutex, until);
    return as_c11(wait_for((pthread_cond_t *)(void *)condition, (pthread_mutex_t *)(void *)mutex, &(struct wait){until, -1}));
}

/* ---- barriers ---- */

/* The C library's barrier. What it leaves of the structure has the arrivals. */
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

/* ---- a thread's end ---- */

/* pthread_join always waits, and is the same in a replay. These may find that it has not ended yet. One that has joined in a process that was made of
   a copy meanwhile is not to do so again. */
#define JOINS(thread, value, call)                                                                                                       \
    bool joined = false;                                                                                                                 \
    int result_ = FT_LOCK_TAKES(FT_LOCK_JOIN, ft_lock_at_nothing(), (call), joined ? 0 : ft_real()->pthread_join(thread, value), joined = true); \
    if (joined && result_ != 0)                                                                                                          \
        ft_recorder_lost("in a replay a thread has ended before another one stopped waiting for it");                                    \
    return result_

int pthread_tryjoin_np(pthread_t thread, void **value)
{
    if (!ft_locks())
        return ft_real()->pthread_tryjoin_np(thread, value);
    JOINS(thread, value, ft_real()->pthread_tryjoin_np(thread, value));
}

int pthread_timedjoin_np(pthread_t thread, void **value, const struct timespec *until)
{
    if (!ft_locks())
        return ft_real()->pthread_timedjoin_np(thread, value, until);
    JOINS(thread, value, ft_real()->pthread_timedjoin_np(thread, value, until));
}

int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock, const struct timespec *until)
{
    if (!ft_locks())
        return ft_real()->pthread_clockjoin_np(thread, value, clock, until);
    JOINS(thread, value, ft_real()->pthread_clockjoin_np(thread, value, clock, until));
}
