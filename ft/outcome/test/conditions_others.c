/* SPDX-License-Identifier: BSD-3-Clause */
/* Conditions of several processes, and by other names. */
#include "ft/outcome/test/conditions.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

/* ---- other processes ---- */

struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    int turn;
};

static void take_turns(struct shared *s, int me)
{
    for (int i = 0; i < 200; i++) {
        pthread_mutex_lock(&s->mutex);
        while (s->turn != me)
            pthread_cond_wait(&s->condition, &s->mutex);
        s->turn = !me;
        pthread_cond_signal(&s->condition);
        pthread_mutex_unlock(&s->mutex);
    }
}

static struct shared *map(const char *name)
{
    int fd = open(name, O_RDWR);
    void *at = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (at == MAP_FAILED)
        _exit(7);
    close(fd);
    return at;
}

/* One that is no rank, and has the C library's. */
void run_shared(const char *program)
{
    pthread_mutexattr_t mutexes;
    pthread_condattr_t conditions;
    struct shared *s;
    pid_t child;
    int status, fd = open("shared", O_RDWR | O_CREAT | O_TRUNC, 0644);

    if (fd < 0 || ftruncate(fd, sizeof *s) < 0)
        _exit(7);
    close(fd);
    s = map("shared");
    pthread_mutexattr_init(&mutexes);
    pthread_mutexattr_setpshared(&mutexes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&s->mutex, &mutexes);
    pthread_condattr_init(&conditions);
    pthread_condattr_setpshared(&conditions, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&s->condition, &conditions);
    child = fork();
    if (child == 0) {
        execl(program, program, "-other", "shared", NULL);
        _exit(8);
    }
    take_turns(s, 0);
    say("a condition that processes share", waitpid(child, &status, 0) == child && status == 0);
}

void be_other(const char *file) { take_turns(map(file), 1); }

/* It goes on with its parent's conditions; its parent's waiters are not there. */
void run_forked(void)
{
    bool ours = are_ours();
    pthread_t thread, other;
    pid_t child;
    int status;

    sleepers = tokens = woken = 0;
    pthread_create(&thread, NULL, take_token, NULL);
    pthread_mutex_lock(&mutex);
    await_sleepers(1);
    child = fork();
    if (child == 0) {
        sleepers = 0;
        pthread_mutex_unlock(&mutex);
        pthread_create(&other, NULL, take_token, NULL);
        pthread_mutex_lock(&mutex);
        await_sleepers(1);
        tokens = 1;
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&mutex);
        joined(other);
        _exit(woken != 1 || are_ours() != ours);
    }
    tokens = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    joined(thread);
    say("a child goes on with its parent's", waitpid(child, &status, 0) == child && status == 0 && woken == 1);
}

/* ---- other names ---- */

static mtx_t mtx;
static cnd_t cnd;

static int take_c11(void *arg)
{
    mtx_lock(&mtx);
    sleepers++;
    while (!tokens)
        cnd_wait(&cnd, &mtx);
    tokens--;
    mtx_unlock(&mtx);
    (void)arg;
    return 0;
}

void run_c11(void)
{
    struct timespec until = in_ms(CLOCK_REALTIME, 10);
    bool good = mtx_init(&mtx, mtx_plain) == thrd_success && cnd_init(&cnd) == thrd_success;
    thrd_t thread[2];
    int said;

    mtx_lock(&mtx);
    do
        said = cnd_timedwait(&cnd, &mtx, &until);
    while (said == thrd_success);
    good &= said == thrd_timedout;
    until.tv_nsec = -1;
    good &= cnd_timedwait(&cnd, &mtx, &until) == thrd_error;
    sleepers = tokens = 0;
    for (int i = 0; i < 2; i++)
        thrd_create(&thread[i], take_c11, NULL);
    while (sleepers < 2) {
        mtx_unlock(&mtx);
        thrd_yield();
        mtx_lock(&mtx);
    }
    tokens = 1;
    good &= cnd_signal(&cnd) == thrd_success;
    mtx_unlock(&mtx);
    thrd_sleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    mtx_lock(&mtx);
    tokens++;
    good &= cnd_broadcast(&cnd) == thrd_success;
    mtx_unlock(&mtx);
    thrd_join(thread[0], NULL);
    thrd_join(thread[1], NULL);
    cnd_destroy(&cnd);
    say("those of C11", good && tokens == 0);
}

#ifdef __x86_64__
/* Of programs that were linked before 2003. */
__asm__(".symver old_wait, pthread_cond_wait@GLIBC_2.2.5\n.symver old_signal, pthread_cond_signal@GLIBC_2.2.5\n"
        ".symver old_timedwait, pthread_cond_timedwait@GLIBC_2.2.5\n.symver old_destroy, pthread_cond_destroy@GLIBC_2.2.5\n"
        ".symver old_init, pthread_cond_init@GLIBC_2.2.5\n.symver old_broadcast, pthread_cond_broadcast@GLIBC_2.2.5");
int old_wait(pthread_cond_t *c, pthread_mutex_t *m);
int old_signal(pthread_cond_t *c);
int old_broadcast(pthread_cond_t *c);
int old_destroy(pthread_cond_t *c);
int old_init(pthread_cond_t *c, const pthread_condattr_t *a);
int old_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until);

static pthread_cond_t old;

static void *take_old(void *arg)
{
    pthread_mutex_lock(&mutex);
    sleepers++;
    while (!tokens)
        old_wait(&old, &mutex);
    tokens--;
    pthread_mutex_unlock(&mutex);
    return arg;
}

void run_old(void)
{
    struct timespec until = in_ms(CLOCK_REALTIME, 10);
    bool good = old_init(&old, NULL) == 0;
    pthread_t thread[2];
    int error;

    sleepers = tokens = 0;
    pthread_mutex_lock(&mutex);
    do
        error = old_timedwait(&old, &mutex, &until);
    while (error == 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, take_old, NULL);
    await_sleepers(2);
    tokens = 2;
    good &= old_signal(&old) == 0 && old_broadcast(&old) == 0;
    pthread_mutex_unlock(&mutex);
    joined(thread[0]);
    joined(thread[1]);
    say("those of old programs", good && error == ETIMEDOUT && old_destroy(&old) == 0);
}
#else
void run_old(void) { say("those of old programs", true); }
#endif
