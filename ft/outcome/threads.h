/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of a recorded rank, and their order (DESIGN-ranks section 0.8).

   A thread is named by a number: 0 is the one that main runs in, others get theirs from the record of their creation, so a replay
   names them alike. When it has ended, which is in a record of its own, another one may have that number. Each is given its own records, in the order in which it made them. Between threads a call's outcome is given after
   all that were done before it (ft_outcome.number): nobody overtakes what he has seen. A call that is made for the first time waits
   until all threads have been given all.

   Locks of the program are no calls. That threads take them in the same order is lock.h's, by the counts that are kept here. */
#ifndef FT_OUTCOME_THREADS_H
#define FT_OUTCOME_THREADS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "ft/outcome/kinds.h"
#include "ft/outcome/log.h"

struct ft_task;

struct ft_thread {
    bool mine;                     /* its calls are recorded */
    bool replays;                  /* there may be something that it is given again */
    bool resolves;                 /* it has come to the call in which its predecessor was killed, and has not found out what came of that */
    bool led;                      /* in the call that it is in it may be led back (ft_call_begin_wait) */
    volatile bool in_call;         /* a call is being made: a signal interrupts it */
    volatile int ends;             /* ... and how (kinds.h) */
    int inside;                    /* it is in a function of this library, whose own calls are not recorded */
    int holds;                     /* so many times it has the lock */
    volatile uint32_t stops;       /* so many times it was stopped by a signal (stand.h) */
    volatile int busy;             /* so many times it is not to be stopped (stand.h) */
    volatile bool asked;           /* it has been asked to stop meanwhile */
    struct ft_task *task;          /* what is known of it when it stands still */
    uint32_t number;
    uint64_t giving;               /* it is its turn: that call's number */
    uint64_t locks;                /* so many lock operations it has done */
    struct ft_outcome_log *log;
};

extern _Thread_local struct ft_thread ft_thread __attribute__((tls_model("initial-exec")));

/* A second thread has been made. Until then nothing here costs anything. */
extern bool ft_threads_many;

/* Some thread has something left that it is to be given. */
extern _Atomic bool ft_threads_replay;

/* This thread's calls are recorded from now on: main's. */
void ft_threads_open(void);

/* All threads stand: a copy knows what lock operations there have been, and where the log stands. Of it, that is the copy of this number. How
   many there are. */
uint32_t ft_threads_stand(uint64_t copy);
uint64_t ft_threads_stood(void);

/* In a process that has just been made of a copy: what there is to be given, and in which order. */
void ft_threads_resume(void);

/* One thread at a time, as often as it likes. errno is untouched. */
void ft_threads_lock(void);
void ft_threads_unlock(void);

enum { FT_THREADS_NONE = FT_OUTCOME_THREADS /* a thread whose calls are not recorded */ };

/* ---- standing still (stand.h) ---- */

/* A copy is being made: others than the one that makes it are to stand. */
extern _Atomic uint32_t ft_standing;

void ft_stand_here(void);

/* From here to there this thread is not stopped. errno is untouched. */
static inline void ft_busy(void)
{
    ft_thread.busy++;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void ft_idle(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (--ft_thread.busy == 0 && __builtin_expect(ft_thread.asked, 0))
        ft_stand_here();
}

/* From here to the end of the block, however that is left: also a thread that is cancelled is not busy any more. */
#define FT_BUSY_HERE()                                                                                \
    int busy_here_ __attribute__((cleanup(ft_busy_left), unused)) = 0;                                \
    ft_busy()
static inline void ft_busy_left(const int *here)
{
    (void)here;
    ft_idle();
}

/* Goes up in each process that has been made of a copy: what a thread has found before may not be so any more. */
extern uint32_t ft_threads_life;

/* Around a system call that waits, in a recorded call: nothing of the C library is in the middle of anything. Others run meanwhile, and if the
   call has begun with ft_call_begin_wait a copy may be made. errno is untouched. */
#define FT_WAITING(call)                                                                    \
    __extension__({                                                                         \
        int holds_ = ft_threads_let();                                                      \
        bool waits_ __attribute__((cleanup(ft_waits_end))) = ft_waits_begin();                \
        __auto_type result_ = (call);                                                       \
        ft_waits_end(&waits_);                                                               \
        ft_threads_take(holds_);                                                            \
        result_;                                                                            \
    })
bool ft_waits_begin_slowly(void);
void ft_waits_end_slowly(void);
static inline bool ft_waits_begin(void) { return __builtin_expect(ft_threads_many, 0) && ft_waits_begin_slowly(); }
static inline void ft_waits_end(bool *waits)
{
    if (__builtin_expect(*waits, 0))
        ft_waits_end_slowly();
    *waits = false;
}

/* This thread is in the middle of FT_WAITING. */
bool ft_waits_now(void);
/* In a signal's handler, around the program's: it is not, meanwhile. What the first returns is for the second, and what the program has blocked. */
bool ft_waits_leave(void);
void ft_waits_return(bool left, const sigset_t *programs);

/* Around a system call of the program's that is not recorded, and that a signal of ours would interrupt. There is no copy meanwhile. */
bool ft_deaf_begin(void);
void ft_deaf_end(bool deaf);

/* Before FT_WAITING: the call changes what signals are blocked while it waits. */
void ft_waits_masked(void);

/* For a wait that is no recorded call: as setjmp. False; true when this is the process that has been made of a copy, in which the wait is not
   to go on. The wait itself is in FT_WAITING. */
bool ft_waits_led(void) __attribute__((returns_twice));

int ft_threads_let(void);
void ft_threads_take(int holds);

/* A thread begins: a number for it that no thread has that runs, and how often it has been used before. -1: there are too many. Its creator has
   that in a record. */
int64_t ft_threads_new(void);
/* It has that number, which is returned, from now on. In a replay the one before it must have ended again, as it had when it was given. */
uint32_t ft_threads_occupy(int64_t life);
/* The thread that calls ends, and has done so in a record. Its calls are not recorded any more. */
void ft_threads_end(void);
/* The one that calls is that thread. log: its creator's view when that made it. */
void ft_threads_begin(uint32_t number, const struct ft_outcome_log *log, struct ft_task *task);

/* This thread has records left, or lock operations. False: all threads have been given all, now. */
bool ft_threads_replays(void);

/* All threads have been given all. Does not wait: a thread may have a lock that others are to take before that is so. */
bool ft_threads_ended(void);

/* In a replay: a thread has been made again, or was not, as before. */
void ft_threads_made(void);

/* In a replay: this thread has come to that call. */
void ft_threads_arrived(const struct ft_outcome *o);

/* Event `number` is that a call is done: when it returns all before it have happened. It has been given. */
void ft_threads_await_turn(uint64_t number);
void ft_threads_given(uint64_t number);

/* With the lock: the number of an event that happens now; a new record of this thread, begun now. NULL: the log is full. */
uint64_t ft_threads_number(void);
struct ft_outcome *ft_threads_record(enum ft_call_kind kind, uint64_t what, uint32_t most);

/* All threads have been given all, when it returns. */
void ft_threads_all_given(void);

/* The call that was under way has found what its predecessor has left. */
void ft_threads_resolved(void);
bool ft_threads_all_resolved(void);
/* ... and only this one has not. */
bool ft_threads_resolves_last(void);

/* ---- lock operations ---- */

/* What outlives the process: so many of that thread are published. A replay leaves it alone until it has passed `before`. */
_Atomic uint64_t *ft_threads_published(uint32_t thread);
/* What that was when this process was made of a copy; 0 in one that was not. */
uint64_t ft_threads_before(uint32_t thread);

/* In a replay. This thread's count of them has just gone up. */
void ft_threads_passed(void);
/* ... returns when that thread has done more than so many. */
void ft_threads_await(uint32_t thread, uint64_t passed);

/* This thread's next record, whatever it is; NULL: there is none. One of a lock takes no turn: it is passed by ft_log_take. */
struct ft_outcome *ft_log_next(void);
/* The same for who comes to something else than a reading of a clock: what there are of these are passed by (readings.c). */
struct ft_outcome *ft_log_peek(void);
/* What a thread was told last by each clock, or its creator was: the rank's first one begins with the time of its beginning. */
enum { FT_READINGS_CLOCKS = CLOCK_TAI + 1 };
struct ft_readings {
    struct timespec last[FT_READINGS_CLOCKS];
};
extern _Thread_local struct ft_readings ft_readings __attribute__((tls_model("initial-exec")));
void ft_readings_begin(void);
/* The same for who reads a clock; others' are passed by. */
struct ft_outcome *ft_reading_next(uint64_t what);
/* In a replay: this reading is not in the log. */
bool ft_reading_is_missing(uint64_t what);
/* Of a new record: where it belongs. */
void ft_reading_made(struct ft_outcome *o);
void ft_log_take(struct ft_outcome *o);
/* A new one, done, in no order with other threads' calls. NULL: recording has ended. */
struct ft_outcome *ft_log_put(uint16_t kind, uint64_t what, int64_t result, int error);
static inline struct ft_outcome *ft_log_lock(uint64_t what) { return ft_log_put(FT_CALL_LOCK, what, 0, 0); }

#endif
