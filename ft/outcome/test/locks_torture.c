/* SPDX-License-Identifier: BSD-3-Clause */
/* The row of outcome_locks that does all at once: threads compute, print, write to a file and send to another process inside critical
   sections of every kind, drawn by chance. The other process, and the file at the end, have the chains, too. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "ft/outcome/test/locks.h"

enum { THREADS = 4, ROUNDS = 500, WORK = 20000 };

/* ---- sections: one kind of lock each ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
                       checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP, adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP, robust, inheriting;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t semaphore;
static mtx_t mtx;
#ifdef _OPENMP
static omp_lock_t omp_lock;
static omp_nest_lock_t nest;
#endif

static void take(pthread_mutex_t *m) { pthread_mutex_lock(m); }

static void try(pthread_mutex_t *m)
{
    while (pthread_mutex_trylock(m) != 0)
        ;
}

static void lock_mutex(void) { take(&mutex); }
static void unlock_mutex(void) { pthread_mutex_unlock(&mutex); }
static void try_mutex(void) { try(&mutex); }
static void lock_recursive(void) { take(&recursive); }
static void unlock_recursive(void) { pthread_mutex_unlock(&recursive); }
static void lock_checking(void) { take(&checking); }
static void unlock_checking(void) { pthread_mutex_unlock(&checking); }
static void lock_adaptive(void) { take(&adaptive); }
static void unlock_adaptive(void) { pthread_mutex_unlock(&adaptive); }
static void lock_robust(void) { take(&robust); }
static void unlock_robust(void) { pthread_mutex_unlock(&robust); }
static void lock_inheriting(void) { take(&inheriting); }
static void unlock_inheriting(void) { pthread_mutex_unlock(&inheriting); }
static void lock_rwlock(void) { pthread_rwlock_wrlock(&rwlock); }
static void unlock_rwlock(void) { pthread_rwlock_unlock(&rwlock); }
static void lock_spin(void) { pthread_spin_lock(&spin); }
static void unlock_spin(void) { pthread_spin_unlock(&spin); }
static void lock_semaphore(void) { sem_wait(&semaphore); }
static void unlock_semaphore(void) { sem_post(&semaphore); }
static void lock_mtx(void) { mtx_lock(&mtx); }
static void unlock_mtx(void) { mtx_unlock(&mtx); }
static void lock_stream(void) { flockfile(stdout); }
static void unlock_stream(void) { funlockfile(stdout); }
#ifdef _OPENMP
static void lock_omp(void) { omp_set_lock(&omp_lock); }
static void unlock_omp(void) { omp_unset_lock(&omp_lock); }
static void lock_nest(void) { omp_set_nest_lock(&nest); }
static void unlock_nest(void) { omp_unset_nest_lock(&nest); }
#endif

/* Two ways of locking one mutex have one chain. */
static const struct section {
    char name;
    void (*lock)(void), (*unlock)(void);
} sections[] = {
    {'A', lock_mutex, unlock_mutex},         {'A', try_mutex, unlock_mutex},         {'B', lock_recursive, unlock_recursive},
    {'C', lock_checking, unlock_checking},   {'D', lock_adaptive, unlock_adaptive},  {'E', lock_robust, unlock_robust},
    {'F', lock_rwlock, unlock_rwlock},       {'G', lock_spin, unlock_spin},          {'H', lock_semaphore, unlock_semaphore},
    {'I', lock_mtx, unlock_mtx},             {'J', lock_stream, unlock_stream},       {'K', lock_inheriting, unlock_inheriting},
#ifdef _OPENMP
    {'L', lock_omp, unlock_omp},             {'M', lock_nest, unlock_nest},
#endif
};

enum { SECTIONS = sizeof sections / sizeof *sections, CHAINS = 'N' - 'A' + 1, CRITICAL = CHAINS - 1 };

static struct chain chains[CHAINS];

/* ---- who is told ---- */

struct message {
    uint32_t chain, step;
    uint64_t hash;
};

static int file, out[2], in[2];  /* out: a stream of this host; in: a pipe */

/* The other process: each chain's steps come in order, and once. */
static void listen_and_tell(void)
{
    uint32_t next[CHAINS] = {0};
    uint64_t hash = 0;
    unsigned wrong = 0, n = 0;
    struct message m;

    while (recv(out[1], &m, sizeof m, MSG_WAITALL) == sizeof m) {
        wrong += m.step != next[m.chain % CHAINS]++;
        hash = hash * 31 + m.hash;
        n++;
    }
    dprintf(in[1], "%u %u\n", n, wrong);
    _exit(0);
}

static void tell(struct chain *c, unsigned me, unsigned how)
{
    struct message m = {(uint32_t)(c->name - 'A'), c->steps, c->hash};
    char line[80];
    int n;

    if (send(out[0], &m, sizeof m, 0) != sizeof m)
        _exit(6);
    locks_step(c, me);
    n = snprintf(line, sizeof line, "%c %u %u %016" PRIx64 "\n", c->name, c->steps, me, c->hash);
    if (write(file, line, (size_t)n) != n)
        _exit(7);
    if (how % 4 == 0)
        printf("line of %u: %u\n", me, how);
}

static void *act(void *thread)
{
    unsigned me = (unsigned)(uintptr_t)thread, seed = me + 1;

    for (int i = 0; i < ROUNDS; i++) {
        const struct section *s = &sections[locks_random(&seed) % SECTIONS];

        locks_work(&seed, WORK);
        s->lock();
        tell(&chains[s->name - 'A'], me, seed);
        s->unlock();
#ifdef _OPENMP
        if (i % 10 == 0) {
#pragma omp critical(torture)
            tell(&chains[CRITICAL], me, seed);
        }
#endif
    }
    return NULL;
}

/* The file has each step of each chain. */
static unsigned count_broken(void)
{
    struct chain seen[CHAINS] = {{0}};
    unsigned broken = 0, steps, who;
    FILE *f = fopen("log", "r");
    uint64_t hash;
    char name;

    while (f && fscanf(f, " %c %u %u %" SCNx64, &name, &steps, &who, &hash) == 4) {
        struct chain *c = &seen[(name - 'A') % CHAINS];

        c->hash = locks_hash(c->hash, who, c->steps++);
        broken += c->steps != steps || c->hash != hash;
    }
    if (f)
        fclose(f);
    for (int i = 0; i < CHAINS; i++)
        broken += seen[i].steps != chains[i].steps;
    return broken;
}

static void run_torture(void)
{
    pthread_mutexattr_t is_robust, inherits;
    unsigned heard = 0, wrong = 0;
    char text[40] = "";
    long all = 0;
    pid_t child;

    pthread_mutexattr_init(&is_robust);
    pthread_mutexattr_setrobust(&is_robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &is_robust);
    pthread_mutexattr_init(&inherits);
    pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&inheriting, &inherits);
    pthread_spin_init(&spin, 0);
    sem_init(&semaphore, 0, 1);
    mtx_init(&mtx, mtx_plain);
#ifdef _OPENMP
    omp_init_lock(&omp_lock);
    omp_init_nest_lock(&nest);
#endif
    setvbuf(stdout, NULL, _IOLBF, 1000); /* whole lines, among those of the chains */
    for (int i = 0; i < CHAINS; i++)
        chains[i].name = (char)('A' + i);
    file = open("log", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
    if (file < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, out) < 0 || pipe(in) < 0)
        _exit(4);
    child = fork();
    if (child == 0) {
        close(out[0]);
        listen_and_tell();
    }
    close(out[1]);
    close(in[1]);
    locks_run(THREADS, act);
    close(out[0]);
    if (read(in[0], text, sizeof text - 1) <= 0 || sscanf(text, "%u %u", &heard, &wrong) != 2 || waitpid(child, NULL, 0) != child)
        _exit(8);
    for (int i = 0; i < CHAINS; i++)
        all += chains[i].steps;
    locks_say("not heard", all - heard);
    locks_say("heard in another order", wrong);
    locks_say("broken in the file", count_broken());
    locks_say("end", all * (heard == all && !wrong && !count_broken()));
}

const struct locks_row locks_of_torture[] = {{"torture", run_torture}, {0}};
