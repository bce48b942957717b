/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/left.h"

#include "ft/outcome/record.h"
#include "ft/outcome/signals.h"
#include "ft/outcome/task.h"

enum { DEPTH = 32 /* handlers in handlers; deeper ones are not looked at */ };

/* What this thread is in where a handler of the program begins: so it is again where that is left for it. */
struct running {
    uintptr_t interrupted, frame;
    int busy, inside, holds, ends;
    bool in_call, deaf, masked;
};

static _Thread_local struct running running[DEPTH];
static _Thread_local int depth;

static bool is_deaf(void) { return ft_thread.task && atomic_load(&ft_thread.task->waits) == FT_WAITS_DEAF; }

int ft_left_begin(uintptr_t interrupted, uintptr_t frame)
{
    int outside = depth;

    if (depth == DEPTH)
        return outside;
    running[depth] = (struct running){.interrupted = interrupted, .frame = frame, .busy = ft_thread.busy, .inside = ft_thread.inside,
                                      .holds = ft_thread.holds, .ends = ft_thread.ends, .in_call = ft_thread.in_call, .deaf = is_deaf(),
                                      .masked = ft_thread.task && ft_thread.task->masked};
    depth++;
    return outside;
}

void ft_left_end(const int *outside) { depth = *outside; }

/* What goes on is a function that the handler has called, so it lies on the stack between the two. Any other stack is not the handler's. */
static bool is_within(int i, uintptr_t at)
{
    uintptr_t low = i + 1 < depth ? running[i + 1].interrupted : (uintptr_t)__builtin_frame_address(0);

    return at >= low && at < running[i].frame;
}

/* The record of a call that is left is not done any more, and in no copy is it owed to this thread. */
static void leave_for(const struct running *r)
{
    struct ft_task *t = ft_thread.task;

    if (ft_thread.in_call && !r->in_call) {
        ft_recorder_close("it has left a call by siglongjmp out of a signal's handler");
        ft_threads_resolved();
        ft_thread.log->owed = FT_OUTCOME_NOWHERE;
    }
    ft_thread.in_call = r->in_call;
    ft_thread.ends = r->ends;
    ft_thread.inside = r->inside;
    while (ft_thread.holds > r->holds)
        ft_threads_unlock();
    if (t)
        t->masked = r->masked;
    ft_deaf_end(is_deaf() && !r->deaf);
    ft_thread.busy = r->busy + 1;
    ft_idle();
}

bool ft_left_any(void) { return depth > 0; }

void ft_left_by_jump(uintptr_t to)
{
    static const struct running none;
    int left = depth;

    while (depth && !is_within(depth - 1, to))
        depth--;
    if (depth == left)
        return;
    leave_for(depth ? &running[depth - 1] : &none);
    ft_signals_left();
}
