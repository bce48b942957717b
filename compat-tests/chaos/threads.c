/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose threads take turns: with an argument another one than the first calls MPI_Init_thread, and always another one calls MPI_Finalize. Then
   robust mutexes work as before. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 100000, CALLS = 200 };

static char buffer[BYTES];

static void *begin(void *unused)
{
    int provided;

    (void)unused;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    return NULL;
}

static void bcasts(void)
{
    for (int i = 0; i < CALLS; i++)
        MPI_Bcast(buffer, BYTES, MPI_CHAR, i % 2, MPI_COMM_WORLD);
}

static void *end(void *unused)
{
    (void)unused;
    bcasts();
    MPI_Finalize();
    return NULL;
}

static void in_a_thread(void *(*what)(void *))
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, what, NULL) != 0)
        exit(2);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    pthread_mutexattr_t kind;
    pthread_mutex_t mutex;

    (void)argv;
    if (argc > 1)
        in_a_thread(begin);
    else
        begin(NULL);
    bcasts();
    in_a_thread(end);
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &kind);
    for (int i = 0; i < 10; i++)
        if (pthread_mutex_lock(&mutex) != 0 || pthread_mutex_unlock(&mutex) != 0)
            return 1;
    puts("done");
    return 0;
}
