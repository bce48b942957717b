/* SPDX-License-Identifier: BSD-3-Clause */
/* Of unnoticed: waits that a real signal ends. Each signal comes once. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "compat-tests/threads/unnoticed.h"

enum { SLACK_NS = 50000, SIGNALS = 6 };

struct pair {
    pthread_t waits;
    sem_t next;         /* it is ready for one more */
    int number;
};

static _Thread_local volatile int caught;

static void on_signal(int number)
{
    (void)number;
    caught++;
}

static void *send_signals(void *arg)
{
    struct pair *p = arg;

    for (int i = 0; i < SIGNALS; i++) {
        must(sem_wait(&p->next) == 0 && nanosleep(&(struct timespec){.tv_nsec = 3 * MS}, NULL) == 0);
        must(pthread_kill(p->waits, p->number) == 0);
    }
    return NULL;
}

static void begin(struct pair *p, int number, int how)
{
    sigset_t set;

    *p = (struct pair){.waits = pthread_self(), .number = number};
    sem_init(&p->next, 0, 0);
    sigemptyset(&set);
    sigaddset(&set, number);
    must(sigaction(number, &(struct sigaction){.sa_handler = on_signal}, NULL) == 0 && pthread_sigmask(how, &set, NULL) == 0);
    caught = 0;
    unnoticed_help(send_signals, p);
}

static void end(int wanted)
{
    unnoticed_helped();
    must(nanosleep(&(struct timespec){.tv_nsec = MS}, NULL) == 0 && caught == wanted);
}

static void wait_signal(void)
{
    struct pair p;
    sigset_t set;
    int number;

    begin(&p, SIGRTMIN + 3, SIG_BLOCK);
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 3);
    for (int i = 0; i < SIGNALS; i++) {
        must(sem_post(&p.next) == 0 && sigwait(&set, &number) == 0 && number == SIGRTMIN + 3);
    }
    end(0);
    must(sigtimedwait(&set, NULL, &(struct timespec){.tv_nsec = MS}) < 0 && errno == EAGAIN);
}

static void wait_signal_info(void)
{
    struct timespec limit = {.tv_sec = 20};
    struct pair p;
    siginfo_t info;
    sigset_t set;
    uint64_t begun;

    begin(&p, SIGRTMIN + 4, SIG_BLOCK);
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 4);
    for (int i = 0; i < SIGNALS; i++)
        must(sem_post(&p.next) == 0 && sigtimedwait(&set, &info, &limit) == SIGRTMIN + 4 && info.si_pid == getpid());
    end(0);
    begun = unnoticed_begin();
    must(sigtimedwait(&set, NULL, &(struct timespec){.tv_nsec = SHORT_MS * MS}) < 0 && errno == EAGAIN);
    unnoticed_ended(begun, SHORT_MS, 0);
}

/* Each wait is ended by one signal, and by nothing else. wait: with that mask, in which it is not blocked. */
static void ended_each_time(int number, int (*wait)(const sigset_t *mask))
{
    struct pair p;
    sigset_t mask;

    begin(&p, number, SIG_BLOCK);
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    sigdelset(&mask, number);
    for (int i = 0; i < SIGNALS; i++) {
        must(sem_post(&p.next) == 0);
        must(wait(&mask) < 0 && errno == EINTR && caught == i + 1);
    }
    end(SIGNALS);
}

static int poll_nothing(const sigset_t *mask) { return ppoll(NULL, 0, &(struct timespec){.tv_sec = 20}, mask); }

static void suspended(void) { ended_each_time(SIGRTMIN + 5, sigsuspend); }
static void interrupted_poll(void) { ended_each_time(SIGRTMIN + 6, poll_nothing); }

/* What is left of a sleep is less, and all of it is slept. */
static void interrupted_sleep(void)
{
    struct timespec left = {.tv_nsec = 80 * MS}, before;
    uint64_t begun = unnoticed_begin();
    struct pair p;
    int ends = 0;

    begin(&p, SIGRTMIN + 7, SIG_UNBLOCK);
    for (int i = 0; i < SIGNALS; i++)
        must(sem_post(&p.next) == 0);
    for (;;) {
        before = left;
        if (nanosleep(&left, &left) == 0)
            break;
        /* What the kernel says is left includes the slack of its timers; on a busy machine one may come late. */
        must(errno == EINTR && (left.tv_sec < before.tv_sec || left.tv_nsec <= before.tv_nsec + SLACK_NS) && ++ends <= 2 * SIGNALS);
    }
    unnoticed_ended(begun, 80, 0);
    unnoticed_helped();
    must(caught == SIGNALS);
}

const struct kind unnoticed_signals[] = {{"sigwait", wait_signal}, {"sigtimedwait", wait_signal_info}, {"sigsuspend", suspended},
                                         {"ppoll", interrupted_poll}, {"interrupted", interrupted_sleep}, {0}};
