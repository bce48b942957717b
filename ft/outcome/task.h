/* SPDX-License-Identifier: BSD-3-Clause */
/* What is kept of each thread of the rank beside its own memory, for when it stands still (stand.h). */
#ifndef FT_OUTCOME_TASK_H
#define FT_OUTCOME_TASK_H

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "ft/outcome/stand.h"

enum {
    FT_TASK_STOP = 33,       /* SIGSETXID: the one signal that the C library lets nobody block, and has a handler for itself */
    FT_TASK_NAME = 16,
    FT_TASK_RSEQ = 0x53053053 /* what the C library signs its restartable sequences with, on this processor */
};

/* struct sched_attr of the kernel, as it was first. */
struct ft_policy {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

enum ft_waits { FT_WAITS_NOT, FT_WAITS, FT_WAITS_HELD /* it is taken for one that stands */, FT_WAITS_DEAF /* ft_deaf_begin */ };

struct ft_task {
    _Atomic pid_t tid;           /* of the kernel; 0: nobody has this place */
    pid_t told;                  /* what the program was told */
    pthread_t handle;            /* also its thread pointer */
    size_t stack_bytes;
    struct ft_thread *thread;    /* NULL: it has not come to us yet */
    _Atomic uint32_t waits;      /* enum ft_waits */
    _Atomic bool signalled;      /* another thread has sent it a signal, which it may not have found yet */
    _Atomic bool does;           /* it has been asked for what all do, and has not done it (ft_stand_all) */
    _Atomic bool held;           /* a replay keeps signals from it (wrap_mask.c) */
    _Atomic bool queues;         /* it waits for the recorder's lock */
    _Atomic uint32_t stands;     /* for which copy (ft_standing) it has stopped */
    bool leads;                  /* it is being put back, and waited */
    uint32_t asked;              /* for which one it was sent the signal */
    ucontext_t *frame;           /* of that signal */
    int error;                   /* its errno then, or before it waited */
    bool masked;                 /* `mask` is what one that waits has before and after that */
    uint32_t mxcsr;              /* of one that waits */
    uint16_t x87;
    /* What the kernel knows of it. */
    sigset_t mask;
    struct ft_policy policy;
    cpu_set_t processors;
    char name[FT_TASK_NAME];
};

extern struct ft_task ft_tasks[FT_STAND_MOST];
extern uint32_t ft_ntasks;       /* places that have been used */

/* Where the C library has things, from a thread's pointer (its handle). */
struct ft_task_layout {
    ptrdiff_t number, robust, rseq;
    size_t robust_bytes;
    uint32_t rseq_bytes;         /* 0: none is registered */
    bool known;                  /* all of it: threads can be put back */
};
extern struct ft_task_layout ft_task_layout;

/* When the rank makes its first thread: looks, and says so if it cannot be done. */
void ft_task_learn(void);

static inline long ft_task_futex(_Atomic uint32_t *word, int what, uint32_t value, const struct timespec *most)
{
    return syscall(SYS_futex, word, what | FUTEX_PRIVATE_FLAG, value, most, NULL, 0);
}

static inline bool ft_task_is_gone(pid_t tid) { return syscall(SYS_tgkill, (pid_t)syscall(SYS_getpid), tid, 0) < 0; }

/* Around what sends a thread (NULL: one that is not known) a signal. No copy is made until it has found that. */
void ft_signalled_begin(struct ft_task *t);
void ft_signalled_end(struct ft_task *t);

/* A thread other than this one stands for the copy that is being made, or has been. */
bool ft_task_stands(const struct ft_task *t);

/* All stand: notes what the kernel knows of them. Returns one that cannot be put back, or NULL. */
const struct ft_task *ft_task_look_at_all(void);

/* /proc/self/task/TID/WHAT, as text. */
enum { FT_TASK_PATH = 64 };
void ft_task_read(pid_t tid, const char *what, char *to, size_t bytes);

#endif
