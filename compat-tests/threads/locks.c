/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenes of torture: locks of all kinds. Mutual exclusion shows in two counters that are equal whenever somebody has the lock. */
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "compat-tests/threads/torture.h"

enum { ROUNDS = 16, PLACES = 5, LONG_NS = 1000000000 };

struct counters {
    uint64_t a, b;
};
static void count(struct actor *a, struct counters *c)
{
    must(c->a == c->b);
    c->a++;
    torture_breathe(a);
    c->b++;
}

/* ---- mutexes ---- */

enum kind { NORMAL, RECURSIVE, CHECKING, ADAPTIVE, ROBUST, INHERITING, ROBUST_INHERITING, KINDS };

static void init(pthread_mutex_t *m, enum kind kind)
{
    static const int types[KINDS] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP};
    pthread_mutexattr_t attributes;

    must(pthread_mutexattr_init(&attributes) == 0 && pthread_mutexattr_settype(&attributes, types[kind]) == 0);
    if (kind == ROBUST || kind == ROBUST_INHERITING)
        must(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0);
    if (kind == INHERITING || kind == ROBUST_INHERITING)
        must(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) == 0);
    must(pthread_mutex_init(m, &attributes) == 0);
    pthread_mutexattr_destroy(&attributes);
}

/* In one of the three ways. */
static int take(struct actor *a, pthread_mutex_t *m)
{
    struct timespec until;
    int result;

    switch (torture_below(&a->chance, 4)) {
    case 0:
        while ((result = pthread_mutex_trylock(m)) == EBUSY)
            sched_yield();
        return result;
    case 1:
        until = torture_in(CLOCK_REALTIME, 60l * LONG_NS);
        return pthread_mutex_timedlock(m, &until);
    default: return pthread_mutex_lock(m);
    }
}

struct mutex_scene {
    pthread_mutex_t mutex;
    enum kind kind;
    struct counters counters;
    int owners, deaths;     /* of those who had it when they died */
};

static void mutex_round(struct actor *a, struct mutex_scene *s)
{
    int depth = s->kind == RECURSIVE ? torture_below(&a->chance, 4) : 0;

    must(take(a, &s->mutex) == 0);
    for (int i = 0; i < depth; i++)
        must(take(a, &s->mutex) == 0);
    if (s->kind == CHECKING && torture_once_in(&a->chance, 4))
        must(pthread_mutex_lock(&s->mutex) == EDEADLK);
    count(a, &s->counters);
    for (int i = 0; i < depth; i++) {
        must(pthread_mutex_unlock(&s->mutex) == 0);
        torture_breathe(a);
    }
    must(pthread_mutex_unlock(&s->mutex) == 0);
    if (s->kind == CHECKING && torture_once_in(&a->chance, 4))
        must(pthread_mutex_unlock(&s->mutex) == EPERM);
}

static void *play_mutex(void *arg)
{
    struct actor *a = arg;

    for (int i = 0; i < ROUNDS; i++) {
        mutex_round(a, a->scene);
        torture_breathe(a);
    }
    return NULL;
}

static void play_mutexes(struct party *p, enum kind kind)
{
    struct mutex_scene s = {.kind = kind};

    init(&s.mutex, kind);
    torture_act(p, 2 + torture_below(&p->chance, 3), play_mutex, &s);
    must(pthread_mutex_destroy(&s.mutex) == 0);
    p->hash = torture_mix(p->hash, s.counters.a);
}
static void play_normal(struct party *p) { play_mutexes(p, NORMAL); }
static void play_recursive(struct party *p) { play_mutexes(p, RECURSIVE); }
static void play_checking(struct party *p) { play_mutexes(p, CHECKING); }
static void play_adaptive(struct party *p) { play_mutexes(p, ADAPTIVE); }
static void play_robust(struct party *p) { play_mutexes(p, ROBUST); }
static void play_inheriting(struct party *p) { play_mutexes(p, INHERITING); }

/* Who takes it after an owner that has died is told so, once for each that has. */
static void own(struct actor *a, struct mutex_scene *s)
{
    int result = take(a, &s->mutex);

    must(result == 0 || result == EOWNERDEAD);
    if (result == EOWNERDEAD) {
        s->deaths++;
        must(pthread_mutex_consistent(&s->mutex) == 0);
    }
    s->owners++;
}

static void *play_dying(void *arg)
{
    struct actor *a = arg;
    struct mutex_scene *s = a->scene;

    for (int i = 0; i < ROUNDS / 2; i++) {
        own(a, s);
        torture_breathe(a);
        if (i == ROUNDS / 2 - 1 && a->index % 2)
            return NULL; /* with the lock */
        must(pthread_mutex_unlock(&s->mutex) == 0);
        torture_breathe(a);
    }
    return NULL;
}

static void play_deaths(struct party *p)
{
    struct mutex_scene s = {.kind = torture_once_in(&p->chance, 2) ? ROBUST : ROBUST_INHERITING};
    int n = 2 + torture_below(&p->chance, 4), result;

    init(&s.mutex, s.kind);
    torture_act(p, n, play_dying, &s);
    result = pthread_mutex_lock(&s.mutex);
    must(result == 0 || result == EOWNERDEAD);
    s.deaths += result == EOWNERDEAD;
    must(s.deaths == n / 2 && s.owners == n * (ROUNDS / 2));
    must(pthread_mutex_unlock(&s.mutex) == 0); /* not made consistent: nobody has it any more */
    must(pthread_mutex_lock(&s.mutex) == (result ? ENOTRECOVERABLE : 0) && (result || pthread_mutex_unlock(&s.mutex) == 0));
    p->hash = torture_mix(p->hash, (uint64_t)s.deaths);
}

/* One of each kind, held all at once, for long; others wait for each of them. */
struct held_scene {
    pthread_mutex_t mutexes[KINDS];
    pthread_rwlock_t rwlock;
    struct counters counters;
};

static void *play_holder(void *arg)
{
    struct actor *a = arg;
    struct held_scene *s = a->scene;

    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < KINDS; k++)
            must(take(a, &s->mutexes[k]) == 0);
        must(pthread_mutex_lock(&s->mutexes[RECURSIVE]) == 0 && pthread_rwlock_wrlock(&s->rwlock) == 0);
        count(a, &s->counters);
        if (torture_once_in(&a->chance, 2))
            nanosleep(&(struct timespec){.tv_nsec = 1000000 * (1 + torture_below(&a->chance, 12))}, NULL);
        else
            torture_compute(&a->chance, 20000000);
        torture_look(a);
        must(pthread_mutex_lock(&s->mutexes[CHECKING]) == EDEADLK);
        must(pthread_rwlock_unlock(&s->rwlock) == 0 && pthread_mutex_unlock(&s->mutexes[RECURSIVE]) == 0);
        for (int k = KINDS - 1; k >= 0; k--) {
            must(pthread_mutex_unlock(&s->mutexes[k]) == 0);
            torture_breathe(a);
        }
    }
    return NULL;
}

static void play_held(struct party *p)
{
    struct held_scene s = {.rwlock = PTHREAD_RWLOCK_INITIALIZER};

    for (int k = 0; k < KINDS; k++)
        init(&s.mutexes[k], (enum kind)k);
    torture_act(p, 2 + torture_below(&p->chance, 2), play_holder, &s);
    p->hash = torture_mix(p->hash, s.counters.b);
}

/* ---- conditions ---- */

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t filled, emptied;
    int items[PLACES], first, n, producers;
    uint64_t sum, taken;
};

/* With a limit, or without. */
static void wait(struct actor *a, struct queue *q, pthread_cond_t *c)
{
    struct timespec until;
    int result;

    if (torture_once_in(&a->chance, 3)) {
        until = torture_in(CLOCK_MONOTONIC, 1000 * (1 + torture_below(&a->chance, 2000)));
        result = pthread_cond_clockwait(c, &q->mutex, CLOCK_MONOTONIC, &until);
        must(result == 0 || (result == ETIMEDOUT && torture_is_past(CLOCK_MONOTONIC, &until)));
    } else {
        must(pthread_cond_wait(c, &q->mutex) == 0);
    }
}

static void produce(struct actor *a, struct queue *q)
{
    for (int i = 0; i < 3 * ROUNDS; i++) {
        pthread_mutex_lock(&q->mutex);
        while (q->n == PLACES)
            wait(a, q, &q->emptied);
        q->items[(q->first + q->n++) % PLACES] = i + 1;
        pthread_cond_signal(&q->filled);
        pthread_mutex_unlock(&q->mutex);
        torture_breathe(a);
    }
    pthread_mutex_lock(&q->mutex);
    q->producers--;
    pthread_cond_broadcast(&q->filled);
    pthread_mutex_unlock(&q->mutex);
}

static void consume(struct actor *a, struct queue *q)
{
    for (;;) {
        pthread_mutex_lock(&q->mutex);
        while (q->n == 0 && q->producers)
            wait(a, q, &q->filled);
        if (q->n == 0) {
            pthread_mutex_unlock(&q->mutex);
            return;
        }
        q->sum += (uint64_t)q->items[q->first];
        q->first = (q->first + 1) % PLACES;
        q->n--;
        q->taken++;
        pthread_cond_signal(&q->emptied);
        pthread_mutex_unlock(&q->mutex);
        torture_breathe(a);
    }
}

static void *play_at_queue(void *arg)
{
    struct actor *a = arg;
    struct queue *q = a->scene;

    (a->index < a->of / 2 ? produce : consume)(a, q);
    return NULL;
}

static void play_queue(struct party *p)
{
    struct queue q = {.filled = PTHREAD_COND_INITIALIZER, .emptied = PTHREAD_COND_INITIALIZER};
    int n = 2 + torture_below(&p->chance, 4);

    init(&q.mutex, (enum kind)torture_below(&p->chance, KINDS));
    q.producers = n / 2;
    torture_act(p, n, play_at_queue, &q);
    must(q.taken == (uint64_t)(n / 2 * 3 * ROUNDS) && pthread_cond_destroy(&q.filled) == 0);
    p->hash = torture_mix(p->hash, q.sum);
}

/* All wait until all are there; the last one lets them go. In between a wait for what never comes. */
struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t opens, never;
    int there, times;
};

static void *play_at_gate(void *arg)
{
    struct actor *a = arg;
    struct gate *g = a->scene;
    struct timespec until;
    int time, result;

    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&g->mutex);
        time = g->times;
        must(time == i);
        if (++g->there == a->of) {
            g->there = 0;
            g->times++;
            pthread_cond_broadcast(&g->opens);
        }
        while (g->times == time)
            pthread_cond_wait(&g->opens, &g->mutex);
        if (torture_once_in(&a->chance, 4)) {
            until = torture_in(CLOCK_REALTIME, 1500000);
            while ((result = pthread_cond_timedwait(&g->never, &g->mutex, &until)) == 0)
                ;
            must(result == ETIMEDOUT && torture_is_past(CLOCK_REALTIME, &until));
        }
        pthread_mutex_unlock(&g->mutex);
        torture_breathe(a);
    }
    return NULL;
}

static void play_gate(struct party *p)
{
    struct gate g = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

    torture_act(p, 2 + torture_below(&p->chance, 5), play_at_gate, &g);
    p->hash = torture_mix(p->hash, (uint64_t)g.times);
}

/* ---- barriers, semaphores ---- */

struct barrier_scene {
    pthread_barrier_t barrier;
    _Atomic int last;
    int at[ACTORS];
};

static void *play_at_barrier(void *arg)
{
    struct actor *a = arg;
    struct barrier_scene *s = a->scene;
    int result;

    for (int i = 1; i <= ROUNDS; i++) {
        s->at[a->index] = i;
        result = pthread_barrier_wait(&s->barrier);
        must(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
        if (result)
            atomic_fetch_add(&s->last, 1);
        for (int k = 0; k < a->of; k++)
            must(s->at[k] == i);
        torture_breathe(a);
        pthread_barrier_wait(&s->barrier);
    }
    return NULL;
}

static void play_barrier(struct party *p)
{
    struct barrier_scene s = {.last = 0};
    int n = 2 + torture_below(&p->chance, 5);

    must(pthread_barrier_init(&s.barrier, NULL, (unsigned)n) == 0);
    torture_act(p, n, play_at_barrier, &s);
    must(pthread_barrier_destroy(&s.barrier) == 0);
    p->hash = torture_mix(p->hash, (uint64_t)s.last);
}

/* A baton goes round. */
struct ring {
    sem_t turns[ACTORS], never;
    int steps;
};

static void *play_in_ring(void *arg)
{
    struct actor *a = arg;
    struct ring *r = a->scene;
    struct timespec until;

    for (int i = 0; i < ROUNDS; i++) {
        if (torture_once_in(&a->chance, 3)) {
            until = torture_in(CLOCK_REALTIME, 60l * LONG_NS);
            must(sem_timedwait(&r->turns[a->index], &until) == 0);
        } else {
            must(sem_wait(&r->turns[a->index]) == 0);
        }
        must(r->steps++ == i * a->of + a->index);
        must(sem_trywait(&r->never) < 0 && errno == EAGAIN);
        if (torture_once_in(&a->chance, 6)) {
            until = torture_in(CLOCK_REALTIME, 1000000);
            must(sem_timedwait(&r->never, &until) < 0 && errno == ETIMEDOUT && torture_is_past(CLOCK_REALTIME, &until));
        }
        must(sem_post(&r->turns[(a->index + 1) % a->of]) == 0);
        torture_breathe(a);
    }
    return NULL;
}
static void play_ring(struct party *p)
{
    struct ring r = {.steps = 0};

    for (int i = 0; i < ACTORS; i++)
        sem_init(&r.turns[i], 0, i == 0);
    sem_init(&r.never, 0, 0);
    torture_act(p, 2 + torture_below(&p->chance, 4), play_in_ring, &r);
    p->hash = torture_mix(p->hash, (uint64_t)r.steps);
}

/* ---- rwlocks, spin locks, once ---- */

struct shared_scene {
    pthread_rwlock_t rwlock;
    pthread_spinlock_t spin;
    struct counters counters, spun;
};

static void write_counters(struct actor *a, struct shared_scene *s)
{
    if (torture_once_in(&a->chance, 3))
        while (pthread_rwlock_trywrlock(&s->rwlock) == EBUSY)
            sched_yield();
    else
        must(pthread_rwlock_wrlock(&s->rwlock) == 0);
    count(a, &s->counters);
    must(pthread_rwlock_unlock(&s->rwlock) == 0);
}

static void read_counters(struct actor *a, struct shared_scene *s)
{
    struct timespec until = torture_in(CLOCK_REALTIME, 60l * LONG_NS);

    must((torture_once_in(&a->chance, 2) ? pthread_rwlock_rdlock(&s->rwlock) : pthread_rwlock_timedrdlock(&s->rwlock, &until)) == 0);
    must(s->counters.a == s->counters.b);
    torture_breathe(a);
    must(s->counters.a == s->counters.b && pthread_rwlock_unlock(&s->rwlock) == 0);
}

static void *play_shared(void *arg)
{
    struct actor *a = arg;
    struct shared_scene *s = a->scene;

    for (int i = 0; i < ROUNDS; i++) {
        (i % 4 == 0 ? write_counters : read_counters)(a, s);
        torture_breathe(a);
        pthread_spin_lock(&s->spin);
        must(s->spun.a++ == s->spun.b);
        torture_compute(&a->chance, 2000);
        s->spun.b++;
        pthread_spin_unlock(&s->spin);
    }
    return NULL;
}

static void play_rwlock(struct party *p)
{
    struct shared_scene s = {.rwlock = PTHREAD_RWLOCK_INITIALIZER};

    pthread_spin_init(&s.spin, PTHREAD_PROCESS_PRIVATE);
    torture_act(p, 2 + torture_below(&p->chance, 3), play_shared, &s);
    must(pthread_rwlock_destroy(&s.rwlock) == 0);
    p->hash = torture_mix(torture_mix(p->hash, s.counters.a), s.spun.b);
}

struct once_scene {
    pthread_once_t once[ROUNDS];
    int done;
};
static _Thread_local struct actor *doer;

static void do_once(void)
{
    torture_breathe(doer);
    ((struct once_scene *)doer->scene)->done++;
}

static void *play_once(void *arg)
{
    struct once_scene *s = ((struct actor *)arg)->scene;

    doer = arg;
    for (int i = 0; i < ROUNDS; i++) {
        must(pthread_once(&s->once[i], do_once) == 0 && s->done > i);
        torture_breathe(doer);
    }
    return NULL;
}
static void play_onces(struct party *p)
{
    struct once_scene s = {.done = 0};

    for (int i = 0; i < ROUNDS; i++)
        s.once[i] = (pthread_once_t)PTHREAD_ONCE_INIT;
    torture_act(p, 2 + torture_below(&p->chance, 3), play_once, &s);
    must(s.done == ROUNDS);
    p->hash = torture_mix(p->hash, (uint64_t)s.done);
}

const struct scene torture_locks[] = {
    {"normal", play_normal}, {"recursive", play_recursive}, {"checking", play_checking}, {"adaptive", play_adaptive}, {"robust", play_robust},
    {"inherit", play_inheriting}, {"deaths", play_deaths}, {"held", play_held}, {"queue", play_queue}, {"gate", play_gate},
    {"barrier", play_barrier}, {"ring", play_ring}, {"rwlock", play_rwlock}, {"once", play_onces}, {0}};
