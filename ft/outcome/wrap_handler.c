/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's handlers of signals: how they are set, and run. The kernel calls ours for them, ft_signals_arrive (wrap_signal.c). */
#include "ft/outcome/handler.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ft/outcome/children.h"
#include "ft/outcome/left.h"
#include "ft/outcome/mask.h"
#include "ft/outcome/real.h"
#include "ft/outcome/signals.h"

static struct sigaction handlers[NSIG];    /* the program's, where ours is in its place */

bool ft_handler_restarts(int signal) { return handlers[signal].sa_flags & SA_RESTART; }

/* ---- run ---- */

/* Interrupts: what has its stack down to there. */
static void run(int signal, siginfo_t *info, void *context, uintptr_t interrupts)
{
    static ucontext_t nowhere;
    struct sigaction h = handlers[signal];
    struct sigaction none = {.sa_handler = SIG_DFL};
    FT_LEFT_HERE(interrupts);

    if (signal == SIGCHLD)
        ft_children_signalled(info);
    if (h.sa_flags & SA_RESETHAND)
        sigaction(signal, &none, NULL);
    if (h.sa_flags & SA_SIGINFO)
        h.sa_sigaction(signal, info, context ? context : &nowhere);
    else if (h.sa_handler)
        h.sa_handler(signal);
}

/* On the stack that the program has for that the kernel calls it: by another signal, which is in the place of this one. */
static _Thread_local siginfo_t *handed;

static void run_on_stack(siginfo_t *info)
{
    handed = info;
    ft_signals_hand_to_self(info->si_signo);
}

siginfo_t *ft_handler_handed(const siginfo_t *by)
{
    siginfo_t *info = handed;

    if (!info || by->si_signo != info->si_signo || by->si_code != SI_TKILL || by->si_pid != (pid_t)syscall(SYS_getpid))
        return NULL;
    handed = NULL;
    return info;
}

void ft_handler_run(siginfo_t *info)
{
    struct sigaction *h = &handlers[info->si_signo];
    sigset_t set = h->sa_mask, old;

    if (!(h->sa_flags & SA_NODEFER))
        sigaddset(&set, info->si_signo);
    ft_mask(SIG_BLOCK, &set, &old);
    if (h->sa_flags & SA_ONSTACK)
        run_on_stack(info);
    else
        run(info->si_signo, info, NULL, (uintptr_t)__builtin_frame_address(0));
    ft_mask(SIG_SETMASK, &old, NULL);
}

void ft_handler_run_in_frame(int signal, siginfo_t *info, ucontext_t *context)
{
    sigset_t set = handlers[signal].sa_mask, before;
    bool held = ft_mask_is_held(), waits = ft_waits_leave();

    if (!(handlers[signal].sa_flags & SA_NODEFER))
        sigaddset(&set, signal);
    ft_signals_found();
    ft_mask_in_handler(context, &set, &before);
    run(signal, info, context, (uintptr_t)context->uc_mcontext.gregs[REG_RSP]);
    ft_mask_return(context, held, &before);
    ft_waits_return(waits, &before);
}

/* ---- set ---- */

int sigaction(int signal, const struct sigaction *set, struct sigaction *old)
{
    struct sigaction ours, before;
    bool catches = set && set->sa_handler != SIG_DFL && set->sa_handler != SIG_IGN;
    int result;

    if (signal < 1 || signal >= NSIG)
        return ft_real()->sigaction(signal, set, old);
    if (!ft_recorder.on) { /* it has ended, or this is a child: ours may still be in the program's place */
        result = ft_real()->sigaction(signal, set, old);
        if (result == 0 && old && (old->sa_flags & SA_SIGINFO) && old->sa_sigaction == ft_signals_arrive)
            *old = handlers[signal];
        return result;
    }
    if (set && ft_recording())
        ft_signals_at(FT_SIGNALS_SETTING);
    if (set)
        ours = *set;
    if (catches) {
        ours.sa_sigaction = ft_signals_arrive;
        ours.sa_flags = (int)((unsigned)(set->sa_flags | SA_SIGINFO) & ~(unsigned)SA_RESETHAND);
        memset(&ours.sa_mask, 0xff, sizeof ours.sa_mask); /* also the one that stops a thread (stand.h), which sigfillset leaves out */
    }
    before = handlers[signal];
    if (catches)
        handlers[signal] = *set;
    result = ft_real()->sigaction(signal, set ? &ours : NULL, old);
    if (result < 0)
        handlers[signal] = before;
    else if (old && (old->sa_flags & SA_SIGINFO) && old->sa_sigaction == ft_signals_arrive)
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

int sigignore(int number)
{
    struct sigaction set = {.sa_handler = SIG_IGN};

    return sigaction(number, &set, NULL);
}

/* System V: SIG_HOLD blocks, anything else unblocks; tells SIG_HOLD if it was blocked. */
sighandler_t sigset(int number, sighandler_t handler)
{
    struct sigaction set = {.sa_handler = handler}, old;
    sigset_t one, before;

    sigemptyset(&one);
    sigemptyset(&set.sa_mask);
    if (sigaddset(&one, number) < 0 || sigaction(number, handler == SIG_HOLD ? NULL : &set, &old) < 0 ||
        sigprocmask(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &one, &before) < 0)
        return SIG_ERR;
    return sigismember(&before, number) == 1 ? SIG_HOLD : old.sa_handler;
}

int siginterrupt(int number, int interrupts)
{
    struct sigaction set;

    if (sigaction(number, NULL, &set) < 0)
        return -1;
    set.sa_flags = interrupts ? set.sa_flags & ~SA_RESTART : set.sa_flags | SA_RESTART;
    return sigaction(number, &set, NULL);
}
