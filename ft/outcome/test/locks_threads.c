/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of outcome_locks with the locks of POSIX and C11. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "ft/outcome/test/locks.h"

enum { ROUNDS = 600, WORK = 20000 };

static struct chain a = {.name = 'A'}, b = {.name = 'B'};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static unsigned number(void *thread) { return (unsigned)(uintptr_t)thread; }

static struct timespec in_us(long us)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += us * 1000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    return t;
}

/* ---- streams ---- */

static void *print(void *thread)
{
    unsigned me = number(thread), seed = me + 1;

    for (int i = 0; i < ROUNDS * 4; i++) {
        locks_work(&seed, WORK);
        printf("thread %u %d %u\n", me, i, seed);
        if (i % 7 == 0)
            puts("a line");
        if (i % 11 == 0)
            putchar('\n');
        if (i % 50 == 0)
            fflush(i % 100 ? stdout : NULL);
        if (i % 60 == (int)me) {
            flockfile(stdout);
            locks_step(&a, me);
            funlockfile(stdout);
        }
    }
    return NULL;
}

static void run_print(void)
{
    setvbuf(stdout, NULL, _IOFBF, 400);
    locks_run(3, print);
    puts("end 0");
}

/* ---- mutexes ---- */

static void *lock(void *thread)
{
    unsigned me = number(thread), seed = me + 1;

    for (int i = 0; i < ROUNDS * 4; i++) {
        locks_work(&seed, WORK);
        pthread_mutex_lock(&mutex);
        locks_step(&a, me);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void run_mutex(void)
{
    locks_run(3, lock);
    locks_say("end", a.steps);
}

/* Those that know their owner: errors are what they are. */
static pthread_mutex_t recursive, checking;

static void *own(void *thread)
{
    unsigned me = number(thread), seed = me + 1, wrong = 0;

    for (int i = 0; i < ROUNDS * 2; i++) {
        locks_work(&seed, WORK);
        pthread_mutex_lock(&recursive);
        pthread_mutex_lock(&recursive);
        locks_step(&a, me);
        pthread_mutex_unlock(&recursive);
        pthread_mutex_unlock(&recursive);
        pthread_mutex_lock(&checking);
        wrong += pthread_mutex_lock(&checking) != EDEADLK;
        wrong += pthread_mutex_trylock(&checking) != EBUSY;
        locks_step(&b, me);
        pthread_mutex_unlock(&checking);
        if (i % 20 == 0)
            wrong += pthread_mutex_unlock(&checking) != EPERM;
    }
    pthread_mutex_lock(&mutex);
    locks_say("wrong", wrong);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void run_owners(void)
{
    pthread_mutexattr_t type;

    pthread_mutexattr_init(&type);
    pthread_mutexattr_settype(&type, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &type);
    pthread_mutexattr_settype(&type, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checking, &type);
    locks_run(3, own);
    locks_say("end", a.steps + b.steps);
}

/* Tries that fail, and that take their time. */
static pthread_spinlock_t spin;

static void *try(void *thread)
{
    unsigned me = number(thread), seed = me + 1, failed = 0, late = 0;

    for (int i = 0; i < ROUNDS * 2; i++) {
        locks_work(&seed, WORK);
        if (i % 50 == 3) {
            struct timespec until = in_us(30);

            if (pthread_mutex_timedlock(&mutex, &until) != 0) {
                late++;
                continue;
            }
        } else {
            while (pthread_mutex_trylock(&mutex) != 0) {
                failed++;
                locks_work(&seed, 300);
            }
        }
        locks_step(&a, me);
        if (i % 40 == 0)
            for (int k = 0; k < 10; k++)
                locks_work(&seed, WORK);
        pthread_mutex_unlock(&mutex);
        pthread_spin_lock(&spin);
        locks_step(&b, me);
        pthread_spin_unlock(&spin);
        if (i % 100 == 0)
            locks_say(me ? "failed in 1" : "failed in 0", failed * 1000 + late);
    }
    return NULL;
}

static void run_try(void)
{
    pthread_spin_init(&spin, 0);
    locks_run(2, try);
    locks_say("end", b.steps > 0);
}

/* In memory that is given back, and used again for others. */
struct object {
    pthread_mutex_t mutex;
    int uses;
    char filled[200];
};

static struct object *objects[16];

static void *use(void *thread)
{
    unsigned me = number(thread), seed = me + 1;
    void *other[8];

    for (int i = 0; i < ROUNDS * 4; i++) {
        struct object **at = &objects[locks_random(&seed) % 16], *o;

        for (int k = 0; k < 8; k++)
            other[k] = malloc(16 + locks_random(&seed) % 3000);
        pthread_mutex_lock(&mutex);
        o = *at;
        if (o)
            pthread_mutex_lock(&o->mutex);
        if (o && o->uses > 20) {
            pthread_mutex_unlock(&o->mutex);
            free(o);
            o = NULL;
        }
        if (!o) {
            o = *at = malloc(sizeof *o);
            pthread_mutex_init(&o->mutex, NULL);
            o->uses = 0;
            pthread_mutex_lock(&o->mutex);
        }
        locks_step(&a, me * 8 + (unsigned)o->uses++ % 8);
        pthread_mutex_unlock(&o->mutex);
        pthread_mutex_unlock(&mutex);
        for (int k = 0; k < 8; k++)
            free(other[k]);
        locks_work(&seed, WORK);
    }
    return NULL;
}

static void run_reuse(void)
{
    locks_run(3, use);
    locks_say("end", a.steps);
}

/* ---- conditions ---- */

enum { QUEUE = 8, PRODUCERS = 2 };

static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;
static int queue[QUEUE], queued, ended, late;

static void produce(unsigned me)
{
    unsigned seed = me + 9;

    for (int i = 0; i < ROUNDS * 3; i++) {
        locks_work(&seed, WORK);
        pthread_mutex_lock(&mutex);
        while (queued == QUEUE)
            pthread_cond_wait(&not_full, &mutex);
        queue[queued++] = (int)me;
        locks_step(&a, me);
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&mutex);
    }
    pthread_mutex_lock(&mutex);
    ended++;
    pthread_cond_broadcast(&not_empty);
    pthread_mutex_unlock(&mutex);
}

static void consume(unsigned me)
{
    unsigned seed = me + 99;

    for (;;) {
        pthread_mutex_lock(&mutex);
        while (!queued && ended < PRODUCERS) {
            struct timespec until = in_us(20);

            if (me % 2 == 0)
                pthread_cond_wait(&not_empty, &mutex);
            else
                late += pthread_cond_timedwait(&not_empty, &mutex, &until) != 0;
        }
        if (!queued)
            break;
        locks_step(&b, me * 2 + (unsigned)queue[--queued]);
        if (b.steps % 64 == 0)
            locks_say("late", late);
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&mutex);
        locks_work(&seed, WORK);
    }
    pthread_mutex_unlock(&mutex);
}

static void *produce_or_consume(void *thread)
{
    if (number(thread) < PRODUCERS)
        produce(number(thread));
    else
        consume(number(thread));
    return NULL;
}

static void run_queue(void)
{
    locks_run(4, produce_or_consume);
    locks_say("end", a.steps + b.steps);
}

/* ---- readers and writers ---- */

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *read_or_write(void *thread)
{
    unsigned me = number(thread), seed = me + 1;
    uint64_t seen = 0;

    for (int i = 0; i < ROUNDS * 6; i++) {
        locks_work(&seed, WORK);
        if (locks_random(&seed) % 4 != 0) {
            pthread_rwlock_rdlock(&rwlock);
            seen = seen * 31 + a.hash;
            pthread_rwlock_unlock(&rwlock);
        } else if (locks_random(&seed) % 3 != 0 || pthread_rwlock_trywrlock(&rwlock) != 0) {
            pthread_rwlock_wrlock(&rwlock);
            locks_step(&a, me);
            pthread_rwlock_unlock(&rwlock);
        } else {
            seen++;
            pthread_rwlock_unlock(&rwlock);
        }
        if (i % 100 == 0)
            locks_say(me == 0 ? "seen by 0" : me == 1 ? "seen by 1" : "seen by 2", (long)(seen & 0xffffff));
    }
    return NULL;
}

static void run_readers(void)
{
    locks_run(3, read_or_write);
    locks_say("end", a.steps > 0);
}

/* ---- semaphores ---- */

static sem_t lock_sem, items, space;

static void *pass_on(void *thread)
{
    unsigned me = number(thread), seed = me + 3;
    int free;

    for (int i = 0; i < ROUNDS * 2; i++) {
        struct timespec until = in_us(50);

        if (me < PRODUCERS) {
            locks_work(&seed, WORK);
            sem_wait(&space);
        } else if (me % 2 == 0) {
            sem_wait(&items);
        } else {
            while (sem_trywait(&items) != 0 && (locks_random(&seed) % 2 || sem_timedwait(&items, &until) != 0)) {
                late++;
                until = in_us(50);
            }
        }
        sem_wait(&lock_sem);
        if (me < PRODUCERS)
            queue[queued++] = (int)me;
        locks_step(me < PRODUCERS ? &a : &b, me < PRODUCERS ? me : me * 2 + (unsigned)queue[--queued]);
        sem_post(&lock_sem);
        sem_post(me < PRODUCERS ? &items : &space);
        if (me == 3 && i % 50 == 0)
            locks_say("late", late);
        if (me == 0 && i % 50 == 0 && sem_getvalue(&space, &free) == 0)
            locks_say("free", free);
        locks_work(&seed, WORK);
    }
    return NULL;
}

static void run_semaphores(void)
{
    sem_init(&lock_sem, 0, 1);
    sem_init(&items, 0, 0);
    sem_init(&space, 0, QUEUE);
    locks_run(4, pass_on);
    locks_say("end", a.steps + b.steps);
}

/* ---- barriers ---- */

static pthread_barrier_t barrier;

static void *meet(void *thread)
{
    unsigned me = number(thread), seed = me + 1;

    for (int i = 0; i < ROUNDS * 2; i++) {
        locks_work(&seed, WORK);
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            locks_step(&a, me);
        if (i % 4 == 0) {
            pthread_barrier_wait(&barrier);
            pthread_mutex_lock(&mutex);
            locks_step(&b, me);
            pthread_mutex_unlock(&mutex);
        }
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void run_barriers(void)
{
    pthread_barrier_init(&barrier, NULL, 3);
    locks_run(3, meet);
    locks_say("end", a.steps + b.steps);
}

/* ---- C11 ---- */

static mtx_t mtx;
static cnd_t cnd;
static unsigned whose;
static once_flag flags[64];
static _Thread_local unsigned myself;

static void win(void) { locks_step(&b, myself); }

static void *take_turns(void *thread)
{
    unsigned me = number(thread), seed = me + 1;

    myself = me;
    for (int i = 0; i < ROUNDS; i++) {
        locks_work(&seed, WORK);
        mtx_lock(&mtx);
        locks_step(&a, me);
        if (i % 10 == 0) {
            while (whose != me)
                cnd_wait(&cnd, &mtx);
            whose = (whose + 1) % 3;
            cnd_broadcast(&cnd);
        }
        mtx_unlock(&mtx);
        call_once(&flags[i % 64], win);
    }
    return NULL;
}

static void run_c11(void)
{
    mtx_init(&mtx, mtx_plain);
    cnd_init(&cnd);
    locks_run(3, take_turns);
    locks_say("end", a.steps + b.steps);
}

/* ---- the end of threads ---- */

static void *end(void *thread)
{
    unsigned seed = number(thread);

    for (int i = 0; i < 20; i++)
        locks_work(&seed, WORK);
    return thread;
}

static void run_ends(void)
{
    unsigned seed = 1;
    void *value = NULL;
    pthread_t other;

    for (unsigned i = 0; i < ROUNDS; i++) {
        int looks = 0, wrong = 0;
        struct timespec until;

        pthread_create(&other, NULL, end, (void *)(uintptr_t)(i + 1));
        do {
            locks_work(&seed, WORK);
            looks++;
            until = in_us(20);
        } while ((looks % 2 ? pthread_tryjoin_np(other, &value) : pthread_timedjoin_np(other, &value, &until)) != 0);
        wrong += number(value) != i + 1;
        locks_step(&a, (unsigned)looks % 8);
        if (wrong)
            locks_say("wrong", i);
    }
    locks_say("end", a.steps);
}

const struct locks_row locks_of_threads[] = {
    {"print", run_print},     {"mutex", run_mutex},     {"owners", run_owners},         {"try", run_try},           {"reuse", run_reuse},
    {"queue", run_queue},     {"readers", run_readers}, {"semaphores", run_semaphores}, {"barriers", run_barriers}, {"c11", run_c11},
    {"ends", run_ends},       {NULL, NULL},
};
