/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's handlers are called by one of ours, `arrive`. A signal that has come from outside waits until the next recorded call
   begins, or the one that it interrupts ends: there a record says so, and a replay does the same there. EINTR is such a call's result.

   The program may make no call for long, or none that a signal interrupts. After 100 ms its handler runs where it is: that cannot be
   done again, so older ways back are closed.

   At once, and not recorded: faults, and what the program sends to itself outside of calls. Both come again in a replay by
   themselves. SIGPIPE comes of a call, which a replay does not make.

   In a replay all are blocked; which ones the program has blocked is kept here. */
#include "ft/outcome/signals.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "ft/base/util.h"
#include "ft/outcome/real.h"

static const long PATIENCE = 100000000; /* ns */

volatile sig_atomic_t ft_signals_wait;

static struct sigaction handlers[NSIG];    /* the program's, where ours is in its place */
static siginfo_t waiting[FT_SIGNALS_MOST]; /* more are dropped, as the kernel drops a second one of the same number */
static unsigned come, gone;
static bool held;                          /* a replay: */
static sigset_t masked;                    /* what the program has blocked */
static bool armed;                         /* the end of patience is set */
static int timer;

static void arrive(int signal, siginfo_t *info, void *context);

/* ---- masks ---- */

static void set_real(int how, const sigset_t *set, sigset_t *old)
{
    syscall(SYS_rt_sigprocmask, how, set, old, NSIG / 8);
}

static sigset_t all_from_outside(void)
{
    sigset_t set;

    sigfillset(&set);
    sigdelset(&set, SIGSEGV);
    sigdelset(&set, SIGBUS);
    sigdelset(&set, SIGFPE);
    sigdelset(&set, SIGILL);
    sigdelset(&set, SIGTRAP);
    sigdelset(&set, SIGABRT);
    return set;
}

/* By a process. */
static bool is_sent(const siginfo_t *info)
{
    return info->si_code == SI_USER || info->si_code == SI_TKILL || info->si_code == SI_QUEUE;
}

static bool is_held(void) { return held && ft_recorded_thread.mine; }

static void change(sigset_t *set, int how, const sigset_t *by)
{
    for (int s = 1; s < NSIG; s++)
        if (how == SIG_SETMASK ? sigismember(by, s) == 0 : how == SIG_UNBLOCK && sigismember(by, s) == 1)
            sigdelset(set, s);
        else if (how != SIG_UNBLOCK && sigismember(by, s) == 1)
            sigaddset(set, s);
}

static void come_now(int signal);

/* In a replay: what it has sent to itself while that was blocked. */
static void change_masked(int how, const sigset_t *set)
{
    sigset_t before = masked, pending;

    change(&masked, how, set);
    syscall(SYS_rt_sigpending, &pending, NSIG / 8);
    for (int s = 1; s < NSIG; s++)
        if (sigismember(&before, s) == 1 && sigismember(&masked, s) == 0 && sigismember(&pending, s) == 1)
            come_now(s);
}

static int mask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t wanted;

    if (!is_held())
        return ft_real()->pthread_sigmask(how, set, old);
    if (set)
        wanted = *set; /* it may be where the old one goes */
    if (how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK)
        return EINVAL;
    if (old)
        *old = masked;
    if (set)
        change_masked(how, &wanted);
    return 0;
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    if (set && ft_recording())
        ft_signals_at(FT_SIGNALS_SETTING);
    return mask(how, set, old);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    int error = pthread_sigmask(how, set, old);

    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

/* Those that the program had blocked, and that were pending when the copy was made. The kernel has forgotten them with the process. */
static struct ft_signals_pending owed;

static void send_again(siginfo_t *info) { syscall(SYS_rt_sigqueueinfo, (pid_t)syscall(SYS_getpid), info->si_signo, info); }

/* Takes one that is pending. */
static bool next_pending(const sigset_t *of, siginfo_t *info)
{
    return syscall(SYS_rt_sigtimedwait, of, info, &(struct timespec){0}, NSIG / 8) > 0;
}

void ft_signals_look(const sigset_t *mask, struct ft_signals_pending *p)
{
    sigset_t pending, blocked;

    p->n = 0;
    syscall(SYS_rt_sigpending, &pending, NSIG / 8);
    sigandset(&blocked, mask, &pending);
    while (p->n < FT_SIGNALS_MOST && next_pending(&blocked, &p->of[p->n]))
        p->n++;
    for (int i = 0; i < p->n; i++)
        send_again(&p->of[i]);
}

static bool is_owed(int signal)
{
    for (int i = 0; i < owed.n; i++)
        if (owed.of[i].si_signo == signal)
            return true;
    return false;
}

static void forget_owed(int signal)
{
    int i = 0;

    while (i < owed.n && owed.of[i].si_signo != signal)
        i++;
    if (i == owed.n)
        return;
    owed.n--;
    memmove(&owed.of[i], &owed.of[i + 1], (size_t)(owed.n - i) * sizeof owed.of[0]);
}

void ft_signals_taken(int signal)
{
    siginfo_t info;
    sigset_t one;

    if (!is_owed(signal))
        return;
    forget_owed(signal);
    sigemptyset(&one);
    sigaddset(&one, signal);
    next_pending(&one, &info);
}

void ft_signals_hold(const sigset_t *mask, const struct ft_signals_pending *pending, pid_t before)
{
    sigset_t all = all_from_outside();

    set_real(SIG_SETMASK, &all, NULL);
    masked = *mask;
    owed = *pending;
    for (int i = 0; i < owed.n; i++) {
        if (is_sent(&owed.of[i]) && owed.of[i].si_pid == before)
            owed.of[i].si_pid = (pid_t)syscall(SYS_getpid);
        send_again(&owed.of[i]); /* the program may look for it */
    }
    held = true;
    gone = come;   /* the words tell what waited at the end, the log what was handed over */
    ft_signals_wait = 0;
    armed = false; /* timers are the dead process's */
}

/* ---- the program's handlers ---- */

static void run(int signal, siginfo_t *info, void *context)
{
    static ucontext_t nowhere;
    struct sigaction h = handlers[signal];
    struct sigaction none = {.sa_handler = SIG_DFL};

    if (h.sa_flags & SA_RESETHAND)
        sigaction(signal, &none, NULL);
    if (h.sa_flags & SA_SIGINFO)
        h.sa_sigaction(signal, info, context ? context : &nowhere);
    else if (h.sa_handler)
        h.sa_handler(signal);
}

/* Outside of a signal's frame: what is blocked in the meantime is what the kernel would block. */
static void run_here(siginfo_t *info)
{
    struct sigaction *h = &handlers[info->si_signo];
    sigset_t set = h->sa_mask, old;

    if (!(h->sa_flags & SA_NODEFER))
        sigaddset(&set, info->si_signo);
    mask(SIG_BLOCK, &set, &old);
    run(info->si_signo, info, NULL);
    mask(SIG_SETMASK, &old, NULL);
}

/* In our handler's frame, all are blocked. */
static void run_in_frame(int signal, siginfo_t *info, ucontext_t *context)
{
    sigset_t set = context->uc_sigmask;

    change(&set, SIG_BLOCK, &handlers[signal].sa_mask);
    if (!(handlers[signal].sa_flags & SA_NODEFER))
        sigaddset(&set, signal);
    set_real(SIG_SETMASK, &set, NULL);
    run(signal, info, context);
}

/* ---- those that wait ---- */

static void be_patient(int signal)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signal, .sigev_value.sival_ptr = &timer};
    struct itimerspec end = {.it_value.tv_nsec = PATIENCE};

    if (armed)
        return;
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    armed = syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) == 0 && syscall(SYS_timer_settime, timer, 0, &end, NULL) == 0;
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

/* None waits any more. */
static void be_at_ease(void)
{
    if (armed)
        syscall(SYS_timer_delete, timer);
    armed = false;
}

static void put(const siginfo_t *info)
{
    if (come - gone == FT_SIGNALS_MOST)
        return;
    atomic_fetch_or(words(), bit(info->si_signo));
    waiting[come++ % FT_SIGNALS_MOST] = *info;
    ft_signals_wait = (sig_atomic_t)(come - gone);
    be_patient(info->si_signo);
}

static bool take(siginfo_t *info)
{
    sigset_t all, old;
    bool any;

    sigfillset(&all);
    set_real(SIG_SETMASK, &all, &old);
    any = come != gone;
    if (any)
        *info = waiting[gone++ % FT_SIGNALS_MOST];
    ft_signals_wait = (sig_atomic_t)(come - gone);
    if (come == gone)
        be_at_ease();
    set_real(SIG_SETMASK, &old, NULL);
    return any;
}

static void lose_patience(ucontext_t *context)
{
    siginfo_t info;

    be_at_ease();
    if (come == gone)
        return;
    if (ft_recorder.in_call && !(handlers[waiting[gone % FT_SIGNALS_MOST].si_signo].sa_flags & SA_RESTART)) {
        be_patient(waiting[gone % FT_SIGNALS_MOST].si_signo); /* the call is interrupted now, and its end is not far */
        return;
    }
    if (!ft_recorder.in_call)
        ft_recorder_live();
    while (come != gone) {
        info = waiting[gone++ % FT_SIGNALS_MOST];
        ft_signals_wait = (sig_atomic_t)(come - gone);
        ft_recorder_close("a signal (%d) was handled while it computed, or waited in a call that goes on afterwards", info.si_signo);
        ft_alarm_sent(&info);
        in_record(info.si_signo);
        ft_inside(); /* for ever, if it does not come back (siglongjmp): then there is no copy any more (copies.c) */
        run_in_frame(info.si_signo, &info, context);
        ft_outside();
    }
}

static bool is_fault(int signal, const siginfo_t *info)
{
    return info->si_code > 0 && (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGTRAP);
}

static bool is_own(const siginfo_t *info)
{
    return is_sent(info) && info->si_pid == (pid_t)syscall(SYS_getpid) && !ft_recorder.in_call;
}

/* Of a child: nothing of it is followed, and who has waited for it has had this, too. */
static bool is_of_child(const siginfo_t *info)
{
    if (info->si_signo != SIGCHLD || info->si_code <= 0)
        return false;
    ft_recorder_close("a child process of it has ended");
    return true;
}

static void come_now(int signal)
{
    bool again = is_owed(signal);
    siginfo_t info;
    sigset_t one;

    sigemptyset(&one);
    sigaddset(&one, signal);
    if (!next_pending(&one, &info))
        return;
    if (again)
        forget_owed(signal);
    if (is_own(&info) || is_of_child(&info))
        run_here(&info);
    else if (!again) /* or it came to the predecessor: the log or its words have it */
        put(&info);
}

static void arrive(int signal, siginfo_t *info, void *context)
{
    int error = errno;

    if (info->si_code == SI_TIMER && info->si_value.sival_ptr == &timer)
        lose_patience(context);
    else if (!ft_recorder.on || !ft_recorded_thread.mine || is_fault(signal, info) || is_own(info) || is_of_child(info))
        run_in_frame(signal, info, context);
    else
        put(info);
    errno = error;
}

/* ---- records ---- */

/* False: the next record is not one that belongs here. */
static bool give(int step)
{
    struct ft_outcome *o = ft_outcome_next(&ft_recorder.log);
    siginfo_t info = {.si_signo = (int)o->what};

    if (o->kind != FT_CALL_SIGNAL || (o->step != step && o->state == FT_OUTCOME_DONE) || o->result)
        return false;
    if (o->state == FT_OUTCOME_DONE) {
        memcpy(&info, ft_outcome_data(o), sizeof info);
    } else {
        ft_outcome_again(&ft_recorder.log, o, sizeof info);
        memcpy(ft_outcome_data(o), &info, sizeof info);
        o->step = (uint16_t)step;
        ft_outcome_done(&ft_recorder.log, o, sizeof info);
    }
    ft_outcome_pass(&ft_recorder.log, o);
    in_record(info.si_signo);
    ft_alarm_sent(&info);
    run_here(&info);
    return true;
}

static void record(int step)
{
    struct ft_outcome *o;
    siginfo_t info;

    ft_recorder_live();
    if (!take(&info))
        return;
    ft_alarm_sent(&info);
    o = ft_outcome_begin(&ft_recorder.log, FT_CALL_SIGNAL, (uint64_t)info.si_signo, sizeof info);
    in_record(info.si_signo);
    if (o) {
        o->step = (uint16_t)step;
        memcpy(ft_outcome_data(o), &info, sizeof info);
        ft_outcome_done(&ft_recorder.log, o, sizeof info);
    }
    run_here(&info);
}

void ft_signals_hand_over(enum ft_signals_where where)
{
    int error = errno;

    for (;;)
        if (ft_recorder_replays()) {
            if (!give((int)where))
                break;
        } else if (ft_signals_wait) {
            record((int)where);
        } else {
            break;
        }
    errno = error;
}

void ft_signals_release(void)
{
    uint64_t left;

    if (!held)
        return;
    left = atomic_load(words());
    for (int s = 1; s < NSIG; s++)
        if (left & bit(s)) {
            siginfo_t info = {.si_signo = s, .si_code = s == SIGALRM ? SI_KERNEL : SI_USER};

            ft_signals_taken(s);
            ft_alarm_sent(&info);
            put(&info);
        }
    for (int i = 0; i < owed.n; i++)
        ft_alarm_sent(&owed.of[i]);
    owed.n = 0;
    held = false;
    ft_alarm_runs_on();
    set_real(SIG_SETMASK, &masked, NULL);
}

/* ---- what sets handlers ---- */

int sigaction(int signal, const struct sigaction *set, struct sigaction *old)
{
    struct sigaction ours, before;
    bool catches = set && set->sa_handler != SIG_DFL && set->sa_handler != SIG_IGN;
    int result;

    if (signal < 1 || signal >= NSIG)
        return ft_real()->sigaction(signal, set, old);
    if (!ft_recorder.on) { /* it has ended, or this is a child: ours may still be in the program's place */
        result = ft_real()->sigaction(signal, set, old);
        if (result == 0 && old && (old->sa_flags & SA_SIGINFO) && old->sa_sigaction == arrive)
            *old = handlers[signal];
        return result;
    }
    if (set && ft_recording())
        ft_signals_at(FT_SIGNALS_SETTING);
    if (set)
        ours = *set;
    if (catches) {
        ours.sa_sigaction = arrive;
        ours.sa_flags = (int)((unsigned)(set->sa_flags | SA_SIGINFO) & ~(unsigned)SA_RESETHAND);
        sigfillset(&ours.sa_mask);
    }
    before = handlers[signal];
    if (catches)
        handlers[signal] = *set;
    result = ft_real()->sigaction(signal, set ? &ours : NULL, old);
    if (result < 0)
        handlers[signal] = before;
    else if (old && (old->sa_flags & SA_SIGINFO) && old->sa_sigaction == arrive)
        *old = before;
    return result;
}

static sighandler_t set_simply(int number, sighandler_t handler, int flags)
{
    struct sigaction set = {.sa_handler = handler, .sa_flags = flags}, old;

    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    sigemptyset(&set.sa_mask);
    return sigaction(number, &set, &old) < 0 ? SIG_ERR : old.sa_handler;
}

/* What `signal` means depends on how the program was compiled. */
sighandler_t bsd_signal(int number, sighandler_t handler);
sighandler_t ssignal(int number, sighandler_t handler);
sighandler_t sysv_signal(int number, sighandler_t handler);
sighandler_t __sysv_signal(int number, sighandler_t handler);

sighandler_t signal(int number, sighandler_t handler) { return set_simply(number, handler, SA_RESTART); }
sighandler_t bsd_signal(int number, sighandler_t handler) { return signal(number, handler); }
sighandler_t ssignal(int number, sighandler_t handler) { return signal(number, handler); }
sighandler_t sysv_signal(int number, sighandler_t handler) { return set_simply(number, handler, (int)(SA_RESETHAND | SA_NODEFER)); }
sighandler_t __sysv_signal(int number, sighandler_t handler) { return sysv_signal(number, handler); }

int siginterrupt(int number, int interrupts)
{
    struct sigaction set;

    if (sigaction(number, NULL, &set) < 0)
        return -1;
    set.sa_flags = interrupts ? set.sa_flags & ~SA_RESTART : set.sa_flags | SA_RESTART;
    return sigaction(number, &set, NULL);
}

/* ---- to itself ---- */

int ft_signals_to_self(int signal, int (*send)(int signal))
{
    sigset_t one, old;
    int result;

    if (!is_held() || sigismember(&masked, signal) == 1)
        return send(signal);
    sigemptyset(&one);
    sigaddset(&one, signal);
    set_real(SIG_UNBLOCK, &one, &old);
    result = send(signal);
    set_real(SIG_SETMASK, &old, NULL);
    return result;
}

static int send_to_thread(int signal) { return ft_real()->pthread_kill(pthread_self(), signal); }

int pthread_kill(pthread_t thread, int signal)
{
    return pthread_equal(thread, pthread_self()) ? ft_signals_to_self(signal, send_to_thread) : ft_real()->pthread_kill(thread, signal);
}

int raise(int signal)
{
    int error = pthread_kill(pthread_self(), signal);

    if (error == 0)
        return 0;
    errno = error;
    return -1;
}
