/* SPDX-License-Identifier: BSD-3-Clause */
/* A row of outcome_locks: threads end that have robust mutexes. Killed and put back, they have them by a number that the kernel does not know. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ft/outcome/test/locks.h"

enum { ROUNDS = 12, STEPS = 30, WORK = 20000, MUTEXES = 3 };

static struct chain a = {.name = 'A'}, b = {.name = 'B'};
static pthread_mutex_t mutexes[MUTEXES];

/* True: its last owner has died with it. */
static bool lock(int i)
{
    bool died = pthread_mutex_lock(&mutexes[i]) == EOWNERDEAD;

    if (died)
        pthread_mutex_consistent(&mutexes[i]);
    return died;
}

/* Returns, or leaves, with two of them. */
static void *end_with_it(void *round_)
{
    unsigned round = (unsigned)(uintptr_t)round_, seed = round;

    for (unsigned i = 0; i < STEPS; i++) {
        bool died = lock(0);

        locks_step(&a, 2 + died);
        pthread_mutex_unlock(&mutexes[0]);
        locks_work(&seed, WORK);
    }
    lock(0);
    lock(1);
    lock(2);
    locks_step(&a, 4);
    pthread_mutex_unlock(&mutexes[1]);
    if (round % 2)
        pthread_exit(NULL);
    return NULL;
}

static void run_robust(void)
{
    pthread_mutexattr_t robust;
    unsigned dead = 0;

    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    for (int i = 0; i < MUTEXES; i++)
        pthread_mutex_init(&mutexes[i], &robust);
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned seed = round;
        pthread_t other;

        pthread_create(&other, NULL, end_with_it, (void *)(uintptr_t)round);
        for (unsigned i = 0; i < STEPS * 3 / 2; i++) {
            bool died = lock(0);

            dead += died;
            locks_step(&a, died);
            pthread_mutex_unlock(&mutexes[0]);
            locks_work(&seed, WORK);
        }
        pthread_join(other, NULL);
        for (int i = 0; i < MUTEXES; i++) {
            bool died = lock(i);

            dead += died;
            locks_step(&b, 2 * (unsigned)i + died);
            pthread_mutex_unlock(&mutexes[i]);
        }
    }
    locks_say("end", dead == 2 * ROUNDS ? (long)(a.steps + b.steps) : -(long)dead);
}

const struct locks_row locks_of_robust[] = {{"robust", run_robust}, {0}};
