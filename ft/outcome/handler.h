/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's handlers of signals (wrap_handler.c). */
#ifndef FT_OUTCOME_HANDLER_H
#define FT_OUTCOME_HANDLER_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

/* A call that the signal interrupts goes on afterwards (SA_RESTART). */
bool ft_handler_restarts(int signal);

/* Outside of a signal's frame: what is blocked in the meantime is what the kernel would block. */
void ft_handler_run(siginfo_t *info);

/* In ours: the signal that this one is in the place of. NULL: in none's. */
siginfo_t *ft_handler_handed(const siginfo_t *by);

/* In the frame of ours, where all are blocked. */
void ft_handler_run_in_frame(int signal, siginfo_t *info, ucontext_t *context);

/* Ours, in the place of each of them. */
void ft_signals_arrive(int signal, siginfo_t *info, void *context);

#endif
