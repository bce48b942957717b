/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMP programs of GCC (libgomp): critical sections, locks, and who is given which part of a loop, a section or a single block.

   A program may have several libgomp, each with its own users (wheels bring theirs). So a function is looked for by who calls.

   What hands out work is called with a lock of ours held: it does not wait inside, and hands out by the order in which threads come. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "ft/outcome/behind.h"
#include "ft/outcome/lock.h"
#include "ft/outcome/real.h"

typedef unsigned long long ull;

#define STARTS (long a, long b, long c, long d, long *e, long *f)
#define STARTS_ULL (bool up, ull a, ull b, ull c, ull d, ull *e, ull *f)
#define STARTS_RUNTIME (long a, long b, long c, long *e, long *f)
#define STARTS_RUNTIME_ULL (bool up, ull a, ull b, ull c, ull *e, ull *f)
#define STARTS_ANY (long a, long b, long c, long s, long d, long *e, long *f, uintptr_t *r, void **m)
#define STARTS_ANY_ULL (bool up, ull a, ull b, ull c, long s, ull d, ull *e, ull *f, uintptr_t *r, void **m)
#define STARTS_ACROSS (unsigned n, long *a, long d, long *e, long *f)
#define STARTS_ACROSS_ULL (unsigned n, ull *a, ull d, ull *e, ull *f)
#define STARTS_ACROSS_RUNTIME (unsigned n, long *a, long *e, long *f)
#define STARTS_ACROSS_RUNTIME_ULL (unsigned n, ull *a, ull *e, ull *f)
#define STARTS_ACROSS_ANY (unsigned n, long *a, long s, long d, long *e, long *f, uintptr_t *r, void **m)
#define STARTS_ACROSS_ANY_ULL (unsigned n, ull *a, long s, ull d, ull *e, ull *f, uintptr_t *r, void **m)
#define NEXT (long *e, long *f)
#define NEXT_ULL (ull *e, ull *f)

/* X(result, name, parameters, arguments): they hand out work. */
#define KINDS_OF_LOOP(X, kind)                                                                      \
    X(bool, GOMP_loop_##kind##_start, STARTS, (a, b, c, d, e, f))                                   \
    X(bool, GOMP_loop_##kind##_next, NEXT, (e, f))                                                  \
    X(bool, GOMP_loop_ull_##kind##_start, STARTS_ULL, (up, a, b, c, d, e, f))                       \
    X(bool, GOMP_loop_ull_##kind##_next, NEXT_ULL, (e, f))
#define KINDS_OF_RUNTIME_LOOP(X, kind)                                                              \
    X(bool, GOMP_loop_##kind##_start, STARTS_RUNTIME, (a, b, c, e, f))                              \
    X(bool, GOMP_loop_##kind##_next, NEXT, (e, f))                                                  \
    X(bool, GOMP_loop_ull_##kind##_start, STARTS_RUNTIME_ULL, (up, a, b, c, e, f))                  \
    X(bool, GOMP_loop_ull_##kind##_next, NEXT_ULL, (e, f))
#define HANDS_OUT(X)                                                                                \
    KINDS_OF_LOOP(X, dynamic)                                                                       \
    KINDS_OF_LOOP(X, guided)                                                                        \
    KINDS_OF_LOOP(X, nonmonotonic_dynamic)                                                          \
    KINDS_OF_LOOP(X, nonmonotonic_guided)                                                           \
    KINDS_OF_RUNTIME_LOOP(X, runtime)                                                               \
    KINDS_OF_RUNTIME_LOOP(X, nonmonotonic_runtime)                                                  \
    KINDS_OF_RUNTIME_LOOP(X, maybe_nonmonotonic_runtime)                                            \
    X(bool, GOMP_loop_ordered_dynamic_start, STARTS, (a, b, c, d, e, f))                            \
    X(bool, GOMP_loop_ordered_guided_start, STARTS, (a, b, c, d, e, f))                             \
    X(bool, GOMP_loop_ordered_runtime_start, STARTS_RUNTIME, (a, b, c, e, f))                       \
    X(bool, GOMP_loop_ull_ordered_dynamic_start, STARTS_ULL, (up, a, b, c, d, e, f))                \
    X(bool, GOMP_loop_ull_ordered_guided_start, STARTS_ULL, (up, a, b, c, d, e, f))                 \
    X(bool, GOMP_loop_ull_ordered_runtime_start, STARTS_RUNTIME_ULL, (up, a, b, c, e, f))           \
    X(bool, GOMP_loop_start, STARTS_ANY, (a, b, c, s, d, e, f, r, m))                               \
    X(bool, GOMP_loop_ull_start, STARTS_ANY_ULL, (up, a, b, c, s, d, e, f, r, m))                   \
    X(bool, GOMP_loop_ordered_start, STARTS_ANY, (a, b, c, s, d, e, f, r, m))                       \
    X(bool, GOMP_loop_ull_ordered_start, STARTS_ANY_ULL, (up, a, b, c, s, d, e, f, r, m))           \
    X(bool, GOMP_loop_doacross_dynamic_start, STARTS_ACROSS, (n, a, d, e, f))                       \
    X(bool, GOMP_loop_doacross_guided_start, STARTS_ACROSS, (n, a, d, e, f))                        \
    X(bool, GOMP_loop_doacross_runtime_start, STARTS_ACROSS_RUNTIME, (n, a, e, f))                  \
    X(bool, GOMP_loop_doacross_start, STARTS_ACROSS_ANY, (n, a, s, d, e, f, r, m))                  \
    X(bool, GOMP_loop_ull_doacross_dynamic_start, STARTS_ACROSS_ULL, (n, a, d, e, f))               \
    X(bool, GOMP_loop_ull_doacross_guided_start, STARTS_ACROSS_ULL, (n, a, d, e, f))                \
    X(bool, GOMP_loop_ull_doacross_runtime_start, STARTS_ACROSS_RUNTIME_ULL, (n, a, e, f))          \
    X(bool, GOMP_loop_ull_doacross_start, STARTS_ACROSS_ANY_ULL, (n, a, s, d, e, f, r, m))          \
    X(bool, GOMP_single_start, (void), ())                                                          \
    X(unsigned, GOMP_sections_start, (unsigned n), (n))                                             \
    X(unsigned, GOMP_sections2_start, (unsigned n, uintptr_t *r, void **m), (n, r, m))              \
    X(unsigned, GOMP_sections_next, (void), ())

/* They hand out work, too, but wait first until it is this thread's turn in the loop. */
#define HANDS_OUT_ORDERED(X)                                                                        \
    X(GOMP_loop_ordered_dynamic_next, NEXT)                                                         \
    X(GOMP_loop_ordered_guided_next, NEXT)                                                          \
    X(GOMP_loop_ordered_runtime_next, NEXT)                                                         \
    X(GOMP_loop_ull_ordered_dynamic_next, NEXT_ULL)                                                 \
    X(GOMP_loop_ull_ordered_guided_next, NEXT_ULL)                                                  \
    X(GOMP_loop_ull_ordered_runtime_next, NEXT_ULL)

/* They lock, or unlock: that is no operation. */
#define LOCKS(X)                                                                                    \
    X(void, GOMP_ordered_start, (void), ())                                                         \
    X(void, GOMP_critical_start, (void), ())                                                        \
    X(void, GOMP_critical_name_start, (void **name), (name))                                        \
    X(void, GOMP_atomic_start, (void), ())                                                          \
    X(void *, GOMP_single_copy_start, (void), ())                                                   \
    X(void, GOMP_critical_end, (void), ())                                                          \
    X(void, GOMP_critical_name_end, (void **name), (name))                                          \
    X(void, GOMP_atomic_end, (void), ())                                                            \
    X(void, omp_unset_lock, (void *lock), (lock))                                                   \
    X(void, omp_set_lock, (void *lock), (lock))                                                     \
    X(int, omp_test_lock, (void *lock), (lock))                                                     \
    X(void, omp_set_nest_lock, (void *lock), (lock))                                                \
    X(int, omp_test_nest_lock, (void *lock), (lock))                                                \
    X(void, omp_unset_nest_lock, (void *lock), (lock))

enum {
#define X(result, name, parameters, arguments) I_##name,
    HANDS_OUT(X) LOCKS(X)
#undef X
#define X(name, parameters) I_##name,
    HANDS_OUT_ORDERED(X)
#undef X
    FUNCTIONS
};

static const char *const names[] = {
#define X(result, name, parameters, arguments) [I_##name] = #name,
    HANDS_OUT(X) LOCKS(X)
#undef X
#define X(name, parameters) [I_##name] = #name,
    HANDS_OUT_ORDERED(X)
#undef X
};

/* ---- which libgomp ---- */

enum { USERS = 64 };

/* Code, and the functions that it means. Nothing of an entry is changed once it is there; two of the same code do no harm. */
struct user {
    uintptr_t from;
    _Atomic uintptr_t bytes;   /* 0: it is not there yet */
    _Atomic(void *) function[FUNCTIONS];
};

static struct user users[USERS];
static _Atomic unsigned nusers;
static _Thread_local struct user *last __attribute__((tls_model("initial-exec")));

/* Acquire: `from` is there. */
static bool is_of(const struct user *user, uintptr_t caller)
{
    uintptr_t bytes = atomic_load_explicit(&user->bytes, memory_order_acquire);

    return bytes && caller - user->from < bytes;
}

static struct user *find(uintptr_t caller)
{
    for (int i = 0; i < USERS; i++)
        if (is_of(&users[i], caller))
            return &users[i];
    return NULL;
}

/* NULL: there are too many, or it is of no library. */
static struct user *add(uintptr_t caller)
{
    struct ft_code code;
    unsigned n;

    if (!ft_code_at(caller, &code) || atomic_load(&nusers) >= USERS)
        return NULL;
    n = atomic_fetch_add(&nusers, 1);
    if (n >= USERS)
        return NULL;
    users[n].from = code.from;
    atomic_store_explicit(&users[n].bytes, code.bytes, memory_order_release);
    return &users[n];
}

static void *function_of(int index, uintptr_t caller)
{
    struct user *user = last && is_of(last, caller) ? last : find(caller);
    void *function;

    if (!user)
        user = add(caller);
    if (!user)
        return ft_behind(names[index], caller);
    last = user;
    function = atomic_load_explicit(&user->function[index], memory_order_relaxed);
    if (!function) {
        function = ft_behind(names[index], caller);
        atomic_store_explicit(&user->function[index], function, memory_order_relaxed);
    }
    return function;
}

#define CALLER ((uintptr_t)__builtin_return_address(0))
#define REAL(result, name, parameters) ((result(*) parameters)function_of(I_##name, CALLER))

/* ---- handing out ---- */

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

static int take_order(void) { return ft_real()->pthread_mutex_lock(&order); }

static void end_order(void) { ft_real()->pthread_mutex_unlock(&order); }

static void begin_order(void) { (void)FT_LOCK_TAKES(FT_LOCK_OPENMP, ft_lock_at_mutex(&order), take_order(), take_order(), end_order()); }

#define X(result, name, parameters, arguments)                      \
    result name parameters;                                         \
    result name parameters                                          \
    {                                                               \
        result(*real) parameters = REAL(result, name, parameters);  \
        result given;                                               \
                                                                    \
        if (!ft_locks())                                            \
            return real arguments;                                  \
        begin_order();                                              \
        given = real arguments;                                     \
        end_order();                                                \
        return given;                                               \
    }
HANDS_OUT(X)
#undef X

/* When it is its turn, it still is in there. */
#define X(name, parameters)                                                          \
    bool name parameters;                                                            \
    bool name parameters                                                             \
    {                                                                                \
        bool(*real) parameters = REAL(bool, name, parameters);                       \
        void (*await_turn)(void) = REAL(void, GOMP_ordered_start, (void));           \
        bool given;                                                                  \
                                                                                     \
        if (!ft_locks())                                                             \
            return real(e, f);                                                       \
        await_turn();                                                                \
        begin_order();                                                               \
        given = real(e, f);                                                          \
        end_order();                                                                 \
        return given;                                                                \
    }
HANDS_OUT_ORDERED(X)
#undef X

/* ---- locks ---- */

/* A call that does not fail. */
#define TAKE(at, call, back) (void)FT_LOCK_TAKES(FT_LOCK_OPENMP, at, ((call), 0), ((call), 0), back)

void GOMP_critical_start(void);
void GOMP_critical_start(void)
{
    void (*real)(void) = REAL(void, GOMP_critical_start, (void)), (*end)(void) = REAL(void, GOMP_critical_end, (void));

    if (!ft_locks())
        real();
    else
        TAKE(ft_lock_at((void *)real), real(), end());
}

void GOMP_atomic_start(void);
void GOMP_atomic_start(void)
{
    void (*real)(void) = REAL(void, GOMP_atomic_start, (void)), (*end)(void) = REAL(void, GOMP_atomic_end, (void));

    if (!ft_locks())
        real();
    else
        TAKE(ft_lock_at((void *)real), real(), end());
}

void GOMP_critical_name_start(void **name);
void GOMP_critical_name_start(void **name)
{
    void (*real)(void **) = REAL(void, GOMP_critical_name_start, (void **)), (*end)(void **) = REAL(void, GOMP_critical_name_end, (void **));

    if (!ft_locks())
        real(name);
    else
        TAKE(ft_lock_at(name), real(name), end(name));
}

/* Who does not get NULL waits in there until the one that does has done it: so no lock of ours can be held meanwhile. */
void *GOMP_single_copy_start(void);
void *GOMP_single_copy_start(void)
{
    void *(*real)(void) = REAL(void *, GOMP_single_copy_start, (void));

    if (ft_locks())
        ft_recorder_close("it uses OpenMP's copyprivate, whose order is not followed");
    return real();
}

void omp_set_lock(void *lock);
void omp_set_lock(void *lock)
{
    void (*real)(void *) = REAL(void, omp_set_lock, (void *)), (*end)(void *) = REAL(void, omp_unset_lock, (void *));

    if (!ft_locks())
        real(lock);
    else
        TAKE(ft_lock_at(lock), real(lock), end(lock));
}

static int as_error(int taken) { return taken ? 0 : EBUSY; }

int omp_test_lock(void *lock);
int omp_test_lock(void *lock)
{
    int (*real)(void *) = REAL(int, omp_test_lock, (void *));
    void (*set)(void *) = REAL(void, omp_set_lock, (void *)), (*unset)(void *) = REAL(void, omp_unset_lock, (void *));

    if (!ft_locks())
        return real(lock);
    return !FT_LOCK_TAKES(FT_LOCK_TRY, ft_lock_at(lock), as_error(real(lock)), (set(lock), 0), unset(lock));
}

void omp_set_nest_lock(void *lock);
void omp_set_nest_lock(void *lock)
{
    void (*real)(void *) = REAL(void, omp_set_nest_lock, (void *)), (*end)(void *) = REAL(void, omp_unset_nest_lock, (void *));

    if (!ft_locks())
        real(lock);
    else
        TAKE(ft_lock_at(lock), real(lock), end(lock));
}

/* How often it has it then, is told by taking it once more. */
static int set_and_count(void *lock, void (*set)(void *), int (*test)(void *), void (*unset)(void *))
{
    int count;

    set(lock);
    count = test(lock) - 1;
    unset(lock);
    return count;
}

int omp_test_nest_lock(void *lock);
int omp_test_nest_lock(void *lock)
{
    int (*real)(void *) = REAL(int, omp_test_nest_lock, (void *));
    void (*set)(void *) = REAL(void, omp_set_nest_lock, (void *));
    void (*unset)(void *) = REAL(void, omp_unset_nest_lock, (void *));
    int count = 0;

    if (!ft_locks())
        return real(lock);
    (void)FT_LOCK_TAKES(FT_LOCK_TRY, ft_lock_at(lock), as_error(count = real(lock)), (count = set_and_count(lock, set, real, unset), 0), unset(lock));
    return count;
}

/* gfortran's names. */
void omp_set_lock_(void *lock) __attribute__((alias("omp_set_lock")));
int omp_test_lock_(void *lock) __attribute__((alias("omp_test_lock")));
void omp_set_nest_lock_(void *lock) __attribute__((alias("omp_set_nest_lock")));
int omp_test_nest_lock_(void *lock) __attribute__((alias("omp_test_nest_lock")));
