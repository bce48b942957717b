/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/join/children.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/rdzv/rdzv.h"

enum { LOOKS = 100, LOOK_MS = 10 };

/* True: there are any, zombies among them. */
static bool kill_others(const struct ft_rdzv *r)
{
    char path[64];
    bool any = false;
    FILE *f;
    int pid;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    f = fopen(path, "re");
    while (f && fscanf(f, "%d", &pid) == 1)
        if (!ft_rdzv_has_child(r, pid)) {
            any = true;
            kill(pid, SIGKILL);
        }
    if (f)
        fclose(f);
    return any;
}

void ft_children_kill(struct ft_rdzv *r)
{
    for (int i = 0; i < LOOKS && kill_others(r); i++) {
        const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
        pid_t pid;

        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
            if (r)
                ft_rdzv_reaped(r, pid);
        if (pid == 0)
            nanosleep(&pause, NULL);
    }
}
