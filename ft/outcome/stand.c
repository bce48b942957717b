/* SPDX-License-Identifier: BSD-3-Clause */
/* How the C library and the kernel are taken to behave is looked at when the rank has made its first thread (can_be_done): where that is not
   so, ranks with threads have no newer snapshot, and a line says so. */
#include "ft/outcome/stand.h"

#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/outcome/mask.h"
#include "ft/outcome/real.h"
#include "ft/outcome/record.h"
#include "ft/outcome/signals.h"
#include "ft/shm/wait.h"

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

enum {
    STOP = 33,               /* SIGSETXID: the one signal that the C library lets nobody block, and has a handler for itself */
    LIMIT_NS = 50000000,     /* a thread that does not stand by then is in the way */
    LOOK_NS = 500000,
    STACK = 16 << 10,        /* of a thread that is put back, until it goes on on its own */
    HEAD = 4096,             /* bytes of what the C library has at the thread pointer */
    NAME = 16,
    RSEQ_BYTES = 32,
    RSEQ_MARK = 0x53053053   /* of the C library, on this processor */
};

/* struct sched_attr of the kernel, as it was first. */
struct policy {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

enum waits { NOT, WAITS, HELD /* it is taken for one that stands */ };

struct ft_task {
    _Atomic pid_t tid;           /* of the kernel; 0: nobody has this place */
    pid_t told;                  /* what the program was told */
    pthread_t handle;            /* also its thread pointer */
    size_t stack_bytes;
    struct ft_thread *thread;    /* NULL: it has not come to us yet */
    _Atomic uint32_t waits;      /* enum waits */
    _Atomic uint32_t stands;     /* for which copy (ft_standing) it has stopped */
    uint32_t asked;              /* for which one it was sent the signal */
    ucontext_t *frame;           /* of that signal */
    int error;                   /* its errno then */
    bool masked;                 /* `mask` is what one that waits has before and after that */
    uint32_t mxcsr;              /* of one that waits */
    uint16_t x87;
    /* What the kernel knows of it. */
    sigset_t mask;
    struct policy policy;
    cpu_set_t processors;
    char name[NAME];
};

_Atomic uint32_t ft_standing;

static struct ft_task tasks[FT_STAND_MOST];
static uint32_t ntasks;          /* places that have been used */
static bool overflown;           /* there was no place for a thread */
static _Atomic uint32_t cutting; /* one makes a copy */
static _Atomic uint32_t stops;   /* goes up with each that stops */
static uint32_t number;          /* of the last time */
static const struct ft_task *in_the_way;
static ptrdiff_t at_tid, at_robust;   /* from the thread pointer */
static size_t robust_bytes;
static uint32_t rseq_bytes;      /* 0: none is registered */

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

static long futex(_Atomic uint32_t *word, int what, uint32_t value, const struct timespec *most)
{
    return syscall(SYS_futex, word, what | FUTEX_PRIVATE_FLAG, value, most, NULL, 0);
}

/* ---- which there are ---- */

static bool is_gone(pid_t tid) { return syscall(SYS_tgkill, (pid_t)syscall(SYS_getpid), tid, 0) < 0; }

static struct ft_task *use(struct ft_task *t, pthread_t thread, pid_t tid)
{
    *t = (struct ft_task){.told = tid, .handle = thread};
    atomic_store(&t->tid, tid);
    return t;
}

static bool find_number(void)
{
    uint64_t at = 0;

    if (prctl(PR_GET_TID_ADDRESS, &at) == 0 && at - (uintptr_t)pthread_self() < HEAD)
        at_tid = (ptrdiff_t)(at - (uintptr_t)pthread_self());
    return at_tid;
}

void ft_stand_open(void)
{
    ntasks = 1;
    find_number();
    ft_thread.task = use(&tasks[0], pthread_self(), (pid_t)syscall(SYS_gettid));
    ft_thread.task->thread = &ft_thread;
}

struct ft_task *ft_stand_add(pthread_t thread, size_t stack_bytes)
{
    struct ft_task *place = NULL;
    pid_t tid = !at_tid ? 0 : *(const pid_t *)((uintptr_t)thread + (uintptr_t)at_tid);

    for (uint32_t i = 0; i < ntasks; i++) {
        struct ft_task *t = &tasks[i];

        if (atomic_load(&t->tid) && (t->handle == thread || is_gone(atomic_load(&t->tid))))
            atomic_store(&t->tid, 0);
        if (!place && !atomic_load(&t->tid))
            place = t;
    }
    if (!place && ntasks < FT_STAND_MOST)
        place = &tasks[ntasks++];
    overflown |= !place;
    if (!place || !tid)
        return NULL;
    use(place, thread, tid);
    place->stack_bytes = stack_bytes;
    return place;
}

void ft_stand_begin(struct ft_thread *thread)
{
    if (thread->task)
        thread->task->thread = thread;
}

pid_t ft_stand_number(pthread_t thread)
{
    for (uint32_t i = 0; i < ntasks; i++)
        if (tasks[i].handle == thread && atomic_load(&tasks[i].tid))
            return atomic_load(&tasks[i].tid);
    return 0;
}

pid_t ft_stand_told(pid_t told)
{
    for (uint32_t i = 0; i < ntasks; i++)
        if (tasks[i].told == told && atomic_load(&tasks[i].tid))
            return atomic_load(&tasks[i].tid);
    return 0;
}

void ft_stand_tell(pid_t told)
{
    if (ft_thread.task)
        ft_thread.task->told = told;
}

/* ---- what is taken for granted ---- */

static bool find_robust(void)
{
    void *head = NULL;

    if (syscall(SYS_get_robust_list, 0, &head, &robust_bytes) < 0)
        return false;
    at_robust = (ptrdiff_t)((uintptr_t)head - (uintptr_t)pthread_self());
    return (uintptr_t)at_robust < HEAD;
}

/* EBUSY: it is registered with just this. */
static bool find_rseq(void)
{
    long step = (long)getauxval(AT_RSEQ_ALIGN), bytes = (long)getauxval(AT_RSEQ_FEATURE_SIZE);
    uint32_t sizes[] = {RSEQ_BYTES, bytes > RSEQ_BYTES && step > 0 ? (uint32_t)ft_align((uint64_t)bytes, (uint64_t)step) : RSEQ_BYTES};

    rseq_bytes = 0;
    if (!&__rseq_size || !__rseq_size)
        return true;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && !rseq_bytes; i++)
        if (syscall(SYS_rseq, (uintptr_t)pthread_self() + (uintptr_t)__rseq_offset, sizes[i], 0, RSEQ_MARK) < 0 && errno == EBUSY)
            rseq_bytes = sizes[i];
    return rseq_bytes;
}

/* Also by who blocks all. */
static bool is_never_blocked(void)
{
    sigset_t all, before, now;

    sigfillset(&all);
    ft_real()->pthread_sigmask(SIG_SETMASK, &all, &before);
    ft_mask_real(SIG_SETMASK, NULL, &now);
    ft_mask_real(SIG_SETMASK, &before, NULL);
    return !((const uint64_t *)(const void *)&now)[0] || !(((const uint64_t *)(const void *)&now)[0] >> (STOP - 1) & 1);
}

static bool is_at_pointer(void)
{
    uintptr_t at = 0;

    syscall(SYS_arch_prctl, ARCH_GET_FS, &at);
    return at == (uintptr_t)pthread_self();
}

static bool can_be_done(void)
{
    static int known = -1;
    const char *what = NULL;

    if (known >= 0)
        return known;
    if (!is_at_pointer())
        what = "the thread pointer";
    else if (!at_tid)
        what = "a thread's number";
    else if (!find_robust())
        what = "a thread's list of robust mutexes";
    else if (!find_rseq())
        what = "a thread's restartable sequences";
    else if (!is_never_blocked())
        what = "signal 33";
    if (getenv("FTMPI_TEST_STAND"))
        what = getenv("FTMPI_TEST_STAND");
    if (what)
        ft_recorder_tell("it gets no snapshot while it has more than one thread: this C library has %s otherwise than is known", what);
    known = !what;
    return known;
}

/* ---- stopping ---- */

/* The kernel's, in which the C library's function does not let this signal through. */
struct kernel_action {
    void (*handler)(int signal, siginfo_t *info, void *context);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static struct kernel_action c_librarys;

void ft_stand_restorer(void) __attribute__((visibility("hidden")));
void ft_stand_return(void *frame) __attribute__((visibility("hidden"), noreturn));
void ft_stand_lead(void) __attribute__((visibility("hidden"), noreturn));
__asm__(".text\n"
        ".globl ft_stand_restorer\n.hidden ft_stand_restorer\n.type ft_stand_restorer, @function\n"
        "ft_stand_restorer:\n mov $15, %eax\n syscall\n"
        /* rt_sigreturn, with the stack as the restorer finds it: at the ucontext */
        ".globl ft_stand_return\n.hidden ft_stand_return\n.type ft_stand_return, @function\n"
        "ft_stand_return:\n mov %rdi, %rsp\n mov $15, %eax\n syscall\n");

static bool is_ours(const siginfo_t *info) { return info->si_code == SI_QUEUE && info->si_value.sival_ptr == &ft_standing; }

static void stand(ucontext_t *frame)
{
    struct ft_task *t = ft_thread.task;
    uint32_t copy;
    int error = errno;

    t->frame = frame;
    t->error = error;
    while ((copy = atomic_load(&ft_standing)) != 0) {
        if (atomic_exchange(&t->stands, copy) != copy) {
            atomic_fetch_add(&stops, 1);
            futex(&stops, FUTEX_WAKE, 1, NULL);
        }
        futex(&ft_standing, FUTEX_WAIT, copy, NULL);
    }
    errno = error;
}

static void stop(int signal, siginfo_t *info, void *context)
{
    if (!is_ours(info)) {
        if (c_librarys.handler)
            c_librarys.handler(signal, info, context);
    } else if (ft_thread.task && !ft_thread.busy) {
        stand(context);
    }
}

/* The C library sets its own when the first thread is made. */
static void install(void)
{
    struct kernel_action ours = {stop, SA_SIGINFO | SA_RESTART | SA_ONSTACK | 0x04000000 /* SA_RESTORER */, ft_stand_restorer, ~0ull}, is;

    if (syscall(SYS_rt_sigaction, STOP, &ours, &is, sizeof is.mask) == 0 && is.handler != stop)
        c_librarys = is;
}

static void ask(pid_t tid)
{
    siginfo_t info = {.si_signo = STOP, .si_code = SI_QUEUE};

    info.si_value.sival_ptr = &ft_standing;
    syscall(SYS_rt_tgsigqueueinfo, (pid_t)syscall(SYS_getpid), tid, STOP, &info);
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
    uint32_t waits = WAITS;

    return atomic_load(&t->stands) == number || atomic_load(&t->waits) == HELD || atomic_compare_exchange_strong(&t->waits, &waits, HELD);
}

/* Whether all stand; asks those that have not been asked. */
static bool look(void)
{
    uint32_t n = 1;
    bool all = true;

    for (uint32_t i = 0; i < ntasks; i++) {
        struct ft_task *t = &tasks[i];
        pid_t tid = atomic_load(&t->tid);

        if (!tid || t == ft_thread.task)
            continue;
        if (is_standing(t)) {
            n++;
            continue;
        }
        if (t->asked != number)
            ask(tid);
        t->asked = number;
        if (is_gone(tid)) {
            atomic_store(&t->tid, 0);
            continue;
        }
        in_the_way = t;
        all = false;
    }
    if (!all)
        return false;
    in_the_way = NULL; /* one that is not known, if any */
    return n == threads_now();
}

/* A frame of the signal that leaves no room is not risked. */
static bool has_room(const struct ft_task *t) { return !t->stack_bytes || t->stack_bytes >= 4 * getauxval(AT_MINSIGSTKSZ); }

static bool all_have_room(void)
{
    for (uint32_t i = 0; i < ntasks; i++)
        if (atomic_load(&tasks[i].tid) && !has_room(&tasks[i])) {
            in_the_way = &tasks[i];
            return false;
        }
    return true;
}

static bool look_at_all(void);

bool ft_stand_still(void)
{
    uint64_t end = ft_clock_ns() + LIMIT_NS;
    int holds;
    bool all;

    in_the_way = NULL;
    if (ft_recorder.one_thread || overflown || !can_be_done() || !all_have_room() || atomic_exchange(&cutting, 1))
        return false;
    ft_busy(); /* it does not stop itself */
    install();
    holds = ft_threads_let(); /* who waits for the lock is busy */
    number = number + 1 ? number + 1 : 1;
    atomic_store(&ft_standing, number);
    for (;;) {
        uint32_t seen = atomic_load(&stops);

        all = look();
        if (all || ft_clock_ns() > end)
            break;
        futex(&stops, FUTEX_WAIT, seen, &(struct timespec){.tv_nsec = LOOK_NS});
    }
    all = all && look_at_all();
    if (!all)
        ft_stand_go();
    ft_threads_take(holds);
    return all;
}

void ft_stand_go(void)
{
    for (uint32_t i = 0; i < ntasks; i++) {
        uint32_t held = HELD;

        atomic_compare_exchange_strong(&tasks[i].waits, &held, WAITS);
    }
    atomic_store(&ft_standing, 0);
    futex(&ft_standing, FUTEX_WAKE, INT_MAX, NULL);
    atomic_store(&cutting, 0);
    ft_idle();
}

static void read_text(const char *path, char *to, size_t bytes)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : (ssize_t)syscall(SYS_read, fd, to, bytes - 1);

    if (fd >= 0)
        syscall(SYS_close, fd);
    to[n < 0 ? 0 : n] = 0;
}

/* /proc/self/task/TID/WHAT. No printf: another thread may have the locale's lock. */
static void path_of(pid_t tid, const char *what, char *to)
{
    char digits[12];
    int n = 0;

    strcpy(to, "/proc/self/task/");
    to += strlen(to);
    do
        digits[n++] = (char)('0' + tid % 10);
    while ((tid /= 10) > 0);
    while (n > 0)
        *to++ = digits[--n];
    *to++ = '/';
    strcpy(to, what);
}

void ft_stand_why(char *to)
{
    const struct ft_task *t = in_the_way;
    char path[64], name[NAME + 1], call[32];
    pid_t tid = t ? atomic_load(&t->tid) : 0;

    if (ft_recorder.one_thread || !tid) {
        snprintf(to, FT_STAND_WHY, "%s", ft_recorder.one_thread ? "--snapshot-threads off" : overflown ? "it has too many threads" :
                 "a thread that was not made by pthread_create, or by another means, cannot be stopped");
        return;
    }
    path_of(tid, "comm", path);
    read_text(path, name, sizeof name);
    path_of(tid, "syscall", path);
    read_text(path, call, sizeof call);
    name[strcspn(name, "\n")] = call[strcspn(call, " \n")] = 0;
    snprintf(to, FT_STAND_WHY, "thread %d (%s) %s%s", tid, name,
             !has_room(t) ? "has a small stack" : t->thread && t->thread->busy ? "is in a call that is recorded" :
             *call == 'r' || !*call ? "runs, and does not take the signal" : "is in system call ", *call != 'r' && has_room(t) &&
             !(t->thread && t->thread->busy) ? call : "");
}

/* ---- waiting ---- */

/* Before the kernel is reached. A copy that begins afterwards finds that it waits, and sends it no signal. */
bool ft_waits_begin_slowly(void)
{
    struct ft_task *t = ft_thread.task;
    int error = errno;
    uint32_t copy;

    if (!t || !ft_thread.led || !ft_recorder.on)
        return false;
    __asm__("stmxcsr %0\n fnstcw %1" : "=m"(t->mxcsr), "=m"(t->x87));
    atomic_store(&t->waits, WAITS);
    while ((copy = atomic_load(&ft_standing)) != 0)
        futex(&ft_standing, FUTEX_WAIT, copy, NULL);
    errno = error;
    return true;
}

void ft_waits_masked(void)
{
    struct ft_task *t = ft_threads_many ? ft_thread.task : NULL;

    if (!t)
        return;
    ft_mask_real(SIG_SETMASK, NULL, &t->mask);
    t->masked = true;
}

void ft_waits_end_slowly(void)
{
    struct ft_task *t = ft_thread.task;
    uint32_t waits = WAITS, copy;
    int error;

    t->masked = false;
    if (__builtin_expect(atomic_compare_exchange_strong(&t->waits, &waits, NOT), 1))
        return;
    error = errno;
    for (waits = WAITS; !atomic_compare_exchange_strong(&t->waits, &waits, NOT); waits = WAITS)
        if ((copy = atomic_load(&ft_standing)) != 0)
            futex(&ft_standing, FUTEX_WAIT, copy, NULL);
    errno = error;
}

/* ---- where one that waits is led back to ---- */

_Thread_local struct ft_lead ft_lead __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* here: what it does; again: what it does when the thread has been led back. */
#define SAVES(name, here, again)                                                                                                    \
    ".globl " name "\n.hidden " name "\n.type " name ", @function\n" name ":\n"                                                     \
    " mov ft_lead@GOTTPOFF(%rip), %rax\n"                                                                                           \
    " mov %rbx, %fs:0(%rax)\n mov %rbp, %fs:8(%rax)\n mov %r12, %fs:16(%rax)\n mov %r13, %fs:24(%rax)\n"                            \
    " mov %r14, %fs:32(%rax)\n mov %r15, %fs:40(%rax)\n lea 8(%rsp), %r11\n mov %r11, %fs:48(%rax)\n"                               \
    " mov (%rsp), %r11\n mov %r11, %fs:56(%rax)\n"                                                                                  \
    " mov %rdi, %fs:64(%rax)\n mov %rsi, %fs:72(%rax)\n mov %rdx, %fs:80(%rax)\n mov %rcx, %fs:88(%rax)\n"                          \
    " lea " again "(%rip), %r11\n mov %r11, %fs:96(%rax)\n"                                                                         \
    " jmp " here "\n"

__asm__(".text\n" SAVES("ft_call_begin_wait", "ft_call_begin_here", "ft_call_begin_here") SAVES("ft_waits_led", "ft_waits_led_here", "ft_waits_led_again")
        ".globl ft_stand_lead\n.hidden ft_stand_lead\n.type ft_stand_lead, @function\n"
        "ft_stand_lead:\n mov ft_lead@GOTTPOFF(%rip), %rbx\n mov %fs:48(%rbx), %rsp\n" /* as it was at the call */
        " mov %fs:64(%rbx), %rdi\n mov %fs:72(%rbx), %rsi\n mov %fs:80(%rbx), %rdx\n mov %fs:88(%rbx), %rcx\n"
        " call *%fs:96(%rbx)\n"
        " mov ft_lead@GOTTPOFF(%rip), %rcx\n"
        " mov %fs:0(%rcx), %rbx\n mov %fs:8(%rcx), %rbp\n mov %fs:16(%rcx), %r12\n mov %fs:24(%rcx), %r13\n"
        " mov %fs:32(%rcx), %r14\n mov %fs:40(%rcx), %r15\n mov %fs:48(%rcx), %rsp\n jmp *%fs:56(%rcx)\n");

bool ft_waits_led_here(void) __attribute__((visibility("hidden")));
bool ft_waits_led_here(void)
{
    ft_lead.busy = ft_thread.busy;
    ft_thread.led = true;
    return false;
}

bool ft_waits_led_again(void) __attribute__((visibility("hidden")));
bool ft_waits_led_again(void) { return true; }

void ft_lead_keep(struct ft_lead *to)
{
    ft_lead.busy = ft_thread.busy;
    *to = ft_lead;
}

void ft_lead_restore(const struct ft_lead *from) { ft_lead = *from; }

/* ---- all stand ---- */

static void look_at_policy(struct ft_task *t)
{
    pid_t tid = atomic_load(&t->tid);
    char path[64];

    CPU_ZERO(&t->processors);
    syscall(SYS_sched_getaffinity, tid, sizeof t->processors, &t->processors);
    if (syscall(SYS_sched_getattr, tid, &t->policy, sizeof t->policy, 0) < 0)
        t->policy.size = 0;
    path_of(tid, "comm", path);
    read_text(path, t->name, sizeof t->name);
    t->name[strcspn(t->name, "\n")] = 0;
}

static uint64_t number_after(const char *text, const char *what)
{
    const char *at = strstr(text, what);
    uint64_t value = 0;

    for (at = at ? at + strlen(what) : ""; *at == '\t'; at++)
        ;
    for (; (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f'); at++)
        value = value * 16 + (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
    return value;
}

/* False: a signal that was sent to this very thread waits for it, which no other process can be given. */
static bool look_at_signals(struct ft_task *t)
{
    static char text[4096];
    char path[64];
    uint64_t blocked;

    path_of(atomic_load(&t->tid), "status", path);
    read_text(path, text, sizeof text);
    blocked = number_after(text, "\nSigBlk:");
    if (!t->masked) {
        memset(&t->mask, 0, sizeof t->mask);
        memcpy(&t->mask, &blocked, sizeof blocked);
    }
    return (number_after(text, "\nSigPnd:") & ~(1ull << (STOP - 1))) == 0;
}

static bool stands(const struct ft_task *t)
{
    return t != ft_thread.task && atomic_load(&t->tid) && (atomic_load(&t->stands) == number || atomic_load(&t->waits) == HELD);
}

static bool look_at_all(void)
{
    for (uint32_t i = 0; i < ntasks; i++)
        if (stands(&tasks[i]) && !look_at_signals(&tasks[i])) {
            in_the_way = &tasks[i];
            return false;
        }
    for (uint32_t i = 0; i < ntasks; i++)
        if (stands(&tasks[i]))
            look_at_policy(&tasks[i]);
    look_at_policy(ft_thread.task);
    return true;
}

uint32_t ft_stand_note(uint64_t copy)
{
    uint32_t n = 1;

    for (uint32_t i = 0; i < ntasks && atomic_load(&ft_standing); i++) {
        struct ft_task *t = &tasks[i];
        bool waits = atomic_load(&t->waits) == HELD;

        if (!stands(t))
            continue;
        n++;
        if (!t->thread)
            continue;
        waits = waits && t->thread->in_call;
        ft_outcome_log_stand(t->thread->log, waits);
        if (waits)
            atomic_store(&ft_recorder.log.words->needed_by[ft_outcome_log_slot(t->thread->log, t->thread->log->owed)], (uint32_t)copy);
    }
    return n;
}

/* ---- in the copy that has been woken ---- */

void ft_stand_follow(void (*see)(struct ft_outcome *o))
{
    bool all_stand = atomic_load(&ft_standing);

    atomic_store(&ft_thread.task->tid, (pid_t)syscall(SYS_gettid));
    for (uint32_t i = 0; i < ntasks; i++) {
        struct ft_task *t = &tasks[i];
        struct ft_outcome *o;

        if (t == ft_thread.task)
            continue;
        if (!all_stand || !stands(t)) {
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

/* On a stack of its own, with the thread's thread pointer. */
static int go_on(void *arg)
{
    struct ft_task *t = arg;
    ucontext_t *frame = t->frame;

    syscall(SYS_set_robust_list, (uintptr_t)t->handle + (uintptr_t)at_robust, robust_bytes);
    if (rseq_bytes)
        syscall(SYS_rseq, (uintptr_t)t->handle + (uintptr_t)__rseq_offset, rseq_bytes, 0, RSEQ_MARK);
    set_policy(t, maker);
    ft_signals_put_back(&t->mask, frame);
    if (atomic_load(&t->waits) == NOT) {
        t->frame = NULL;
        errno = t->error;
        ft_stand_return(frame);
    }
    atomic_store(&t->waits, NOT);
    ft_thread.busy = (int)ft_lead.busy;
    ft_thread.in_call = false;
    __asm__ volatile("ldmxcsr %0\n fldcw %1" : : "m"(t->mxcsr), "m"(t->x87));
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL); /* the C library has another one in a call that waits */
    ft_stand_lead();
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
static void put_back(struct ft_task *t, char *stack)
{
    pid_t *at = (pid_t *)((uintptr_t)t->handle + (uintptr_t)at_tid); /* NOLINT(performance-no-int-to-ptr) */
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |
                CLONE_CHILD_CLEARTID;

    if (ft_real()->clone(go_on, stack + STACK, flags, t, (pid_t *)(void *)&t->tid, (void *)t->handle, at) < 0) /* NOLINT(performance-no-int-to-ptr) */
        ft_recorder_lost("its threads cannot be put back: %s", strerrorname_np(errno));
}

void ft_stand_put_back(void)
{
    uint32_t n = 0, at = 0;
    char *stacks;

    if (!atomic_load(&ft_standing))
        return;
    for (uint32_t i = 0; i < ntasks; i++)
        n += stands(&tasks[i]);
    maker = ft_thread.task;
    stacks = stacks_for(n);
    atomic_store(&ft_standing, 0);
    atomic_store(&cutting, 0);
    for (uint32_t i = 0; i < ntasks; i++) {
        struct ft_task *t = &tasks[i];

        if (t == maker || !atomic_load(&t->tid))
            continue;
        atomic_store(&t->stands, 0);
        put_back(t, stacks + (size_t)at++ * STACK);
    }
    ft_idle();
}
