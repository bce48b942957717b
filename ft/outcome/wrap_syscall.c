/* SPDX-License-Identifier: BSD-3-Clause */
/* syscall(2). What a program does by it is not recorded; if it may touch the world, ways back from before it are closed. The library itself
   calls it by another name (-Dsyscall=ft_syscall), and reaches the kernel without that. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#undef syscall
#include "ft/outcome/real.h"
#include "ft/outcome/record.h"

long syscall(long number, ...);
long ft_syscall(long number, ...);

static long (*real)(long number, ...);

/* At the process's first call, before anything else of this library. */
static __attribute__((noinline)) void find_real(void) { real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall"); }

static long make(long number, va_list args)
{
    long a = va_arg(args, long), b = va_arg(args, long), c = va_arg(args, long);
    long d = va_arg(args, long), e = va_arg(args, long), f = va_arg(args, long);

    if (!real)
        find_real();
    return real(number, a, b, c, d, e, f);
}

long ft_syscall(long number, ...)
{
    va_list args;
    long result;

    va_start(args, number);
    result = make(number, args);
    va_end(args);
    return result;
}

/* A child that was made so: it has not even the job's memory. */
static void look_for_child(long number)
{
    if (number == SYS_clone || number == SYS_clone3) {
        ft_recorder.on = ft_recorder.ended = false;
        ft_real_writes = NULL;
    }
}

/* Of the process alone: its threads, its memory, how it is scheduled. */
static bool is_inner(long number)
{
    static const short inner[] = {
        SYS_futex, SYS_getcpu, SYS_membarrier, SYS_sched_yield, SYS_madvise, SYS_mprotect, SYS_brk, SYS_rseq,
        SYS_get_robust_list, SYS_set_robust_list, SYS_mbind, SYS_set_mempolicy, SYS_get_mempolicy, SYS_getuid, SYS_geteuid, SYS_getgid,
        SYS_getegid, SYS_prctl, SYS_sched_getaffinity, SYS_sched_setaffinity, SYS_rt_sigprocmask, SYS_mlock, SYS_munlock,
        SYS_exit, SYS_exit_group,
    };

    for (size_t i = 0; i < sizeof inner / sizeof inner[0]; i++)
        if (inner[i] == number)
            return true;
    return false;
}

/* A thread that sleeps on a word may be stopped for a copy: that is to be no end of its sleep. (Without a time the kernel goes on by itself.)
   FUTEX_WAIT is for so long, all others are until then. */
static long sleep_on_word(uint32_t *word, int what, uint32_t value, const struct timespec *time, uint32_t *other, uint32_t more)
{
    bool lasts = (what & FUTEX_CMD_MASK) == FUTEX_WAIT;
    uint64_t end = lasts ? ft_real_clock_ns() + (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec : 0, now;
    struct timespec rest = *time;
    uint32_t stops;
    long result;

    for (;;) {
        stops = ft_thread.stops;
        result = ft_syscall(SYS_futex, word, what, value, &rest, other, more);
        if (result == 0 || errno != EINTR || stops == ft_thread.stops)
            return result;
        if (!lasts)
            continue;
        now = ft_real_clock_ns();
        rest = (struct timespec){.tv_sec = now < end ? (time_t)((end - now) / 1000000000) : 0, .tv_nsec = now < end ? (long)((end - now) % 1000000000) : 0};
    }
}

static bool is_sleep(int what, const struct timespec *time)
{
    int command = what & FUTEX_CMD_MASK;

    return time && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) && (uintptr_t)time > 4096;
}

static long futex(va_list args)
{
    uint32_t *word = va_arg(args, uint32_t *);
    int what = va_arg(args, int);
    uint32_t value = va_arg(args, uint32_t);
    const struct timespec *time = va_arg(args, const struct timespec *);
    uint32_t *other = va_arg(args, uint32_t *), more = va_arg(args, uint32_t);

    return is_sleep(what, time) ? sleep_on_word(word, what, value, time, other, more)
                                : ft_syscall(SYS_futex, word, what, value, time, other, more);
}

static long send_to_thread(va_list args)
{
    pid_t group = va_arg(args, pid_t), thread = va_arg(args, pid_t);

    return tgkill(group, thread, va_arg(args, int));
}

static bool is_own(uintptr_t caller) { return caller - ft_recorder.own < ft_recorder.own_bytes; }

long syscall(long number, ...)
{
    va_list args;
    long result;
    bool inner, deaf, own = is_own((uintptr_t)__builtin_return_address(0));

    if (!own) { /* the engine asks which process it is, not which the program takes itself for */
        if (number == SYS_gettid)
            return gettid();
        if (number == SYS_getpid)
            return getpid();
    }
    inner = is_inner(number) || number == SYS_tgkill;
    deaf = !inner && ft_deaf_begin(); /* before it is closed: no copy is made in between */
    if (!inner && ft_recording())
        ft_recorder_close("it made system call %ld by itself", number);
    va_start(args, number);
    result = number == SYS_futex ? futex(args) : number == SYS_tgkill && !own ? send_to_thread(args) : make(number, args);
    va_end(args);
    ft_deaf_end(deaf);
    if (result == 0)
        look_for_child(number);
    return result;
}
