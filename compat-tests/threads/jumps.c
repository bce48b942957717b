/* SPDX-License-Identifier: BSD-3-Clause */
/* jumps ROUNDS: rounds in which a program leaves handlers of signals by siglongjmp, and prints a line of each: a time limit of a read; a fault, on an
   alternative stack; a signal of its own; one handler left for another; a time limit of a read that would go on (SA_RESTART). Afterwards it has blocked
   what it had, and is on no alternative stack. Another thread does so, too, and makes calls, at which there are snapshots. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

enum { PAGE = 4096, STACK = 64 << 10, LIMIT_US = 4000, ONCE_IN = 10, FIRST = 4 };

static _Thread_local sigjmp_buf out, within;
static char *page;
static int never[2];     /* a pipe that nobody writes to */
static volatile sig_atomic_t ends;

static void leave(int number) { siglongjmp(out, number); }

static void leave_for_other(int number) { siglongjmp(within, number); }

/* Is left for, and returns. */
static void is_left_for(int number)
{
    if (sigsetjmp(within, 1) == 0)
        raise(number == SIGUSR1 ? SIGHUP : SIGUSR1);
}

static int catch_by(int number, void (*handler)(int), int flags)
{
    struct sigaction set = {.sa_handler = handler, .sa_flags = flags};

    sigemptyset(&set.sa_mask);
    sigaddset(&set.sa_mask, SIGTERM);
    return sigaction(number, &set, NULL);
}

static _Thread_local sigset_t blocked;

/* The same is blocked, and this is the thread's own stack. */
static int is_as_before(void)
{
    sigset_t now;
    stack_t stack;
    int same = 1;

    pthread_sigmask(SIG_BLOCK, NULL, &now);
    for (int s = 1; s < NSIG; s++)
        same = same && sigismember(&now, s) == sigismember(&blocked, s);
    return same && sigaltstack(NULL, &stack) == 0 && !(stack.ss_flags & SS_ONSTACK);
}

static int time_limit(int flags)
{
    char byte;

    catch_by(SIGALRM, leave, flags);
    if (sigsetjmp(out, 1) == 0) {
        setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = LIMIT_US}, NULL);
        return read(never[0], &byte, 1) < 0 ? -1 : -2;
    }
    return is_as_before();
}

static int fault(void)
{
    if (sigsetjmp(out, 1) == 0)
        *(volatile char *)page = 1;
    return is_as_before();
}

static int own_signal(void)
{
    if (sigsetjmp(out, 1) == 0) {
        raise(SIGINT);
        return -1;
    }
    return is_as_before();
}

static int other_handler(void)
{
    catch_by(SIGUSR1, is_left_for, 0);
    catch_by(SIGHUP, leave_for_other, SA_ONSTACK);
    raise(SIGUSR1);
    return is_as_before();
}

/* The buffer keeps no mask: what the handler has blocked is blocked. */
static int without_mask(void)
{
    sigset_t now, both;

    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    if (sigsetjmp(out, 0) == 0)
        raise(SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &both, &now);
    return sigismember(&now, SIGINT) == 1 && sigismember(&now, SIGTERM) == 1 && is_as_before();
}

/* Of each thread: its stack, and what it has blocked, now. */
static int begin(void)
{
    char *stack = malloc(STACK);

    return pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 && stack && sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = STACK}, NULL) == 0;
}

static void *fault_and_call(void *arg)
{
    long bad = !begin();

    while (!ends) {
        bad += fault() != 1;
        usleep(3000);
        bad += own_signal() != 1;
    }
    (void)arg;
    return (void *)bad; /* NOLINT(performance-no-int-to-ptr) */
}

int main(int argc, char **argv)
{
    pthread_t thread;
    sigset_t set;
    void *bad;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (argc != 2 || page == MAP_FAILED || pipe(never) != 0 || catch_by(SIGSEGV, leave, SA_ONSTACK) != 0 || catch_by(SIGINT, leave, 0) != 0)
        return 2;
    if (pthread_create(&thread, NULL, fault_and_call, NULL) != 0)
        return 1;
    sigdelset(&set, SIGUSR2);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    if (!begin())
        return 1;
    for (int round = 0; round < atoi(argv[1]); round++) {
        printf("round %d: limit %d", round, time_limit(0));
        printf(", fault %d, own %d, other %d, without %d", fault(), own_signal(), other_handler(), without_mask());
        if (round % ONCE_IN == FIRST)
            printf(", goes on %d", time_limit(SA_RESTART));
        printf("\n");
        fflush(stdout);
    }
    ends = 1;
    if (pthread_join(thread, &bad) != 0)
        return 1;
    printf("bad %ld\n", (long)bad);
    return 0;
}
