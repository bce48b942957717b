/* SPDX-License-Identifier: BSD-3-Clause */
/* Semaphores. Who gets one without waiting does a lock operation, if there are threads. A wait is a recorded call, threads or not: a
   signal may interrupt it, and its time may be over. Who has waited with success does the operation then. Whoever posts does so in a
   replay, too. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ft/outcome/lock.h"
#include "ft/outcome/signals.h"

/* Before there is a second thread only the call is recorded. */
FT_CALLED bool is_recorded(uintptr_t caller) { return ft_threads_many ? ft_locks_of(caller) : ft_recording(); }

/* How long. */
struct wait {
    const struct timespec *until;  /* NULL: for ever */
    clockid_t clock;
};

static int try(sem_t *semaphore) { return ft_real()->sem_trywait(semaphore) < 0 ? errno : 0; }

/* The C library's semaphore of one process or of several: its value, how many wait, and whether it is shared (nonzero). */
struct semaphore {
    _Atomic uint32_t value, waiters;
    int shared;
};

_Static_assert(sizeof(struct semaphore) <= sizeof(sem_t), "a semaphore has these");

/* Who has been woken when it is cancelled leaves that to another one. */
static void be_cancelled(void *arg)
{
    struct semaphore *s = arg;

    atomic_fetch_sub(&s->waiters, 1);
    syscall(SYS_futex, &s->value, FUTEX_WAKE | (s->shared ? 0 : FUTEX_PRIVATE_FLAG), 1, NULL, NULL, 0);
}

/* A call with few arguments, for whoever is cancelled comes back from there to be_cancelled: not with some on the stack. */
static __attribute__((noinline)) long sleep_there(struct semaphore *s, const struct wait *w)
{
    int what = FUTEX_WAIT_BITSET | (s->shared ? 0 : FUTEX_PRIVATE_FLAG) | (w->clock == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0);

    return syscall(SYS_futex, &s->value, what, 0, w->until, NULL, FUTEX_BITSET_MATCH_ANY);
}

/* As in condition.c. */
static long sleep_cancellable(struct semaphore *s, const struct wait *w)
{
    long result;
    int type;

    pthread_cleanup_push(be_cancelled, s);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    result = sleep_there(s, w);
    pthread_setcanceltype(type, NULL);
    pthread_cleanup_pop(0);
    return result;
}

/* Until it has a value, perhaps. Not in the C library: a thread that is led out of there would be in the middle of something. One that is led out of
   here is counted on as one that waits: sem_post makes a system call more. */
static int sleep_on(struct semaphore *s, const struct wait *w)
{
    long result;

    atomic_fetch_add(&s->waiters, 1);
    result = FT_WAITING(sleep_cancellable(s, w));
    atomic_fetch_sub(&s->waiters, 1);
    return result < 0 && errno != EAGAIN ? errno : 0;
}

static bool is_valid(const struct timespec *t) { return !t || (t->tv_nsec >= 0 && t->tv_nsec < 1000000000); }

static int wait_live(sem_t *semaphore, const struct wait *w)
{
    int error = 0, before = errno;

    if (!is_valid(w->until) || (w->clock != CLOCK_REALTIME && w->clock != CLOCK_MONOTONIC)) {
        errno = EINVAL;
        return -1;
    }
    while (error == 0 && try(semaphore) != 0)
        error = w->until && w->until->tv_sec < 0 ? ETIMEDOUT : sleep_on((struct semaphore *)(void *)semaphore, w);
    errno = error ? error : before;
    return error ? -1 : 0;
}

/* Somebody has posted, or is about to. */
static int take_again(sem_t *semaphore)
{
    while (ft_real()->sem_wait(semaphore) < 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

/* In a replay: the log has the call that this wait was, and not a later one's. */
static bool has_waited(uint64_t what)
{
    const struct ft_outcome *o;

    ft_signals_give_at_lock(); /* also those that were handed over before that call */
    o = ft_log_peek();
    return o && o->kind == FT_CALL_SEMAPHORE && o->what == what;
}

/* Without waiting. */
static bool is_got_now(sem_t *semaphore, struct ft_lock_at at, uint64_t what)
{
    struct ft_lock l;

    if (atomic_load(&ft_threads_replay) && has_waited(what))
        return false;
    if (ft_lock_begin(&l, FT_LOCK_SEMAPHORE)) {
        ft_lock_again(&l, at, take_again(semaphore));
        return true;
    }
    if (try(semaphore) != 0)
        return false;
    ft_lock_took(at, FT_LOCK_SEMAPHORE, 0);
    return true;
}

static bool is_got(sem_t *semaphore, struct ft_lock_at at, uint64_t what)
{
    bool got;

    if (!ft_threads_many)
        return try(semaphore) == 0;
    ft_busy();
    got = is_got_now(semaphore, at, what);
    ft_idle();
    return got;
}

/* After a wait with success. `given`: the wait was. */
static void get(sem_t *semaphore, struct ft_lock_at at, bool given)
{
    struct ft_lock l;

    if (!ft_threads_many) {
        if (given)
            take_again(semaphore);
    } else if (!given) {
        ft_lock_took(at, FT_LOCK_SEMAPHORE, 0);
    } else if (ft_lock_begin(&l, FT_LOCK_SEMAPHORE)) {
        ft_lock_again(&l, at, take_again(semaphore));
    } else { /* it was killed before anybody could know */
        take_again(semaphore);
        ft_lock_took(at, FT_LOCK_SEMAPHORE, 0);
    }
}

static int wait_and_get(sem_t *semaphore, struct ft_lock_at at, uint64_t what, const struct wait *w)
{
    struct ft_recorded c;
    int error, result;
    bool given;

    given = ft_call_begin_wait(&c, FT_CALL_SEMAPHORE, what, 0);
    result = (int)(given ? ft_call_give(&c) : ft_call_end(&c, wait_live(semaphore, w), 0));
    if (result < 0)
        return -1;
    error = errno;
    get(semaphore, at, given);
    errno = error;
    return 0;
}

static int wait_for(sem_t *semaphore, const struct wait *w)
{
    struct ft_lock_at at = ft_lock_at(semaphore);
    uint64_t what = ft_what((int64_t)ft_thread.locks, 0, 0);
    int error = errno, result;

    if (is_got(semaphore, at, what)) {
        errno = error;
        return 0;
    }
    errno = error;
    ft_busy(); /* until what it has got is published */
    result = wait_and_get(semaphore, at, what, w);
    ft_idle();
    return result;
}

int sem_wait(sem_t *semaphore)
{
    if (!is_recorded((uintptr_t)__builtin_return_address(0)))
        return ft_real()->sem_wait(semaphore);
    return wait_for(semaphore, &(struct wait){NULL, CLOCK_REALTIME});
}

int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
    if (!is_recorded((uintptr_t)__builtin_return_address(0)))
        return ft_real()->sem_timedwait(semaphore, until);
    return wait_for(semaphore, &(struct wait){until, CLOCK_REALTIME});
}

int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
    if (!is_recorded((uintptr_t)__builtin_return_address(0)))
        return ft_real()->sem_clockwait(semaphore, clock, until);
    return wait_for(semaphore, &(struct wait){until, clock});
}

int sem_trywait(sem_t *semaphore)
{
    int before = errno, error;

    if (!ft_locks())
        return ft_real()->sem_trywait(semaphore);
    error = FT_LOCK_TAKES(FT_LOCK_SEMAPHORE, ft_lock_at(semaphore), try(semaphore), take_again(semaphore), ft_real()->sem_post(semaphore));
    errno = error ? error : before;
    return error ? -1 : 0;
}

/* Published before it is done: who gets it comes after that. */
int sem_post(sem_t *semaphore)
{
    struct ft_lock l;

    if (ft_locks()) {
        ft_busy();
        if (ft_lock_begin(&l, FT_LOCK_POST))
            ft_lock_again(&l, ft_lock_at(semaphore), 0);
        else
            ft_lock_took(ft_lock_at(semaphore), FT_LOCK_POST, 0);
        ft_idle();
    }
    return ft_real()->sem_post(semaphore);
}

int sem_getvalue(sem_t *semaphore, int *value)
{
    struct ft_lock l;
    int result;

    if (!ft_locks())
        return ft_real()->sem_getvalue(semaphore, value);
    ft_busy();
    if (ft_lock_begin(&l, FT_LOCK_VALUE)) {
        *value = l.result;
        ft_lock_given(&l);
        result = 0;
    } else {
        result = ft_real()->sem_getvalue(semaphore, value);
        ft_lock_told(FT_LOCK_VALUE, *value);
    }
    ft_idle();
    return result;
}
