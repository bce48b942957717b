/* SPDX-License-Identifier: BSD-3-Clause */
/* What each thread of torture has of its own, and keeps: thread-local storage of the program and of libraries, data specific to a thread, its
   name, mask, processor, rounding mode, SSE control word, alternative signal stack, and the addresses of all of these. */
#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "compat-tests/threads/torture.h"

enum { WORDS = 4, STORAGES = 3, STACK = 64 << 10, FLUSH_TO_ZERO = 0x8000 };

struct costume {
    uint64_t stamp;
    char name[16];
    sigset_t mask;
    cpu_set_t processor;
    int rounding;
    unsigned sse;
    stack_t stack;
    uint64_t *storage[STORAGES];
    pthread_t self;
    struct timespec last;   /* it was then */
};

/* Of the program. It has its initial value in a new thread. */
static _Thread_local uint64_t own_storage[WORDS] = {7, 7, 7, 7};
static _Thread_local struct costume *worn;
static _Thread_local volatile int visits;
static uint64_t *(*static_storage)(void), *(*dynamic_storage)(void);
static pthread_key_t key;
static _Atomic int destroyed;
static cpu_set_t allowed;

static void destroy(void *data)
{
    must(*(uint64_t *)data == worn->stamp);
    free(data);
    free(worn);
    worn = NULL;
    atomic_fetch_add(&destroyed, 1);
}

int torture_destroyed(void) { return atomic_load(&destroyed); }

static uint64_t *(*load(const char *where, const char *library))(void)
{
    char path[4096];
    void *loaded;

    must(snprintf(path, sizeof path, "%s/.libs/%s", where, library) < (int)sizeof path);
    loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!loaded)
        fprintf(stderr, "torture: %s\n", dlerror());
    must(loaded != NULL);
    return (uint64_t *(*)(void))dlsym(loaded, "storage_of_thread");
}

static const char *libraries;

/* The second library comes when there are threads: the first actor that is dressed loads it. */
static void load_late(void) { dynamic_storage = load(libraries, "storage_dynamic.so"); }

static void visit(int number)
{
    char here;

    must(number == SIGUSR1 && &here > (char *)worn->stack.ss_sp && &here < (char *)worn->stack.ss_sp + worn->stack.ss_size);
    visits++;
}

void torture_wardrobe(const char *where)
{
    struct sigaction action = {.sa_handler = visit, .sa_flags = SA_ONSTACK | SA_RESTART};

    libraries = where;
    static_storage = load(where, "storage_static.so");
    must(static_storage != NULL && pthread_key_create(&key, destroy) == 0);
    must(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    must(sigaction(SIGUSR1, &action, NULL) == 0);
}

static unsigned sse_word(void)
{
#ifdef __SSE2__
    return _mm_getcsr() & ~0x3fu; /* what has happened is not of interest */
#else
    return 0;
#endif
}

static void choose_rounding(struct actor *a, struct costume *c)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

    c->rounding = modes[torture_below(&a->chance, 4)];
    must(fesetround(c->rounding) == 0);
#ifdef __SSE2__
    if (torture_once_in(&a->chance, 2))
        _mm_setcsr(_mm_getcsr() | FLUSH_TO_ZERO);
#endif
    c->sse = sse_word();
}

static void choose_mask(struct actor *a, struct costume *c)
{
    static const int some[] = {SIGUSR2, SIGWINCH, SIGURG, SIGTTOU, SIGIO, SIGSYS};

    must(pthread_sigmask(SIG_BLOCK, NULL, &c->mask) == 0);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        if (torture_once_in(&a->chance, 2))
            sigaddset(&c->mask, some[i]);
    if (torture_once_in(&a->chance, 2))
        sigaddset(&c->mask, SIGRTMIN + torture_below(&a->chance, 8));
    must(pthread_sigmask(SIG_SETMASK, &c->mask, NULL) == 0);
}

static void choose_processor(struct actor *a, struct costume *c)
{
    int nth = torture_below(&a->chance, CPU_COUNT(&allowed));
    bool is_bound = torture_once_in(&a->chance, 3);

    must(pthread_getaffinity_np(pthread_self(), sizeof c->processor, &c->processor) == 0); /* its creator's, maybe one only */
    if (!is_bound)
        return;
    CPU_ZERO(&c->processor);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &allowed) && nth-- == 0)
            CPU_SET(i, &c->processor);
    must(pthread_setaffinity_np(pthread_self(), sizeof c->processor, &c->processor) == 0);
}

struct costume *torture_dress(struct actor *a)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct costume *c = calloc(1, sizeof *c);
    uint64_t *data = malloc(sizeof *data);

    must(c != NULL && data != NULL && pthread_once(&once, load_late) == 0);
    c->stamp = *data = torture_random(&a->chance);
    c->self = pthread_self();
    must(pthread_equal(c->self, pthread_self()));
    must(own_storage[0] == 7 && own_storage[WORDS - 1] == 7 && worn == NULL && pthread_getspecific(key) == NULL);
    c->storage[0] = own_storage;
    c->storage[1] = static_storage();
    c->storage[2] = dynamic_storage();
    for (int i = 0; i < STORAGES; i++)
        for (int k = 0; k < WORDS; k++) {
            must(c->storage[i][k] == 7);
            c->storage[i][k] = c->stamp + (uint64_t)(i * WORDS + k);
        }
    must(pthread_setspecific(key, data) == 0);
    snprintf(c->name, sizeof c->name, "%.9s %d.%d", a->party->name, a->party->number, a->index);
    must(pthread_setname_np(c->self, c->name) == 0);
    c->stack = (stack_t){.ss_sp = malloc(STACK), .ss_size = STACK};
    must(c->stack.ss_sp != NULL && sigaltstack(&c->stack, NULL) == 0);
    choose_rounding(a, c);
    choose_mask(a, c);
    choose_processor(a, c);
    worn = c;
    return c;
}

static void look_at_storage(const struct costume *c)
{
    must(own_storage == c->storage[0] && static_storage() == c->storage[1] && dynamic_storage() == c->storage[2]);
    for (int i = 0; i < STORAGES; i++)
        for (int k = 0; k < WORDS; k++)
            must(c->storage[i][k] == c->stamp + (uint64_t)(i * WORDS + k));
    must(*(uint64_t *)pthread_getspecific(key) == c->stamp);
    must(pthread_equal(c->self, pthread_self()));
}

static void look_at_numbers(const struct costume *c)
{
    volatile double one = 1, ten = 10, tiny = 2.2250738585072014e-308, below;

    must(fegetround() == c->rounding && sse_word() == c->sse);
    below = one / ten * ten;
    must((c->rounding == FE_UPWARD) == (below > 1));
    below = tiny / ten;
#ifdef __SSE2__
    must((below != 0) == !(c->sse & FLUSH_TO_ZERO));
#endif
}

static void look_at_signals(const struct costume *c)
{
    sigset_t now;
    stack_t stack;
    int before = visits;

    must(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
    for (int i = 1; i < NSIG; i++)
        must(sigismember(&now, i) == sigismember(&c->mask, i));
    must(sigaltstack(NULL, &stack) == 0 && stack.ss_sp == c->stack.ss_sp && stack.ss_size == c->stack.ss_size && stack.ss_flags == 0);
    must(pthread_kill(pthread_self(), SIGUSR1) == 0 && visits == before + 1);
}

void torture_look(struct actor *a)
{
    struct costume *c = worn;
    cpu_set_t now;
    char name[16];

    if (a->bare)
        return;
    look_at_storage(c);
    switch (torture_below(&a->chance, 5)) {
    case 0:
        must(pthread_getname_np(pthread_self(), name, sizeof name) == 0 && strcmp(name, c->name) == 0);
        break;
    case 1:
        must(pthread_getaffinity_np(pthread_self(), sizeof now, &now) == 0 && CPU_EQUAL(&now, &c->processor));
        break;
    case 2: look_at_signals(c); break;
    case 3:
        must(torture_is_past(CLOCK_MONOTONIC, &c->last));
        c->last = torture_in(CLOCK_MONOTONIC, 0);
        break;
    default: look_at_numbers(c); break;
    }
}

void torture_undress(struct actor *a, struct costume *c)
{
    must(c == worn);
    for (int i = 0; i < 4; i++)
        torture_look(a);
    must(sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL) == 0);
    free(c->stack.ss_sp);
    c->stack.ss_sp = NULL; /* the rest goes with the thread's data (destroy) */
}
