/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/join/children.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS = 100, LOOK_MS = 10 };

static void kill_all(void)
{
    char path[64];
    FILE *f;
    int pid;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    f = fopen(path, "re");
    while (f && fscanf(f, "%d", &pid) == 1)
        kill(pid, SIGKILL);
    if (f)
        fclose(f);
}

void ft_children_kill(void)
{
    for (int i = 0; i < LOOKS; i++) {
        const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
        pid_t pid;

        kill_all();
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (pid < 0)
            return;
        nanosleep(&pause, NULL);
    }
}
