/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/reap.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int ft_reap_adopt(void)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static bool is_leader(const struct ft_leaders *leaders, pid_t pid)
{
    for (uint32_t r = 0; r < leaders->n; r++)
        if (leaders->pids[r] == pid)
            return true;
    return false;
}

/* A dead leader stays where it is (its pidfd tells the event loop), so it can hide orphans behind it: they are found by
   name then. */
static void reap_behind_leader(const struct ft_leaders *leaders);

void ft_reap_orphans(const struct ft_leaders *leaders)
{
    siginfo_t info;

    for (;;) {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || !info.si_pid)
            return;
        if (is_leader(leaders, info.si_pid)) {
            reap_behind_leader(leaders);
            return;
        }
        waitpid(info.si_pid, NULL, WNOHANG);
    }
}

typedef void visit(void *arg, pid_t pid);

static bool read_stat(pid_t pid, char *state, pid_t *parent, pid_t *group)
{
    char path[40], text[512];
    const char *after;
    int fd;
    ssize_t n;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n < 0 ? 0 : n] = 0;
    after = strrchr(text, ')'); /* the name may hold anything */
    return after && sscanf(after + 1, " %c %d %d", state, parent, group) == 3;
}

/* Kernels without /proc/PID/task/TID/children. */
static void each_child_slowly(visit *each, void *arg)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;

    while (proc && (entry = readdir(proc))) {
        pid_t pid = atoi(entry->d_name), parent, group;
        char state;

        if (isdigit((unsigned char)entry->d_name[0]) && read_stat(pid, &state, &parent, &group) && parent == getpid())
            each(arg, pid);
    }
    if (proc)
        closedir(proc);
}

/* Every child of this process: of its first thread, which starts all ranks and to which orphans are given. */
static void each_child(visit *each, void *arg)
{
    char path[64];
    FILE *file;
    int pid;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    file = fopen(path, "re");
    if (!file) {
        each_child_slowly(each, arg);
        return;
    }
    while (fscanf(file, "%d", &pid) == 1)
        each(arg, pid);
    fclose(file);
}

static void reap_one(void *arg, pid_t pid)
{
    if (!is_leader(arg, pid))
        waitpid(pid, NULL, WNOHANG);
}

static void reap_behind_leader(const struct ft_leaders *leaders)
{
    each_child(reap_one, (void *)leaders);
}

/* Whether pid was started with FTMPI_RANK=rank: a process that made a group or session of its own still has it. */
static bool has_rank(pid_t pid, uint32_t rank)
{
    char path[40], wanted[32], *var = NULL;
    size_t room = 0;
    bool found = false;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    snprintf(wanted, sizeof wanted, "FTMPI_RANK=%u", rank);
    file = fopen(path, "re");
    while (file && !found && getdelim(&var, &room, 0, file) > 0)
        found = !strcmp(var, wanted);
    if (file)
        fclose(file);
    free(var);
    return found;
}

struct hunt {
    const struct ft_leaders *leaders;
    uint32_t rank;
    pid_t group;
    int signal;
    uint32_t alive;
    pid_t *one;
};

static void hunt_one(void *arg, pid_t pid)
{
    struct hunt *h = arg;
    pid_t parent, group;
    char state;

    if (is_leader(h->leaders, pid) || !read_stat(pid, &state, &parent, &group))
        return;
    if (h->group && group != h->group && !has_rank(pid, h->rank))
        return;
    if (state == 'Z') {
        waitpid(pid, NULL, WNOHANG);
        return;
    }
    kill(pid, h->signal);
    if (!h->alive++ && h->one)
        *h->one = pid;
}

uint32_t ft_reap_signal(const struct ft_leaders *leaders, uint32_t rank, pid_t group, int signal, pid_t *one)
{
    struct hunt h = {leaders, rank, group, signal, 0, one};

    each_child(hunt_one, &h);
    return h.alive;
}
