/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/stand.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "ft/base/util.h"
#include "ft/outcome/point.h"
#include "ft/outcome/real.h"
#include "ft/outcome/record.h"
#include "ft/outcome/signals.h"
#include "ft/outcome/task.h"
#include "ft/shm/wait.h"

enum {
    LIMIT_NS = 50000000,     /* a thread that does not stand by then is in the way */
    LOOK_NS = 500000
};


_Atomic uint32_t ft_standing;

static _Atomic uint32_t cutting; /* one makes a copy */
static _Atomic uint32_t stops;   /* goes up with each that stops */
static uint32_t number;          /* of the last time */
static bool around;              /* ft_stand_around: who makes them stand has the lock, and keeps it */
static const struct ft_task *in_the_way;

/* ---- stopping ---- */

/* The kernel's, in which the C library's function does not let this signal through. */
struct kernel_action {
    void (*handler)(int signal, siginfo_t *info, void *context);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static struct kernel_action c_librarys;

void ft_lead_restorer(void) __attribute__((visibility("hidden"))); /* lead.S */

static bool is_ours(const siginfo_t *info) { return info->si_code == SI_QUEUE && info->si_value.sival_ptr == &ft_standing; }

static void stand(ucontext_t *frame)
{
    struct ft_task *t = ft_thread.task;
    uint32_t copy;
    int error = errno;

    t->frame = frame;
    t->error = error;
    ft_thread.stops++;
    ft_signals_found();
    while ((copy = atomic_load(&ft_standing)) != 0) {
        if (atomic_exchange(&t->stands, copy) != copy) {
            atomic_fetch_add(&stops, 1);
            ft_task_futex(&stops, FUTEX_WAKE, 1, NULL);
        }
        ft_task_futex(&ft_standing, FUTEX_WAIT, copy, NULL);
    }
    errno = error;
}

/* What each of them is to do (ft_stand_all). */
static struct {
    long call, a, b, c;
    _Atomic bool failed;
} asked_all;

static void do_asked(void)
{
    pid_t tid = (pid_t)syscall(SYS_gettid);
    int error = errno;

    if (syscall(asked_all.call, asked_all.a, asked_all.b, asked_all.c) != 0)
        atomic_store(&asked_all.failed, true);
    for (uint32_t i = 0; i < ft_ntasks; i++)
        if (atomic_load(&ft_tasks[i].tid) == tid)
            atomic_store(&ft_tasks[i].does, false);
    errno = error;
}

static bool is_asked_all(const siginfo_t *info) { return info->si_code == SI_QUEUE && info->si_value.sival_ptr == &asked_all; }

static void stop(int signal, siginfo_t *info, void *context)
{
    if (is_asked_all(info)) {
        do_asked();
    } else if (!is_ours(info)) {
        if (c_librarys.handler)
            c_librarys.handler(signal, info, context);
    } else if (ft_thread.task) {
        ft_thread.asked = ft_thread.busy;
        if (!ft_thread.busy)
            stand(context);
        if (!ft_thread.busy || ft_waits_now())
            ft_signals_let(context);
    }
}

/* The C library sets its own when the first thread is made. */
static void install(void)
{
    struct kernel_action ours = {stop, SA_SIGINFO | SA_RESTART | SA_ONSTACK | 0x04000000 /* SA_RESTORER */, ft_lead_restorer, ~0ull}, is;

    if (syscall(SYS_rt_sigaction, FT_TASK_STOP, &ours, &is, sizeof is.mask) == 0 && is.handler != stop)
        c_librarys = is;
}

/* what: to stand, or what all do. */
static void ask_for(void *what, pid_t tid)
{
    siginfo_t info = {.si_signo = FT_TASK_STOP, .si_code = SI_QUEUE};

    info.si_value.sival_ptr = what;
    syscall(SYS_rt_tgsigqueueinfo, (pid_t)syscall(SYS_getpid), tid, FT_TASK_STOP, &info);
}

static void ask(pid_t tid) { ask_for(&ft_standing, tid); }

/* No copy is made meanwhile: who makes one has the lock. */
bool ft_stand_all(long call, long a, long b, long c)
{
    ft_threads_lock();
    install();
    asked_all.call = call, asked_all.a = a, asked_all.b = b, asked_all.c = c;
    atomic_store(&asked_all.failed, false);
    for (uint32_t i = 0; i < ft_ntasks; i++) {
        pid_t tid = atomic_load(&ft_tasks[i].tid);

        if (!tid || &ft_tasks[i] == ft_thread.task)
            continue;
        atomic_store(&ft_tasks[i].does, true);
        ask_for(&asked_all, tid);
    }
    for (uint32_t i = 0; i < ft_ntasks; i++)
        while (atomic_load(&ft_tasks[i].does) && !ft_task_is_gone(atomic_load(&ft_tasks[i].tid)))
            syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = LOOK_NS / 10});
    ft_threads_unlock();
    return !atomic_load(&asked_all.failed);
}

void ft_stand_here(void)
{
    int error = errno;

    if (ft_thread.task)
        ask((pid_t)syscall(SYS_gettid));
    errno = error;
}

static uint32_t threads_now(void)
{
    struct stat st;

    return syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &st, 0) < 0 ? UINT32_MAX : (uint32_t)st.st_nlink - 2;
}

static bool is_standing(struct ft_task *t)
{
    uint32_t waits = FT_WAITS;

    if (around && (atomic_load(&t->queues) || atomic_load(&t->waits) == FT_WAITS_DEAF))
        return true; /* it stops when it comes back from that */
    return atomic_load(&t->stands) == number || atomic_load(&t->waits) == FT_WAITS_HELD || atomic_compare_exchange_strong(&t->waits, &waits, FT_WAITS_HELD);
}

/* False: it has ended, and its place is free, or another thread's by now. */
static bool is_there(struct ft_task *t, pid_t tid)
{
    pid_t ended = tid;

    if (!ft_task_is_gone(tid))
        return true;
    if (!atomic_compare_exchange_strong(&t->tid, &ended, 0))
        t->asked = 0;
    return false;
}

/* Main's, which the system keeps until the others have ended. */
static bool is_first_ended(pid_t tid)
{
    char text[64];
    size_t end = 0;

    if (tid != (pid_t)syscall(SYS_getpid))
        return false;
    ft_task_read(tid, "stat", text, sizeof text);
    for (size_t i = 0; i + 2 < sizeof text && text[i]; i++) /* its name may have any characters */
        end = text[i] == ')' ? i : end;
    return end && text[end + 1] == ' ' && text[end + 2] == 'Z';
}

/* Whether all stand; asks those that have not been asked. Threads that do not stand yet make others. */
static bool look(void)
{
    uint32_t n = 1;
    bool all = true;

    for (uint32_t i = 0; i < ft_ntasks; i++) {
        struct ft_task *t = &ft_tasks[i];
        pid_t tid = atomic_load(&t->tid);

        if (!tid || t == ft_thread.task)
            continue;
        if (is_standing(t) || (around && is_first_ended(tid))) {
            ft_cut_point(FT_CUT_ONE);
            n++;
            continue;
        }
        if (atomic_load(&t->waits) == FT_WAITS_DEAF) {
            in_the_way = t;
            return false;
        }
        if (t->asked != number)
            ask(tid);
        t->asked = number;
        ft_cut_point(FT_CUT_SIGNALLED);
        if (!is_there(t, tid))
            continue;
        in_the_way = t;
        all = false;
    }
    if (!all)
        return false;
    in_the_way = NULL; /* one that is not known, if any */
    return n == threads_now();
}

/* There are more than are known: nobody is stopped for nothing. */
static bool are_all_known(void)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < ft_ntasks; i++)
        n += atomic_load(&ft_tasks[i].tid) != 0;
    return threads_now() <= n;
}

/* A frame of the signal that leaves no room is not risked. */
static bool has_room(const struct ft_task *t) { return !t->stack_bytes || t->stack_bytes >= 4 * getauxval(AT_MINSIGSTKSZ); }

static bool all_have_room(void)
{
    for (uint32_t i = 0; i < ft_ntasks; i++)
        if (atomic_load(&ft_tasks[i].tid) && !has_room(&ft_tasks[i])) {
            in_the_way = &ft_tasks[i];
            return false;
        }
    return true;
}

static bool can_stand(void) { return ft_task_layout.known && are_all_known() && all_have_room() && !atomic_exchange(&cutting, 1); }

static bool await_all(void)
{
    uint64_t end = ft_real_clock_ns() + LIMIT_NS;
    bool all;

    install();
    number = number + 1 ? number + 1 : 1;
    atomic_store(&ft_standing, number);
    ft_cut_point(FT_CUT_BEGINS);
    for (;;) {
        uint32_t seen = atomic_load(&stops);

        all = look();
        if (all || ft_real_clock_ns() > end)
            return all;
        ft_task_futex(&stops, FUTEX_WAIT, seen, &(struct timespec){.tv_nsec = LOOK_NS});
    }
}

bool ft_stand_still(void)
{
    int holds;
    bool all;

    in_the_way = NULL;
    if (ft_recorder.one_thread || !can_stand())
        return false;
    ft_busy(); /* it does not stop itself */
    ft_signals_found();
    holds = ft_threads_let(); /* who waits for the lock is busy */
    around = false;
    all = await_all();
    if (all) {
        ft_cut_point(FT_CUT_ALL);
        all = !(in_the_way = ft_task_look_at_all());
    }
    if (all)
        ft_cut_point(FT_CUT_LOOKED);
    else
        ft_stand_go();
    ft_threads_take(holds);
    return all;
}

bool ft_stand_around(void)
{
    in_the_way = NULL;
    if (!can_stand())
        return false;
    ft_busy();
    around = true;
    if (await_all())
        return true;
    ft_stand_go();
    return false;
}

static bool peek(uintptr_t at, void *to, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {(void *)at, bytes}; /* NOLINT(performance-no-int-to-ptr) */

    return syscall(SYS_process_vm_readv, (pid_t)syscall(SYS_gettid), &here, 1L, &there, 1L, 0L) == (ssize_t)bytes;
}

/* The signal has found it in a futex, where it goes on waiting: nobody has changed what it waits for. */
static bool sleeps(const struct ft_task *t)
{
    const greg_t *r = t->frame->uc_mcontext.gregs;
    uint32_t what = (uint32_t)r[REG_RSI] & FUTEX_CMD_MASK, value;
    uint16_t code;

    if (r[REG_RAX] != SYS_futex && r[REG_RAX] != -EINTR)
        return false;
    return peek((uintptr_t)r[REG_RIP] - (r[REG_RAX] == -EINTR ? sizeof code : 0), &code, sizeof code) && code == 0x050f /* syscall */ &&
           (what == FUTEX_WAIT || what == FUTEX_WAIT_BITSET) && peek((uintptr_t)r[REG_RDI], &value, sizeof value) && value == (uint32_t)r[REG_RDX];
}

bool ft_stand_computes(void)
{
    for (uint32_t i = 0; i < ft_ntasks; i++) {
        const struct ft_task *t = &ft_tasks[i];

        if (t != ft_thread.task && atomic_load(&t->tid) && atomic_load(&t->stands) == number && !sleeps(t))
            return true;
    }
    return false;
}

bool ft_task_stands(const struct ft_task *t)
{
    return t != ft_thread.task && atomic_load(&t->tid) && (atomic_load(&t->stands) == number || atomic_load(&t->waits) == FT_WAITS_HELD);
}

void ft_stand_forget(void)
{
    atomic_store(&ft_standing, 0);
}

void ft_stand_cut(void) { atomic_store(&cutting, 0); }

void ft_stand_go(void)
{
    for (uint32_t i = 0; i < ft_ntasks; i++) {
        uint32_t held = FT_WAITS_HELD;

        atomic_compare_exchange_strong(&ft_tasks[i].waits, &held, FT_WAITS);
    }
    ft_cut_point(FT_CUT_WAITERS);
    ft_stand_forget();
    ft_cut_point(FT_CUT_GOES);
    ft_stand_cut();
    ft_task_futex(&ft_standing, FUTEX_WAKE, INT_MAX, NULL);
    ft_cut_point(FT_CUT_GONE);
    ft_idle();
}

void ft_stand_once(void)
{
    if (ft_threads_many && ft_stand_still())
        ft_stand_go();
}

void ft_stand_ask(const struct ft_task *t) { ask(atomic_load(&t->tid)); }

/* It may have ended, and its memory with it. */
static bool is_busy(const struct ft_task *t)
{
    int busy = 0;

    return t->thread && peek((uintptr_t)&t->thread->busy, &busy, sizeof busy) && busy;
}

static const char *place_of(const struct ft_task *t, const char *call)
{
    if (!has_room(t))
        return "its stack is small";
    if (atomic_load(&t->signalled))
        return "another one has sent it a signal";
    if (is_busy(t))
        return "in a recorded call";
    if (*call == '-')
        return "it has ended, and is the first one";
    return *call == 'r' || !*call ? "it runs" : "in system call ";
}

void ft_stand_why(char *to)
{
    const struct ft_task *t = in_the_way;
    char name[FT_TASK_NAME + 1], call[32];
    pid_t tid = t ? atomic_load(&t->tid) : 0;
    const char *place;

    *to = 0;
    if (ft_recorder.one_thread)
        return;
    if (!tid) {
        snprintf(to, FT_STAND_WHY, "%s", ft_ntasks == FT_STAND_MOST ? "it has too many" : !ft_task_layout.known ? "unknown C library" :
                 "one begins or ends, or was not made by pthread_create");
        return;
    }
    ft_task_read(tid, "comm", name, sizeof name);
    ft_task_read(tid, "syscall", call, sizeof call);
    name[strcspn(name, "\n")] = call[strcspn(call, " \n")] = 0;
    place = place_of(t, call);
    snprintf(to, FT_STAND_WHY, "%d (%s), %s%s", tid, name, place, place[strlen(place) - 1] == ' ' ? call : "");
}
