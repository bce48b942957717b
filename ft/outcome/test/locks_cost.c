/* SPDX-License-Identifier: BSD-3-Clause */
/* What a lock and unlock takes: processor time of each thread, the least of several rounds. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

#include "ft/outcome/test/locks.h"

enum { MOST = 2, ROUNDS = 7, TIMES = 500000 };

/* One for each thread, on lines of the cache of their own. */
static struct {
    _Alignas(128) pthread_mutex_t mutex;
    pthread_rwlock_t rwlock;
    pthread_spinlock_t spin;
    sem_t semaphore;
} own[MOST];
static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static FILE *file[MOST];
static double took[MOST];

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void lock_mutex(int i) { pthread_mutex_lock(&own[i].mutex); pthread_mutex_unlock(&own[i].mutex); }
static void lock_rwlock(int i) { pthread_rwlock_rdlock(&own[i].rwlock); pthread_rwlock_unlock(&own[i].rwlock); }
static void lock_spin(int i) { pthread_spin_lock(&own[i].spin); pthread_spin_unlock(&own[i].spin); }
static void lock_semaphore(int i) { sem_post(&own[i].semaphore); sem_wait(&own[i].semaphore); }
static void put(int i) { putc('x', file[i]); }
static void lock_shared(int i) { (void)i; pthread_mutex_lock(&shared); pthread_mutex_unlock(&shared); }

static const struct {
    const char *name;
    void (*act)(int i);
    int threads;
} costs[] = {
    {"mutex, a second thread sleeps", lock_mutex, 1},
    {"mutex, each of two threads its own", lock_mutex, 2},
    {"mutex, two threads the same", lock_shared, 2},
    {"rwlock, read", lock_rwlock, 1},
    {"spin lock", lock_spin, 1},
    {"semaphore, post and wait", lock_semaphore, 1},
    {"putc", put, 1},
};

static int at;
static pthread_barrier_t begin;

static void *act(void *thread)
{
    int me = (int)(uintptr_t)thread;
    double since;

    pthread_barrier_wait(&begin);
    since = now();
    for (int i = 0; i < TIMES && me < costs[at].threads; i++)
        costs[at].act(me);
    took[me] = (now() - since) / TIMES;
    return NULL;
}

void locks_cost(void)
{
    for (int i = 0; i < MOST; i++) {
        pthread_mutex_init(&own[i].mutex, NULL);
        pthread_rwlock_init(&own[i].rwlock, NULL);
        pthread_spin_init(&own[i].spin, 0);
        sem_init(&own[i].semaphore, 0, 0);
        file[i] = fopen("/dev/null", "w");
    }
    pthread_barrier_init(&begin, NULL, MOST);
    for (at = 0; at < (int)(sizeof costs / sizeof *costs); at++) {
        double least = 1e9;

        for (int round = 0; round < ROUNDS; round++) {
            locks_run(MOST, act);
            for (int i = 0; i < costs[at].threads; i++)
                least = took[i] < least ? took[i] : least;
        }
        printf("%-40s %.1f ns\n", costs[at].name, least);
    }
}
