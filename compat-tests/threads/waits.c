/* SPDX-License-Identifier: BSD-3-Clause */
/* Of unnoticed: waits that end by their time. */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "compat-tests/threads/unnoticed.h"

static const struct timespec a_while = {.tv_nsec = SHORT_MS * MS};

static void sleep_relative(void)
{
    struct timespec left = {.tv_sec = 77};
    uint64_t begin = unnoticed_begin();

    must(nanosleep(&a_while, &left) == 0 && left.tv_sec == 77);
    unnoticed_ended(begin, SHORT_MS, 0);
}

static void sleep_clock(void)
{
    uint64_t begin = unnoticed_begin();

    must(clock_nanosleep(CLOCK_REALTIME, 0, &a_while, NULL) == 0);
    unnoticed_ended(begin, SHORT_MS, 1);
}

static void sleep_until(void)
{
    uint64_t begin = unnoticed_begin();
    struct timespec until = unnoticed_in(CLOCK_MONOTONIC, SHORT_MS);

    must(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0);
    unnoticed_ended(begin, SHORT_MS, 0);
}

static void sleep_microseconds(void)
{
    uint64_t begin = unnoticed_begin();

    must(usleep(SHORT_MS * 1000) == 0);
    unnoticed_ended(begin, SHORT_MS, 0);
}

static void sleep_second(void)
{
    uint64_t begin = unnoticed_begin();

    must(sleep(1) == 0);
    unnoticed_ended(begin, 1000, 0);
}

static void sleep_c11(void)
{
    uint64_t begin = unnoticed_begin();

    must(thrd_sleep(&a_while, NULL) == 0);
    unnoticed_ended(begin, SHORT_MS, 0);
}

static void sleep_by_number(void)
{
    uint64_t begin = unnoticed_begin();

    must(syscall(SYS_nanosleep, &a_while, NULL) == 0);
    unnoticed_ended(begin, SHORT_MS, 0);
}

static void futex_by_number(void)
{
    uint64_t begin = unnoticed_begin();
    uint32_t word = 5;

    must(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 5, &a_while, NULL, 0) < 0 && errno == ETIMEDOUT);
    unnoticed_ended(begin, SHORT_MS, 0);
}

/* An empty pipe of this thread's. */
static int nothing(void)
{
    static _Thread_local int ends[2];

    if (!ends[1])
        must(pipe(ends) == 0);
    return ends[0];
}

static void poll_nothing(void)
{
    struct pollfd p = {.fd = nothing(), .events = POLLIN};
    uint64_t begin = unnoticed_begin();

    must(poll(&p, 1, SHORT_MS) == 0);
    unnoticed_ended(begin, SHORT_MS, 0);
}

static void ppoll_nothing(void)
{
    struct pollfd p = {.fd = nothing(), .events = POLLIN};
    uint64_t begin = unnoticed_begin();
    sigset_t none;

    sigemptyset(&none);
    must(ppoll(&p, 1, &a_while, &none) == 0);
    unnoticed_ended(begin, SHORT_MS, 0);
}

static void select_nothing(void)
{
    struct timeval limit = {.tv_usec = SHORT_MS * 1000};
    uint64_t begin = unnoticed_begin();
    int fd = nothing();
    fd_set set;

    FD_ZERO(&set);
    FD_SET(fd, &set);
    must(select(fd + 1, &set, NULL, NULL, &limit) == 0 && limit.tv_sec == 0 && limit.tv_usec == 0);
    unnoticed_ended(begin, SHORT_MS, 0);
}

static void pselect_nothing(void)
{
    uint64_t begin = unnoticed_begin();
    int fd = nothing();
    fd_set set;

    FD_ZERO(&set);
    FD_SET(fd, &set);
    must(pselect(fd + 1, &set, NULL, NULL, &a_while, NULL) == 0);
    unnoticed_ended(begin, SHORT_MS, 0);
}

static void epoll_nothing(void)
{
    static _Thread_local int epoll = -1;
    struct epoll_event e = {.events = EPOLLIN};
    uint64_t begin;

    if (epoll < 0) {
        epoll = epoll_create1(EPOLL_CLOEXEC);
        must(epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, nothing(), &e) == 0);
    }
    begin = unnoticed_begin();
    must(epoll_wait(epoll, &e, 1, SHORT_MS) == 0);
    unnoticed_ended(begin, SHORT_MS, 0);
    must(epoll_pwait(epoll, &e, 1, 3, NULL) == 0);
}

static int wait_monotonic(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
    return pthread_cond_clockwait(c, m, CLOCK_MONOTONIC, until);
}

static void await_condition(clockid_t clock, int (*wait)(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until), long early)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    uint64_t begin = unnoticed_begin();
    struct timespec until = unnoticed_in(clock, SHORT_MS);
    int result;

    pthread_mutex_lock(&mutex);
    while ((result = wait(&never, &mutex, &until)) == 0) /* it may be spurious */
        must(unnoticed_begin() < begin + (uint64_t)LATE_MS * MS);
    must(result == ETIMEDOUT && pthread_mutex_unlock(&mutex) == 0);
    unnoticed_ended(begin, SHORT_MS, early);
}

static void condition(void) { await_condition(CLOCK_REALTIME, pthread_cond_timedwait, 1); }
static void condition_by_clock(void) { await_condition(CLOCK_MONOTONIC, wait_monotonic, 0); }

static void semaphore(void)
{
    uint64_t begin = unnoticed_begin();
    struct timespec until = unnoticed_in(CLOCK_REALTIME, SHORT_MS);
    sem_t empty;

    sem_init(&empty, 0, 0);
    must(sem_timedwait(&empty, &until) < 0 && errno == ETIMEDOUT);
    unnoticed_ended(begin, SHORT_MS, 1);
}

/* ---- what a helper holds ---- */

struct held {
    pthread_mutex_t mutex;
    pthread_rwlock_t rwlock;
    sem_t has, done;
};

static void *hold(void *arg)
{
    struct held *h = arg;

    must(pthread_mutex_lock(&h->mutex) == 0 && pthread_rwlock_wrlock(&h->rwlock) == 0 && sem_post(&h->has) == 0);
    must(sem_wait(&h->done) == 0);
    must(pthread_mutex_unlock(&h->mutex) == 0 && pthread_rwlock_unlock(&h->rwlock) == 0);
    return NULL;
}

static void with_held(int (*wait)(struct held *h, const struct timespec *until))
{
    struct held h = {.mutex = PTHREAD_MUTEX_INITIALIZER, .rwlock = PTHREAD_RWLOCK_INITIALIZER};
    struct timespec until;
    uint64_t begin;

    sem_init(&h.has, 0, 0);
    sem_init(&h.done, 0, 0);
    unnoticed_help(hold, &h);
    must(sem_wait(&h.has) == 0);
    begin = unnoticed_begin();
    until = unnoticed_in(CLOCK_REALTIME, SHORT_MS);
    must(wait(&h, &until) == ETIMEDOUT);
    unnoticed_ended(begin, SHORT_MS, 1);
    must(sem_post(&h.done) == 0);
    unnoticed_helped();
}

static int wait_mutex(struct held *h, const struct timespec *until) { return pthread_mutex_timedlock(&h->mutex, until); }
static int wait_read(struct held *h, const struct timespec *until) { return pthread_rwlock_timedrdlock(&h->rwlock, until); }
static int wait_write(struct held *h, const struct timespec *until) { return pthread_rwlock_timedwrlock(&h->rwlock, until); }
static void mutex(void) { with_held(wait_mutex); }
static void rwlock_read(void) { with_held(wait_read); }
static void rwlock_write(void) { with_held(wait_write); }

static void *last(void *arg)
{
    must(sem_wait(arg) == 0);
    return NULL;
}

static void join(void)
{
    struct timespec until;
    pthread_t thread;
    uint64_t begin;
    sem_t ends;

    sem_init(&ends, 0, 0);
    must(pthread_create(&thread, NULL, last, &ends) == 0);
    begin = unnoticed_begin();
    until = unnoticed_in(CLOCK_REALTIME, SHORT_MS);
    must(pthread_timedjoin_np(thread, NULL, &until) == ETIMEDOUT);
    unnoticed_ended(begin, SHORT_MS, 1);
    must(sem_post(&ends) == 0 && pthread_join(thread, NULL) == 0);
}

const struct kind unnoticed_times[] = {
    {"nanosleep", sleep_relative}, {"clock_nanosleep", sleep_clock}, {"absolute", sleep_until}, {"usleep", sleep_microseconds}, {"sleep", sleep_second},
    {"thrd_sleep", sleep_c11}, {"poll", poll_nothing}, {"ppoll", ppoll_nothing},
    {"select", select_nothing}, {"pselect", pselect_nothing}, {"epoll", epoll_nothing}, {"condition", condition}, {"clockwait", condition_by_clock},
    {"semaphore", semaphore}, {"mutex", mutex}, {"rdlock", rwlock_read}, {"wrlock", rwlock_write}, {"join", join}, {0}};
const struct kind unnoticed_numbers[] = {{"SYS_nanosleep", sleep_by_number}, {"SYS_futex", futex_by_number}, {0}};
