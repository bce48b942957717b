/* SPDX-License-Identifier: BSD-3-Clause */
/* Kills by chance, of the tests' agent: after a random time, or at a random system call. */
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "ft/outcome/test/agent.h"
#include "ft/shm/wait.h"

void kills_arm(struct agent *a)
{
    uint64_t now = ft_clock_ns();

    a->traced = false;
    a->kill_ns = UINT64_MAX;
    if (a->killed >= a->kills)
        return;
    if (a->max_us) {
        a->kill_ns = now + agent_random(a) % (uint64_t)a->max_us * 1000;
        return;
    }
    a->calls_left = 1 + (long)(agent_random(a) % (uint64_t)a->max_calls);
    a->phase = (int)(agent_random(a) % 3);
    if (ptrace(PTRACE_SEIZE, a->rank, 0, PTRACE_O_TRACESYSGOOD) < 0 || ptrace(PTRACE_INTERRUPT, a->rank, 0, 0) < 0)
        return; /* it is dead already */
    a->traced = true;
}

/* Of a write less is written: up to a block of the file, as the kernel does when the rank is killed. False: it is none, or too
   short. */
static bool tear(struct agent *a)
{
#if defined(__x86_64__)
    struct user_regs_struct r;
    struct stat st;
    char name[64];
    uint64_t less;

    if (ptrace(PTRACE_GETREGS, a->rank, 0, &r) < 0 || (r.orig_rax != SYS_write && r.orig_rax != SYS_pwrite64))
        return false;
    snprintf(name, sizeof name, "/proc/%d/fd/%d", a->rank, (int)r.rdi);
    if (stat(name, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    less = 512 - (uint64_t)st.st_size % 512;
    if (less >= r.rdx)
        return false;
    r.rdx = less + (r.rdx - less - 1) / 512 * 512 * (agent_random(a) & 1);
    a->torn++;
    return ptrace(PTRACE_SETREGS, a->rank, 0, &r) == 0;
#else
    return false;
#endif
}

/* A stop of the traced rank: entering and leaving a call by turns. */
void kills_stop(struct agent *a, int status)
{
    static bool entered;
    int signal = WSTOPSIG(status);

    if (signal == (SIGTRAP | 0x80)) {
        entered = !entered;
        if (entered && --a->calls_left == 0) {
            if (a->phase == 0) {
                agent_kill(a);
                return;
            }
            if (a->phase == 2 && !tear(a))
                a->calls_left = 1; /* the next one that can be torn, then */
        } else if (!entered && a->calls_left <= 0) {
            agent_kill(a);
            return;
        }
        signal = 0;
    } else if (status >> 16 == PTRACE_EVENT_STOP) {
        entered = false;
        signal = 0;
    }
    ptrace(PTRACE_SYSCALL, a->rank, 0, signal);
}
