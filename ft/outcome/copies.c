/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/copies.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ft/outcome/children.h"
#include "ft/outcome/descriptors.h"
#include "ft/outcome/images.h"
#include "ft/outcome/maps.h"
#include "ft/outcome/point.h"
#include "ft/outcome/process.h"
#include "ft/outcome/real.h"
#include "ft/outcome/record.h"
#include "ft/outcome/signals.h"
#include "ft/outcome/stand.h"
#include "ft/shm/wait.h"

enum { PROBE_PAGES = 8, PROBE_BYTES = 64 << 10 /* no page is larger: each is one of its own */ };

static long control(int fd, int command, long arg) { return syscall(SYS_fcntl, fd, command, arg); }
static pid_t own_pid(void) { return (pid_t)syscall(SYS_getpid); }
static long join_group(pid_t group) { return syscall(SYS_setpgid, 0, group); }

static _Noreturn void end(int code)
{
    for (;;)
        syscall(SYS_exit_group, code);
}

/* The launcher: nobody has the other end of the tie any more. */
static bool is_gone(int tie)
{
    struct pollfd launcher = {.fd = tie};

    return syscall(SYS_ppoll, &launcher, 1, &(struct timespec){0}, NULL, 0) != 0;
}

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

int ft_copies_open(struct ft_copies *c, struct ft_rank_block *block, int bell, int life, bool (*keeps)(bool keep))
{
    char path[40];
    int tie;

    ft_real(); /* all are found from now on */
    c->block = block;
    c->words = &block->snap;
    c->bell = bell;
    c->life = life;
    c->keeps = keeps;
    tie = (int)syscall(SYS_openat, AT_FDCWD, ft_descriptors_link(life, path), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    c->tie = tie < 0 ? -1 : ft_descriptors_own(tie);
    if (c->tie < 0 || control(c->tie, F_SETSIG, SIGKILL) < 0 || control(c->tie, F_SETFL, O_ASYNC | O_NONBLOCK) < 0)
        return -1;
    return 0;
}

/* The group that `tie` kills when the launcher is gone, or a new one if there is none any more. */
static void join_copies(const struct ft_copies *c)
{
    struct f_owner_ex owner = {0};

    if (control(c->tie, F_GETOWN_EX, (long)&owner) < 0)
        end(127);
    if (owner.pid <= 0 || join_group(owner.pid) < 0) {
        owner = (struct f_owner_ex){F_OWNER_PGRP, own_pid()};
        if (join_group(0) < 0 || control(c->tie, F_SETOWN_EX, (long)&owner) < 0)
            end(127);
    }
    if (is_gone(c->tie))
        end(127);
}

/* Children of before stay in the group of the process that made them, and tied by its description: then this one opens its own. */
static int tie_of(struct ft_copies *c)
{
    char path[40];
    int life;

    if (!ft_children_any())
        return c->life;
    life = (int)syscall(SYS_openat, AT_FDCWD, ft_descriptors_link(c->life, path), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    life = life < 0 ? -1 : ft_descriptors_own(life);
    if (life < 0 || control(life, F_SETSIG, SIGKILL) < 0 || control(life, F_SETFL, O_ASYNC | O_NONBLOCK) < 0)
        return c->life;
    c->life = life;
    return life;
}

/* The next incarnation: not before the agent watches over it. Its predecessor is dead, so `life` is nobody's. */
static void become(struct ft_copies *c, uint64_t incarnation)
{
    struct f_owner_ex owner = {F_OWNER_PGRP, own_pid()};
    int tie = tie_of(c);
    uint64_t seen;

    ft_cut_point(FT_WAKE_BEGINS);
    if (join_group(0) < 0 || control(tie, F_SETOWN_EX, (long)&owner) < 0 || is_gone(tie))
        end(127);
    while ((seen = ft_look(&c->words->run)) != incarnation) {
        if (seen > incarnation)
            end(0); /* the copy was killed before the agent knew of this one, and another one was woken */
        sleep_on(&c->words->run, seen);
    }
    ft_cut_point(FT_WAKE_RUNS);
    c->keeps(false);
    ft_process_begins();
    ft_children_begin((uint32_t)incarnation);
    ft_recorder_resume();
    ft_descriptors_left();
    ft_maps_compare();
    ft_images_begin();
    ft_image_put_back(&c->image);
    ft_cut_point(FT_WAKE_RESUMED);
}

/* Returns in the next incarnation only. */
static void wait_as_copy(struct ft_copies *c, uint64_t number)
{
    uint64_t last = ft_peek32(&c->block->incarnation), wanted;
    pid_t pid;

    if (ft_ask(&c->words->given_up) >= number)
        end(0); /* and perhaps the next one is wanted already, whose words these are then */
    /* While it is in the rank's group it dies with that; before it leaves it can be found. */
    ft_announce(&c->words->pid, (uint64_t)own_pid());
    join_copies(c);
    ft_cut_point(FT_COPY_JOINED);
    if (ft_ask(&c->words->given_up) >= number)
        end(0); /* either this is seen here, or `pid` there. Not once it is taken: then that is said of a later one, too */
    ft_publish(&c->words->taken, number);
    ft_cut_point(FT_COPY_TAKEN);
    ft_wake(&c->words->taken);
    ring(c);
    for (;; last = wanted) {
        while ((wanted = ft_look(&c->words->wake)) <= last)
            sleep_on(&c->words->wake, wanted);
        if (ft_peek(&c->words->waker) != (uint64_t)own_pid())
            continue; /* an older one, or a newer one, is to do it */
        ft_cut_point(FT_COPY_WOKEN);
        pid = ft_image_clone();
        if (pid == 0) {
            become(c, wanted);
            return;
        }
        ft_cut_point(FT_COPY_CLONED);
        ft_note(&c->words->copy, pid > 0 ? (uint64_t)pid : 0);
        ft_publish(&c->words->copied, wanted);
        ring(c);
        ft_cut_point(FT_COPY_SAID);
    }
}

/* ---- what it costs ---- */

/* What a page costs that is written for the first time after a clone: an exception, memory and a copy. Measured with pages of our own
   after each, since it is 2 microseconds at one time and 6 at another on the same (virtual) machine. The median: no interrupt. */
static volatile char probe[PROBE_PAGES][PROBE_BYTES];

static void touch_probe(void)
{
    for (int i = 0; i < PROBE_PAGES; i++)
        probe[i][0] = 1;
}

static uint64_t measure_page_ns(void)
{
    uint64_t ns[PROBE_PAGES];

    for (int i = 0; i < PROBE_PAGES; i++) {
        uint64_t begin = ft_real_clock_ns(), took;
        int at = i;

        probe[i][0]++;
        took = ft_real_clock_ns() - begin;
        for (; at > 0 && ns[at - 1] > took; at--)
            ns[at] = ns[at - 1];
        ns[at] = took;
    }
    return ns[PROBE_PAGES / 2];
}

static uint64_t page_faults(void)
{
    struct rusage used;

    return syscall(SYS_getrusage, RUSAGE_SELF, &used) < 0 ? 0 : (uint64_t)used.ru_minflt;
}

/* ---- making one ---- */

static void refuse(struct ft_copies *c, uint64_t number, enum ft_image_reason reason)
{
    ft_note(&c->words->reason, reason);
    ft_publish(&c->words->refused, number);
    ft_real_count_write();
    ring(c);
}

static void say_where(struct ft_copies *c, const struct ft_stand *stand)
{
    c->words->at.n = 0;
    if (stand->where)
        stand->where(stand->arg, &c->words->at);
    c->words->first = stand->first;
    ft_note(&c->words->threads, ft_threads_stand(c->answered));
    c->words->at.outcomes = (struct ft_position){ atomic_load(&ft_recorder.log.words->done), ft_threads_stood() };
    if (ft_recorder.closes)
        c->words->closings = ft_recorder.renewed = ft_outcome_renews(ft_recorder.log.words); /* good before that, and after it */
    else
        c->words->closings = atomic_load(&ft_recorder.log.words->closings);
}

/* Signals are blocked, which the copy wants, and which keeps handlers from changing what has been looked at. */
static bool make(struct ft_copies *c, uint64_t number, const struct ft_stand *stand, const sigset_t *mask,
                 struct ft_signals_pending *pending)
{
    const char *why = "one begins or ends, or was not made by pthread_create";
    enum ft_image_reason reason;
    struct ft_image_pages unread;
    pid_t pid = -1;

    c->own.timers = atomic_load(&ft_signals_timers);
    reason = ft_image_take(&c->image, &c->own);
    if (!ft_recorder.on || ft_thread.inside > 1)
        reason = FT_IMAGE_RECORDER; /* what it has open is not known any more */
    if (reason == FT_IMAGE_GOOD && (ft_maps_any() || ft_images_strange()))
        reason = FT_IMAGE_MAPPING;
    if (reason == FT_IMAGE_GOOD && !stand->first && !ft_descriptors_look(stand->links, stand->nlinks))
        reason = ft_descriptors_are_passing() ? FT_IMAGE_THREADS : FT_IMAGE_DESCRIPTOR;
    if (reason == FT_IMAGE_GOOD && !ft_signals_look(mask, pending)) { /* after the timers were looked at: one that ends in between comes twice, not never */
        reason = FT_IMAGE_THREADS;
        why = "a signal waits that is blocked";
    }
    if (reason == FT_IMAGE_GOOD && !ft_images_make())
        reason = FT_IMAGE_MEMORY;
    if (reason == FT_IMAGE_THREADS)
        strcpy(c->words->stands, ft_descriptors_are_passing() ? "one opens a file" : why);
    if (reason != FT_IMAGE_GOOD) {
        refuse(c, number, reason);
        return false;
    }
    say_where(c, stand);
    ft_cut_point(FT_CUT_NOTED);
    if (!stand->first)
        touch_probe();
    unread = ft_image_leave_out(stand->unread, stand->unread_bytes);
    if (c->keeps(true))
        pid = ft_image_clone();
    ft_image_take_in(&unread);
    if (pid == 0) {
        ft_cut_point(FT_COPY_BEGINS);
        wait_as_copy(c, number);
        c->faults = page_faults();
        return true;
    }
    ft_cut_point(FT_CUT_CLONED);
    c->keeps(false);
    ft_images_drop();
    if (pid < 0) {
        refuse(c, number, FT_IMAGE_FORK);
        return false;
    }
    /* If it dies before it can say `taken`, nobody else knows of it. */
    ft_note(&c->words->child, (uint64_t)pid);
    ft_publish(&c->words->forked, number);
    ft_cut_point(FT_CUT_FORKED);
    if (!stand->first) /* what pages of a copy cost is counted when a newer one has taken its place: that has measured it */
        ft_note(&c->words->page_ns, measure_page_ns());
    c->faults = page_faults();
    return false;
}

/* Other threads stand still meanwhile. */
static bool make_standing(struct ft_copies *c, uint64_t number, const struct ft_stand *stand)
{
    static struct ft_signals_pending pending; /* 4 KB: too much for a small stack of handlers */
    sigset_t all, mask = {0};
    pid_t before = own_pid();
    bool woken;

    sigfillset(&all);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask, NSIG / 8);
    woken = make(c, number, stand, &mask, &pending);
    if (!woken) {
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, NSIG / 8);
        return false;
    }
    ft_signals_hold(&mask, &pending, before);
    if (ft_threads_ended()) /* without waiting: the others are not there yet */
        ft_signals_release();
    return true;
}

static void say_standing(struct ft_copies *c, uint64_t ns)
{
    ft_note(&c->words->still_ns, ft_peek(&c->words->still_ns) + ns);
    ft_note(&c->words->still_most_ns, ft_max(ft_peek(&c->words->still_most_ns), ns));
}

bool ft_copies_make(struct ft_copies *c, const struct ft_stand *stand)
{
    uint64_t number = ft_look(&c->words->want), begin;
    int error = errno;
    bool woken = false;

    c->answered = number;
    if (!number)
        return false;
    ft_inside();
    begin = ft_real_clock_ns();
    ft_note(&c->words->faults, page_faults() - c->faults);
    c->own.stopped = ft_threads_many;
    if (ft_threads_many && !ft_stand_still()) {
        ft_stand_why(c->words->stands);
        refuse(c, number, FT_IMAGE_THREADS);
    } else {
        woken = make_standing(c, number, stand);
        if (!woken && ft_threads_many) {
            ft_stand_go();
            say_standing(c, ft_real_clock_ns() - begin);
        }
    }
    if (!woken)
        ft_publish(&c->words->stood_ns, ft_peek(&c->words->stood_ns) + ft_real_clock_ns() - begin);
    ft_outside();
    errno = error;
    return woken;
}

void ft_copies_await(struct ft_copies *c)
{
    uint64_t seen;

    while (c->answered && ft_look(&c->words->refused) != c->answered && (seen = ft_look(&c->words->taken)) != c->answered &&
           ft_look(&c->words->want) == c->answered)
        sleep_on(&c->words->taken, seen);
}

void ft_copies_end(struct ft_copies *c)
{
    uint64_t number = ft_look(&c->words->ends) + 1, seen;

    ft_publish(&c->words->ends, number);
    ft_real_count_write();
    ring(c);
    while ((seen = ft_look(&c->words->ended)) != number) {
        sleep_on(&c->words->ended, seen);
        ft_real_count_write();
        ring(c);
    }
}
