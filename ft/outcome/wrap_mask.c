/* SPDX-License-Identifier: BSD-3-Clause */
/* Which signals are blocked. In a replay all of those from outside are; which ones the program has blocked is kept here. What was pending when
   the copy was made is pending again, as it was: a process takes that along into no other. */
#include "ft/outcome/mask.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>

#include "ft/outcome/child.h"
#include "ft/outcome/real.h"
#include "ft/outcome/record.h"
#include "ft/outcome/signals.h"
#include "ft/outcome/task.h"

static _Thread_local bool held;       /* a replay: */
static _Thread_local sigset_t masked; /* what the program has blocked */

void ft_mask_real(int how, const sigset_t *set, sigset_t *old)
{
    syscall(SYS_rt_sigprocmask, how, set, old, NSIG / 8);
}

/* From here on this thread is not stopped (stand.h), so no replay begins or ends for it, until the mask is set: to what this returns, or another one. */
static void be_whole(sigset_t *now)
{
    sigset_t stop = {{1ull << (FT_TASK_STOP - 1)}};

    ft_mask_real(SIG_BLOCK, &stop, now);
}

void ft_mask_let_come(int signal)
{
    bool before = ft_mask_is_held();
    sigset_t one, old, now;

    sigemptyset(&one);
    sigaddset(&one, signal);
    ft_mask_real(SIG_UNBLOCK, &one, &old);
    be_whole(&now);
    ft_mask_real(SIG_SETMASK, ft_mask_is_held() == before ? &old : &now, NULL); /* not if a replay has ended, or begun, in its handler */
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

/* As its own functions do with what a program asks for. */
static void leave_out_c_librarys(sigset_t *set) { set->__val[0] &= ~(3ull << (FT_TASK_STOP - 2)); }

bool ft_mask_is_sent(const siginfo_t *info)
{
    return info->si_code == SI_USER || info->si_code == SI_TKILL || info->si_code == SI_QUEUE;
}

static void hold(bool so)
{
    held = so;
    if (ft_thread.task)
        atomic_store(&ft_thread.task->held, so);
}

bool ft_mask_is_held(void) { return held && ft_thread.mine; }

void ft_mask_change(sigset_t *set, int how, const sigset_t *by)
{
    for (int s = 1; s < NSIG; s++)
        if (how == SIG_SETMASK ? sigismember(by, s) == 0 : how == SIG_UNBLOCK && sigismember(by, s) == 1)
            sigdelset(set, s);
        else if (how != SIG_UNBLOCK && sigismember(by, s) == 1)
            sigaddset(set, s);
}

/* In a replay: what it has sent to itself while that was blocked. */
static void come_unblocked(const sigset_t *before)
{
    sigset_t after = masked, pending;

    syscall(SYS_rt_sigpending, &pending, NSIG / 8);
    for (int s = 1; s < NSIG; s++)
        if (sigismember(before, s) == 1 && sigismember(&after, s) == 0 && sigismember(&pending, s) == 1)
            ft_signals_come(s);
}

int ft_mask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t now, before, *programs;
    bool in_replay;

    if (set && how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK)
        return EINVAL;
    be_whole(&now);
    in_replay = ft_mask_is_held();
    programs = in_replay ? &masked : &now;
    before = *programs;
    if (set) {
        ft_mask_change(programs, how, set);
        leave_out_c_librarys(programs);
    }
    ft_mask_real(SIG_SETMASK, &now, NULL);
    if (old)
        *old = before;
    if (set && in_replay)
        come_unblocked(&before);
    return 0;
}

void ft_mask_in_handler(const ucontext_t *frame, const sigset_t *blocked, sigset_t *before)
{
    sigset_t all = all_from_outside(), programs;

    *before = masked;
    if (!ft_mask_is_held())
        memcpy(before, &frame->uc_sigmask, NSIG / 8);
    programs = *before;
    ft_mask_change(&programs, SIG_BLOCK, blocked);
    if (ft_mask_is_held())
        masked = programs;
    ft_mask_real(SIG_SETMASK, ft_mask_is_held() ? &all : &programs, NULL);
}

void ft_mask_return(ucontext_t *frame, bool was_held, const sigset_t *before)
{
    sigset_t all = all_from_outside(), outer = *before, inner = masked, now;

    if (!was_held)
        memcpy(&outer, &frame->uc_sigmask, NSIG / 8);
    if (ft_mask_is_held()) { /* what it has sent to itself in the handler comes now */
        masked = outer;
        come_unblocked(&inner);
    }
    be_whole(&now);
    if (ft_mask_is_held()) {
        masked = outer;
        memcpy(&frame->uc_sigmask, &all, NSIG / 8);
    } else if (was_held) {
        memcpy(&frame->uc_sigmask, before, NSIG / 8);
    }
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    if (set && ft_recording())
        ft_signals_at(FT_SIGNALS_SETTING);
    return ft_mask(how, set, old);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    int error = pthread_sigmask(how, set, old);

    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

/* ---- as in other systems and times: sh uses the first of them. A mask is 32 bits, bit n - 1 for signal n ---- */

static sigset_t set_of(int mask)
{
    sigset_t set;

    sigemptyset(&set);
    for (int s = 1; s <= 32; s++)
        if ((unsigned)mask >> (s - 1) & 1)
            sigaddset(&set, s);
    return set;
}

static int mask_of(const sigset_t *set)
{
    unsigned mask = 0;

    for (int s = 1; s <= 32; s++)
        mask |= (unsigned)(sigismember(set, s) == 1) << (s - 1);
    return (int)mask;
}

static int change(int how, int mask)
{
    sigset_t set = set_of(mask), old;

    return sigprocmask(how, &set, &old) < 0 ? -1 : mask_of(&old);
}

int sigsetmask(int mask) { return change(SIG_SETMASK, mask); }
int sigblock(int mask) { return change(SIG_BLOCK, mask); }
int siggetmask(void) { return change(SIG_BLOCK, 0); }

static int change_one(int how, int number)
{
    sigset_t set;

    sigemptyset(&set);
    return sigaddset(&set, number) < 0 ? -1 : sigprocmask(how, &set, NULL);
}

int sighold(int number) { return change_one(SIG_BLOCK, number); }
int sigrelse(int number) { return change_one(SIG_UNBLOCK, number); }

/* The header gives it that name; the one of old BSD, whose argument is a mask, no program of today calls. */
int __xpg_sigpause(int number);

int __xpg_sigpause(int number)
{
    sigset_t set;

    if (sigprocmask(SIG_BLOCK, NULL, &set) < 0 || sigdelset(&set, number) < 0)
        return -1;
    return sigsuspend(&set);
}

/* ---- a replay ---- */

/* Those that the program had blocked, and that were pending when the copy was made. The kernel has forgotten them with the process. */
static struct ft_signals_pending owed;

/* As it was: to the process. The kernel lets only its first thread say that it is of another process, or of the kernel; another one has it for itself. */
static bool is_first(void) { return syscall(SYS_gettid) == syscall(SYS_getpid); }

static void send_again(siginfo_t *info)
{
    pid_t process = (pid_t)syscall(SYS_getpid);

    if (syscall(SYS_rt_sigqueueinfo, process, info->si_signo, info) < 0)
        syscall(SYS_rt_tgsigqueueinfo, process, (pid_t)syscall(SYS_gettid), info->si_signo, info);
}

static bool take_pending(const sigset_t *of, siginfo_t *info)
{
    return syscall(SYS_rt_sigtimedwait, of, info, &(struct timespec){0}, NSIG / 8) > 0;
}

bool ft_signals_look(const sigset_t *mask, struct ft_signals_pending *p)
{
    sigset_t pending, blocked;

    p->n = 0;
    syscall(SYS_rt_sigpending, &pending, NSIG / 8);
    sigandset(&blocked, mask, &pending);
    if (!is_first() && blocked.__val[0])
        return false;
    while (p->n < FT_SIGNALS_MOST && take_pending(&blocked, &p->of[p->n]))
        p->n++;
    for (int i = 0; i < p->n; i++)
        send_again(&p->of[i]);
    return true;
}

static bool owes(int signal)
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

    if (!owes(signal))
        return;
    forget_owed(signal);
    sigemptyset(&one);
    sigaddset(&one, signal);
    take_pending(&one, &info);
}

void ft_signals_name(siginfo_t *info)
{
    if (ft_mask_is_sent(info) && info->si_pid == (pid_t)syscall(SYS_getpid))
        info->si_pid = getpid();
}

void ft_signals_repeated(int signal)
{
    int error = errno;
    siginfo_t info;
    sigset_t one;

    if (owes(signal))
        return; /* it is taken as that */
    sigemptyset(&one);
    sigaddset(&one, signal);
    if (take_pending(&one, &info) && !(ft_mask_is_sent(&info) && info.si_pid == (pid_t)syscall(SYS_getpid)))
        send_again(&info); /* it has just come from outside */
    errno = error;
}

/* Of children that are followed: where the log ends it comes of those whose end the program has not been told. Pending until then, it would take
   in with it what comes meanwhile: the kernel keeps one of a number. */
static bool is_of_child(const siginfo_t *info)
{
    return info->si_signo == SIGCHLD && (info->si_code > 0 || info->si_code == SI_QUEUE) && !ft_child_strangers;
}

void ft_signals_hold(const sigset_t *mask, const struct ft_signals_pending *pending, pid_t before)
{
    sigset_t all = all_from_outside();

    ft_mask_real(SIG_SETMASK, &all, NULL);
    masked = *mask;
    owed.n = 0;
    for (int i = 0; i < pending->n; i++)
        if (!is_of_child(&pending->of[i]))
            owed.of[owed.n++] = pending->of[i];
    for (int i = 0; i < owed.n; i++) {
        if (ft_mask_is_sent(&owed.of[i]) && owed.of[i].si_pid == before)
            owed.of[i].si_pid = (pid_t)syscall(SYS_getpid);
        send_again(&owed.of[i]); /* the program may look for it */
    }
    hold(true);
    atomic_store(&ft_signals_timers, 0); /* no process is born with some */
    ft_signals_restart();
}

void ft_signals_masked(sigset_t *to)
{
    uint32_t life;
    bool so;

    do { /* looked up twice if a replay has begun, or ended, meanwhile */
        life = ft_threads_life;
        so = held;
        ft_mask_real(SIG_SETMASK, NULL, to);
        if (so)
            *to = masked;
    } while (life != ft_threads_life || so != held);
}

/* The kernel tells of an alternative stack only the thread that has it. */
static _Thread_local stack_t alternative __attribute__((tls_model("initial-exec")));

int sigaltstack(const stack_t *to, stack_t *old)
{
    stack_t wanted = to ? *to : (stack_t){0};
    int result = ft_real()->sigaltstack(to, old);

    if (result == 0 && to)
        alternative = wanted;
    return result;
}

void ft_signals_alternative(void)
{
    stack_t none = {.ss_flags = SS_DISABLE};

    syscall(SYS_sigaltstack, alternative.ss_sp ? &alternative : &none, NULL);
}

/* The kernel's mask, and what a signal's frame has of it, is 8 bytes. One that was in a replay has what its program has blocked already. */
void ft_signals_put_back(const sigset_t *mask, ucontext_t *frame)
{
    sigset_t all = all_from_outside();

    if (!held)
        memcpy(&masked, frame ? &frame->uc_sigmask : mask, NSIG / 8);
    hold(true);
    ft_signals_restart();
    ft_signals_alternative();
    if (frame)
        memcpy(&frame->uc_sigmask, &all, NSIG / 8);
    else
        ft_mask_real(SIG_SETMASK, &all, NULL);
}

/* The kernel has given it what its creator had: all, in a replay, which may have ended for this thread before it begins. */
void ft_signals_inherit(const sigset_t *from)
{
    masked = *from;
    hold(ft_thread.replays);
    if (!held || !atomic_load(&ft_threads_replay))
        ft_mask_release();
}

static void release(void)
{
    hold(false);
    if (ft_thread.number)
        return;
    for (int i = 0; i < owed.n; i++)
        ft_alarm_sent(&owed.of[i]);
    owed.n = 0;
    ft_alarm_runs_on();
}

/* Stopped in between, its program would have blocked all. */
void ft_mask_release(void)
{
    ft_busy();
    release();
    ft_mask_real(SIG_SETMASK, &masked, NULL);
    ft_idle();
}

void ft_mask_release_in(ucontext_t *frame)
{
    release();
    memcpy(&frame->uc_sigmask, &masked, NSIG / 8);
}

/* ---- one that came while the program had it blocked ---- */

bool ft_mask_take(int signal, siginfo_t *info, bool *again)
{
    sigset_t one;

    *again = owes(signal);
    sigemptyset(&one);
    sigaddset(&one, signal);
    if (!take_pending(&one, info))
        return false;
    if (*again)
        forget_owed(signal);
    return true;
}
