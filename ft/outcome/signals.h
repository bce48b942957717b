/* SPDX-License-Identifier: BSD-3-Clause */
/* Caught signals are outcomes (DESIGN-ranks section 0.2): a handler runs where a record says so, before a recorded call or after it. */
#ifndef FT_OUTCOME_SIGNALS_H
#define FT_OUTCOME_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

#include "ft/outcome/record.h"

/* So many have come to this thread and have not been handed to the program. */
extern _Thread_local volatile sig_atomic_t ft_signals_wait __attribute__((tls_model("initial-exec")));

/* Where they are handed over: before a call is recorded or given, after it, or where the program sets a handler or its mask. */
enum ft_signals_where { FT_SIGNALS_BEFORE = 1, FT_SIGNALS_AFTER, FT_SIGNALS_SETTING };

/* So many timers of timer_create() are not the program's: of threads for which one waits. */
extern _Atomic int ft_signals_timers;

/* Hands over those that wait; in a replay, those that come next in the log and were handed over there. */
void ft_signals_hand_over(enum ft_signals_where where);

static inline void ft_signals_at(enum ft_signals_where where)
{
    if (__builtin_expect(ft_signals_wait || ft_thread.replays, 0))
        ft_signals_hand_over(where);
}

/* In a replay: those that were handed over before the next call, so that the next record is that call's. */
void ft_signals_give(void);

/* The same where there may be none of the records that it was handed over at: before a reading of a clock (readings.c), and before an operation on a
   lock, if it was handed over at a reading that this thread has not come to. */
void ft_signals_give_at_reading(uint64_t what);
void ft_signals_give_at_lock(void);

/* Before a live call that a signal ends so (kinds.h). Those that would end it if they came in it are kept, and come in
   it: whoever has looked for what their handlers do, and sleeps since they had not come, is woken. */
void ft_signals_before(int ends);

/* Some wait, and the call is being made: a signal of a timer ends it soon, if one of them is to. It has been made: there is time to hand them over.
   errno may change. */
void ft_signals_in_call(void);
void ft_signals_past_call(void);

/* A handler that has come has been left by a jump: of those that wait their time begins anew. The signal was perhaps sent by the program itself. */
void ft_signals_left(void);

enum { FT_SIGNALS_MOST = 32 /* that wait at a time */ };

struct ft_signals_pending {
    int n;
    siginfo_t of[FT_SIGNALS_MOST];
};

/* Before a copy is made: what the program has blocked (its mask), and is pending. False: there is some, and this thread cannot look at it. */
bool ft_signals_look(const sigset_t *mask, struct ft_signals_pending *pending);

/* What this thread's program has blocked; a thread begins with what its creator has. */
void ft_signals_masked(sigset_t *masked);
void ft_signals_inherit(const sigset_t *masked);

/* A replay begins, the one of process `before`: signals wait in the kernel. It ends: they come, timers that the program had set run on. */
void ft_signals_hold(const sigset_t *mask, const struct ft_signals_pending *pending, pid_t before);
void ft_signals_release(void);
/* In the frame of the signal that stops a thread: the same, for one that has made no call since. */
void ft_signals_let(ucontext_t *frame);

/* This thread, which is another one to the kernel, has its alternative stack again. */
void ft_signals_alternative(void);

/* The same for a thread that is put back, which the kernel says blocks `mask`, or the frame on which it goes on (NULL: on none). */
void ft_signals_put_back(const sigset_t *mask, ucontext_t *frame);

/* It is sent again by other means: not by what the words say of it. */
void ft_signals_left_out(int signal);

/* All that wait do not interrupt a call that can be made again (SA_RESTART). */
bool ft_signals_restart_calls(void);

/* A replay begins: none waits, for the predecessor's have gone with it. */
void ft_signals_restart(void);

/* In a replay the program has unblocked one that is pending. */
void ft_signals_come(int signal);

/* One that the program was given when it waited for it: it is not pending any more. */
void ft_signals_taken(int signal);

/* Of one that this process has sent to itself: its number is the one that the program was told. In a replay it has been sent again, and is not
   pending any more when the program is given that one. */
void ft_signals_name(siginfo_t *info);
void ft_signals_repeated(int signal);

/* The program's alarm: this is what it has sent, if it has; set in this process, too. */
void ft_alarm_sent(const siginfo_t *info);
void ft_alarm_runs_on(void);

/* To the whole rank: any thread may find it. */
int ft_signals_to_rank(int signal, int (*send)(int signal));

/* If another thread has sent this one a signal (ft_signalled_begin), and it has been handled, a copy may be made again. Not to be called in the middle
   of FT_WAITING. errno is untouched. */
void ft_signals_found(void);

/* A signal to the thread itself: it is handled at once, whoever blocks it. */
void ft_signals_hand_to_self(int signal);

/* ... by the program: if that does not block it, also in a replay. */
int ft_signals_to_self(int signal, int (*send)(int signal));

#endif
