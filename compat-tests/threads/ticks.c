/* SPDX-License-Identifier: BSD-3-Clause */
/* ticks LINES: two threads take turns at a mutex, and read the clock between; a timer sends main's signals, which mostly come to it at a reading. How often
   each tries is as it comes. After each thousand turns main prints a line. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

enum { TURNS = 1000, TICK_US = 2000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long most, turns;

static void on_alarm(int number) { (void)number; }

static void take_turns(long who)
{
    struct timespec now;

    for (long i = 0, mine; i < most; i += mine) {
        pthread_mutex_lock(&mutex);
        mine = turns % 2 == who;
        turns += mine;
        pthread_mutex_unlock(&mutex);
        clock_gettime(CLOCK_MONOTONIC, &now);
        sched_yield();
        if (who == 0 && mine && i % TURNS == 0) {
            printf("turn %ld\n", i);
            fflush(stdout);
        }
    }
}

static void *other(void *arg)
{
    take_turns(1);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    sigset_t all, before;

    sigfillset(&all);
    if (argc != 2 || sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm, .sa_flags = SA_RESTART}, NULL) != 0)
        return 2;
    most = atol(argv[1]) * TURNS;
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (pthread_create(&thread, NULL, other, NULL) != 0)
        return 1;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){{.tv_usec = TICK_US}, {.tv_usec = TICK_US}}, NULL);
    take_turns(0);
    return pthread_join(thread, NULL) != 0;
}
