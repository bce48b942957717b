/* SPDX-License-Identifier: BSD-3-Clause */
/* lasts LINES: a thread in each call that waits for descriptors, and a time: 4 s. Main's sleeps. LINES: that they are about to. Each prints its call's name,
   and the time (CLOCK_REALTIME, ms) at which that has come back. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 4, POLL = 0, PPOLL, SELECT, PSELECT, EPOLL, EPOLL_TIME, WAYS };
static const char *const names[WAYS] = {"poll", "ppoll", "select", "pselect", "epoll_wait", "epoll_pwait2"};
static int pipes[WAYS][2], polls[WAYS];

static int wait_by(int way)
{
    struct timespec time = {.tv_sec = SECONDS};
    struct pollfd fd = {.fd = pipes[way][0], .events = POLLIN};
    struct epoll_event event;
    fd_set set;

    FD_ZERO(&set);
    FD_SET(pipes[way][0], &set);
    switch (way) {
    case POLL: return poll(&fd, 1, SECONDS * 1000);
    case PPOLL: return ppoll(&fd, 1, &time, NULL);
    case SELECT: return select(pipes[way][0] + 1, &set, NULL, NULL, &(struct timeval){.tv_sec = SECONDS});
    case PSELECT: return pselect(pipes[way][0] + 1, &set, NULL, NULL, &time, NULL);
    case EPOLL: return epoll_wait(polls[way], &event, 1, SECONDS * 1000);
    default: return epoll_pwait2(polls[way], &event, 1, &time, NULL);
    }
}

static void tell(const char *name)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    printf("%s %lld\n", name, (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000);
    fflush(stdout);
}

static void *wait_once(void *arg)
{
    int way = *(int *)arg;

    if (wait_by(way) == 0)
        tell(names[way]);
    return NULL;
}

static int begin_to_wait(int way, int *number, pthread_t *thread)
{
    struct epoll_event in = {.events = EPOLLIN};

    *number = way;
    if (pipe(pipes[way]) != 0)
        return -1;
    if (way >= EPOLL && ((polls[way] = epoll_create1(0)) < 0 || epoll_ctl(polls[way], EPOLL_CTL_ADD, pipes[way][0], &in) != 0))
        return -1;
    return pthread_create(thread, NULL, wait_once, number);
}

int main(int argc, char **argv)
{
    int numbers[WAYS], fd = argc == 2 ? open(argv[1], O_WRONLY | O_CREAT, 0666) : -1;
    pthread_t threads[WAYS];

    if (fd < 0 || write(fd, "they wait\n", 10) != 10)
        return 2;
    for (int way = 0; way < WAYS; way++)
        if (begin_to_wait(way, &numbers[way], &threads[way]) != 0)
            return 1;
    nanosleep(&(struct timespec){.tv_sec = SECONDS}, NULL);
    tell("nanosleep");
    for (int way = 0; way < WAYS; way++)
        pthread_join(threads[way], NULL);
    return 0;
}
