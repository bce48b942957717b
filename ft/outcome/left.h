/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers of signals that the program leaves without returning from them: by siglongjmp (wrap_jump.c), by an exception, or by the end of its thread.
   What was interrupted by them is over then, a recorded call too, and this thread is where the program goes on. */
#ifndef FT_OUTCOME_LEFT_H
#define FT_OUTCOME_LEFT_H

#include <stdbool.h>
#include <stdint.h>

/* A handler of the program is called next, by the function that has `frame`; what it interrupts has its stack down to `interrupted`. What this returns is
   for the second one, when the handler has returned; or is left by an exception, which ends the functions that it has interrupted on its own. */
int ft_left_begin(uintptr_t interrupted, uintptr_t frame);
void ft_left_end(const int *outside);

#define FT_LEFT_HERE(interrupted) \
    int left_here_ __attribute__((cleanup(ft_left_end), unused)) = ft_left_begin(interrupted, (uintptr_t)__builtin_frame_address(0))

/* This thread is in a handler. */
bool ft_left_any(void);
/* Before a jump to where the stack ends at `to`. */
void ft_left_by_jump(uintptr_t to);

#endif
