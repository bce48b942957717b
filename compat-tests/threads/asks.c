/* SPDX-License-Identifier: BSD-3-Clause */
/* asks ROUNDS: rounds in which a program asks what it has, and prints a line of each: what is blocked in a handler; whether a fault that a handler mends is
   over; the other thread's name and stack; whether a blocked signal still waits when another thread has made calls; of which user each thread is. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum { PAGE = 4096, CALLS = 20 };

static char *page;
static volatile sig_atomic_t had, runs, one_by_one, mended;
static sem_t asked, answered;
static long user;

/* Sends itself one more, which comes after it. */
static void on_signal(int number)
{
    sigset_t now;

    if (++runs == 1) {
        raise(number);
        one_by_one = runs == 1;
    }
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    had = number == SIGUSR1 && sigismember(&now, SIGUSR1) == 1 && sigismember(&now, SIGHUP) == 1 && sigismember(&now, SIGUSR2) == 0;
}

static void on_fault(int number)
{
    (void)number;
    mended++;
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

static size_t stack_of(pthread_t thread)
{
    pthread_attr_t attributes;
    size_t bytes = 0;
    void *at;

    if (pthread_getattr_np(thread, &attributes) != 0)
        return 0;
    pthread_attr_getstack(&attributes, &at, &bytes);
    pthread_attr_destroy(&attributes);
    return bytes;
}

/* Makes calls, at which there are snapshots, with all signals blocked. */
static void *make_calls(void *arg)
{
    for (;;) {
        sem_wait(&asked);
        for (int i = 0; i < CALLS; i++)
            usleep(2000);
        user = stack_of(pthread_self()) ? (long)syscall(SYS_geteuid) : -1;
        sem_post(&answered);
    }
    return arg;
}

static void await_calls(void)
{
    sem_post(&asked);
    while (sem_wait(&answered) != 0)
        ;
}

static int signal_waits(void)
{
    sigset_t set;
    int number;

    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 1000}, NULL);
    await_calls();
    number = sigtimedwait(&set, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    return number == SIGALRM;
}

static int write_page(void)
{
    mended = 0;
    mprotect(page, PAGE, PROT_READ);
    *(volatile char *)page = 1;
    return mended;
}

/* Root becomes another one, and root again. All threads do. */
static int change_user(void)
{
    long one, other;

    if (getuid() != 0)
        return 1;
    if (seteuid(65534) != 0)
        return 0;
    await_calls();
    one = user;
    if (seteuid(0) != 0)
        return 0;
    await_calls();
    other = user;
    return one == 65534 && other == 0;
}

int main(int argc, char **argv)
{
    struct sigaction set = {.sa_handler = on_signal};
    sigset_t all, before;
    pthread_t thread;
    char name[32];

    page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigemptyset(&set.sa_mask);
    sigaddset(&set.sa_mask, SIGHUP);
    sigfillset(&all);
    if (argc != 2 || page == MAP_FAILED || sigaction(SIGUSR1, &set, NULL) != 0 || sigaction(SIGSEGV, &(struct sigaction){.sa_handler = on_fault}, NULL) != 0)
        return 2;
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (sem_init(&asked, 0, 0) != 0 || sem_init(&answered, 0, 0) != 0 || pthread_create(&thread, NULL, make_calls, NULL) != 0)
        return 1;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (int round = 0; round < atoi(argv[1]); round++) {
        had = runs = 0;
        raise(SIGUSR1);
        had = had && runs == 2 && one_by_one;
        snprintf(name, sizeof name, "round %d", round);
        pthread_setname_np(thread, name);
        memset(name, 0, sizeof name);
        pthread_getname_np(thread, name, sizeof name);
        printf("%s: mask %d, faults %d, stack %d, waits %d, user %d\n", name, (int)had, write_page(), stack_of(thread) > PAGE, signal_waits(), change_user());
        fflush(stdout);
    }
    return 0;
}
