/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/snap/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ft/shm/wait.h"

enum { PROBE_PAGES = 8 };

/* Not forever: a wake-up call can be lost with the process that owed it. */
static void sleep_on(const _Atomic uint64_t *word, uint64_t seen)
{
    struct timespec most = {.tv_sec = 1};

    syscall(SYS_futex, word, FUTEX_WAIT, (uint32_t)seen, &most, NULL, 0);
}

static void ring(const struct ft_snapshots *s)
{
    uint64_t one = 1;

    if (write(s->bell, &one, sizeof one) < 0) {
        /* its count is full: the agent has not looked for long, and will see this, too */
    }
}

void ft_snapshots_open(struct ft_snapshots *s, const struct ft_region *region, uint32_t rank, const struct ft_image_own *own, int bell,
                       int life)
{
    s->region = region;
    s->block = ft_region_rank(region, rank);
    s->words = &s->block->snap;
    s->own = *own;
    s->own.mapping.start = region->base;
    s->own.mapping.bytes = region->header->size;
    ft_files_stdio(&s->own);
    s->bell = bell;
    s->life = life;
    s->answered = 0;
    s->faults = 0;
}

static void refuse(struct ft_snapshots *s, uint64_t number, enum ft_image_reason reason)
{
    ft_note(&s->words->reason, reason);
    ft_publish(&s->words->refused, number);
    ring(s);
}

/* The program may have lowered its limit of descriptors below those it was started with. */
static bool move(int from, int to)
{
    struct rlimit limit, most;
    bool moved = dup2(from, to) == to;

    if (!moved && errno == EBADF && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        most = (struct rlimit){limit.rlim_max, limit.rlim_max};
        moved = setrlimit(RLIMIT_NOFILE, &most) == 0 && dup2(from, to) == to;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    close(from);
    return moved;
}

/* The owner of a descriptor's signals belongs to its description: each group has its own (launcher/ranks/spawn.c). Opened before the
   fork: what can fail then is the fork, not what comes of it. */
static int open_tie(const struct ft_snapshots *s)
{
    char path[40];

    snprintf(path, sizeof path, "/proc/self/fd/%d", s->life);
    return open(path, O_RDONLY | O_NONBLOCK);
}

static pid_t clone_tied(const struct ft_snapshots *s, int *tie)
{
    pid_t pid;

    *tie = open_tie(s);
    if (*tie < 0)
        return -1;
    pid = ft_image_clone();
    if (pid != 0)
        close(*tie);
    return pid;
}

/* In a process that was cloned: out of the group of the one that made it. */
static void leave_group(const struct ft_snapshots *s, int tie)
{
    struct f_owner_ex owner = {F_OWNER_PGRP, getpid()};
    struct pollfd p = {.fd = s->life};

    if (setpgid(0, 0) < 0 || !move(tie, s->life) || fcntl(s->life, F_SETOWN_EX, &owner) < 0 || fcntl(s->life, F_SETSIG, SIGKILL) < 0 ||
        fcntl(s->life, F_SETFL, O_ASYNC | O_NONBLOCK) < 0 || poll(&p, 1, 0) != 0)
        _exit(127);
}

/* The copy: not before the agent watches over it. */
static void become(struct ft_snapshots *s, uint64_t incarnation, int tie)
{
    uint64_t seen;

    leave_group(s, tie);
    while ((seen = ft_look(&s->words->run)) != incarnation)
        sleep_on(&s->words->run, seen);
    ft_region_fork_keeps(s->region, false);
    ft_image_put_back(&s->image);
}

/* Returns in a copy only. */
static void wait_as_snapshot(struct ft_snapshots *s, uint64_t number, int tie)
{
    uint64_t last = ft_peek32(&s->block->incarnation), wanted;
    pid_t pid;

    for (int i = 0; i < s->nlinks; i++)
        close(s->links[i]);
    /* While it is in the rank's group it dies with that; before it leaves it can be found. */
    ft_publish(&s->words->pid, (uint64_t)getpid());
    leave_group(s, tie);
    ft_announce(&s->words->taken, number);
    if (!ft_ask(&s->words->want))
        _exit(0); /* given up: either this is seen here, or `taken` there */
    ring(s);
    for (;; last = wanted) {
        while ((wanted = ft_look(&s->words->wake)) <= last)
            sleep_on(&s->words->wake, wanted);
        ft_files_look_again(&s->image.files);
        pid = clone_tied(s, &tie);
        if (pid == 0) {
            become(s, wanted, tie);
            return;
        }
        ft_note(&s->words->copy, pid > 0 ? (uint64_t)pid : 0);
        ft_publish(&s->words->copied, wanted);
        ring(s);
    }
}

/* The pipe that ties us to the launcher: the program may have closed what it does not know. */
static bool is_tied(const struct ft_snapshots *s)
{
    struct stat st;

    return fstat(s->life, &st) == 0 && S_ISFIFO(st.st_mode) && fcntl(s->bell, F_GETFD) >= 0;
}

/* False: the agent has thought better of it. */
static bool stand_still(struct ft_snapshots *s, uint64_t number, const struct ft_position *p)
{
    uint64_t seen;

    s->words->at = *p;
    ft_publish(&s->words->ready, number);
    ring(s);
    while ((seen = ft_look(&s->words->go)) != number) {
        if (ft_look(&s->words->want) != number)
            return false;
        sleep_on(&s->words->go, seen);
    }
    return true;
}

/* If it dies before it can say `taken`, nobody else knows of it. */
static void say_forked(const struct ft_snapshots *s, uint64_t number, pid_t pid)
{
    ft_note(&s->words->child, (uint64_t)pid);
    ft_publish(&s->words->forked, number);
}

static void send_again(const sigset_t *pending)
{
    for (int signal = 1; signal < NSIG; signal++)
        if (sigismember(pending, signal) == 1)
            kill(getpid(), signal);
}

/* What a page costs that is written for the first time after a fork: an exception, memory and a copy. Measured with pages of our own after
   each fork, since it is 2 microseconds at one time and 6 at another on the same (virtual) machine. The median: no interrupt. */
static _Alignas(4096) volatile char probe[PROBE_PAGES][4096];

static void touch_probe(void)
{
    for (int i = 0; i < PROBE_PAGES; i++)
        probe[i][0] = 1;
}

static uint64_t measure_page_ns(void)
{
    uint64_t ns[PROBE_PAGES];

    for (int i = 0; i < PROBE_PAGES; i++) {
        uint64_t begin = ft_clock_ns(), took;
        int at = i;

        probe[i][0]++;
        took = ft_clock_ns() - begin;
        for (; at > 0 && ns[at - 1] > took; at--)
            ns[at] = ns[at - 1];
        ns[at] = took;
    }
    return ns[PROBE_PAGES / 2];
}

static uint64_t page_faults(void)
{
    struct rusage used;

    return getrusage(RUSAGE_SELF, &used) < 0 ? 0 : (uint64_t)used.ru_minflt;
}

/* Signals are blocked, which the snapshot wants, and which keeps handlers from changing what has been looked at. */
static bool take(struct ft_snapshots *s, uint64_t number, const struct ft_position *p)
{
    enum ft_image_reason reason = is_tied(s) ? ft_image_take(&s->image, &s->own) : FT_IMAGE_SYSTEM;
    struct ft_image_pages unread;
    sigset_t pending;
    pid_t pid = -1;
    uint64_t who;  /* it is seen to be alive as, and the copy is not; 0: as nobody */
    int tie;

    if (reason != FT_IMAGE_GOOD) {
        refuse(s, number, reason);
        return false;
    }
    sigpending(&pending); /* after the timers were looked at: one that ends in between comes twice, not never */
    if (!stand_still(s, number, p))
        return false;
    touch_probe();
    who = ft_peek(&s->block->alive.who);
    if (who && !ft_alive_end(&s->block->alive))
        who = 0;
    unread = ft_image_leave_out(s->unread, s->unread_bytes);
    if (ft_region_fork_keeps(s->region, true) == 0)
        pid = clone_tied(s, &tie);
    ft_image_take_in(&unread);
    if (pid == 0) {
        wait_as_snapshot(s, number, tie);
        send_again(&pending);
        s->faults = page_faults();
        return true;
    }
    ft_region_fork_keeps(s->region, false);
    if (who)
        ft_alive_begin(&s->block->alive, who);
    if (pid < 0) {
        refuse(s, number, FT_IMAGE_FORK);
        return false;
    }
    say_forked(s, number, pid);
    ft_note(&s->words->page_ns, measure_page_ns());
    s->faults = page_faults();
    return false;
}

bool ft_snapshots_take(struct ft_snapshots *s, const struct ft_position *p)
{
    uint64_t number = ft_look(&s->words->want), begin = ft_clock_ns();
    sigset_t all, mask;
    bool woken;

    s->answered = number;
    if (!number)
        return false;
    ft_note(&s->words->faults, page_faults() - s->faults);
    s->own.links = s->links;
    s->own.nlinks = s->nlinks;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    woken = take(s, number, p);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (!woken)
        ft_publish(&s->words->stood_ns, ft_peek(&s->words->stood_ns) + ft_clock_ns() - begin);
    return woken;
}
