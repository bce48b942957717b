/* SPDX-License-Identifier: BSD-3-Clause */
/* Whoever computes, looks whether a signal has come, and sleeps if it has not. It comes while that computes. No sleep may last: here the handler
   has run, or it is the sleep that it ends. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t came;

static char stack[1 << 16];
static volatile sig_atomic_t on_stack;

static void on_signal(int number)
{
    const char *here = (const char *)&number;

    came += number == SIGALRM;
    on_stack = here >= stack && here < stack + sizeof stack;
}

static int ends[2], sockets[2], events;

enum { PAUSE, POLL, SELECT, EPOLL, SLEEP, READ, RECV, WAIT, WAYS };
static const char *const names[WAYS] = {"pause", "poll", "select", "epoll_wait", "usleep", "read", "recv", "waitpid"};

static long sleep_by(int way)
{
    struct epoll_event e;
    char byte;

    switch (way) {
    case PAUSE: return pause();
    case POLL: return poll(NULL, 0, 100000);
    case SELECT: return select(0, NULL, NULL, NULL, &(struct timeval){100, 0});
    case EPOLL: return epoll_wait(events, &e, 1, 100000);
    case SLEEP: return usleep(100000000);
    case READ: return read(ends[0], &byte, 1);
    case RECV: return recv(sockets[0], &byte, 1, 0);
    default: return waitpid(-1, NULL, 0);
    }
}

/* No call of the library in between. */
static void compute(int us)
{
    struct timespec begin, now;

    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &begin);
    do {
        syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

static void once(int way, int flags)
{
    struct itimerval soon = {.it_value.tv_usec = 1000};

    sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_signal, .sa_flags = flags}, NULL);
    came = 0;
    setitimer(ITIMER_REAL, &soon, NULL);
    compute(20000);
    if (came == 0 && (sleep_by(way) != -1 || errno != EINTR))
        printf("something else has ended it\n");
    printf("%s%s: %d%s\n", names[way], flags & SA_RESTART ? ", restarted" : "", (int)came, on_stack ? ", on a stack of its own" : "");
    fflush(stdout);
}

int main(void)
{
    pid_t child;

    if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 || (events = epoll_create1(0)) < 0)
        return 1;
    child = fork();
    if (child == 0)
        for (;;)
            pause();
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (int i = 0; i < 2; i++)
        for (int way = 0; way < WAYS; way++) {
            once(way, i ? SA_ONSTACK : 0);
            if (way <= SLEEP)
                once(way, SA_RESTART);
        }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
}
