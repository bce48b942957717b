/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of a recorded rank, and their order (DESIGN-ranks section 0.8).

   A thread is named by a number: 0 is the one that main runs in, others get theirs from the record of their creation, so a replay
   names them alike. Each is given its own records, in the order in which it made them. Between threads a call's outcome is given after
   all that were done before it (ft_outcome.number): nobody overtakes what he has seen. A call that is made for the first time waits
   until all threads have been given all.

   Locks of the program are no calls. That threads take them in the same order is lock.h's, by the counts that are kept here. */
#ifndef FT_OUTCOME_THREADS_H
#define FT_OUTCOME_THREADS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ft/outcome/kinds.h"
#include "ft/outcome/log.h"

struct ft_thread {
    bool mine;                     /* its calls are recorded */
    bool replays;                  /* there may be something that it is given again */
    bool resolves;                 /* it has come to the call in which its predecessor was killed, and has not found out what came of that */
    volatile bool in_call;         /* a call is being made: a signal interrupts it */
    int inside;                    /* it is in a function of this library, whose own calls are not recorded */
    int holds;                     /* so many times it has the lock */
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

/* At a cut, where there is one thread: a copy knows what lock operations there have been. */
void ft_threads_stand(void);

/* In a process that has just been made of a copy: what there is to be given, and in which order. */
void ft_threads_resume(void);

/* One thread at a time, as often as it likes. */
void ft_threads_lock(void);
void ft_threads_unlock(void);

enum { FT_THREADS_NONE = FT_OUTCOME_THREADS /* a thread whose calls are not recorded */ };

/* Others run meanwhile: around a call that waits. errno is untouched. */
#define FT_WAITING(call)                     \
    __extension__({                          \
        int holds_ = ft_threads_let();       \
        __auto_type result_ = (call);        \
        ft_threads_take(holds_);             \
        result_;                             \
    })
int ft_threads_let(void);
void ft_threads_take(int holds);

/* A thread begins: a number for it. -1: there are too many. Its creator has it in a record. */
int ft_threads_new(void);
/* The one that calls is that thread. log: its creator's view when that made it. */
void ft_threads_begin(uint32_t number, const struct ft_outcome_log *log);

/* This thread has records left, or lock operations. False: all threads have been given all, now. */
bool ft_threads_replays(void);

/* All threads have been given all. Does not wait: a thread may have a lock that others are to take before that is so. */
bool ft_threads_ended(void);

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
struct ft_outcome *ft_log_peek(void);
void ft_log_take(struct ft_outcome *o);
/* A new one, done, in no order with other threads' calls. NULL: recording has ended. */
struct ft_outcome *ft_log_put(uint16_t kind, uint64_t what, int64_t result, int error);
static inline struct ft_outcome *ft_log_lock(uint64_t what) { return ft_log_put(FT_CALL_LOCK, what, 0, 0); }

#endif
