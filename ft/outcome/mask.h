/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread's mask of signals, the real one and the program's (wrap_mask.c); for what handles signals. */
#ifndef FT_OUTCOME_MASK_H
#define FT_OUTCOME_MASK_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

/* The kernel's mask. */
void ft_mask_real(int how, const sigset_t *set, sigset_t *old);

/* One that is pending for this thread comes before this returns, whoever blocks it. */
void ft_mask_let_come(int signal);

/* The program's, as pthread_sigmask: also in a replay, where its own signals come as they are unblocked. */
int ft_mask(int how, const sigset_t *set, sigset_t *old);

/* In a set. */
void ft_mask_change(sigset_t *set, int how, const sigset_t *by);

/* This thread is in a replay: the two masks are not the same. */
bool ft_mask_is_held(void);

/* The replay has ended: they are; or will be, at the end of the handler whose frame that is. */
void ft_mask_release(void);
void ft_mask_release_in(ucontext_t *frame);

/* In a handler that the kernel has called, with that frame and all blocked: the program has `blocked` blocked besides from here on. *before: what it has
   outside. Before it returns there: so it is again. was_held: what ft_mask_is_held was. */
void ft_mask_in_handler(const ucontext_t *frame, const sigset_t *blocked, sigset_t *before);
void ft_mask_return(ucontext_t *frame, bool was_held, const sigset_t *before);

/* Takes a signal that is pending. `again`: it was pending when the copy was made. False: there is none. */
bool ft_mask_take(int signal, siginfo_t *info, bool *again);

/* By a process. */
bool ft_mask_is_sent(const siginfo_t *info);

#endif
