/* SPDX-License-Identifier: BSD-3-Clause */
/* killat N COMMAND...: runs COMMAND, and kills the first process that it forks (ftrun's agent) with SIGKILL at its N-th
   stop at a system call; each call is two stops, before it is made and after it. Leaves with COMMAND's exit code (128 + signal).
   N 0: nobody is killed, and the number of stops is printed on descriptor 9. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static long stops;

/* The command's child stops on its own after the fork; from then on at every system call. */
static void follow(pid_t agent, int status, long n)
{
    int signal = WSTOPSIG(status);

    if (signal == (SIGTRAP | 0x80)) {
        if (++stops == n) {
            kill(agent, SIGKILL);
            return;
        }
        signal = 0;
    } else if (signal == SIGSTOP || signal == SIGTRAP) {
        signal = 0;
    }
    ptrace(PTRACE_SYSCALL, agent, NULL, (void *)(long)signal);
}

static void let_go(pid_t command, int status)
{
    int signal = WSTOPSIG(status);

    ptrace(PTRACE_CONT, command, NULL, (void *)(long)(signal == SIGTRAP || signal == SIGSTOP ? 0 : signal));
}

static pid_t start(char **argv)
{
    pid_t command = fork();

    if (command == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        execv(argv[0], argv);
        _exit(127);
    }
    waitpid(command, NULL, 0);
    ptrace(PTRACE_SETOPTIONS, command, NULL, (void *)(PTRACE_O_TRACEFORK | PTRACE_O_TRACESYSGOOD));
    ptrace(PTRACE_CONT, command, NULL, NULL);
    return command;
}

int main(int argc, char **argv)
{
    long n = argc > 2 ? atol(argv[1]) : 0;
    pid_t command = argc > 2 ? start(argv + 2) : 0, agent = 0, pid;
    int status;

    while (command && ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR)) {
        if (pid < 0)
            continue;
        if (pid == command && !WIFSTOPPED(status)) {
            if (!n)
                dprintf(9, "%ld\n", stops);
            return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        }
        if (!WIFSTOPPED(status))
            continue;
        if (pid != command && !agent)
            agent = pid;
        if (pid == command)
            let_go(pid, status);
        else if (pid == agent)
            follow(pid, status, n);
        else
            ptrace(PTRACE_DETACH, pid, NULL, NULL); /* a process that a successor forks */
    }
    return 99;
}
