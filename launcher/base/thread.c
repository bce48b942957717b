/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/base/thread.h"

#include <semaphore.h>
#include <signal.h>

struct start {
    void *(*run)(void *);
    void *arg;
    sem_t runs;
};

static void *begin(void *arg)
{
    struct start *s = arg, mine = *s;

    sem_post(&s->runs); /* *s is no more */
    return mine.run(mine.arg);
}

int ft_thread_start(pthread_t *id, void *(*run)(void *), void *arg)
{
    struct start s = {.run = run, .arg = arg};
    sigset_t all, mask;
    int error;

    sem_init(&s.runs, 0, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    error = pthread_create(id, NULL, begin, &s);
    if (!error)
        sem_wait(&s.runs);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    sem_destroy(&s.runs);
    return error;
}
