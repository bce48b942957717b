/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/kill.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PIDFD_SIGNAL_PROCESS_GROUP
#define PIDFD_SIGNAL_PROCESS_GROUP (1u << 2) /* Linux 6.9 */
#endif

/* False: it cannot be told so. Else *result is -1 with ESRCH where it is gone. */
static bool by_pidfd(int pidfd, int signal, unsigned flags, int *result)
{
    *result = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, flags);
    return *result == 0 || (pidfd >= 0 && errno == ESRCH);
}

int ft_kill(pid_t pid, int pidfd, int signal)
{
    int result;

    return by_pidfd(pidfd, signal, 0, &result) ? result : kill(pid, signal);
}

int ft_kill_group(pid_t leader, int pidfd, int signal)
{
    int result;

    return by_pidfd(pidfd, signal, PIDFD_SIGNAL_PROCESS_GROUP, &result) ? result : kill(-leader, signal);
}
