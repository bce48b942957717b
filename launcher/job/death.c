/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/job/death.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/shm/wait.h"
#include "launcher/base/procstat.h"
#include "launcher/base/proctext.h"
#include "launcher/job/groups.h"

enum { LOOK = 64 }; /* at once */

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

/* linux/pidfd.h of Linux 6.15; Debian 12's headers are older than its users' kernels may be. */
struct pidfd_info {
    uint64_t mask, cgroupid;
    uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
    int32_t exit_code;
};
#define PIDFD_GET_INFO _IOWR(0xFF, 11, struct pidfd_info)
#define PIDFD_INFO_EXIT (1ull << 3)

/* After somebody (init) has waited for it. False also on Linux before 6.15. */
static bool status_of_reaped(int pidfd, int *status)
{
    struct pidfd_info info = {.mask = PIDFD_INFO_EXIT};

    if (ioctl(pidfd, PIDFD_GET_INFO, &info) < 0 || !(info.mask & PIDFD_INFO_EXIT))
        return false;
    *status = info.exit_code;
    return true;
}

/* Before that. */
static bool status_of_zombie(pid_t pid, int pidfd, int *status)
{
    struct ft_procstat stat;

    if (!ft_procstat_read(pid, &stat) || stat.state != 'Z')
        return false;
    *status = stat.status;
    /* Else it is gone, and the number may be another's. Who may not ask takes it for this one's, as it most likely is. */
    return syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) == 0 || errno != ESRCH;
}

/* The kernel counts what it writes of the core as the process's own. */
static bool is_dumping(pid_t pid)
{
    char text[4096];

    ft_proctext_of(pid, "status", text, sizeof text);
    return strstr(text, "\nCoreDumping:\t1");
}

uint64_t ft_death_writes(pid_t pid)
{
    unsigned long long writes = UINT64_MAX;
    char text[512];
    const char *at;

    ft_proctext_of(pid, "io", text, sizeof text);
    at = strstr(text, "syscw: ");
    return at && sscanf(at, "syscw: %llu", &writes) == 1 && !is_dumping(pid) ? writes : UINT64_MAX;
}

/* zombie: as which it is there; 0: it is not. */
static void record(struct ft_proc *proc, pid_t zombie, int signal, int code, bool lost)
{
    proc->died_ns = ft_clock_ns();
    proc->by_itself = false;
    proc->astray = FT_ASTRAY_NOT;
    proc->oom = signal == SIGKILL && ft_groups_took(proc->job->groups, proc->rank, zombie);
    proc->signal = signal;
    proc->code = code;
    proc->lost |= lost;
    ft_proc_enter(proc, FT_PROC_DEAD);
}

static bool bury_stranger(struct ft_proc *proc)
{
    struct pollfd p = {.fd = proc->pidfd, .events = POLLIN};
    int status;

    if (poll(&p, 1, 0) == 0)
        return false;
    proc->writes = UINT64_MAX;
    if (!status_of_reaped(proc->pidfd, &status) && !status_of_zombie(proc->pid, proc->pidfd, &status) &&
        !status_of_reaped(proc->pidfd, &status))
        record(proc, 0, 0, 0, true);
    else if (WIFSIGNALED(status))
        record(proc, 0, WTERMSIG(status), 0, false);
    else
        record(proc, 0, 0, WEXITSTATUS(status), false);
    return true;
}

/* A child of ours keeps its number until we reap it. So that will do where its descriptor does not (Linux before 5.4). */
static int wait_for(const struct ft_proc *proc, siginfo_t *info, int options)
{
    int found = waitid(P_PIDFD, (id_t)proc->pidfd, info, options);

    return found < 0 && errno != ECHILD ? waitid(P_PID, (id_t)proc->pid, info, options) : found;
}

/* RULE 17: look, record, then reap. */
static bool bury_child(struct ft_proc *proc, siginfo_t *info)
{
    if (!info->si_pid)
        return false;
    proc->writes = info->si_code == CLD_DUMPED ? UINT64_MAX : ft_death_writes(info->si_pid);
    if (info->si_code == CLD_EXITED)
        record(proc, info->si_pid, 0, info->si_status, false);
    else
        record(proc, info->si_pid, info->si_status, 0, false);
    wait_for(proc, info, WEXITED | WNOHANG);
    return true;
}

bool ft_death_reap(struct ft_proc *proc)
{
    siginfo_t info = {0};
    int found = wait_for(proc, &info, WEXITED | WNOHANG | WNOWAIT);

    if (found < 0 ? !bury_stranger(proc) : !bury_child(proc, &info))
        return false;
    close(proc->pidfd);
    proc->pidfd = -1;
    return true;
}

static void look(struct ft_proc *procs, nfds_t n)
{
    struct pollfd p[LOOK];
    uint64_t now = ft_clock_ns();

    for (nfds_t i = 0; i < n; i++)
        p[i] = (struct pollfd){.fd = procs[i].pidfd, .events = POLLIN};
    if (poll(p, n, 0) < 0)
        return;
    for (nfds_t i = 0; i < n; i++)
        if (p[i].fd >= 0 && !p[i].revents)
            procs[i].seen_ns = now;
}

void ft_death_look(struct ft_proc *procs, uint32_t n)
{
    for (uint32_t i = 0; i < n; i += LOOK)
        look(procs + i, ft_min(LOOK, n - i));
}

bool ft_death_is_child(pid_t pid)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}
