/* SPDX-License-Identifier: BSD-3-Clause */
/* How the C library and the kernel are taken to behave is looked at when the rank makes its first thread (ft_task_learn): where that is not so,
   ranks with threads have no newer snapshot, and a line says so. */
#include "ft/outcome/task.h"

#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

#include "ft/base/util.h"
#include "ft/outcome/mask.h"
#include "ft/outcome/real.h"
#include "ft/outcome/record.h"

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

enum { NEAR = 4096 /* bytes of what the C library has at the thread pointer */, RSEQ_BYTES = 32 };

struct ft_task ft_tasks[FT_STAND_MOST];
uint32_t ft_ntasks;
struct ft_task_layout ft_task_layout;

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

/* ---- which there are ---- */

static pid_t *number_of(pthread_t thread)
{
    return (pid_t *)((uintptr_t)thread + (uintptr_t)ft_task_layout.number); /* NOLINT(performance-no-int-to-ptr) */
}

static struct ft_task *use(struct ft_task *t, pthread_t thread, pid_t tid)
{
    *t = (struct ft_task){.told = tid, .handle = thread};
    atomic_store(&t->tid, tid);
    return t;
}

void ft_stand_open(void)
{
    ft_ntasks = 1;
    ft_thread.task = use(&ft_tasks[0], pthread_self(), (pid_t)syscall(SYS_gettid));
    ft_thread.task->thread = &ft_thread;
}

static struct ft_task *free_place(pthread_t thread)
{
    struct ft_task *place = NULL;

    for (uint32_t i = 0; i < ft_ntasks; i++) {
        if (ft_tasks[i].handle == thread) /* of one that has ended */
            atomic_store(&ft_tasks[i].tid, 0);
        if (!place && !atomic_load(&ft_tasks[i].tid))
            place = &ft_tasks[i];
    }
    for (uint32_t i = 0; !place && i < ft_ntasks; i++)
        if (ft_task_is_gone(atomic_load(&ft_tasks[i].tid)))
            place = &ft_tasks[i];
    if (!place && ft_ntasks < FT_STAND_MOST)
        place = &ft_tasks[ft_ntasks++];
    return place;
}

struct ft_task *ft_stand_add(pthread_t thread, size_t stack_bytes)
{
    struct ft_task *place;

    if (!ft_task_layout.known)
        return NULL;
    place = free_place(thread);
    if (!place)
        return NULL;
    use(place, thread, *number_of(thread));
    place->stack_bytes = stack_bytes;
    return place;
}

void ft_stand_begin(struct ft_thread *thread)
{
    if (thread->task)
        thread->task->thread = thread;
}

struct ft_task *ft_stand_of(pthread_t thread)
{
    for (uint32_t i = 0; i < ft_ntasks; i++)
        if (ft_tasks[i].handle == thread && atomic_load(&ft_tasks[i].tid))
            return &ft_tasks[i];
    return NULL;
}

struct ft_task *ft_stand_told(pid_t told)
{
    for (uint32_t i = 0; i < ft_ntasks; i++)
        if (ft_tasks[i].told == told && atomic_load(&ft_tasks[i].tid))
            return &ft_tasks[i];
    return NULL;
}

void ft_stand_tell(pid_t told)
{
    if (ft_thread.task)
        ft_thread.task->told = told;
}

/* ---- what is taken for granted ---- */

static bool is_near(ptrdiff_t at) { return (uintptr_t)at < NEAR; }

static ptrdiff_t from_pointer(uint64_t at) { return (ptrdiff_t)(at - (uintptr_t)pthread_self()); }

static bool find_number(void)
{
    uint64_t at = 0;

    if (prctl(PR_GET_TID_ADDRESS, &at) < 0)
        return false;
    ft_task_layout.number = from_pointer(at);
    return is_near(ft_task_layout.number);
}

static bool find_robust(void)
{
    void *head = NULL;

    if (syscall(SYS_get_robust_list, 0, &head, &ft_task_layout.robust_bytes) < 0)
        return false;
    ft_task_layout.robust = from_pointer((uintptr_t)head);
    return is_near(ft_task_layout.robust);
}

/* EBUSY: it is registered with just this. */
static bool find_rseq(void)
{
    long step = (long)getauxval(AT_RSEQ_ALIGN), bytes = (long)getauxval(AT_RSEQ_FEATURE_SIZE);
    uint32_t sizes[] = {RSEQ_BYTES, bytes > RSEQ_BYTES && step > 0 ? (uint32_t)ft_align((uint64_t)bytes, (uint64_t)step) : RSEQ_BYTES};

    ft_task_layout.rseq_bytes = 0;
    if (!&__rseq_size || !__rseq_size)
        return true;
    ft_task_layout.rseq = __rseq_offset;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && !ft_task_layout.rseq_bytes; i++)
        if (syscall(SYS_rseq, (uintptr_t)pthread_self() + (uintptr_t)__rseq_offset, sizes[i], 0, FT_TASK_RSEQ) < 0 && errno == EBUSY)
            ft_task_layout.rseq_bytes = sizes[i];
    return ft_task_layout.rseq_bytes;
}

/* Also by who blocks all. */
static bool is_never_blocked(void)
{
    sigset_t all, before;
    uint64_t now = 0; /* as the kernel has it: signal 1 is the lowest bit */

    sigfillset(&all);
    ft_real()->pthread_sigmask(SIG_SETMASK, &all, &before);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &now, sizeof now);
    ft_mask_real(SIG_SETMASK, &before, NULL);
    return !(now >> (FT_TASK_STOP - 1) & 1);
}

static bool is_at_pointer(void)
{
    uintptr_t at = 0;

    syscall(SYS_arch_prctl, ARCH_GET_FS, &at);
    return at == (uintptr_t)pthread_self();
}

void ft_task_learn(void)
{
    static bool learnt;
    const char *what = getenv("FT_TEST_THREADS"); /* a falsified one */

    if (learnt)
        return;
    learnt = true;
    if (!is_at_pointer())
        what = "pointer";
    else if (!find_number())
        what = "number";
    else if (!find_robust())
        what = "robust list";
    else if (!find_rseq())
        what = "rseq area";
    else if (!is_never_blocked())
        what = "signal";
    if (what && *what)
        ft_recorder_tell("it gets no snapshot while it has more than one thread: a thread's %s is not what is known of the C library", what);
    ft_task_layout.known = !what || !*what;
}

/* ---- what the system says of one ---- */

static void read_text(const char *path, char *to, size_t bytes)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : (ssize_t)syscall(SYS_read, fd, to, bytes - 1);

    if (fd >= 0)
        syscall(SYS_close, fd);
    to[n < 0 ? 0 : n] = 0;
}

/* /proc/self/task/TID/WHAT. */
static void path_of(pid_t tid, const char *what, char *to)
{
    strcpy(to, "/proc/self/task/");
    to = ft_number_write(to + strlen(to), (uint64_t)tid);
    *to++ = '/';
    strcpy(to, what);
}

void ft_task_read(pid_t tid, const char *what, char *to, size_t bytes)
{
    char path[FT_TASK_PATH];

    path_of(tid, what, path);
    read_text(path, to, bytes);
}
