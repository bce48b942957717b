/* SPDX-License-Identifier: BSD-3-Clause */
/* Children of its own, counted by a SIGCHLD handler: WHAT is "one" (started and waited for between calls) or "long" (one that is there
   all the time). */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rounds.h"

static volatile sig_atomic_t ended;
static void on_child(int signal)
{
    (void)signal;
    ended = ended + 1;
}

static pid_t start(struct rounds *r, const char *command)
{
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    MUST(r, pid > 0);
    return pid;
}

static int finish(struct rounds *r, pid_t pid)
{
    int status;
    MUST(r, waitpid(pid, &status, 0) == pid);
    return status;
}

int main(int argc, char **argv)
{
    struct rounds r;
    struct sigaction act = {.sa_handler = on_child, .sa_flags = SA_RESTART};
    bool one;
    pid_t companion = 0;
    char command[32];

    rounds_begin(&r, argc, argv);
    one = !strcmp(r.what, "one");
    MUST(&r, sigaction(SIGCHLD, &act, NULL) == 0);
    if (!one) companion = start(&r, "exec sleep 1000");
    while (rounds_more(&r)) {
        if (r.at % 10 || !one) continue;
        snprintf(command, sizeof command, "exit %d", (int)(rounds_draw(&r, 0) % 100));
        rounds_mix(&r, (uint64_t)finish(&r, start(&r, command)));
        rounds_mix(&r, (uint64_t)ended);
        MUST(&r, ended == (sig_atomic_t)(r.at / 10));
    }
    if (companion) MUST(&r, kill(companion, SIGKILL) == 0 && WTERMSIG(finish(&r, companion)) == SIGKILL);
    MUST(&r, ended == (one ? (sig_atomic_t)(r.n / 10) : 1));
    return rounds_end(&r);
}
