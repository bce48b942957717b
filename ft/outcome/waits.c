/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting in a recorded call, and where a thread that waits is led back to in a copy (stand.h, lead.S). */
#include <errno.h>
#include <signal.h>

#include "ft/outcome/mask.h"
#include "ft/outcome/record.h"
#include "ft/outcome/task.h"

/* ---- waiting ---- */

static void wait_for_copy(void)
{
    uint32_t copy = atomic_load(&ft_standing);

    if (copy)
        ft_task_futex(&ft_standing, FUTEX_WAIT, copy, NULL);
}

static void wait_now(struct ft_task *t)
{
    int error = errno;

    atomic_store(&t->waits, FT_WAITS);
    while (atomic_load(&ft_standing))
        wait_for_copy();
    errno = error;
}

static void wait_no_more(struct ft_task *t)
{
    uint32_t waits = FT_WAITS;
    int error = errno;

    for (; !atomic_compare_exchange_strong(&t->waits, &waits, FT_WAITS_NOT); waits = FT_WAITS)
        wait_for_copy();
    errno = error;
}

/* Before the kernel is reached. A copy that begins afterwards finds that it waits, and sends it no signal. */
bool ft_waits_begin_slowly(void)
{
    struct ft_task *t = ft_thread.task;

    if (!t || !ft_thread.led || !ft_recorder.on)
        return false;
    t->error = errno;
    __asm__("stmxcsr %0\n fnstcw %1" : "=m"(t->mxcsr), "=m"(t->x87));
    wait_now(t);
    return true;
}

bool ft_deaf_begin(void)
{
    struct ft_task *t = ft_threads_many && ft_recorder.on && !ft_thread.busy ? ft_thread.task : NULL;

    while (t) {
        atomic_store(&t->waits, FT_WAITS_DEAF);
        if (!atomic_load(&ft_standing))
            return true;
        atomic_store(&t->waits, FT_WAITS_NOT);
        ft_stand_here();
    }
    return false;
}

void ft_deaf_end(bool deaf)
{
    if (!deaf)
        return;
    atomic_store(&ft_thread.task->waits, FT_WAITS_NOT);
    if (atomic_load(&ft_standing))
        ft_stand_here();
}

void ft_waits_masked(void)
{
    struct ft_task *t = ft_threads_many ? ft_thread.task : NULL;

    if (!t)
        return;
    ft_mask_real(SIG_SETMASK, NULL, &t->mask);
    t->masked = true;
}

void ft_waits_end_slowly(void)
{
    ft_thread.task->masked = false;
    wait_no_more(ft_thread.task);
}

bool ft_waits_now(void)
{
    uint32_t waits = ft_thread.task ? atomic_load(&ft_thread.task->waits) : FT_WAITS_NOT;

    return waits == FT_WAITS || waits == FT_WAITS_HELD;
}

bool ft_waits_leave(void)
{
    bool waits = ft_waits_now();

    if (waits)
        wait_no_more(ft_thread.task);
    return waits;
}

void ft_waits_return(bool left, const sigset_t *programs)
{
    struct ft_task *t = ft_thread.task;

    if (!left)
        return;
    if (!t->masked) /* the kernel has that of the handler, which may not have returned when a copy is made */
        t->mask = *programs;
    t->masked = true;
    wait_now(t);
}

/* ---- where one that waits is led back to ---- */

_Thread_local struct ft_lead ft_lead __attribute__((tls_model("initial-exec"), visibility("hidden"))); /* lead.S fills it in, as setjmp does */

bool ft_waits_led_here(void) __attribute__((visibility("hidden")));
bool ft_waits_led_here(void)
{
    ft_lead.busy = ft_thread.busy;
    ft_thread.led = true;
    return false;
}

bool ft_waits_led_again(void) __attribute__((visibility("hidden")));
bool ft_waits_led_again(void) { return true; }

void ft_lead_keep(struct ft_lead *to)
{
    ft_lead.busy = ft_thread.busy;
    *to = ft_lead;
}

void ft_lead_restore(const struct ft_lead *from) { ft_lead = *from; }

