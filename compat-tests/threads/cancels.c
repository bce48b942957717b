/* SPDX-License-Identifier: BSD-3-Clause */
/* A scene of torture: threads that are cancelled where they wait. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "compat-tests/threads/torture.h"

enum { LONG_S = 1000 };

enum where { IN_NANOSLEEP, IN_CONDITION, IN_READ, IN_POLL, IN_SEMAPHORE, IN_SLEEP, IN_RECV, IN_ACCEPT, IN_EPOLL, IN_SELECT, IN_SIGWAIT,
             IN_PAUSE, IN_JOIN, IN_WRITE, NOWHERE, WHERES };

struct victim {
    pthread_mutex_t mutex;
    pthread_cond_t never;
    sem_t stands, empty;
    int pipe[2], pair[2], listens, epoll;
    pthread_t parent;
    enum where where;
    int cleanups;
};

static void clean_up(void *arg) { ((struct victim *)arg)->cleanups++; }

static void clean_up_and_unlock(void *arg)
{
    clean_up(arg);
    must(pthread_mutex_unlock(&((struct victim *)arg)->mutex) == 0);
}

static void wait_for_condition(struct victim *v)
{
    must(pthread_mutex_lock(&v->mutex) == 0);
    pthread_cleanup_push(clean_up_and_unlock, v);
    for (;;)
        pthread_cond_wait(&v->never, &v->mutex);
    pthread_cleanup_pop(0);
}

/* More than the pipe takes. */
static void write_much(struct victim *v)
{
    static char much[1 << 20];

    must(write(v->pipe[1], much, sizeof much) == sizeof much);
}

static void wait_for_signal(void)
{
    sigset_t set;
    int number;

    sigemptyset(&set);
    sigaddset(&set, SIGRTMAX);
    must(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0 && sigwait(&set, &number) == 0);
}

/* Cancellation points; the last one has to be asked. */
static void wait_to_be_cancelled(struct victim *v)
{
    struct pollfd p = {.fd = v->pipe[0], .events = POLLIN};
    struct epoll_event e;
    fd_set set;
    char c;

    FD_ZERO(&set);
    FD_SET(v->pipe[0], &set);
    switch (v->where) {
    case IN_NANOSLEEP: nanosleep(&(struct timespec){.tv_sec = LONG_S}, NULL); break;
    case IN_CONDITION: wait_for_condition(v); break;
    case IN_READ: must(read(v->pipe[0], &c, 1) < 0); break;
    case IN_POLL: must(poll(&p, 1, LONG_S * 1000) < 0); break;
    case IN_SEMAPHORE: must(sem_wait(&v->empty) < 0); break;
    case IN_SLEEP: sleep(LONG_S); break;
    case IN_RECV: must(recv(v->pair[0], &c, 1, 0) < 0); break;
    case IN_ACCEPT: must(accept(v->listens, NULL, NULL) < 0); break;
    case IN_EPOLL: must(epoll_wait(v->epoll, &e, 1, -1) < 0); break;
    case IN_SELECT: must(select(v->pipe[0] + 1, &set, NULL, NULL, NULL) < 0); break;
    case IN_SIGWAIT: wait_for_signal(); break;
    case IN_PAUSE: pause(); break;
    case IN_JOIN: must(pthread_join(v->parent, NULL) != 0); break;
    case IN_WRITE: write_much(v); break;
    default:
        for (uint64_t chance = 5;;) {
            torture_compute(&chance, 1000);
            pthread_testcancel();
        }
    }
}

static void *play_victim(void *arg)
{
    struct victim *v = arg;

    must(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL) == 0);
    pthread_cleanup_push(clean_up, v);
    pthread_cleanup_push(clean_up, v);
    sem_post(&v->stands);
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); /* it is not cancelled in here */
    must(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL) == 0);
    wait_to_be_cancelled(v);
    must(false);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return NULL;
}

static void open_all(struct victim *v)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    sem_init(&v->stands, 0, 0);
    sem_init(&v->empty, 0, 0);
    v->listens = socket(AF_INET, SOCK_STREAM, 0);
    v->epoll = epoll_create1(0);
    must(pipe(v->pipe) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, v->pair) == 0 && v->listens >= 0 && v->epoll >= 0);
    must(bind(v->listens, (struct sockaddr *)&any, sizeof any) == 0 && listen(v->listens, 1) == 0);
    must(epoll_ctl(v->epoll, EPOLL_CTL_ADD, v->pipe[0], &(struct epoll_event){.events = EPOLLIN}) == 0);
}

static void *play_cancel(void *arg)
{
    struct actor *a = arg;
    struct victim v = {.mutex = PTHREAD_MUTEX_INITIALIZER, .never = PTHREAD_COND_INITIALIZER, .parent = pthread_self()};
    pthread_t thread;
    void *value;

    open_all(&v);
    for (v.where = torture_once_in(&a->chance, 2) ? 0 : WHERES / 2; v.where < WHERES; v.where++) {
        v.cleanups = 0;
        thread = torture_thread(&a->chance, play_victim, &v, false, false);
        must(sem_wait(&v.stands) == 0);
        if (torture_once_in(&a->chance, 2))
            torture_breathe(a);
        else
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); /* it waits already */
        must(pthread_cancel(thread) == 0 && pthread_join(thread, &value) == 0);
        must(value == PTHREAD_CANCELED && v.cleanups == 2 + (v.where == IN_CONDITION));
        must(pthread_mutex_trylock(&v.mutex) == 0 && pthread_mutex_unlock(&v.mutex) == 0);
    }
    for (const int *fd = (int[]){v.pipe[0], v.pipe[1], v.pair[0], v.pair[1], v.listens, v.epoll, -1}; *fd >= 0; fd++)
        must(close(*fd) == 0);
    a->hash = WHERES;
    return NULL;
}

static void play_cancels(struct party *p) { torture_act(p, 2, play_cancel, NULL); }

const struct scene torture_cancels[] = {{"cancel", play_cancels}, {0}};
