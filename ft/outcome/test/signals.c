/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank of streams.sh: signals, caught. What its handlers counted is printed as it goes, and all of it again at the end: both are the
   same however often it was killed. Signals come from a timer and from itself.

     signals ROUNDS */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { LINES = 400 };

static volatile sig_atomic_t alarms, own, broken;

static void on_alarm(int number, siginfo_t *info, void *context)
{
    (void)info;
    (void)context;
    alarms++;
    if (write(2, "tick\n", 5) != 5 || number != SIGALRM)
        _exit(3);
}

static void on_own(int number) { own += number == SIGUSR1; }

static void on_broken(int number) { broken += number == SIGPIPE; }

static char lines[LINES][80];
static int count;

static void say(const char *what, long result, int error)
{
    int n = snprintf(lines[count], sizeof lines[count], "%d: %s %ld %d alarms %d own %d broken %d\n", count, what, result, error, (int)alarms, (int)own,
                     (int)broken);

    if (write(1, lines[count], (size_t)n) != n)
        exit(2);
    count++;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 30;
    struct sigaction a = {.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO}, was;
    struct itimerval every = {{0, 1500}, {0, 1500}}, off = {{0, 0}, {0, 0}};
    volatile double x = 1;

    sigaction(SIGALRM, &a, NULL);
    sigaction(SIGALRM, NULL, &was);
    if (was.sa_sigaction != on_alarm)
        return 4;
    signal(SIGUSR1, on_own);
    signal(SIGPIPE, on_broken);
    setitimer(ITIMER_REAL, &every, NULL);
    for (int round = 0; round < rounds; round++) {
        struct timespec t = {.tv_nsec = 2000000}, left = {0, 0};
        int result, before = alarms;
        sigset_t set, old;

        errno = 0;
        result = nanosleep(&t, &left);
        if (result < 0 && alarms == before)
            return 5; /* interrupted by nothing */
        say("sleep", result, result < 0 ? errno : 0);
        before = own;
        raise(SIGUSR1);
        kill(getpid(), SIGUSR1);
        if (own != before + 2)
            return 6;
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        sigprocmask(SIG_BLOCK, &set, &old);
        raise(SIGUSR1);
        if (own != before + 2 || sigismember(&old, SIGUSR1))
            return 7;
        sigprocmask(SIG_SETMASK, &old, NULL);
        say("own", own, 0);
        for (int i = 0; i < 100000; i++)
            x = x * 1.0000001;
        if (round % 5 == 0) {
            pause();
            say("pause", 0, 0);
        }
    }
    setitimer(ITIMER_REAL, &off, NULL);
    say("end", x > 1, 0);
    for (int i = 0, all = count; i < all; i++)
        if (write(1, lines[i], strlen(lines[i])) < 0)
            return 8;
    return alarms > 0 ? 0 : 9;
}
