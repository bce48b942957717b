/* SPDX-License-Identifier: BSD-3-Clause */
/* Robust and inheriting mutexes. */
#include "ft/outcome/test/conditions.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t robust;

static void *die_with_it(void *arg)
{
    pthread_mutex_lock(&robust);
    tokens = 1;
    pthread_cond_signal(&condition);
    return arg;
}

void run_robust(void)
{
    struct timespec until = long_time();
    pthread_mutexattr_t kind;
    pthread_t thread;
    int error = 0;

    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &kind);
    tokens = 0;
    pthread_mutex_lock(&robust);
    pthread_create(&thread, NULL, die_with_it, NULL);
    while (!tokens && !error)
        error = pthread_cond_timedwait(&condition, &robust, &until);
    say("after a wait the owner of a robust mutex is dead", error == EOWNERDEAD);
    say("... and it is made consistent", pthread_mutex_consistent(&robust) == 0 && pthread_mutex_unlock(&robust) == 0);
    joined(thread);
}

static int number_in_mutexes(void)
{
    pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    int number;

    pthread_mutex_lock(&checking);
    number = checking.__data.__owner;
    pthread_mutex_unlock(&checking);
    return number;
}

/* A thread that the C library has another number of than the kernel: as one that was put back. */
static bool be_another(void)
{
    enum { ANOTHER = 0x3ffffff0, WORDS = 256 };
    int number = number_in_mutexes(), *at = (int *)pthread_self();

    for (int i = 0; i < WORDS; i++) {
        if (at[i] != number)
            continue;
        at[i] = ANOTHER;
        if (number_in_mutexes() == ANOTHER)
            return true;
        at[i] = number;
    }
    return false;
}

static pthread_mutex_t left_behind[3];
static pthread_key_t data;
static bool changed;

/* A destructor lets one go: that is no dead owner's. */
static void let_go(void *m)
{
    if (m != &left_behind[0])
        pthread_setspecific(data, &left_behind[0]); /* ... in the second round */
    else
        pthread_mutex_unlock(m);
}

static void *end_as_another(void *how)
{
    changed = be_another();
    for (int i = 0; i < 3; i++)
        pthread_mutex_lock(&left_behind[i]);
    pthread_setspecific(data, &changed);
    pthread_mutex_lock(&mutex);
    sleepers++;
    pthread_mutex_unlock(&mutex);
    if (how == (void *)1)
        pthread_exit(NULL);
    while (how == (void *)2)
        pthread_testcancel(); /* no signal: there is nobody of that number */
    return NULL;
}

static void *lock_last(void *arg)
{
    struct timespec until = long_time();
    int error = pthread_mutex_timedlock(&left_behind[2], &until);

    pthread_mutex_consistent(&left_behind[2]);
    pthread_mutex_unlock(&left_behind[2]);
    (void)arg;
    return (void *)(intptr_t)error;
}

/* Only where conditions are ours. How: it returns, it calls pthread_exit, it is cancelled. */
void run_put_back(void)
{
    static const char *const how[] = {"that returns", "that leaves", "that is cancelled"};
    char line[80];

    pthread_key_create(&data, let_go);
    for (uintptr_t i = 0; i < 3; i++) {
        struct timespec until = long_time();
        pthread_mutexattr_t kind;
        pthread_t thread, other;
        int first, second;

        pthread_mutexattr_init(&kind);
        pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
        for (int k = 0; k < 3; k++)
            pthread_mutex_init(&left_behind[k], &kind);
        sleepers = 0;
        if (i == 2)
            pthread_mutex_lock(&mutex);
        pthread_create(&thread, NULL, end_as_another, (void *)i);
        if (i == 2) {
            await_sleepers(1);
            pthread_create(&other, NULL, lock_last, NULL); /* it waits before that one ends, as a rule */
            usleep(20000);
            pthread_mutex_unlock(&mutex);
            pthread_cancel(thread);
        } else {
            joined(thread);
            pthread_create(&other, NULL, lock_last, NULL);
        }
        first = pthread_mutex_timedlock(&left_behind[1], &until);
        if (i == 2)
            joined(thread);
        second = pthread_mutex_lock(&left_behind[0]);
        pthread_mutex_unlock(&left_behind[0]);
        pthread_mutex_consistent(&left_behind[1]);
        pthread_mutex_unlock(&left_behind[1]);
        snprintf(line, sizeof line, "a thread %s, put back, leaves robust mutexes", how[i]);
        say(line, changed && first == EOWNERDEAD && second == 0 && joined(other) == (void *)EOWNERDEAD);
    }
    pthread_key_delete(data);
}

static pthread_mutex_t inheriting;
static int counted;

static void *count(void *arg)
{
    for (int i = 0; i < 20000; i++) {
        pthread_mutex_lock(&inheriting);
        counted++;
        pthread_mutex_unlock(&inheriting);
    }
    return arg;
}

void run_inheriting(bool ours)
{
    enum { INHERITS = 32 }; /* nptl/pthreadP.h */
    pthread_mutexattr_t kind;
    pthread_mutex_t shared;
    pthread_t thread;

    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&inheriting, &kind);
    say("a mutex inherits priorities, but in a rank", (inheriting.__data.__kind & INHERITS) == (ours ? 0 : INHERITS));
    pthread_create(&thread, NULL, count, NULL);
    count(NULL);
    joined(thread);
    pthread_mutex_lock(&inheriting);
    say("... and is what else it is", counted == 40000 && pthread_mutex_lock(&inheriting) == EDEADLK);
    pthread_mutex_unlock(&inheriting);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared, &kind);
    say("... one that processes share does", shared.__data.__kind & INHERITS);
}
