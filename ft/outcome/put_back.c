/* SPDX-License-Identifier: BSD-3-Clause */
/* Of threads that stand: what a copy has to know; and how they are put back in it, and go on (stand.h). */
#include <asm/prctl.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "ft/base/util.h"
#include "ft/outcome/mask.h"
#include "ft/outcome/real.h"
#include "ft/outcome/point.h"
#include "ft/outcome/record.h"
#include "ft/outcome/signals.h"
#include "ft/outcome/task.h"

enum { STACK = 16 << 10 /* of a thread that is put back, until it goes on on its own */ };

void ft_lead_return(void *frame) __attribute__((visibility("hidden"), noreturn)); /* lead.S */
void ft_lead_follow(void) __attribute__((visibility("hidden"), noreturn));
void ft_lead_onto(void *stack, void (*function)(void *arg), void *arg) __attribute__((visibility("hidden"), noreturn));

/* ---- all stand ---- */

static void look_at_policy(struct ft_task *t)
{
    pid_t tid = atomic_load(&t->tid);

    CPU_ZERO(&t->processors);
    syscall(SYS_sched_getaffinity, tid, sizeof t->processors, &t->processors);
    if (syscall(SYS_sched_getattr, tid, &t->policy, sizeof t->policy, 0) < 0)
        t->policy.size = 0;
    ft_task_read(tid, "comm", t->name, sizeof t->name);
    t->name[strcspn(t->name, "\n")] = 0;
}

static uint64_t number_after(const char *text, const char *what)
{
    const char *at = strstr(text, what);

    for (at = at ? at + strlen(what) : ""; *at == '\t'; at++)
        ;
    return ft_number_read(&at, 16);
}

/* False: a signal that was sent to this very thread waits for it, or has only just come, which no other process can be given. */
static bool look_at_signals(struct ft_task *t)
{
    static char text[4096];
    uint64_t blocked;

    ft_task_read(atomic_load(&t->tid), "status", text, sizeof text);
    blocked = number_after(text, "\nSigBlk:");
    if (!t->masked) {
        memset(&t->mask, 0, sizeof t->mask);
        memcpy(&t->mask, &blocked, sizeof blocked);
    }
    return !atomic_load(&t->signalled) && (number_after(text, "\nSigPnd:") & ~(1ull << (FT_TASK_STOP - 1))) == 0;
}

const struct ft_task *ft_task_look_at_all(void)
{
    for (uint32_t i = 0; i < ft_ntasks; i++)
        if ((ft_task_stands(&ft_tasks[i]) || &ft_tasks[i] == ft_thread.task) && !look_at_signals(&ft_tasks[i]))
            return &ft_tasks[i];
    for (uint32_t i = 0; i < ft_ntasks; i++)
        if (ft_task_stands(&ft_tasks[i]))
            look_at_policy(&ft_tasks[i]);
    look_at_policy(ft_thread.task);
    return NULL;
}

uint32_t ft_stand_note(uint64_t copy)
{
    uint32_t n = 1;

    for (uint32_t i = 0; i < ft_ntasks && atomic_load(&ft_standing); i++) {
        struct ft_task *t = &ft_tasks[i];
        bool waits = atomic_load(&t->waits) == FT_WAITS_HELD;

        if (!ft_task_stands(t))
            continue;
        n++;
        if (!t->thread)
            continue;
        waits = waits && t->thread->in_call;
        ft_outcome_log_stand(t->thread->log, waits);
        if (t->thread->log->owed != FT_OUTCOME_NOWHERE)
            ft_outcome_log_need(t->thread->log, t->thread->log->owed, copy);
    }
    return n;
}

/* ---- in the copy that has been woken ---- */

void ft_stand_follow(void (*see)(struct ft_outcome *o))
{
    bool all_stand = atomic_load(&ft_standing);

    atomic_store(&ft_thread.task->tid, (pid_t)syscall(SYS_gettid));
    for (uint32_t i = 0; i < ft_ntasks; i++) {
        struct ft_task *t = &ft_tasks[i];
        struct ft_outcome *o;

        if (t == ft_thread.task)
            continue;
        if (!all_stand || !ft_task_stands(t)) {
            atomic_store(&t->tid, 0); /* it has ended */
            continue;
        }
        if (!t->thread)
            continue;
        ft_outcome_log_follow(t->thread->log);
        o = ft_outcome_owed(t->thread->log);
        if (o)
            see(o);
        t->thread->replays = true;
        t->thread->resolves = false; /* that was another life's */
    }
}

static void set_policy(const struct ft_task *t, const struct ft_task *maker)
{
    if (!CPU_EQUAL(&t->processors, &maker->processors))
        syscall(SYS_sched_setaffinity, 0, sizeof t->processors, &t->processors);
    if (t->policy.size && memcmp(&t->policy, &maker->policy, sizeof t->policy) != 0)
        syscall(SYS_sched_setattr, 0, &t->policy, 0);
    syscall(SYS_prctl, PR_SET_NAME, t->name);
}

static const struct ft_task *maker;

/* All signals, also the one that stops a thread. */
static void block_all(uint64_t *before)
{
    static const uint64_t all = ~0ull;

    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, before, sizeof all);
}

/* On a stack of its own, with the thread's thread pointer. It is where it stood when signals come again: then it can be stopped. */
static int go_on(void *arg)
{
    struct ft_task *t = arg;

    ft_cut_point(FT_WAKE_THREAD);
    syscall(SYS_set_robust_list, (uintptr_t)t->handle + (uintptr_t)ft_task_layout.robust, ft_task_layout.robust_bytes);
    if (ft_task_layout.rseq_bytes)
        syscall(SYS_rseq, (uintptr_t)t->handle + (uintptr_t)ft_task_layout.rseq, ft_task_layout.rseq_bytes, 0, FT_TASK_RSEQ);
    if (t == maker)
        ft_lead_follow();
    set_policy(t, maker);
    if (!t->leads) {
        ft_signals_put_back(&t->mask, t->frame);
        ft_cut_point(FT_WAKE_GOES);
        errno = t->error;
        ft_lead_return(t->frame);
    }
    ft_cut_point(FT_WAKE_GOES);
    ft_thread.in_call = false;
    __asm__ volatile("ldmxcsr %0\n fldcw %1" : : "m"(t->mxcsr), "m"(t->x87));
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL); /* the C library has another one in a call that waits */
    ft_lead_follow();
}

/* On its own stack: below what made the call that it is led back to. */
void ft_lead_begin(void) __attribute__((visibility("hidden")));
void ft_lead_begin(void)
{
    ft_thread.busy = ft_lead.busy;
    if (ft_thread.task == maker) {
        ft_signals_alternative(); /* its mask it has already, but for the moment */
        return;
    }
    ft_signals_put_back(&ft_thread.task->mask, NULL);
    errno = ft_thread.task->error;
}

/* Stacks of threads that are put back: used until they go on, and for those of the next time. */
static char *stacks_for(uint32_t n)
{
    static char *stacks;
    static uint32_t room;
    long at;

    if (n <= room)
        return stacks;
    at = syscall(SYS_mmap, NULL, (size_t)n * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at < 0 && at > -4096)
        ft_recorder_lost("there is no memory to put its threads back");
    room = n;
    stacks = (char *)at; /* NOLINT(performance-no-int-to-ptr) */
    return stacks;
}

/* Its number in the C library stays as it is, and is cleared when it ends: who joins it waits for that. */
static void put_back(const struct ft_task *t, char *stack)
{
    pid_t *at = (pid_t *)((uintptr_t)t->handle + (uintptr_t)ft_task_layout.number); /* NOLINT(performance-no-int-to-ptr) */
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |
                CLONE_CHILD_CLEARTID;

    if (ft_real_found()->clone(go_on, stack + STACK, flags, (void *)(uintptr_t)t, (pid_t *)(uintptr_t)&t->tid, (void *)t->handle, at) < 0) /* NOLINT(performance-no-int-to-ptr) */
        ft_recorder_lost("its threads cannot be put back (errno %d)", errno);
}

/* The process's first thread, by which the system knows it (/proc/self is its), is to be main's: what has the maker's memory here becomes that, and the
   maker is another one. On a stack of its own. */
static void change_places(void *arg)
{
    struct ft_task *first = &ft_tasks[0];
    char *stack = arg;

    if (ft_task_layout.rseq_bytes)
        syscall(SYS_rseq, (uintptr_t)maker->handle + (uintptr_t)ft_task_layout.rseq, ft_task_layout.rseq_bytes, 1 /* no more */, FT_TASK_RSEQ);
    atomic_store(&first->tid, (pid_t)syscall(SYS_getpid)); /* before the maker goes on, and threads may be made */
    put_back(maker, stack);
    syscall(SYS_arch_prctl, ARCH_SET_FS, first->handle);
    syscall(SYS_set_tid_address, (uintptr_t)first->handle + (uintptr_t)ft_task_layout.number);
    go_on(first);
}

void ft_stand_put_back(void)
{
    struct ft_task *first = &ft_tasks[0];
    uint32_t n = 1, at = 0;
    uint64_t before;
    bool changes;
    char *stacks;

    if (!atomic_load(&ft_standing))
        return;
    for (uint32_t i = 0; i < ft_ntasks; i++)
        n += ft_task_stands(&ft_tasks[i]);
    ft_cut_point(FT_WAKE_FIRST);
    maker = ft_thread.task;
    changes = ft_task_stands(first);
    stacks = stacks_for(n);
    ft_threads_lock(); /* one that is there already makes no other meanwhile: its place may be that of one that is not */
    ft_stand_forget();
    block_all(&before);
    for (uint32_t i = 0; i < ft_ntasks; i++) {
        struct ft_task *t = &ft_tasks[i];

        if (t == maker || !atomic_load(&t->tid))
            continue;
        atomic_store(&t->stands, 0);
        t->leads = atomic_exchange(&t->waits, FT_WAITS_NOT) != FT_WAITS_NOT; /* for the next copy it stands when it is there again */
        if (t != first)
            put_back(t, stacks + (size_t)at++ * STACK);
        ft_cut_point(FT_WAKE_ONE);
    }
    ft_cut_point(FT_WAKE_ALL);
    if (changes && !ft_waits_led())
        ft_lead_onto(stacks + (size_t)(at + 1) * STACK, change_places, stacks + (size_t)(at + 1) * STACK);
    ft_thread.led = false;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    ft_threads_unlock();
    ft_stand_cut(); /* not before: a thread whose number is of the dead process would be taken for one that has ended */
    ft_idle();
}
