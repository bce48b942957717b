/* SPDX-License-Identifier: BSD-3-Clause */
/* outcome_conditions: what the standard says of conditions, a line for each thing. conditions.sh compares the C library's with ours.
   -ours: they must be ours, and what only ours do is done. -cleaned: a wait is cancelled. -other FILE: the other process (run_shared). -cost: what they take. */
#include "ft/outcome/test/conditions.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG_SECONDS = 20, WAITERS = 6 };

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
int tokens, sleepers, woken;

void say(const char *what, bool good)
{
    char line[120];
    int n = snprintf(line, sizeof line, "%s: %s\n", what, good ? "yes" : "NO");

    if (write(1, line, (size_t)n) != n)
        _exit(5);
}

bool are_ours(void)
{
    enum { OURS = 1 }; /* FT_CONDITION_OURS */
    const int *whose = dlsym(RTLD_DEFAULT, "ft_condition_whose");

    return whose && *whose == OURS;
}

struct timespec in_ms(clockid_t clock, long ms)
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

struct timespec long_time(void) { return in_ms(CLOCK_REALTIME, LONG_SECONDS * 1000); }

bool is_over(clockid_t clock, const struct timespec *t)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec > t->tv_sec || (now.tv_sec == t->tv_sec && now.tv_nsec >= t->tv_nsec);
}

void *joined(pthread_t thread)
{
    struct timespec until = long_time();
    void *value = NULL;

    if (pthread_timedjoin_np(thread, &value, &until) != 0) {
        say("a thread ends", false);
        _exit(6);
    }
    return value;
}

void await_sleepers(int n)
{
    while (sleepers < n) {
        pthread_mutex_unlock(&mutex);
        sched_yield();
        pthread_mutex_lock(&mutex);
    }
}

void *take_token(void *arg)
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

/* Its cleanup handler runs for long: copies are made meanwhile, when main calls. */
static _Atomic bool ended;

static void be_cleaned(void *arg)
{
    while (!atomic_load(&ended))
        sched_yield();
    pthread_mutex_unlock(arg);
}

static void *wait_and_clean(void *arg)
{
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(be_cleaned, &mutex);
    sleepers++;
    for (;;)
        pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(0);
    return arg;
}

static void run_cleaned(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, wait_and_clean, NULL);
    pthread_mutex_lock(&mutex);
    await_sleepers(1);
    pthread_mutex_unlock(&mutex);
    usleep(20000);
    pthread_cancel(thread);
    for (int i = 0; i < 300; i++)
        usleep(2000);
    atomic_store(&ended, true);
    say("a cancelled thread has cleaned up", joined(thread) == PTHREAD_CANCELED);
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

int main(int argc, char **argv)
{
    bool ours = argc > 1 && strcmp(argv[1], "-ours") == 0;

    if (argc == 3 && strcmp(argv[1], "-other") == 0) {
        be_other(argv[2]);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "-cost") == 0) {
        cost();
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "-cleaned") == 0) {
        run_cleaned();
        return 0;
    }
    if (ours != are_ours()) {
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
