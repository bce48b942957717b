/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's handlers are called by one of ours, ft_signals_arrive. A signal that has come from outside waits until the next recorded call
   begins, or the one that it interrupts ends: there a record says so, and a replay does the same there. EINTR is such a call's result. It
   is also that of one that would sleep, and begins while a signal waits: a timer ends it.

   The program may make no call for long, or none that a signal interrupts. After 100 ms its handler runs where it is: that cannot be
   done again, so older ways back are closed.

   At once, and not recorded: faults, and what the program sends to itself outside of calls. Both come again in a replay by
   themselves, or are of a thread that has closed older ways back (wrap_raise.c). SIGPIPE comes of a call, which a replay does not make. */
#include "ft/outcome/signals.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "ft/base/util.h"
#include "ft/outcome/child.h"
#include "ft/outcome/children.h"
#include "ft/outcome/handler.h"
#include "ft/outcome/mask.h"
#include "ft/outcome/task.h"

static const long PATIENCE = 100000000, HURRY = 1000000; /* ns */

_Thread_local volatile sig_atomic_t ft_signals_wait __attribute__((tls_model("initial-exec")));

/* Of each thread. */
static _Thread_local siginfo_t waiting[FT_SIGNALS_MOST]; /* more are dropped, as the kernel drops a second one of the same number */
static _Thread_local unsigned come, gone;
static _Thread_local bool armed;           /* the end of patience is set */
static _Thread_local int timer;

_Atomic int ft_signals_timers;

/* ---- those that wait ---- */

static void be_patient(int signal, long ns)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signal, .sigev_value.sival_ptr = &timer};
    struct itimerspec end = {.it_value.tv_nsec = ns};

    if (armed)
        return;
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    armed = syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) == 0;
    if (!armed)
        return;
    atomic_fetch_add(&ft_signals_timers, 1);
    syscall(SYS_timer_settime, timer, 0, &end, NULL);
}

/* Signals that wait are told to the next process by the log's words: by number alone. */
static _Atomic uint64_t *words(void) { return &ft_recorder.log.words->signals; }

static uint64_t bit(int signal) { return 1ull << (signal - 1); }

/* It is told by its record from now on, be that done or only begun. */
static void in_record(int signal)
{
    ft_signals_taken(signal);
    for (unsigned i = gone; i != come; i++)
        if (waiting[i % FT_SIGNALS_MOST].si_signo == signal)
            return;
    atomic_fetch_and(words(), ~bit(signal));
}

/* None waits any more, or not so long. */
static void be_at_ease(void)
{
    if (armed) {
        syscall(SYS_timer_delete, timer);
        atomic_fetch_sub(&ft_signals_timers, 1);
    }
    armed = false;
}

static bool is_from_thread(const siginfo_t *info)
{
    return (info->si_code == SI_TKILL || info->si_code == SI_QUEUE) && info->si_pid == (pid_t)syscall(SYS_getpid);
}

static void put(const siginfo_t *info)
{
    if (come - gone == FT_SIGNALS_MOST)
        return;
    if (!is_from_thread(info))
        atomic_fetch_or(words(), bit(info->si_signo));
    else if (ft_thread.task)
        atomic_store(&ft_thread.task->signalled, true); /* until it has been handled */
    waiting[come % FT_SIGNALS_MOST] = *info;
    ft_signals_name(&waiting[come % FT_SIGNALS_MOST]);
    if (info->si_signo == SIGCHLD)
        ft_children_signal(&waiting[come % FT_SIGNALS_MOST]);
    come++;
    ft_signals_wait = (sig_atomic_t)(come - gone);
    be_patient(info->si_signo, PATIENCE);
}

static bool take(siginfo_t *info)
{
    sigset_t all, old;
    bool any;

    ft_busy(); /* or its program would have blocked all, if it were stopped here */
    sigfillset(&all);
    ft_mask_real(SIG_SETMASK, &all, &old);
    any = come != gone;
    if (any)
        *info = waiting[gone++ % FT_SIGNALS_MOST];
    ft_signals_wait = (sig_atomic_t)(come - gone);
    if (come == gone)
        be_at_ease();
    ft_mask_real(SIG_SETMASK, &old, NULL);
    ft_idle();
    return any;
}

/* Also when an exception leaves the handler. A jump does the same (left.h). */
static void be_as(const int *outside) { ft_thread.inside = *outside; }

static void lose_patience(ucontext_t *context)
{
    siginfo_t info;
    int first;

    be_at_ease();
    if (come == gone)
        return;
    first = waiting[gone % FT_SIGNALS_MOST].si_signo;
    if (ft_recorder.closes || (ft_thread.in_call && (ft_thread.ends == FT_CALL_ENDS || !(ft_handler_restarts(first))))) {
        be_patient(first, PATIENCE / 10); /* the call is interrupted now, and its end is not far, if it had reached the kernel */
        return;
    }
    if (!ft_thread.in_call)
        ft_recorder_live();
    while (come != gone) {
        int outside __attribute__((cleanup(be_as), unused)) = ft_thread.inside++;

        info = waiting[gone++ % FT_SIGNALS_MOST];
        ft_signals_wait = (sig_atomic_t)(come - gone);
        ft_recorder_close("a signal (%d) was handled while it computed, or waited in a call that goes on afterwards", info.si_signo);
        ft_alarm_sent(&info);
        in_record(info.si_signo);
        ft_handler_run_in_frame(info.si_signo, &info, context);
    }
}

static bool is_fault(int signal, const siginfo_t *info)
{
    return info->si_code > 0 && (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGTRAP);
}

/* By this thread, or by another one to it. (One to the whole rank may find it where it waits, and be in no copy.) */
static bool is_own(const siginfo_t *info)
{
    return ft_mask_is_sent(info) && info->si_pid == (pid_t)syscall(SYS_getpid) && !ft_thread.in_call && (is_from_thread(info) || !ft_waits_now());
}

/* Perhaps of a child that is not followed: who has waited for it has had this, too. */
static bool is_of_child(const siginfo_t *info)
{
    if (info->si_signo != SIGCHLD || info->si_code <= 0 || !ft_child_strangers)
        return false;
    ft_recorder_close("a child process of it has ended, and it has had some that are not followed");
    return true;
}

void ft_signals_come(int signal)
{
    siginfo_t info;
    bool again;

    if (!ft_mask_take(signal, &info, &again))
        return;
    if (is_own(&info) || is_of_child(&info))
        ft_handler_run(&info);
    else if (!again) /* or it came to the predecessor: the log or its words have it */
        put(&info);
}

/* The thread is not stopped in it before the program's mask is there: in the handler all is blocked, which the program has not done. */
void ft_signals_arrive(int signal, siginfo_t *info, void *context)
{
    siginfo_t *handed = ft_handler_handed(info);
    int error = errno;

    if (handed)
        ft_handler_run_in_frame(signal, handed, context);
    else if (info->si_code == SI_TIMER && info->si_value.sival_ptr == &timer)
        lose_patience(context);
    else if (!ft_recorder.on || !ft_thread.mine || is_fault(signal, info) || is_own(info) || is_of_child(info))
        ft_handler_run_in_frame(signal, info, context);
    else if (!ft_mask_is_held()) /* one that had come before a copy was made is told by the log, or the words */
        put(info);
    errno = error;
}

/* ---- records ---- */

static void put_record(struct ft_outcome *o, const siginfo_t *info, int step)
{
    o->step = (uint16_t)step;
    o->note[0] = (int64_t)ft_thread.locks;
    memcpy(ft_outcome_data(o), info, sizeof *info);
    ft_outcome_done(ft_thread.log, o, sizeof *info, ft_threads_number());
}

/* Before a call there may be one that came after another: after a reading of a clock, which is passed by. */
static bool is_of(const struct ft_outcome *o, int step)
{
    return o->step == step || (step == FT_SIGNALS_BEFORE && o->step == FT_SIGNALS_AFTER);
}

/* False: the next record is not one that belongs here. */
static bool give(int step)
{
    struct ft_outcome *o = ft_log_next();
    siginfo_t info = {.si_signo = o ? (int)o->what : 0};

    if (!o || o->kind != FT_CALL_SIGNAL || (o->state == FT_OUTCOME_DONE && !is_of(o, step)) || o->result)
        return false;
    ft_threads_arrived(o);
    ft_signals_repeated(info.si_signo);
    if (o->state == FT_OUTCOME_DONE) {
        ft_threads_await_turn(o->number);
        memcpy(&info, ft_outcome_data(o), sizeof info);
        ft_outcome_pass(ft_thread.log, o);
        ft_threads_given(o->number);
    } else {
        ft_threads_lock();
        ft_outcome_again(ft_thread.log, o, sizeof info);
        put_record(o, &info, step);
        ft_threads_unlock();
        ft_thread.resolves = true;
        ft_threads_resolved();
    }
    in_record(info.si_signo);
    ft_alarm_sent(&info);
    ft_handler_run(&info);
    return true;
}

static void tell(siginfo_t *info, int step)
{
    struct ft_outcome *o;

    ft_alarm_sent(info);
    ft_threads_lock();
    o = ft_threads_record(FT_CALL_SIGNAL, (uint64_t)info->si_signo, sizeof *info);
    in_record(info->si_signo);
    if (o)
        put_record(o, info, step);
    ft_threads_unlock();
}

/* Taken and recorded as a whole. Where this process has just been made of a copy the log says what comes next. */
static void record(int step)
{
    siginfo_t info;
    bool any;

    ft_recorder_live();
    ft_busy();
    any = ft_threads_ended() && take(&info);
    if (any)
        tell(&info, step);
    ft_idle();
    if (any)
        ft_handler_run(&info);
}

void ft_signals_hand_over(enum ft_signals_where where)
{
    int error = errno;

    for (;;)
        if (!ft_threads_ended()) {
            if (!give((int)where))
                break;
        } else if (ft_signals_wait) {
            record((int)where);
        } else {
            break;
        }
    errno = error;
}

void ft_signals_give(void)
{
    int error = errno;

    while (ft_thread.replays && !ft_threads_ended()) {
        (void)ft_log_peek(); /* what there is before that are readings */
        if (!give(FT_SIGNALS_BEFORE))
            break;
    }
    errno = error;
}

/* The thread's operations were no more than now. Of one that is begun and not done they were all that there were. */
static bool is_due(const struct ft_outcome *o)
{
    uint64_t locks = o->state == FT_OUTCOME_DONE ? (uint64_t)o->note[0] : ft_threads_before(ft_thread.number);

    return o->kind == FT_CALL_SIGNAL && locks <= ft_thread.locks;
}

void ft_signals_give_at_reading(uint64_t what)
{
    const struct ft_outcome *o;
    int error = errno;

    while (ft_thread.replays && !ft_threads_ended()) {
        o = ft_reading_next(what);
        if (!o || !is_due(o) || !give(FT_SIGNALS_BEFORE))
            break;
    }
    errno = error;
}

void ft_signals_give_at_lock(void)
{
    const struct ft_outcome *o;
    int error = errno;

    while ((o = ft_log_peek()) && is_due(o) && give(FT_SIGNALS_BEFORE))
        ;
    errno = error;
}

static bool are_to_end(int ends) { return ends == FT_CALL_ENDS || (ends == FT_CALL_RESTARTS && !ft_signals_restart_calls()); }

static void be_patient_again(long ns)
{
    sigset_t all, old;

    sigfillset(&all);
    ft_mask_real(SIG_SETMASK, &all, &old);
    if (come != gone) {
        be_at_ease();
        be_patient(waiting[gone % FT_SIGNALS_MOST].si_signo, ns);
    }
    ft_mask_real(SIG_SETMASK, &old, NULL);
}

void ft_signals_in_call(void)
{
    if (are_to_end(ft_thread.ends))
        be_patient_again(HURRY);
}

void ft_signals_past_call(void)
{
    be_patient_again(PATIENCE);
}

void ft_signals_before(int ends)
{
    int error = errno;

    if (ft_signals_wait && ft_threads_ended() && !are_to_end(ends))
        ft_signals_hand_over(FT_SIGNALS_BEFORE);
    errno = error;
}

void ft_signals_restart(void)
{
    gone = come;   /* the words tell what waited at the end, the log what was handed over */
    ft_signals_wait = 0;
    armed = false; /* timers are the dead process's */
}

void ft_signals_left_out(int signal) { atomic_fetch_and(words(), ~bit(signal)); }

bool ft_signals_restart_calls(void)
{
    for (unsigned i = gone; i != come; i++)
        if (!(ft_handler_restarts(waiting[i % FT_SIGNALS_MOST].si_signo)))
            return false;
    return true;
}

/* What waited at the end. */
static void put_left(void)
{
    uint64_t left = atomic_load(words());

    for (int s = 1; s < NSIG; s++)
        if (left & bit(s)) {
            siginfo_t info = {.si_signo = s, .si_code = s == SIGALRM ? SI_KERNEL : SI_USER};

            ft_signals_repeated(s);
            ft_signals_taken(s);
            ft_alarm_sent(&info);
            put(&info);
        }
}

/* Not stopped in between: it would be let go there, and what waited put twice. */
void ft_signals_release(void)
{
    ft_busy();
    if (ft_mask_is_held()) {
        if (ft_thread.number == 0)
            put_left();
        ft_mask_release();
    }
    ft_idle();
}

void ft_signals_let(ucontext_t *frame)
{
    if (!ft_mask_is_held() || !ft_recorder.switched || atomic_load(&ft_threads_replay))
        return;
    if (ft_thread.number == 0)
        put_left();
    ft_mask_release_in(frame);
}
