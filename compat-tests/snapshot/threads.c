/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads, by WHAT: "later" (one from the middle of the run on), "brief" (one in each round, joined before MPI is called). */
#include <pthread.h>
#include <string.h>

#include "rounds.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static uint64_t question, answer; /* 0: none */

static void *work(void *arg)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!question) pthread_cond_wait(&change, &lock);
        answer = question * 0x9e3779b97f4a7c15u + 1;
        question = 0;
        pthread_cond_signal(&change);
    }
    return arg;
}

static uint64_t ask(uint64_t value)
{
    uint64_t result;
    pthread_mutex_lock(&lock);
    answer = 0;
    question = value | 1;
    pthread_cond_signal(&change);
    while (!answer) pthread_cond_wait(&change, &lock);
    result = answer;
    pthread_mutex_unlock(&lock);
    return result;
}

static void *once(void *value)
{
    uint64_t *v = value;
    *v = *v * 0x9e3779b97f4a7c15u + 1;
    return NULL;
}

int main(int argc, char **argv)
{
    struct rounds r;
    pthread_t thread;
    bool later;

    rounds_begin(&r, argc, argv);
    later = !strcmp(r.what, "later");
    while (rounds_more(&r)) {
        uint64_t value = rounds_draw(&r, 0);
        if (!later) MUST(&r, pthread_create(&thread, NULL, once, &value) == 0 && pthread_join(thread, NULL) == 0);
        else if (r.at == r.n / 2) MUST(&r, pthread_create(&thread, NULL, work, NULL) == 0);
        if (later && r.at >= r.n / 2) value = ask(value);
        rounds_mix(&r, value);
    }
    return rounds_end(&r);
}
