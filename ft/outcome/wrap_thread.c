/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads are made: their number is in a record of their creator's. That has no turn among those of other threads, and a replay makes
   the thread anew without waiting for others than the one that had its number before: it may be needed for the others to go on. */
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
#include "ft/outcome/robust.h"
#include "ft/outcome/signals.h"
#include "ft/outcome/task.h"

struct beginning {
    void *(*run)(void *arg); /* one of them */
    int (*run_c11)(void *arg);
    void *arg;
    struct ft_outcome_log log;
    uint32_t number;
    size_t stack_bytes;      /* 0: as is usual */
    struct ft_task *task;
    sigset_t masked;
    struct ft_readings readings;
    _Atomic uint32_t goes;   /* its creator has the record of it */
};

/* `what` of their records */
enum { MADE, ENDED };

static pthread_key_t ends;
static bool sees_ends;

/* The record at hand in a replay, if there is one. */
static struct ft_outcome *given(int what, const char *does)
{
    struct ft_outcome *o = NULL;

    if (ft_thread.replays) {
        ft_signals_give_at_lock();
        o = ft_log_peek();
    }
    if (o && (o->kind != FT_CALL_THREAD || o->what != (uint64_t)what))
        ft_recorder_lost("a replay %s a thread where its predecessor did not", does);
    if (o)
        ft_log_take(o);
    return o;
}

static void end(void)
{
    struct ft_outcome *o;

    ft_busy(); /* as a whole: no copy has half an end */
    o = given(ENDED, "ended");
    if (o || !ft_recorder.on || ft_log_put(FT_CALL_THREAD, ENDED, 0, 0))
        ft_threads_end();
    if (o)
        ft_threads_made();
    ft_idle();
}

/* Called again in each of the rounds that the C library goes through what threads have: other destructors may make calls. */
static void on_end(void *round)
{
    static const char rounds[PTHREAD_DESTRUCTOR_ITERATIONS];
    const char *r = round ? (char *)round + 1 : rounds;

    if (r < rounds + PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_setspecific(ends, r);
    else if (ft_thread.mine)
        end();
}

/* Returns what the thread runs. */
static struct beginning begin(void *arg)
{
    struct beginning *shared = arg, own;

    ft_busy();
    while (!atomic_load(&shared->goes))
        syscall(SYS_futex, &shared->goes, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    own = *shared;
    free(shared);
    ft_threads_begin(own.number, &own.log, own.task);
    ft_signals_inherit(&own.masked);
    ft_readings = own.readings;
    ft_robust_begin();
    if (sees_ends)
        on_end(NULL);
    ft_idle();
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

static void let_go(struct beginning *b, pthread_t thread, uint32_t number)
{
    ft_threads_many = true;
    b->number = number;
    ft_threads_lock();
    b->task = ft_stand_add(thread, b->stack_bytes);
    ft_threads_unlock();
    b->log = *ft_thread.log;
    ft_signals_masked(&b->masked);
    b->readings = ft_readings;
    atomic_store(&b->goes, 1);
    syscall(SYS_futex, &b->goes, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* What to make, and how: make returns 0 or an error. */
struct asked {
    int (*make)(const struct asked *a, struct beginning *b);
    pthread_t *thread;
    const pthread_attr_t *attributes;
};

static int create(const struct beginning *what, const struct asked *a, struct ft_outcome *o)
{
    struct beginning *b;
    int64_t life = o ? o->result : 0;
    uint32_t number = FT_THREADS_NONE;
    int error;

    if (life < 0)
        return o->error;
    b = malloc(sizeof *b);
    if (!b)
        return EAGAIN;
    *b = *what;
    if (o)
        number = ft_threads_occupy(life);
    error = a->make(a, b);
    if (o && error)
        ft_recorder_lost("a replay cannot make a thread that its predecessor could make (%s)", strerrorname_np(error));
    if (!o) {
        ft_threads_lock();
        life = error ? -1 : ft_threads_new();
        if (life < 0 && !error)
            ft_recorder_close("it has more than %d threads", FT_OUTCOME_THREADS - 1);
        if (ft_log_put(FT_CALL_THREAD, MADE, life, error) && life >= 0)
            number = ft_threads_occupy(life);
        ft_threads_unlock();
    }
    if (error)
        free(b);
    else
        let_go(b, *a->thread, number);
    return error;
}

/* As a whole: no copy has half a thread. */
static int do_create(const struct beginning *what, const struct asked *a)
{
    struct ft_outcome *o;
    int result;

    ft_python_first_thread();
    ft_task_learn();
    if (!ft_threads_many)
        sees_ends = pthread_key_create(&ends, on_end) == 0; /* or no number is used again */
    ft_busy();
    o = given(MADE, "made");
    if (!o && ft_recorder_replays()) /* or all is given: only then it is known which numbers are free */
        ft_recorder_lost("a replay made call %s where a thread had locks to take", "pthread_create");
    result = create(what, a, o);
    if (o)
        ft_threads_made();
    ft_idle();
    return result;
}

static int make(const struct asked *a, struct beginning *b) { return ft_real()->pthread_create(a->thread, a->attributes, run, b); }

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *arg)
{
    struct beginning what = {.run = start, .arg = arg};

    if (!ft_recording())
        return ft_real()->pthread_create(thread, attributes, start, arg);
    if (attributes)
        pthread_attr_getstacksize(attributes, &what.stack_bytes);
    return do_create(&what, &(struct asked){make, thread, attributes});
}

/* A thrd_t is a pthread_t in the C library. */
static int make_c11(const struct asked *a, struct beginning *b) { return ft_real()->thrd_create(a->thread, run_c11, b); }

int thrd_create(thrd_t *thread, thrd_start_t start, void *arg)
{
    if (!ft_recording())
        return ft_real()->thrd_create(thread, start, arg);
    return do_create(&(struct beginning){.run_c11 = start, .arg = arg}, &(struct asked){make_c11, thread, NULL});
}

/* Where that finds the other thread no replay can tell. Of a thread that was put back the C library's signal goes to the number that it had first. */
int pthread_cancel(pthread_t thread)
{
    enum { CANCEL = 32 };
    struct ft_task *t = ft_recorder.on ? ft_stand_of(thread) : NULL;
    int error, before = errno;

    if (pthread_equal(thread, pthread_self()))
        return ft_real()->pthread_cancel(thread); /* it may not come back */
    ft_signalled_begin(t);
    if (ft_recording())
        ft_recorder_close("it has cancelled a thread");
    error = ft_real()->pthread_cancel(thread);
    if (error == ESRCH && t) {
        syscall(SYS_tgkill, syscall(SYS_getpid), atomic_load(&t->tid), CANCEL);
        error = 0;
    }
    ft_signalled_end(t);
    errno = before;
    return error;
}

/* ---- of one thread: the C library tells the kernel the number that it had first (stand.h) ---- */

/* The kernel's number; 0: the thread that calls; -1: not known here. */
static pid_t number_of(pthread_t thread)
{
    const struct ft_task *t;

    if (!ft_recorder.on)
        return -1;
    if (pthread_equal(thread, pthread_self()))
        return 0;
    t = ft_stand_of(thread);
    return t ? atomic_load(&t->tid) : -1;
}

/* The same, for functions that translate what the program was told. */
static pid_t told_of(pthread_t thread)
{
    pid_t number = number_of(thread);

    return number > 0 ? ft_stand_of(thread)->told : number;
}

/* Of a call that says what is wrong by errno; that stays as it was. */
static int as_number(long result, int error_before)
{
    int error = result < 0 ? errno : 0;

    errno = error_before;
    return error;
}

int pthread_getaffinity_np(pthread_t thread, size_t n, cpu_set_t *to)
{
    pid_t number = told_of(thread);
    int error = errno;

    return number >= 0 ? as_number(sched_getaffinity(number, n, to), error) : ft_real()->pthread_getaffinity_np(thread, n, to);
}

int pthread_setaffinity_np(pthread_t thread, size_t n, const cpu_set_t *to)
{
    pid_t number = told_of(thread);
    int error = errno;

    return number >= 0 ? as_number(sched_setaffinity(number, n, to), error) : ft_real()->pthread_setaffinity_np(thread, n, to);
}

int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *to)
{
    pid_t number = number_of(thread);
    int error = errno, found;

    if (number < 0)
        return ft_real()->pthread_getschedparam(thread, policy, to);
    found = sched_getscheduler(number);
    if (found < 0)
        return as_number(found, error);
    *policy = found;
    return as_number(sched_getparam(number, to), error);
}

int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *to)
{
    pid_t number = number_of(thread);
    int error = errno;

    return number >= 0 ? as_number(sched_setscheduler(number, policy, to), error) : ft_real()->pthread_setschedparam(thread, policy, to);
}

int pthread_setschedprio(pthread_t thread, int priority)
{
    pid_t number = number_of(thread);
    int error = errno;

    if (number < 0)
        return ft_real()->pthread_setschedprio(thread, priority);
    return as_number(sched_setparam(number, &(struct sched_param){.sched_priority = priority}), error);
}

/* The kernel's clock of a thread: its number, and what is measured (CLOCK_THREAD_CPUTIME_ID's kind). */
int pthread_getcpuclockid(pthread_t thread, clockid_t *to)
{
    pid_t number = number_of(thread);

    if (number < 0)
        return ft_real()->pthread_getcpuclockid(thread, to);
    *to = (clockid_t)(~(unsigned)(number ? number : (pid_t)syscall(SYS_gettid)) << 3 | 6);
    return 0;
}
