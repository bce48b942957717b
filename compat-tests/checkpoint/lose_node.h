/* SPDX-License-Identifier: BSD-3-Clause */
/* For test programs: a rank takes its whole node along, as a host is lost. The node's two ftrun processes are known by their --node. */
#ifndef FTMPI_TEST_LOSE_NODE_H
#define FTMPI_TEST_LOSE_NODE_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pid_t parent_of(pid_t pid)
{
    char name[40], line[128];
    int parent = 0;
    FILE *f;

    snprintf(name, sizeof name, "/proc/%d/status", pid);
    f = fopen(name, "re");
    while (f && fgets(line, sizeof line, f) && sscanf(line, "PPid: %d", &parent) != 1)
        ;
    if (!f || parent < 1)
        abort();
    fclose(f);
    return parent;
}

/* Not the controller. */
static bool is_of_node(pid_t pid)
{
    char name[40], words[256] = "";
    size_t n;
    FILE *f;

    snprintf(name, sizeof name, "/proc/%d/cmdline", pid);
    f = fopen(name, "re");
    n = f ? fread(words, 1, sizeof words - 1, f) : 0;
    if (f)
        fclose(f);
    for (size_t i = 0; i < n; i += strlen(words + i) + 1)
        if (!strcmp(words + i, "--node"))
            return true;
    return false;
}

/* Its parent; or, if the agent was replaced (on a busy machine), its child: its parent is the controller then, which was killed. */
static pid_t twin_of(pid_t agent)
{
    pid_t twin = parent_of(agent);
    char name[60];
    FILE *f;

    if (is_of_node(twin))
        return twin;
    snprintf(name, sizeof name, "/proc/%d/task/%d/children", agent, agent);
    f = fopen(name, "re");
    while (f && fscanf(f, "%d", &twin) == 1 && !is_of_node(twin))
        ;
    if (f)
        fclose(f);
    return is_of_node(twin) ? twin : agent;
}

/* So many microseconds later, from a child, since this rank goes on until then; 0: at once. Both processes stop first, so that neither goes on for the
   other; their ranks are killed by the kernel. */
static void lose_node(int usec)
{
    pid_t agent = getppid(), twin = twin_of(agent);

    fflush(stdout); /* or the child would have it, too */
    if (usec && fork())
        return;
    usleep((useconds_t)usec);
    kill(twin, SIGSTOP);
    kill(agent, SIGSTOP);
    kill(twin, SIGKILL);
    kill(agent, SIGKILL);
    for (;;)
        pause();
}

#endif
