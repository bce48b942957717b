/* SPDX-License-Identifier: BSD-3-Clause */
/* What conditions take of processor time: the median of several rounds, the least and the most. */
#include "ft/outcome/test/conditions.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 7, SIGNALS = 500000, TURNS = 5000 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int turn;
static pthread_cond_t turns[2] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};

static void *play(void *me_)
{
    int me = me_ != NULL;

    for (int i = 0; i < TURNS; i++) {
        pthread_mutex_lock(&mutex);
        while (turn != me)
            pthread_cond_wait(&turns[me], &mutex);
        turn = !me;
        pthread_cond_signal(&turns[!me]);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static int is_more(const void *a, const void *b) { return *(const double *)a > *(const double *)b ? 1 : -1; }

static void tell(const char *what, double took[ROUNDS], double times)
{
    qsort(took, ROUNDS, sizeof *took, is_more);
    printf("%s: %.1f ns (%.1f to %.1f)\n", what, took[ROUNDS / 2] / times, took[0] / times, took[ROUNDS - 1] / times);
}

void cost(void)
{
    struct timespec past = {0};
    double took[ROUNDS];
    pthread_t other;

    for (int r = 0; r < ROUNDS; r++) {
        double since = now();

        for (int i = 0; i < SIGNALS; i++)
            pthread_cond_signal(&condition);
        took[r] = now() - since;
    }
    tell("signal, nobody waits", took, SIGNALS);
    for (int r = 0; r < ROUNDS; r++) {
        double since = now();

        pthread_create(&other, NULL, play, (void *)1);
        play(NULL);
        pthread_join(other, NULL);
        took[r] = now() - since;
    }
    tell("two threads take turns, a turn", took, 2.0 * TURNS);
    pthread_mutex_lock(&mutex);
    for (int r = 0; r < ROUNDS; r++) {
        double since = now();

        for (int i = 0; i < TURNS; i++)
            pthread_cond_timedwait(&condition, &mutex, &past);
        took[r] = now() - since;
    }
    pthread_mutex_unlock(&mutex);
    tell("a wait until a time that is over", took, TURNS);
}
