/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals that a thread sends to itself, or to another one of the rank. To itself: done again in a replay. To another one: where that is found
   no replay can tell, so older ways back are closed; and no copy is made until it has been found, for a signal that is pending, or has
   only just come, is in no copy (ft_signalled_begin). */
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "ft/outcome/mask.h"
#include "ft/outcome/process.h"
#include "ft/outcome/real.h"
#include "ft/outcome/record.h"
#include "ft/outcome/signals.h"
#include "ft/outcome/task.h"

/* ---- to itself ---- */

/* If it dies of that, the agent sees that nobody else has killed it. */
static void say_of_ours(int signal)
{
    if (ft_recorder.on)
        atomic_store(&ft_recorder.log.words->by_itself, (uint64_t)signal);
}

void ft_signals_left(void)
{
    say_of_ours(0);
    if (ft_signals_wait)
        ft_signals_past_call();
}

/* By whatever number it has: another one, if this process has been made of a copy since it was looked up. */
static int send_whole(int signal, int (*send)(int signal))
{
    uint32_t life;
    int result;

    do {
        life = ft_threads_life;
        result = send(signal);
    } while (result < 0 && errno == ESRCH && life != ft_threads_life);
    return result;
}

/* It is handled before this returns; a replay blocks it, and may have begun after it was called. */
int ft_signals_to_self(int signal, int (*send)(int signal))
{
    sigset_t masked;
    int result;

    say_of_ours(signal);
    result = send_whole(signal, send);
    if (ft_mask_is_held()) {
        ft_signals_masked(&masked);
        if (sigismember(&masked, signal) == 0)
            ft_mask_let_come(signal);
    }
    say_of_ours(0);
    return result;
}

static pid_t process(void) { return (pid_t)syscall(SYS_getpid); }

static int send_to_this(int signal) { return (int)syscall(SYS_tgkill, process(), syscall(SYS_gettid), signal); }

void ft_signals_hand_to_self(int signal)
{
    send_whole(signal, send_to_this);
    ft_mask_let_come(signal);
}

static _Thread_local sigval_t value_for_this;

static int send_value(pid_t thread, int signal, sigval_t value)
{
    siginfo_t info = {.si_signo = signal, .si_code = SI_QUEUE};

    info.si_pid = process();
    info.si_uid = getuid();
    info.si_value = value;
    return (int)syscall(SYS_rt_tgsigqueueinfo, process(), thread, signal, &info);
}

static int send_value_to_this(int signal) { return send_value((pid_t)syscall(SYS_gettid), signal, value_for_this); }

/* ---- to another thread ---- */

/* Until it has been found (ft_signals_found). Twice, for that may find nothing just before it is sent. */
void ft_signalled_begin(struct ft_task *t)
{
    ft_busy();
    if (t)
        atomic_store(&t->signalled, true);
}

void ft_signalled_end(struct ft_task *t)
{
    if (t)
        atomic_store(&t->signalled, true);
    if (t && atomic_load(&t->held) && ft_recorder.switched && !atomic_load(&ft_threads_replay))
        ft_stand_ask(t); /* it waits since before the replay's end, in a call that is not recorded */
    ft_idle();
}

void ft_signals_found(void)
{
    struct ft_task *t = ft_thread.task;
    sigset_t pending;
    int error = errno;

    if (!t || !atomic_load_explicit(&t->signalled, memory_order_relaxed) || ft_signals_wait)
        return;
    atomic_store(&t->signalled, false);
    syscall(SYS_rt_sigpending, &pending, NSIG / 8); /* also: one that is not blocked comes now */
    for (int s = 1; s < NSIG; s++)
        if (sigismember(&pending, s) == 1)
            atomic_store(&t->signalled, true);
    errno = error;
}

/* Not before ft_signalled_begin: a copy that is made in between would be one of before, and open. Two of them find no handler. */
static void close_ways_back(int signal)
{
    if (signal && signal != SIGKILL && signal != SIGSTOP && ft_recording())
        ft_recorder_close("a thread of it has sent another one a signal (%d)", signal);
}

/* The kernel gives it to the first thread that does not block it, main's first of all. */
int ft_signals_to_rank(int signal, int (*send)(int signal))
{
    sigset_t masked;
    int result;

    ft_signals_masked(&masked);
    if (!ft_threads_many || !ft_recorder.on || (ft_thread.number == 0 && sigismember(&masked, signal) == 0))
        return ft_signals_to_self(signal, send);
    ft_signalled_begin(NULL);
    close_ways_back(signal);
    say_of_ours(signal);
    result = send(signal);
    say_of_ours(0);
    ft_signalled_end(NULL);
    return result;
}

static int as_error(int result, int error_before)
{
    int error = result < 0 ? errno : 0;

    errno = error_before;
    return error;
}

/* The C library knows the number that it had first (stand.h). */
int pthread_kill(pthread_t thread, int signal)
{
    struct ft_task *t = ft_recorder.on ? ft_stand_of(thread) : NULL;
    int error = errno, result;

    if (pthread_equal(thread, pthread_self()))
        return as_error(ft_signals_to_self(signal, send_to_this), error);
    ft_signalled_begin(t);
    close_ways_back(signal);
    result = t ? as_error((int)syscall(SYS_tgkill, process(), atomic_load(&t->tid), signal), error) : ft_real()->pthread_kill(thread, signal);
    ft_signalled_end(t);
    return t && result == ESRCH ? 0 : result; /* it has ended, and has not been joined */
}

int pthread_sigqueue(pthread_t thread, int signal, const sigval_t value)
{
    struct ft_task *t = ft_recorder.on ? ft_stand_of(thread) : NULL;
    int error = errno, result;

    if (pthread_equal(thread, pthread_self())) {
        value_for_this = value;
        return as_error(ft_signals_to_self(signal, send_value_to_this), error);
    }
    ft_signalled_begin(t);
    close_ways_back(signal);
    result = t ? as_error(send_value(atomic_load(&t->tid), signal, value), error) : ft_real()->pthread_sigqueue(thread, signal, value);
    ft_signalled_end(t);
    return t && result == ESRCH ? 0 : result;
}

/* By the numbers that the program was told. */
int tgkill(pid_t group, pid_t told, int signal)
{
    struct ft_task *t;
    int result;

    if (!ft_recorder.on || group != getpid())
        return (int)syscall(SYS_tgkill, ft_process_to_kernel(group), told, signal);
    if (told == gettid())
        return ft_signals_to_self(signal, send_to_this);
    t = ft_stand_told(told);
    ft_signalled_begin(t);
    close_ways_back(signal);
    result = (int)syscall(SYS_tgkill, process(), t ? atomic_load(&t->tid) : told, signal);
    ft_signalled_end(t);
    return result;
}

int raise(int signal)
{
    int error = pthread_kill(pthread_self(), signal);

    if (error == 0)
        return 0;
    errno = error;
    return -1;
}
