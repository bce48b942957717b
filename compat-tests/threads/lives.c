/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenes of torture: threads that begin and end, are joined, sent signals; children. */
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "compat-tests/threads/torture.h"

enum { SHORT = 12, LONG_S = 1000 };

/* ---- begin, end ---- */

struct life {
    struct actor actor;
    sem_t *ended;           /* NULL: it is joined */
    uint64_t result;
};

static void *live(void *arg)
{
    struct life *l = arg;
    sem_t *ended = l->ended;
    struct costume *worn = l->actor.bare ? NULL : torture_dress(&l->actor);

    for (int i = 0; i < 4; i++)
        torture_breathe(&l->actor);
    if (worn)
        torture_undress(&l->actor, worn);
    l->result = l->actor.chance * 3;
    if (ended)
        must(sem_post(ended) == 0);
    pthread_exit(l);
}

static void begin(struct actor *a, struct life *l, sem_t *ended)
{
    l->actor = (struct actor){.party = a->party, .index = a->index, .of = 1, .chance = torture_random(&a->chance) | 1,
                              .bare = torture_once_in(&a->chance, 4)};
    l->ended = ended;
    l->actor.thread = torture_thread(&a->chance, live, l, ended != NULL, l->actor.bare);
}

static void end(struct actor *a, struct life *l)
{
    struct timespec until = torture_in(CLOCK_REALTIME, 500000);
    void *value = NULL;
    int result;

    switch (torture_below(&a->chance, 4)) {
    case 0:
        result = pthread_timedjoin_np(l->actor.thread, &value, &until);
        must(result == 0 || (result == ETIMEDOUT && torture_is_past(CLOCK_REALTIME, &until)));
        break;
    case 1:
        while ((result = pthread_tryjoin_np(l->actor.thread, &value)) == EBUSY)
            torture_breathe(a);
        must(result == 0);
        break;
    default: result = -1; break;
    }
    if (result)
        must(pthread_join(l->actor.thread, &value) == 0);
    must(value == l && l->result == l->actor.chance * 3);
}

static void *play_churn(void *arg)
{
    struct actor *a = arg;
    struct life lives[3];

    for (int i = 0; i < SHORT; i++) {
        int n = 1 + torture_below(&a->chance, 3);

        for (int k = 0; k < n; k++)
            begin(a, &lives[k], NULL);
        torture_breathe(a);
        for (int k = 0; k < n; k++)
            end(a, &lives[k]);
        a->hash++;
    }
    return NULL;
}

static void play_churns(struct party *p) { torture_act(p, 1 + torture_below(&p->chance, 3), play_churn, NULL); }

static void *play_detached(void *arg)
{
    struct actor *a = arg;
    struct life lives[SHORT];
    sem_t ended;

    sem_init(&ended, 0, 0);
    for (int i = 0; i < SHORT; i++) {
        begin(a, &lives[i], &ended);
        torture_breathe(a);
    }
    for (int i = 0; i < SHORT; i++)
        must(sem_wait(&ended) == 0);
    for (int i = 0; i < SHORT; i++)
        must(lives[i].result == lives[i].actor.chance * 3);
    a->hash = SHORT;
    return NULL;
}

static void play_detaches(struct party *p)
{
    int before = torture_destroyed();

    torture_act(p, 2, play_detached, NULL);
    must(torture_destroyed() >= before + 2); /* the actors' own, which were joined */
}

static int live_c11(void *arg)
{
    torture_compute(arg, 30000);
    return (int)(*(uint64_t *)arg >> 40 & 0xff);
}

static void *play_c11(void *arg)
{
    struct actor *a = arg;

    for (int i = 0; i < SHORT; i++) {
        uint64_t chance = torture_random(&a->chance) | 1;
        int result = -1;
        thrd_t thread;

        must(thrd_create(&thread, live_c11, &chance) == thrd_success);
        torture_breathe(a);
        must(thrd_join(thread, &result) == thrd_success && result == (int)(chance >> 40 & 0xff));
    }
    return NULL;
}

static void play_c11s(struct party *p) { torture_act(p, 2, play_c11, NULL); }

/* ---- signals from one thread to another ---- */

static _Thread_local sem_t *caught;
static _Thread_local volatile int times;

static void on_signal(int number)
{
    int error = errno;

    must(number == SIGUSR2 && caught != NULL);
    times++;
    sem_post(caught);
    errno = error;
}

struct target {
    struct actor *actor;
    sem_t caught;
    int pipe[2], where, wanted;
};

static void be_a_target(struct target *t)
{
    struct timespec left;
    sigset_t set;
    char c = 0;

    switch (t->where) {
    case 0:
        while (times < t->wanted)
            torture_compute(&t->actor->chance, 1000);
        break;
    case 1:
        while (times < t->wanted) { /* not for long: one may be handled just before it sleeps */
            left = (struct timespec){.tv_nsec = 50000000};
            must(nanosleep(&left, &left) == 0 || errno == EINTR);
        }
        break;
    case 2: must(read(t->pipe[0], &c, 1) == 1 && c == 'e'); break; /* begun again after each signal */
    default:
        sigemptyset(&set);
        sigaddset(&set, SIGUSR2);
        must(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
        sem_post(&t->caught); /* it is blocked */
        for (int number; times < t->wanted; times++) {
            must(sigwait(&set, &number) == 0 && number == SIGUSR2);
            sem_post(&t->caught);
        }
        break;
    }
    must(times == t->wanted);
}

static void *play_target(void *arg)
{
    struct target *t = arg;

    caught = &t->caught;
    times = 0;
    sem_post(&t->caught);
    be_a_target(t);
    return NULL;
}

static void *play_sender(void *arg)
{
    struct actor *a = arg;
    struct target t = {.actor = &(struct actor){.chance = torture_random(&a->chance) | 1}, .wanted = 5};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigset_t set;
    pthread_t thread;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    must(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0 && sigaction(SIGUSR2, &action, NULL) == 0);
    sem_init(&t.caught, 0, 0);
    must(pipe(t.pipe) == 0);
    for (t.where = 0; t.where < 4; t.where++) {
        thread = torture_thread(&a->chance, play_target, &t, false, false);
        must(sem_wait(&t.caught) == 0 && (t.where < 3 || sem_wait(&t.caught) == 0));
        for (int i = 0; i < t.wanted; i++) {
            must((i % 2 ? pthread_sigqueue(thread, SIGUSR2, (union sigval){.sival_int = i}) : pthread_kill(thread, SIGUSR2)) == 0 && sem_wait(&t.caught) == 0);
            torture_compute(&a->chance, 20000);
        }
        must(write(t.pipe[1], "e", 1) == 1 && pthread_join(thread, NULL) == 0);
        if (t.where != 2)
            must(read(t.pipe[0], &(char){0}, 1) == 1);
    }
    close(t.pipe[0]);
    close(t.pipe[1]);
    a->hash = 4;
    return NULL;
}

/* What it wears has another mask then: so it is put right again. */
static void *play_sender_dressed(void *arg)
{
    sigset_t mask;

    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    play_sender(arg);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return NULL;
}

static void play_signals(struct party *p) { torture_act(p, 1 + torture_below(&p->chance, 2), play_sender_dressed, NULL); }

/* ---- children ---- */

static int child_by_fork(int code, const int *ends)
{
    uint64_t chance = (uint64_t)code + 1;

    torture_compute(&chance, 100000);
    _exit(ends && write(ends[1], &code, sizeof code) != sizeof code ? 99 : code);
}

static void *play_parent(void *arg)
{
    struct actor *a = arg;
    char digit[8] = "exit 0";
    int ends[2], code, status, heard;
    pid_t child;

    for (int i = 0; i < 4; i++) {
        bool execs = torture_once_in(&a->chance, 2);

        code = torture_below(&a->chance, 10);
        digit[5] = (char)('0' + code);
        must(pipe(ends) == 0);
        child = fork();
        if (child == 0 && execs) {
            execl("/bin/sh", "sh", "-c", digit, (char *)NULL);
            _exit(98);
        }
        if (child == 0)
            child_by_fork(code, ends);
        must(child > 0);
        close(ends[1]);
        torture_breathe(a);
        if (!execs)
            must(read(ends[0], &heard, sizeof heard) == sizeof heard && heard == code);
        close(ends[0]);
        must(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == code);
        a->hash = torture_mix(a->hash, (uint64_t)code);
    }
    return NULL;
}

static void play_parents(struct party *p) { torture_act(p, 1 + torture_below(&p->chance, 2), play_parent, NULL); }

const struct scene torture_threads[] = {{"churn", play_churns}, {"detached", play_detaches}, {"c11", play_c11s}, {"signals", play_signals},
                                        {"children", play_parents}, {0}};
