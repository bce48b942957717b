/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads stand still while a copy of the rank is made, and are put back in it when it is woken (DESIGN-ranks section 1; docs/snapshots.md,
   "Threads"). A clone has the memory of all threads, and one of them; what it lacks is what the kernel knows of the others.

   Where a thread is:

     in the program   a signal stops it. In the copy it goes on by sigreturn on the frame of that signal
     busy             it is in a function of this library: the signal does nothing. It stands when it ceases to be busy
     waiting          in the bare system call of a recorded call: no signal is sent. It stands when it comes back from the kernel. In the copy
                      it is led back to where that call began: the record is given, or says that it was under way

   Its number in the C library stays what it was, so mutexes have their owners; what tells the kernel that number is translated.

   From the first stop to the last release the thread that makes the copy makes raw system calls, and uses static memory: the others may hold
   any lock of the C library. */
#ifndef FT_OUTCOME_STAND_H
#define FT_OUTCOME_STAND_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ft/outcome/threads.h"

enum { FT_STAND_MOST = 1024 /* threads at a time: with more there is no snapshot */, FT_STAND_WHY = 96 };

/* Of the thread that main runs in, when the rank begins to be recorded; of each one that it makes, before that runs (with the lock). Stack: 0, as
   is usual. NULL: there are too many. */
void ft_stand_open(void);
struct ft_task *ft_stand_add(pthread_t thread, size_t stack_bytes);

/* It runs now, with its records. */
void ft_stand_begin(struct ft_thread *thread);

/* A thread of this process, by its handle, or by the number that the program was told. NULL: it is not known. */
struct ft_task *ft_stand_of(pthread_t thread);
struct ft_task *ft_stand_told(pid_t told);
/* This thread was told that it has this one. */
void ft_stand_tell(pid_t told);

/* All other threads stand still when this returns, and nobody has the lock (ft_threads_lock) but this thread, if it had. False: one does not.
   Nothing else may be done then. */
bool ft_stand_still(void);
/* They go on. In a copy none is there that could: nobody is to stand any more. */
void ft_stand_go(void);
void ft_stand_forget(void);
/* The same where no copy is made, and this thread has the lock, and keeps it: who waits for that stands as well, and who is in a system call
   that is not recorded. None of them stores anything in the program's memory until ft_stand_go. */
bool ft_stand_around(void);
/* After that: one of them was stopped where it computes. In a replay it may not have come to where its predecessor was. */
bool ft_stand_computes(void);
/* All stand, and go on: each thread that computes, perhaps for long, has found that the replay has ended (ft_signals_let). */
void ft_stand_once(void);
/* Each other thread makes that system call. False: one could not, or was told something else. */
bool ft_stand_all(long call, long a, long b, long c);
/* One thread finds that, whatever it does: a call is interrupted. */
void ft_stand_ask(const struct ft_task *t);
/* Another one may begin. */
void ft_stand_cut(void);
/* After that: why ft_stand_still was false, at most FT_STAND_WHY bytes with the zero. */
void ft_stand_why(char *to);

/* With all standing: their views of the log, and what it must keep for the copy of that number. How many there are. */
uint32_t ft_stand_note(uint64_t copy);

/* In the process that has been made of the copy: what each is to be given; then, last of all, they are there again, and go on. */
void ft_stand_follow(void (*see)(struct ft_outcome *o));
void ft_stand_put_back(void);

/* Where the call that this thread is in began: what it is led back to. A call that a signal's handler makes in its beginning has one of its own. */
struct ft_lead {
    uint64_t rbx, rbp, r12, r13, r14, r15, rsp, rip;
    uint64_t argument[4];
    uint64_t function;  /* called with them again: what it returns is what the call returns */
    int busy;           /* of the thread, then */
};
extern _Thread_local struct ft_lead ft_lead __attribute__((tls_model("initial-exec"), visibility("hidden")));
void ft_lead_keep(struct ft_lead *to);
void ft_lead_restore(const struct ft_lead *from);

#endif
