/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks between a rank's threads: in a replay each thread takes them when it took them before (docs/outcomes.md, "Locks").

   A thread counts its lock operations. Whoever takes a lock notes there which operation of which thread that was, and finds which one was
   the last before it. Was that another thread's, and is it not known to lie before this one anyway, a record says so: this operation came
   after that one. A replay does an operation when the one before it has been passed; then it really takes the lock. What is not recorded is
   in order by itself. Nothing depends on an address: memory of a replay may lie elsewhere.

   The order of a live operation: take, note, record, publish the count; only then may others find it. What gives (sem_post, the arrival at
   a barrier) is published before it is done. Killed before it is published, an operation has never been.

     int pthread_spin_lock(pthread_spinlock_t *lock)
     {
         if (!ft_locks())
             return ft_real()->pthread_spin_lock(lock);
         return FT_LOCK_TAKES(FT_LOCK_SPIN, ft_lock_at(lock), ft_real()->pthread_spin_lock(lock), ft_real()->pthread_spin_lock(lock),
                              pthread_spin_unlock(lock));
     } */
#ifndef FT_OUTCOME_LOCK_H
#define FT_OUTCOME_LOCK_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ft/outcome/record.h"
#include "ft/outcome/threads.h"

/* Of a record (its `step`): what was done. A replay must do the same. */
enum ft_lock_kind {
    FT_LOCK_MUTEX = 1,
    FT_LOCK_TRY,         /* may fail, or does at a time */
    FT_LOCK_CONDITION,   /* a wait for one has taken its mutex again */
    FT_LOCK_SEMAPHORE,
    FT_LOCK_POST,
    FT_LOCK_VALUE,       /* of a semaphore */
    FT_LOCK_READ,
    FT_LOCK_WRITE,
    FT_LOCK_SPIN,
    FT_LOCK_BARRIER,
    FT_LOCK_JOIN,        /* a look whether a thread has ended, or for a time */
    FT_LOCK_ONCE,
    FT_LOCK_GUARD,
    FT_LOCK_STREAM,
    FT_LOCK_OPENMP
};

/* Where a lock has who took it last: thread << 48 | its count after that. 0: nobody whom it matters to know. */
struct ft_lock_at {
    _Atomic uint64_t *word;
    bool shared;         /* with other locks, or who has the lock is not alone: it is marked as long as an operation is not published */
};

/* One that is to be done again. */
struct ft_lock {
    struct ft_outcome *record;   /* NULL: it was in order by itself */
    int result;
};

enum { FT_LOCK_BITS = 48, FT_LOCK_TABLE_BITS = 14, FT_LOCK_KNOWN = 64 };
#define FT_LOCK_COUNT (((uint64_t)1 << FT_LOCK_BITS) - 1)
#define FT_LOCK_MARK UINT64_MAX

/* Where a test kills. */
enum ft_lock_point { FT_LOCK_BEFORE, FT_LOCK_TAKEN, FT_LOCK_NOTED, FT_LOCK_RECORDED, FT_LOCK_PUBLISHED, FT_LOCK_GIVEN, FT_LOCK_POINTS };
#ifdef FT_LOCK_TESTED
void ft_lock_point(enum ft_lock_point point);
#else
static inline void ft_lock_point(enum ft_lock_point point) { (void)point; }
#endif

/* What this thread knows. */
struct ft_lock_thread {
    uintptr_t from, bytes;       /* the code that it was called from last ... */
    bool counted;                /* ... and whether its locks count */
    _Atomic uint64_t *published; /* how many of its operations are */
    uint64_t known[FT_LOCK_KNOWN]; /* operations of others that records of this thread name: they, and theirs before, lie before what comes */
    _Atomic uint64_t nothing;    /* a word of no lock */
    uint64_t failing;            /* where the log has the record of this thread that says that something failed */
    struct ft_outcome *failed;   /* that */
    uint64_t records, since;     /* so many, since then (ns) */
};

/* Records of locks that a thread may make in some seconds: else recording ends. */
extern uint64_t ft_lock_most;

extern _Thread_local struct ft_lock_thread ft_lock_thread __attribute__((tls_model("initial-exec")));
extern _Atomic uint64_t ft_lock_table[1 << FT_LOCK_TABLE_BITS];

/* Looks which code that is. */
bool ft_lock_counts(uintptr_t caller);

/* The function that asks is to be counted. Not: before there is a second thread; called from the engine, from this library, or from code
   whose locks order nothing that is told (ft_lock_counts). */
FT_CALLED bool ft_locks_of(uintptr_t caller)
{
    if (!ft_threads_many || !ft_recorder.on || caller - ft_recorder.own < ft_recorder.own_bytes || !ft_thread.mine || ft_thread.inside)
        return false;
    return caller - ft_lock_thread.from < ft_lock_thread.bytes ? ft_lock_thread.counted : ft_lock_counts(caller);
}

FT_CALLED bool ft_locks(void) { return ft_locks_of((uintptr_t)__builtin_return_address(0)); }

/* A lock without a word of its own. */
static inline struct ft_lock_at ft_lock_at(const volatile void *lock)
{
    uint64_t hash = ((uintptr_t)lock ^ (uintptr_t)lock >> 17) * 0x9e3779b97f4a7c15u;

    return (struct ft_lock_at){&ft_lock_table[hash >> (64 - FT_LOCK_TABLE_BITS)], true};
}

/* Robust, inheriting and the like. */
struct ft_lock_at ft_lock_at_special(pthread_mutex_t *mutex);

/* Normal, recursive and error-checking mutexes of one process do not use __list. */
static inline struct ft_lock_at ft_lock_at_mutex(pthread_mutex_t *mutex)
{
    if (__builtin_expect(mutex->__data.__kind & 0xf0, 0))
        return ft_lock_at_special(mutex);
    return (struct ft_lock_at){(_Atomic uint64_t *)(void *)&mutex->__data.__list, false};
}

/* Of what only fails or does not: its success comes after nothing. */
static inline struct ft_lock_at ft_lock_at_nothing(void) { return (struct ft_lock_at){&ft_lock_thread.nothing, false}; }

/* ---- live ---- */

static inline uint64_t ft_lock_me(void) { return (uint64_t)ft_thread.number << FT_LOCK_BITS | (ft_thread.locks + 1); }

/* Who was the last. Signals' handlers, which may post, count no locks until ft_lock_seen. */
uint64_t ft_lock_mark(_Atomic uint64_t *word);
uint64_t ft_lock_look(const _Atomic uint64_t *word); /* the same, without a note */
static inline uint64_t ft_lock_note(struct ft_lock_at at)
{
    uint64_t before;

    if (at.shared)
        return ft_lock_mark(at.word);
    /* The lock orders this: only who has it reads and writes the word. */
    before = atomic_load_explicit(at.word, memory_order_relaxed);
    atomic_store_explicit(at.word, ft_lock_me(), memory_order_relaxed);
    return before;
}

/* Of this thread's next operation. NULL: recording has ended. */
struct ft_outcome *ft_lock_record(enum ft_lock_kind kind, int result, uint64_t before, uint64_t place);

/* A record, if the one before was another thread's, or there is a result. */
void ft_lock_tell_slowly(enum ft_lock_kind kind, int result, uint64_t before);
static inline void ft_lock_tell(enum ft_lock_kind kind, int result, uint64_t before)
{
    if (__builtin_expect(result || (before && before >> FT_LOCK_BITS != ft_thread.number), 0))
        ft_lock_tell_slowly(kind, result, before);
}

/* From here on it has been. Release: what it has noted and recorded is there, too. */
static inline void ft_lock_publish(void)
{
    ft_lock_point(FT_LOCK_RECORDED);
    atomic_store_explicit(ft_lock_thread.published, ++ft_thread.locks, memory_order_release);
    ft_lock_point(FT_LOCK_PUBLISHED);
}

/* It may be found. */
static inline void ft_lock_seen(struct ft_lock_at at)
{
    if (!at.shared)
        return;
    atomic_store_explicit(at.word, (uint64_t)ft_thread.number << FT_LOCK_BITS | ft_thread.locks, memory_order_release);
    ft_outside();
}

/* This thread has the lock; or is about to give. */
static inline void ft_lock_took(struct ft_lock_at at, enum ft_lock_kind kind, int result)
{
    uint64_t before;

    ft_lock_point(FT_LOCK_TAKEN);
    before = ft_lock_note(at);
    ft_lock_point(FT_LOCK_NOTED);
    ft_lock_tell(kind, result, before);
    ft_lock_publish();
    ft_lock_seen(at);
}

/* It has not; or it was told that number. */
void ft_lock_told(enum ft_lock_kind kind, int result);

/* Of the function's result: the lock is taken. */
static inline bool ft_lock_has(int result) { return result == 0 || result == EOWNERDEAD; }

static inline void ft_lock_end(struct ft_lock_at at, enum ft_lock_kind kind, int result)
{
    if (__builtin_expect(ft_lock_has(result), 1))
        ft_lock_took(at, kind, result);
    else
        ft_lock_told(kind, result);
}

/* ---- in a replay ---- */

/* True: the operation is in the log, and its turn has come. False: it is live; all threads have been given all. errno is untouched. */
bool ft_lock_gives(struct ft_lock *l, enum ft_lock_kind kind);
static inline bool ft_lock_begin(struct ft_lock *l, enum ft_lock_kind kind)
{
    ft_lock_point(FT_LOCK_BEFORE);
    return __builtin_expect(atomic_load_explicit(&ft_threads_replay, memory_order_relaxed), 0) && ft_lock_gives(l, kind);
}

/* It has been done again: with this result, if it really took the lock. */
void ft_lock_given(const struct ft_lock *l);
void ft_lock_again(const struct ft_lock *l, struct ft_lock_at at, int result);

/* In the log the next operation of this thread is of that kind, and there is a record of it. */
const struct ft_outcome *ft_lock_next(enum ft_lock_kind kind);

/* This thread has neither records nor operations left that it is to be given. */
bool ft_lock_at_end(void);

/* Between taking and seen a thread is busy: a copy has an operation whole, or not. While it waits for the lock it is not. Then, in a process that has
   been made of a copy, it has got the lock as nobody's turn: it gives it back, and does as the replay says.

   A call that takes a lock, or fails; what takes it in a replay, when its turn has come: that does not fail, it may wait; what gives it back. */
#define FT_LOCK_TAKES(kind, at, call, again, back)           \
    __extension__({                                          \
        struct ft_lock_at at_ = (at);                        \
        struct ft_lock lock_;                                \
        uint32_t life_;                                      \
        int taken_;                                          \
        for (;;) {                                           \
            ft_busy();                                       \
            if (ft_lock_begin(&lock_, kind)) {               \
                taken_ = lock_.result;                       \
                if (ft_lock_has(taken_))                     \
                    ft_lock_again(&lock_, at_, (again));     \
                else                                         \
                    ft_lock_given(&lock_);                   \
                break;                                       \
            }                                                \
            life_ = ft_threads_life;                         \
            ft_idle();                                       \
            taken_ = (call);                                 \
            ft_busy();                                       \
            if (__builtin_expect(life_ == ft_threads_life, 1)) { \
                ft_lock_end(at_, kind, taken_);              \
                break;                                       \
            }                                                \
            if (ft_lock_has(taken_))                         \
                (void)(back);                                \
            ft_idle();                                       \
        }                                                    \
        ft_idle();                                           \
        taken_;                                              \
    })

#endif
