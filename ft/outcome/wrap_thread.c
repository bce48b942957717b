/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads are made: their number is in a record of their creator's. That has no turn among those of other threads, and a replay makes
   the thread anew without waiting: it may be needed for the others to go on. */
#include "ft/outcome/real.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>

#include "ft/outcome/python.h"
#include "ft/outcome/record.h"
#include "ft/outcome/signals.h"

struct beginning {
    void *(*run)(void *arg); /* one of them */
    int (*run_c11)(void *arg);
    void *arg;
    struct ft_outcome_log log;
    uint32_t number;
    sigset_t masked;
    _Atomic uint32_t goes;   /* its creator has the record of it */
};

/* Returns what the thread runs. */
static struct beginning begin(void *arg)
{
    struct beginning *shared = arg, own;

    while (!atomic_load(&shared->goes))
        syscall(SYS_futex, &shared->goes, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    own = *shared;
    free(shared);
    ft_threads_begin(own.number, &own.log);
    ft_signals_inherit(&own.masked);
    return own;
}

static void *run(void *arg)
{
    struct beginning b = begin(arg);

    return b.run(b.arg);
}

static int run_c11(void *arg)
{
    struct beginning b = begin(arg);

    return b.run_c11(b.arg);
}

/* So it was before: it is made again, or was not for want of something. */
static struct ft_outcome *given(void)
{
    struct ft_outcome *o = ft_thread.replays ? ft_log_peek() : NULL;

    if (o && o->kind != FT_CALL_THREAD)
        ft_recorder_lost("a replay made a thread where its predecessor did not");
    if (o)
        ft_log_take(o);
    return o;
}

static void let_go(struct beginning *b, uint32_t number)
{
    b->number = number;
    b->log = *ft_thread.log;
    ft_signals_masked(&b->masked);
    ft_threads_many = true;
    atomic_store(&b->goes, 1);
    syscall(SYS_futex, &b->goes, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* make: makes one, which waits. Returns what that does: 0 or an error. */
static int do_create(struct beginning what, int (*make)(struct beginning *b, void *arg), void *arg)
{
    struct ft_outcome *o;
    struct beginning *b;
    int number = 0, error;

    ft_python_first_thread();
    o = given();
    if (o && o->result < 0)
        return o->error;
    b = malloc(sizeof *b);
    if (!b)
        return EAGAIN;
    *b = what;
    error = make(b, arg);
    if (o && error)
        ft_recorder_lost("a replay cannot make a thread that its predecessor could make (%s)", strerrorname_np(error));
    if (o) {
        let_go(b, (uint32_t)o->result);
        return 0;
    }
    ft_threads_lock();
    number = error ? -1 : ft_threads_new();
    if (number < 0 && !error)
        ft_recorder_close("it has made more than %d threads", FT_OUTCOME_THREADS - 1);
    o = ft_log_put(FT_CALL_THREAD, 0, number, error);
    ft_threads_unlock();
    if (error) {
        free(b);
        return error;
    }
    let_go(b, number < 0 || !o ? FT_THREADS_NONE : (uint32_t)number);
    return 0;
}

struct asked {
    pthread_t *thread;
    const pthread_attr_t *attributes;
    thrd_t *thread_c11;
};

static int make(struct beginning *b, void *arg)
{
    const struct asked *a = arg;

    return ft_real()->pthread_create(a->thread, a->attributes, run, b);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *arg)
{
    if (!ft_recording())
        return ft_real()->pthread_create(thread, attributes, start, arg);
    return do_create((struct beginning){.run = start, .arg = arg}, make, &(struct asked){thread, attributes, NULL});
}

static int make_c11(struct beginning *b, void *arg)
{
    const struct asked *a = arg;

    return ft_real()->thrd_create(a->thread_c11, run_c11, b);
}

int thrd_create(thrd_t *thread, thrd_start_t start, void *arg)
{
    if (!ft_recording())
        return ft_real()->thrd_create(thread, start, arg);
    return do_create((struct beginning){.run_c11 = start, .arg = arg}, make_c11, &(struct asked){NULL, NULL, thread});
}

/* Where that finds the other thread no replay can tell. */
int pthread_cancel(pthread_t thread)
{
    if (ft_recording())
        ft_recorder_close("it has cancelled a thread");
    return ft_real()->pthread_cancel(thread);
}

/* ---- of the thread that calls: the C library asks the kernel by the number that it had in its first incarnation (ft_image_clone) ---- */

static bool is_self(pthread_t thread) { return ft_recorder.on && pthread_equal(thread, pthread_self()); }

/* Of a call that says what is wrong by errno; that stays as it was. */
static int as_number(int result, int error_before)
{
    int error = result < 0 ? errno : 0;

    errno = error_before;
    return error;
}

int pthread_getaffinity_np(pthread_t thread, size_t n, cpu_set_t *to)
{
    int error = errno;

    return is_self(thread) ? as_number(sched_getaffinity(0, n, to), error) : ft_real()->pthread_getaffinity_np(thread, n, to);
}

int pthread_setaffinity_np(pthread_t thread, size_t n, const cpu_set_t *to)
{
    int error = errno;

    return is_self(thread) ? as_number(sched_setaffinity(0, n, to), error) : ft_real()->pthread_setaffinity_np(thread, n, to);
}

int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *to)
{
    int error = errno, found;

    if (!is_self(thread))
        return ft_real()->pthread_getschedparam(thread, policy, to);
    found = sched_getscheduler(0);
    if (found < 0)
        return as_number(found, error);
    *policy = found;
    return as_number(sched_getparam(0, to), error);
}

int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *to)
{
    int error = errno;

    return is_self(thread) ? as_number(sched_setscheduler(0, policy, to), error) : ft_real()->pthread_setschedparam(thread, policy, to);
}

int pthread_setschedprio(pthread_t thread, int priority)
{
    int error = errno;

    if (!is_self(thread))
        return ft_real()->pthread_setschedprio(thread, priority);
    return as_number(sched_setparam(0, &(struct sched_param){.sched_priority = priority}), error);
}

/* The kernel's clock of a thread: its number, and what is measured (CLOCK_THREAD_CPUTIME_ID's kind). */
int pthread_getcpuclockid(pthread_t thread, clockid_t *to)
{
    if (!is_self(thread))
        return ft_real()->pthread_getcpuclockid(thread, to);
    *to = (clockid_t)(~(unsigned)syscall(SYS_gettid) << 3 | 6);
    return 0;
}
