/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/lock.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ft/outcome/behind.h"
#include "ft/outcome/signals.h"

enum {
    INHERITS = 32, PROTECTS = 64, /* of a mutex's kind, nptl/pthreadP.h */
    SPINS = 200,                  /* at a marked word, before its thread is given the processor */
    RECORDS_SECONDS = 5,
    REPEATS = 1 << 20             /* of one failure that one record has */
};

uint64_t ft_lock_most = 500000;

_Thread_local struct ft_lock_thread ft_lock_thread __attribute__((tls_model("initial-exec")));
_Atomic uint64_t ft_lock_table[1 << FT_LOCK_TABLE_BITS];

static uint32_t thread_of(uint64_t word) { return (uint32_t)(word >> FT_LOCK_BITS); }

static uint64_t count_of(uint64_t word) { return word & FT_LOCK_COUNT; }

/* ---- whose count ---- */

/* The locks of OpenBLAS's pool decide which thread computes a part of a product, and nothing that is told: thousands of failed tries. Those of
   LLVM's and Intel's OpenMP put idle threads to sleep, by time; a program's critical sections are made of other means there. */
static bool orders_nothing(const char *library)
{
    const char *slash = strrchr(library, '/'), *name = slash ? slash + 1 : library;

    return strstr(library, "openblas") || !strncmp(name, "libomp", 6) || !strncmp(name, "libiomp", 7);
}

bool ft_lock_counts(uintptr_t caller)
{
    struct ft_lock_thread *t = &ft_lock_thread;
    struct ft_code code;

    t->published = ft_threads_published(ft_thread.number);
    if (!ft_code_at(caller, &code))
        return true;
    t->counted = !orders_nothing(code.name);
    t->from = code.from;
    t->bytes = code.bytes;
    return t->counted;
}

/* The kernel is asked for a thread's priority, or told whose a mutex is, by the number that the C library keeps: it is of the first incarnation.
   Inheriting ones of one process are not made (wrap_inherit.c). */
struct ft_lock_at ft_lock_at_special(pthread_mutex_t *mutex)
{
    if (mutex->__data.__kind & (INHERITS | PROTECTS))
        ft_recorder_close("it locks a mutex with a priority ceiling, or one that processes share and that inherits priorities");
    return ft_lock_at(mutex);
}

/* ---- live ---- */

/* A mark is there for some instructions, or until its thread is given the processor again. */
static void pause_at_mark(int i)
{
    if (i < SPINS)
        __builtin_ia32_pause();
    else
        syscall(SYS_sched_yield);
}

uint64_t ft_lock_mark(_Atomic uint64_t *word)
{
    uint64_t before;

    ft_inside();
    /* Acquire: what the last one has published is there. */
    for (int i = 0; (before = atomic_exchange_explicit(word, FT_LOCK_MARK, memory_order_acquire)) == FT_LOCK_MARK; i++)
        pause_at_mark(i);
    return before;
}

uint64_t ft_lock_look(const _Atomic uint64_t *word)
{
    uint64_t before;

    for (int i = 0; (before = atomic_load_explicit(word, memory_order_acquire)) == FT_LOCK_MARK; i++)
        pause_at_mark(i);
    return before;
}

/* It, or a later one of the same thread, lies before by a record of this thread. If not it does now. */
static bool is_known(uint64_t before)
{
    uint64_t *known = &ft_lock_thread.known[thread_of(before) % FT_LOCK_KNOWN];

    if (thread_of(*known) == thread_of(before) && count_of(*known) >= count_of(before))
        return true;
    *known = before;
    return false;
}

/* So many records of one thread in RECORDS_SECONDS take half of the log in a minute, and longer to be followed than the rank took. */
static bool are_too_many(void)
{
    struct ft_lock_thread *t = &ft_lock_thread;
    struct timespec now;
    uint64_t ns, since = t->since;

    if (t->records++ % ft_lock_most != 0)
        return false;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    t->since = ns;
    return t->records > 1 && ns - since < RECORDS_SECONDS * 1000000000ull;
}

struct ft_outcome *ft_lock_record(enum ft_lock_kind kind, int result, uint64_t before, uint64_t place)
{
    int error = errno;
    struct ft_outcome *o = NULL;

    if (are_too_many())
        ft_recorder_end("a thread of it is handed locks by others more than 100000 times a second");
    else
        o = ft_log_lock(ft_thread.locks);
    if (!o && ft_recorder.on)
        ft_recorder_full();
    if (o) {
        o->step = (uint16_t)kind;
        o->error = result;
        o->note[0] = (int64_t)before;
        o->note[1] = (int64_t)place;
    }
    errno = error;
    return o;
}

void ft_lock_tell_slowly(enum ft_lock_kind kind, int result, uint64_t before)
{
    bool other = before && thread_of(before) != ft_thread.number && !is_known(before);

    if (other || result)
        ft_lock_record(kind, result, other ? before : 0, 0);
}

/* The record of the last failure is this thread's last record, of the same, and not of before a copy. */
static bool repeats(enum ft_lock_kind kind, int result)
{
    const struct ft_outcome *o = ft_lock_thread.failed;

    return o && ft_lock_thread.failing == ft_thread.log->last && ft_lock_thread.failing >= ft_thread.log->from && o->step == kind && o->error == result &&
           o->what + (uint64_t)o->result + 1 == ft_thread.locks && o->result < REPEATS;
}

void ft_lock_told(enum ft_lock_kind kind, int result)
{
    if (repeats(kind, result)) {
        ft_lock_thread.failed->result++;
    } else {
        ft_lock_thread.failed = ft_lock_record(kind, result, 0, 0);
        ft_lock_thread.failing = ft_thread.log->last;
    }
    ft_lock_publish();
}

/* ---- in a replay ---- */

/* This operation is one of those that the record is of: the first, or a repetition. */
static bool is_of(const struct ft_outcome *o, uint64_t operation)
{
    if (!o || o->kind != FT_CALL_LOCK || operation < o->what)
        return false;
    if (operation > o->what + (uint64_t)o->result)
        ft_recorder_lost("a replay passed a lock that its predecessor had to wait for, or did not get");
    return true;
}

/* One that was never published has not been: nobody had seen it, and another one may have its number by now. */
static void await_before(struct ft_outcome *o)
{
    uint64_t before = (uint64_t)o->note[0];

    if (before && count_of(before) > ft_threads_before(thread_of(before)))
        o->note[0] = 0;
    else if (before)
        ft_threads_await(thread_of(before), count_of(before) - 1);
}

bool ft_lock_gives(struct ft_lock *l, enum ft_lock_kind kind)
{
    struct ft_outcome *o;

    ft_signals_give_at_lock();
    o = ft_log_peek();
    if (ft_thread.locks >= ft_threads_before(ft_thread.number)) {
        if (o)
            ft_recorder_lost("a replay came to a lock where there was a call");
        ft_threads_all_given();
        return false;
    }
    *l = (struct ft_lock){0};
    if (!is_of(o, ft_thread.locks))
        return true;
    if (o->step != kind)
        ft_recorder_lost("a replay came to a lock of kind %d where there was one of kind %d", kind, o->step);
    l->record = o;
    l->result = o->error;
    await_before(o);
    return true;
}

void ft_lock_given(const struct ft_lock *l)
{
    struct ft_outcome *o = l->record;
    uint64_t done = ++ft_thread.locks;
    int error = errno;

    ft_lock_point(FT_LOCK_GIVEN);
    if (o && done == ft_threads_before(ft_thread.number))
        o->result = (int64_t)(done - 1 - o->what); /* a repetition that is not published has not been */
    if (o && done == o->what + (uint64_t)o->result + 1)
        ft_log_take(o);
    ft_threads_passed();
    errno = error;
}

void ft_lock_again(const struct ft_lock *l, struct ft_lock_at at, int result)
{
    if (result != l->result)
        ft_recorder_lost("a replay could not take a lock again: %s", strerror(result));
    if (at.shared)
        ft_lock_mark(at.word);
    else
        atomic_store_explicit(at.word, ft_lock_me(), memory_order_relaxed);
    ft_lock_given(l);
    ft_lock_seen(at);
}

const struct ft_outcome *ft_lock_next(enum ft_lock_kind kind)
{
    const struct ft_outcome *o;

    ft_signals_give_at_lock();
    o = ft_log_peek();
    return is_of(o, ft_thread.locks) && o->step == kind ? o : NULL;
}

bool ft_lock_at_end(void) { return !ft_log_peek() && ft_thread.locks >= ft_threads_before(ft_thread.number); }
