/* SPDX-License-Identifier: BSD-3-Clause */
/* outcome_conditions: what the standard says of conditions, a line for each thing. conditions.sh compares the C library's with ours.
   -ours: they must be ours, and what only ours do is done. -other FILE: the other process (run_shared). -cost: what they take. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { LONG_SECONDS = 20, WAITERS = 6 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int tokens, sleepers, woken;

static void say(const char *what, bool good)
{
    char line[120];
    int n = snprintf(line, sizeof line, "%s: %s\n", what, good ? "yes" : "NO");

    if (write(1, line, (size_t)n) != n)
        _exit(5);
}

static struct timespec in_ms(clockid_t clock, long ms)
{
    struct timespec t;

    clock_gettime(clock, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    return t;
}

static struct timespec long_time(void) { return in_ms(CLOCK_REALTIME, LONG_SECONDS * 1000); }

static bool is_over(clockid_t clock, const struct timespec *t)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec > t->tv_sec || (now.tv_sec == t->tv_sec && now.tv_nsec >= t->tv_nsec);
}

/* One that does not end is a failure of all. */
static void *joined(pthread_t thread)
{
    struct timespec until = long_time();
    void *value = NULL;

    if (pthread_timedjoin_np(thread, &value, &until) != 0) {
        say("a thread ends", false);
        _exit(6);
    }
    return value;
}

/* With the mutex: until so many threads are about to wait, or do. */
static void await_sleepers(int n)
{
    while (sleepers < n) {
        pthread_mutex_unlock(&mutex);
        sched_yield();
        pthread_mutex_lock(&mutex);
    }
}

static void *take_token(void *arg)
{
    pthread_mutex_lock(&mutex);
    sleepers++;
    while (!tokens)
        pthread_cond_wait(&condition, &mutex);
    tokens--;
    woken++;
    pthread_mutex_unlock(&mutex);
    return arg;
}

/* ---- signals and broadcasts ---- */

static void run_tokens(void)
{
    pthread_t thread[WAITERS];

    for (int i = 0; i < WAITERS; i++)
        pthread_create(&thread[i], NULL, take_token, NULL);
    pthread_mutex_lock(&mutex);
    await_sleepers(WAITERS);
    for (int i = 0; i < WAITERS / 2; i++) {
        tokens++;
        pthread_cond_signal(&condition);
    }
    while (woken < WAITERS / 2) {
        pthread_mutex_unlock(&mutex);
        sched_yield();
        pthread_mutex_lock(&mutex);
    }
    tokens += WAITERS / 2;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < WAITERS; i++)
        joined(thread[i]);
    say("signals wake one each, a broadcast all", woken == WAITERS && tokens == 0);
}

/* ---- times ---- */

static int wait_ms(pthread_cond_t *c, clockid_t clock, long ms, bool *over)
{
    struct timespec until = in_ms(clock, ms);
    int error;

    do
        error = pthread_cond_timedwait(c, &mutex, &until);
    while (error == 0);
    *over = is_over(clock, &until);
    return error;
}

static void run_times(void)
{
    struct timespec until = {.tv_sec = -1}, wrong = {.tv_nsec = 1000000000}, negative = {.tv_nsec = -1};
    pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    pthread_condattr_t monotonic;
    pthread_cond_t other;
    int error;
    bool over;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&other, &monotonic);
    pthread_mutex_lock(&mutex);
    error = wait_ms(&condition, CLOCK_REALTIME, 20, &over);
    say("a time is over, by the clock of the day", error == ETIMEDOUT && over);
    error = wait_ms(&other, CLOCK_MONOTONIC, 20, &over);
    say("a time is over, by the monotonic clock", error == ETIMEDOUT && over);
    error = wait_ms(&condition, CLOCK_REALTIME, -5000, &over);
    say("a time is over that was so before", error == ETIMEDOUT);
    say("a time before all times is over", pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT);
    until = in_ms(CLOCK_MONOTONIC, 20);
    do
        error = pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until);
    while (error == 0);
    say("a time is over, by a clock that is named", error == ETIMEDOUT && is_over(CLOCK_MONOTONIC, &until));
    until = in_ms(CLOCK_REALTIME, 20);
    do
        error = pthread_cond_clockwait(&other, &mutex, CLOCK_REALTIME, &until);
    while (error == 0);
    say("... and by the other one", error == ETIMEDOUT && is_over(CLOCK_REALTIME, &until));
    say("a clock is refused", pthread_cond_clockwait(&other, &mutex, CLOCK_BOOTTIME, &until) == EINVAL &&
        pthread_cond_clockwait(&other, &mutex, CLOCK_PROCESS_CPUTIME_ID, &until) == EINVAL);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&checking);
    say("no time is refused", pthread_cond_timedwait(&condition, &checking, &wrong) == EINVAL &&
        pthread_cond_timedwait(&condition, &checking, &negative) == EINVAL);
    say("... and the mutex is kept", pthread_mutex_unlock(&checking) == 0);
    say("no wait without the mutex", pthread_cond_wait(&condition, &checking) == EPERM);
    say("... and it is free", pthread_mutex_trylock(&checking) == 0 && pthread_mutex_unlock(&checking) == 0);
    say("they are destroyed", pthread_cond_destroy(&other) == 0 && pthread_condattr_destroy(&monotonic) == 0);
}

/* ---- cancellation ---- */

static pthread_mutex_t owned = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static bool had_mutex;

static void clean(void *arg)
{
    (void)arg;
    had_mutex = pthread_mutex_lock(&owned) == EDEADLK;
    pthread_mutex_unlock(&owned);
}

static void *wait_for_ever(void *arg)
{
    pthread_mutex_lock(&owned);
    pthread_cleanup_push(clean, NULL);
    sleepers++;
    for (;;)
        pthread_cond_wait(&condition, &owned);
    pthread_cleanup_pop(0);
    return arg;
}

static void *wait_after_cancel(void *arg)
{
    int type, before;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_mutex_lock(&owned);
    sleepers++;
    while (!tokens)
        pthread_cond_wait(&condition, &owned);
    pthread_mutex_unlock(&owned);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    had_mutex = type == PTHREAD_CANCEL_DEFERRED;
    pthread_setcancelstate(before, NULL);
    return wait_for_ever(arg);
}

static void run_cancelled(void)
{
    pthread_t thread;

    sleepers = 0;
    pthread_create(&thread, NULL, wait_for_ever, NULL);
    pthread_mutex_lock(&owned);
    while (!sleepers) {
        pthread_mutex_unlock(&owned);
        sched_yield();
        pthread_mutex_lock(&owned);
    }
    pthread_mutex_unlock(&owned);
    usleep(20000); /* it sleeps, as a rule */
    pthread_cancel(thread);
    say("a wait is cancelled", joined(thread) == PTHREAD_CANCELED);
    say("... with the mutex", had_mutex);
    say("... that is free then", pthread_mutex_lock(&owned) == 0);
    sleepers = tokens = 0;
    pthread_create(&thread, NULL, wait_after_cancel, NULL);
    pthread_cancel(thread);
    while (!sleepers) {
        pthread_mutex_unlock(&owned);
        sched_yield();
        pthread_mutex_lock(&owned);
    }
    had_mutex = false;
    tokens = 1;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&owned);
    say("a wait is not cancelled while that is forbidden, but the next one is", joined(thread) == PTHREAD_CANCELED && had_mutex);
    tokens = 0;
}

/* One of two is cancelled while there is a signal: it takes the token, or the other one does. */
static int handed;

static void unlock(void *arg) { pthread_mutex_unlock(arg); }

static void *take_or_be_cancelled(void *arg)
{
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, &mutex);
    sleepers++;
    while (!tokens)
        pthread_cond_wait(&condition, &mutex);
    tokens--;
    handed++;
    pthread_cleanup_pop(1);
    return arg;
}

static void run_races(void)
{
    bool wrong = false;

    for (int i = 0; i < 400; i++) {
        pthread_t first, second;

        sleepers = tokens = handed = 0;
        pthread_create(&first, NULL, take_or_be_cancelled, NULL);
        pthread_create(&second, NULL, take_or_be_cancelled, NULL);
        pthread_mutex_lock(&mutex);
        await_sleepers(2);
        tokens = 1;
        if (i % 2)
            pthread_cancel(first);
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&mutex);
        if (i % 2 == 0)
            pthread_cancel(first);
        joined(first);
        pthread_mutex_lock(&mutex);
        while (handed < 1) {
            pthread_mutex_unlock(&mutex);
            sched_yield();
            pthread_mutex_lock(&mutex);
        }
        tokens++;
        pthread_cond_broadcast(&condition);
        pthread_mutex_unlock(&mutex);
        joined(second);
        wrong |= handed != 1 && handed != 2;
    }
    say("no signal is lost with a thread that is cancelled", !wrong);
}

/* ---- memory that is used again ---- */

struct object {
    pthread_mutex_t mutex;
    pthread_cond_t go;
    int round, here;
};

enum { OBJECT_ROUNDS = 4000, OBJECT_WAITERS = 3 };

static void *wait_in_object(void *arg)
{
    struct object *o = arg;

    pthread_mutex_lock(&o->mutex);
    for (int round = 0; round < OBJECT_ROUNDS; round++) {
        o->here++;
        while (o->round == round)
            pthread_cond_wait(&o->go, &o->mutex);
    }
    pthread_mutex_unlock(&o->mutex);
    return NULL;
}

/* Each condition is destroyed as soon as all have been woken, and another one made in its place, by its initializer or as it should be. */
static void run_reuse(void)
{
    static struct object o = {.mutex = PTHREAD_MUTEX_INITIALIZER, .go = PTHREAD_COND_INITIALIZER};
    pthread_t thread[OBJECT_WAITERS];

    for (int k = 0; k < OBJECT_WAITERS; k++)
        pthread_create(&thread[k], NULL, wait_in_object, &o);
    pthread_mutex_lock(&o.mutex);
    for (int i = 0; i < OBJECT_ROUNDS; i++) {
        while (o.here < OBJECT_WAITERS * (i + 1)) {
            pthread_mutex_unlock(&o.mutex);
            sched_yield();
            pthread_mutex_lock(&o.mutex);
        }
        o.round++;
        pthread_cond_broadcast(&o.go);
        pthread_cond_destroy(&o.go);
        if (i % 2)
            o.go = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
        else
            pthread_cond_init(&o.go, NULL);
    }
    pthread_mutex_unlock(&o.mutex);
    for (int k = 0; k < OBJECT_WAITERS; k++)
        joined(thread[k]);
    say("a condition is destroyed as soon as all are woken", true);
}

/* ---- who waits is disturbed ---- */

static _Atomic int handled;

static void handle(int signal) { (void)signal; atomic_fetch_add(&handled, 1); }

static void run_signalled(void)
{
    struct sigaction act = {.sa_handler = handle};
    pthread_t thread;

    sigaction(SIGUSR1, &act, NULL);
    sleepers = tokens = woken = 0;
    pthread_create(&thread, NULL, take_token, NULL);
    pthread_mutex_lock(&mutex);
    await_sleepers(1);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < 20; i++) {
        pthread_kill(thread, SIGUSR1);
        while (atomic_load(&handled) <= i)
            usleep(1000);
    }
    pthread_mutex_lock(&mutex);
    tokens = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    joined(thread);
    say("signals do not end a wait", woken == 1);
}

/* ---- mutexes of other kinds ---- */

static pthread_mutex_t robust;

static void *die_with_it(void *arg)
{
    pthread_mutex_lock(&robust);
    tokens = 1;
    pthread_cond_signal(&condition);
    return arg;
}

static void run_robust(void)
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
static void run_put_back(void)
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

static void run_inheriting(bool ours)
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
static void run_shared(const char *program)
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

/* It goes on with its parent's conditions; its parent's waiters are not there. */
static void run_forked(void)
{
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
        _exit(woken != 1);
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

static void run_c11(void)
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

static void run_old(void)
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
static void run_old(void) { say("those of old programs", true); }
#endif

/* ---- what they take ---- */

enum { ROUNDS = 9, SIGNALS = 2000000, TURNS = 100000 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
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

static void cost(void)
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

int main(int argc, char **argv)
{
    enum { OURS = 1 }; /* FT_CONDITION_OURS */
    const int *whose = dlsym(RTLD_DEFAULT, "ft_condition_whose");
    bool ours = argc > 1 && strcmp(argv[1], "-ours") == 0;


    if (argc == 3 && strcmp(argv[1], "-other") == 0) {
        take_turns(map(argv[2]), 1);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "-cost") == 0) {
        cost();
        return 0;
    }
    if (ours != (whose && *whose == OURS)) {
        fprintf(stderr, "outcome_conditions: they are %s\n", ours ? "the C library's" : "ours");
        return 9;
    }
    run_tokens();
    run_times();
    run_cancelled();
    run_races();
    run_reuse();
    run_signalled();
    run_robust();
    run_inheriting(ours);
    run_forked();
    run_shared(argv[0]);
    run_c11();
    run_old();
    if (ours)
        run_put_back();
    say("end", true);
    return 0;
}
