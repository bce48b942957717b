/* SPDX-License-Identifier: BSD-3-Clause */
/* A signal reaches the process that was meant, or nobody: not the one that has its number by now. */
#include "launcher/base/kill.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process that waits for its end, in a group of its own. */
static pid_t begin(int *pidfd)
{
    pid_t pid = fork();

    cr_assert_geq(pid, 0);
    if (pid == 0)
        for (;;)
            pause();
    cr_assert_eq(setpgid(pid, pid), 0);
    *pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    cr_assert_geq(*pidfd, 0);
    return pid;
}

static bool ended_by(pid_t pid, int signal)
{
    int status;

    cr_assert_eq(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) && WTERMSIG(status) == signal;
}

Test(kill, reaches_whom_it_is_meant_for, .timeout = 60)
{
    int pidfd;
    pid_t pid = begin(&pidfd);

    cr_expect_eq(ft_kill(pid, pidfd, SIGTERM), 0);
    cr_expect(ended_by(pid, SIGTERM));
    pid = begin(&pidfd);
    cr_expect_eq(ft_kill_group(pid, pidfd, SIGTERM), 0);
    cr_expect(ended_by(pid, SIGTERM));
    pid = begin(&pidfd);
    cr_expect_eq(ft_kill(pid, -1, SIGTERM), 0);
    cr_expect(ended_by(pid, SIGTERM));
    pid = begin(&pidfd);
    cr_expect_eq(ft_kill_group(pid, -1, SIGTERM), 0);
    cr_expect(ended_by(pid, SIGTERM));
}

/* The first one is gone, and another one has its number: that was killed. */
Test(kill, never_reaches_who_has_the_number_now, .timeout = 60)
{
    int gone, pidfd;
    pid_t first = begin(&gone), now = begin(&pidfd);

    cr_assert_eq(ft_kill(first, gone, SIGKILL), 0);
    cr_expect(ended_by(first, SIGKILL));
    errno = 0;
    cr_expect(ft_kill(now, gone, SIGKILL) == -1 && errno == ESRCH);
    cr_expect_eq(waitpid(now, NULL, WNOHANG), 0);
    cr_expect_eq(ft_kill(now, pidfd, SIGTERM), 0);
    cr_expect(ended_by(now, SIGTERM));
}
