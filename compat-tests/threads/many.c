/* SPDX-License-Identifier: BSD-3-Clause */
/* many LINES GO: makes 6,000 threads, 16 at a time, joined and detached ones, and more until there is GO. Each adds to a sum when it runs, and again
   when it ends, in what destroys its storage. Writes a line to LINES for each 500; prints what the sum is of what it should be. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 6000, TIMES = 500, AT_A_TIME = 16 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static pthread_key_t key;
static long sum, running;

static void at_end(void *of)
{
    pthread_mutex_lock(&mutex);
    sum += *(long *)of;
    if (--running == 0)
        pthread_cond_signal(&ended);
    pthread_mutex_unlock(&mutex);
    free(of);
}

static void *run(void *arg)
{
    long *mine = malloc(sizeof *mine);

    *mine = (long)arg;
    pthread_setspecific(key, mine);
    if (*mine % 7 == 0)
        close(open("/dev/null", O_RDONLY));
    pthread_mutex_lock(&mutex);
    sum += *mine;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void make_some(long from)
{
    pthread_t threads[AT_A_TIME];

    running = AT_A_TIME;
    for (long i = 0; i < AT_A_TIME; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)(from + i)) != 0)
            exit(3);
    for (long i = 0; i < AT_A_TIME; i++)
        if (i % 3)
            pthread_join(threads[i], NULL);
        else
            pthread_detach(threads[i]);
    pthread_mutex_lock(&mutex);
    while (running)
        pthread_cond_wait(&ended, &mutex);
    pthread_mutex_unlock(&mutex);
}

int main(int argc, char **argv)
{
    FILE *lines = argc == 3 ? fopen(argv[1], "w") : NULL;
    long made = 0;

    if (!lines || pthread_key_create(&key, at_end) != 0)
        return 2;
    while (made < THREADS || access(argv[2], F_OK) != 0) {
        make_some(made);
        made += AT_A_TIME;
        if (made % TIMES < AT_A_TIME) {
            fprintf(lines, "%ld\n", made);
            fflush(lines);
        }
    }
    printf("%ld of %ld\n", sum, made * (made - 1));
    return 0;
}
