/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers, by WHAT: "real" (setitimer), "prof" (of processor time), "alarm" (a second, once), "pending" (a blocked alarm that waits to be
   fetched while MPI is called), "posix" (timer_create). How often they tick is timing and not printed; that they go on ticking is
   waited for. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "rounds.h"

static volatile sig_atomic_t ticks;
static void on_tick(int signal)
{
    (void)signal;
    ticks = ticks + 1;
}

static void handle(struct rounds *r, int signal)
{
    struct sigaction act = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    MUST(r, sigaction(signal, &act, NULL) == 0);
}

static void every(struct rounds *r, int which, int us)
{
    struct itimerval timer = {{0, us}, {0, us}};
    MUST(r, setitimer((__itimer_which_t)which, &timer, NULL) == 0);
}

static void await_tick(bool busy)
{
    sig_atomic_t seen = ticks;
    while (ticks == seen)
        if (!busy) usleep(200);
}

static void fetch(struct rounds *r)
{
    sigset_t set;
    siginfo_t info;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    MUST(r, sigwaitinfo(&set, &info) == SIGALRM);
}

static void start(struct rounds *r)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct itimerspec often = {{0, 2000000}, {0, 2000000}};
    sigset_t set;

    handle(r, SIGALRM);
    handle(r, SIGPROF);
    if (!strcmp(r->what, "real")) every(r, ITIMER_REAL, 2000);
    else if (!strcmp(r->what, "prof")) every(r, ITIMER_PROF, 4000);
    else if (!strcmp(r->what, "pending")) {
        sigemptyset(&set);
        sigaddset(&set, SIGALRM);
        MUST(r, sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    } else if (!strcmp(r->what, "posix"))
        MUST(r, timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &often, NULL) == 0);
    else MUST(r, !strcmp(r->what, "alarm"));
}

int main(int argc, char **argv)
{
    struct rounds r;
    struct itimerval soon = {.it_value = {0, 500}};

    rounds_begin(&r, argc, argv);
    start(&r);
    if (!strcmp(r.what, "alarm")) alarm(1);
    while (rounds_more(&r)) {
        rounds_mix(&r, rounds_draw(&r, 0));
        if (!strcmp(r.what, "pending")) {
            if (r.at > 1) fetch(&r); /* of the last round: it was set before MPI was called */
            if (r.at < r.n) MUST(&r, setitimer(ITIMER_REAL, &soon, NULL) == 0 && usleep(1000) == 0);
        } else if (!strcmp(r.what, "prof")) {
            if (r.at % 32 == 0) await_tick(true);
        } else if (strcmp(r.what, "alarm") && r.at % 8 == 0) await_tick(false);
    }
    if (!strcmp(r.what, "alarm"))
        while (!ticks) usleep(1000);
    return rounds_end(&r);
}
