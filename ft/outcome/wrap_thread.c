/* SPDX-License-Identifier: BSD-3-Clause */
/* Of the thread that calls: the C library asks the kernel by the number that it had in its first incarnation (ft_image_clone). */
#include "ft/outcome/real.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

#include "ft/outcome/record.h"

static bool is_self(pthread_t thread) { return ft_recorder.on && pthread_equal(thread, pthread_self()); }

/* Of a call that says what is wrong by errno; that stays as it was. */
static int as_number(int result, int error_before)
{
    int error = result < 0 ? errno : 0;

    errno = error_before;
    return error;
}

int pthread_getaffinity_np(pthread_t thread, size_t n, cpu_set_t *to)
{
    int error = errno;

    return is_self(thread) ? as_number(sched_getaffinity(0, n, to), error) : ft_real()->pthread_getaffinity_np(thread, n, to);
}

int pthread_setaffinity_np(pthread_t thread, size_t n, const cpu_set_t *to)
{
    int error = errno;

    return is_self(thread) ? as_number(sched_setaffinity(0, n, to), error) : ft_real()->pthread_setaffinity_np(thread, n, to);
}

int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *to)
{
    int error = errno, found;

    if (!is_self(thread))
        return ft_real()->pthread_getschedparam(thread, policy, to);
    found = sched_getscheduler(0);
    if (found < 0)
        return as_number(found, error);
    *policy = found;
    return as_number(sched_getparam(0, to), error);
}

int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *to)
{
    int error = errno;

    return is_self(thread) ? as_number(sched_setscheduler(0, policy, to), error) : ft_real()->pthread_setschedparam(thread, policy, to);
}

int pthread_setschedprio(pthread_t thread, int priority)
{
    int error = errno;

    if (!is_self(thread))
        return ft_real()->pthread_setschedprio(thread, priority);
    return as_number(sched_setparam(0, &(struct sched_param){.sched_priority = priority}), error);
}

/* The kernel's clock of a thread: its number, and what is measured (CLOCK_THREAD_CPUTIME_ID's kind). */
int pthread_getcpuclockid(pthread_t thread, clockid_t *to)
{
    if (!is_self(thread))
        return ft_real()->pthread_getcpuclockid(thread, to);
    *to = (clockid_t)(~(unsigned)syscall(SYS_gettid) << 3 | 6);
    return 0;
}
