/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/copies.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ft/outcome/descriptors.h"
#include "ft/outcome/record.h"
#include "ft/shm/wait.h"

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

static long control(int fd, int command, long arg) { return syscall(SYS_fcntl, fd, command, arg); }

/* Not forever: a wake-up call can be lost with the process that owed it. */
static void sleep_on(const _Atomic uint64_t *word, uint64_t seen)
{
    struct timespec most = {.tv_sec = 1};

    syscall(SYS_futex, word, FUTEX_WAIT, (uint32_t)seen, &most, NULL, 0);
}

static void ring(const struct ft_copies *c)
{
    uint64_t one = 1;

    syscall(SYS_write, c->bell, &one, sizeof one); /* full: the agent has not looked for long, and will see this, too */
}

int ft_copies_open(struct ft_copies *c, struct ft_snap_words *words, _Atomic uint32_t *incarnation, int bell, int life)
{
    char path[40];
    int tie;

    *c = (struct ft_copies){.words = words, .incarnation = incarnation, .bell = bell, .life = life};
    snprintf(path, sizeof path, "/proc/self/fd/%d", life);
    tie = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    c->tie = tie < 0 ? -1 : ft_descriptors_own(tie);
    if (c->tie < 0 || control(c->tie, F_SETSIG, SIGKILL) < 0 || control(c->tie, F_SETFL, O_ASYNC | O_NONBLOCK) < 0)
        return -1;
    return 0;
}

/* The C library keeps the thread's number where the kernel was told to clear it at its end; a clone has the kernel write the child's
   number there. And it has told the kernel where its list of robust mutexes is, which a clone forgets. clone rather than clone3,
   which container runtimes forbid; where the child's number goes is its fourth or its fifth argument. */
static pid_t clone_process(void)
{
    unsigned long flags = CLONE_PARENT | CLONE_FILES;
    void *robust = NULL;
    size_t bytes = 0;
    uint64_t at = 0;
    pid_t pid;

    if (prctl(PR_GET_TID_ADDRESS, &at) == 0 && at)
        flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
    syscall(SYS_get_robust_list, 0, &robust, &bytes);
    pid = (pid_t)syscall(SYS_clone, flags, NULL, NULL, at, at);
    if (pid == 0 && robust)
        syscall(SYS_set_robust_list, robust, bytes);
    return pid;
}

/* The group `tie` kills when the launcher is gone, or a new one if there is none any more. */
static void join_copies(const struct ft_copies *c)
{
    struct f_owner_ex owner = {0};
    struct pollfd launcher = {.fd = c->tie};

    if (control(c->tie, F_GETOWN_EX, (long)&owner) < 0)
        _exit(127);
    if (owner.pid <= 0 || setpgid(0, owner.pid) < 0) {
        owner = (struct f_owner_ex){F_OWNER_PGRP, (pid_t)syscall(SYS_getpid)};
        if (setpgid(0, 0) < 0 || control(c->tie, F_SETOWN_EX, (long)&owner) < 0)
            _exit(127);
    }
    if (poll(&launcher, 1, 0) != 0)
        _exit(127);
}

/* The next incarnation: not before the agent watches over it. Its predecessor is dead, so `life` is nobody's. */
static void become(struct ft_copies *c, uint64_t incarnation)
{
    struct f_owner_ex owner = {F_OWNER_PGRP, (pid_t)syscall(SYS_getpid)};
    struct pollfd launcher = {.fd = c->life};
    uint64_t seen;

    if (setpgid(0, 0) < 0 || control(c->life, F_SETOWN_EX, (long)&owner) < 0 || poll(&launcher, 1, 0) != 0)
        _exit(127);
    while ((seen = ft_look(&c->words->run)) != incarnation)
        sleep_on(&c->words->run, seen);
    ft_recorder.switched = false;
    ft_recorder.told = false;
    ft_descriptors_left();
}

/* Returns in the next incarnation only. */
static void wait_as_copy(struct ft_copies *c, uint64_t number)
{
    uint64_t last = atomic_load(c->incarnation), wanted;
    pid_t pid;

    /* While it is in the rank's group it dies with that; before it leaves it can be found. */
    ft_publish(&c->words->pid, (uint64_t)syscall(SYS_getpid));
    join_copies(c);
    ft_announce(&c->words->taken, number);
    if (!ft_ask(&c->words->want))
        _exit(0); /* given up: either this is seen here, or `taken` there */
    ring(c);
    for (;; last = wanted) {
        while ((wanted = ft_look(&c->words->wake)) <= last)
            sleep_on(&c->words->wake, wanted);
        if (ft_peek(&c->words->waker) != (uint64_t)syscall(SYS_getpid))
            continue; /* an older one, or a newer one, is to do it */
        pid = clone_process();
        if (pid == 0) {
            become(c, wanted);
            return;
        }
        ft_note(&c->words->copy, pid > 0 ? (uint64_t)pid : 0);
        ft_publish(&c->words->copied, wanted);
        ring(c);
    }
}

bool ft_copies_make(struct ft_copies *c, uint64_t number)
{
    pid_t pid;

    c->answered = number;
    ft_descriptors_open();
    c->words->outcome = ft_recorder.log.at;
    pid = clone_process();
    if (pid == 0) {
        wait_as_copy(c, number);
        return true;
    }
    if (pid < 0)
        return false;
    /* If it dies before it can say `taken`, nobody else knows of it. */
    ft_note(&c->words->child, (uint64_t)pid);
    ft_publish(&c->words->forked, number);
    errno = 0;
    return false;
}
