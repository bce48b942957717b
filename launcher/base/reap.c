/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/base/reap.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/base/kill.h"
#include "launcher/base/pidfd.h"
#include "launcher/base/procstat.h"

int ft_reap_adopt(void)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static bool is_leader(const struct ft_leaders *leaders, pid_t pid)
{
    for (uint32_t r = 0; r < leaders->n; r++)
        if (leaders->pids[r] == pid)
            return true;
    return pid == leaders->other;
}

/* RULE 17: look, record, then reap: what it came to is for its rank, which may have a successor. True: it is gone. */
static bool bury(const struct ft_leaders *leaders, pid_t pid)
{
    siginfo_t info = {.si_signo = 0};
    struct rusage usage;

    if (syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT, &usage) < 0 || info.si_pid != pid)
        return false;
    if (leaders->ended)
        leaders->ended(leaders->arg, pid, info.si_code == CLD_EXITED ? (info.si_status & 0xff) << 8 :
                       info.si_status | (info.si_code == CLD_DUMPED ? 0x80 : 0), &usage);
    return waitpid(pid, NULL, WNOHANG) == pid;
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
        bury(leaders, info.si_pid);
    }
}

typedef void visit(void *arg, pid_t pid);

static void each_process(visit *each, void *arg)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;

    while (proc && (entry = readdir(proc)))
        if (isdigit((unsigned char)entry->d_name[0]))
            each(arg, atoi(entry->d_name));
    if (proc)
        closedir(proc);
}

static pid_t parent_of(pid_t pid)
{
    struct ft_procstat stat;

    return ft_procstat_read(pid, &stat) ? stat.parent : 0;
}

struct filter {
    visit *each;
    void *arg;
};

static void visit_child(void *arg, pid_t pid)
{
    const struct filter *f = arg;

    if (parent_of(pid) == getpid())
        f->each(f->arg, pid);
}

/* Every child of this process: of its first thread, which starts all ranks and to which orphans are given. */
static void each_child(visit *each, void *arg)
{
    char path[64];
    FILE *file;
    int pid;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    file = fopen(path, "re");
    if (!file) { /* kernels without it */
        each_process(visit_child, &(struct filter){each, arg});
        return;
    }
    while (fscanf(file, "%d", &pid) == 1)
        each(arg, pid);
    fclose(file);
}

static void reap_one(void *arg, pid_t pid)
{
    if (!is_leader(arg, pid))
        bury(arg, pid);
}

static void reap_behind_leader(const struct ft_leaders *leaders)
{
    each_child(reap_one, (void *)leaders);
}

enum { VALUE = 32 };

/* The value of this variable ("NAME=") in the environment that pid was started with: a process that made a group or session of
   its own still has it. False: it has none. */
static bool get_variable(pid_t pid, const char *name, char value[VALUE])
{
    char path[40], *var = NULL;
    size_t room = 0, len = strlen(name);
    bool found = false;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    file = fopen(path, "re");
    while (file && !found && getdelim(&var, &room, 0, file) > 0)
        found = !strncmp(var, name, len);
    if (found)
        snprintf(value, VALUE, "%s", var + len);
    if (file)
        fclose(file);
    free(var);
    return found;
}

static uint32_t number_of(const struct ft_leaders *leaders, uint32_t rank)
{
    return leaders->ranks ? leaders->ranks[rank] : rank;
}

static bool has_rank(const struct ft_leaders *leaders, pid_t pid, uint32_t rank)
{
    char value[VALUE], wanted[VALUE];

    snprintf(wanted, sizeof wanted, "%u", number_of(leaders, rank));
    return get_variable(pid, "FTMPI_RANK=", value) && !strcmp(value, wanted);
}

static bool has_job(pid_t pid, const char *job)
{
    char value[VALUE];

    return get_variable(pid, "FTMPI_JOB=", value) && !strcmp(value, job);
}

/* Whether it was in exec since its environment began there, or is dying: the kernel shows none then, whosever process it is. 0 and not ours to look
   at: no. */
static bool is_in_between(pid_t pid, unsigned long environment)
{
    struct ft_procstat now;
    char path[40];
    int fd;

    if (!ft_procstat_read(pid, &now) || now.environment != environment)
        return true;
    if (environment || now.kernel)
        return false;
    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC); /* what stat shows is subject to the same check; access() asks for less */
    if (fd >= 0)
        close(fd);
    return fd >= 0 || errno == ESRCH; /* it has no memory any more (Linux 6.18; before, the file could be opened) */
}

enum whose { OTHERS, OURS, UNSURE /* another look tells */ };

static bool is_number_of_ours(const struct ft_leaders *leaders, const char *value)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);

    for (uint32_t r = 0; r < leaders->n; r++)
        if (!*end && leaders->ranks[r] == number)
            return true;
    return false;
}

/* Several nodes of a job may be on one host: what has the number of a rank of another one is that one's. */
static enum whose whose_is(const struct ft_leaders *leaders, pid_t pid, unsigned long environment)
{
    bool job = has_job(pid, leaders->job);
    char value[VALUE];

    if (job && !leaders->ranks)
        return OURS;
    if (job && get_variable(pid, "FTMPI_RANK=", value))
        return is_number_of_ours(leaders, value) ? OURS : OTHERS;
    if (is_in_between(pid, environment))
        return UNSURE;
    return job ? OURS : OTHERS; /* it has no number any more */
}

/* Also one that has neither the rank's group nor its environment any more. What such a child has started, nobody can tell. */
static bool is_child_of(const struct ft_leaders *leaders, pid_t pid, uint32_t rank)
{
    return leaders->has && leaders->has(leaders->arg, rank, pid);
}

bool ft_reap_is_rank(const struct ft_leaders *leaders, pid_t pid, uint32_t rank)
{
    return has_job(pid, leaders->job) && has_rank(leaders, pid, rank);
}

struct hunt {
    const struct ft_leaders *leaders;
    uint32_t rank;
    pid_t group;
    int signal;
    uint32_t alive;
    bool died;          /* one of them since they were listed: its children may have become ours since then */
    pid_t *one;
};

static bool is_kept(const struct ft_leaders *leaders, pid_t pid)
{
    for (uint32_t i = 0; i < leaders->nkept; i++)
        if (leaders->kept[i] == pid)
            return true;
    return false;
}

/* pidfd: -1, of a child of ours. */
static void hunt_one(struct hunt *h, pid_t pid, int pidfd)
{
    struct ft_procstat stat;

    if (is_leader(h->leaders, pid) || is_kept(h->leaders, pid) || !ft_procstat_read(pid, &stat))
        return;
    if (stat.state == 'Z') {
        h->died |= bury(h->leaders, pid);
        return;
    }
    if (h->group && stat.group != h->group && !has_rank(h->leaders, pid, h->rank) && !is_child_of(h->leaders, pid, h->rank)) {
        h->alive += is_in_between(pid, stat.environment); /* another look tells whose it is */
        return;
    }
    ft_kill(pid, pidfd, h->signal);
    if (!h->alive++ && h->one)
        *h->one = pid;
}

static void hunt_child(void *arg, pid_t pid) { hunt_one(arg, pid, -1); }

static bool below_leader(const struct ft_leaders *leaders, pid_t pid)
{
    for (int depth = 0; pid > 1 && depth < 64; depth++, pid = parent_of(pid))
        if (is_leader(leaders, pid))
            return true;
    return false;
}

/* An orphan that has become somebody else's child: no living rank is above it. */
static void hunt_stranger(void *arg, pid_t pid)
{
    struct hunt *h = arg;
    struct ft_procstat stat;
    enum whose whose;
    int pidfd;

    if (pid == getpid() || !ft_procstat_read(pid, &stat) || stat.state == 'Z' || stat.parent == getpid())
        return;
    pidfd = ft_pidfd_open(pid); /* before it is looked at: somebody else waits for it, and then its number is free */
    whose = whose_is(h->leaders, pid, stat.environment);
    if (whose == OURS && !below_leader(h->leaders, pid))
        hunt_one(h, pid, pidfd);
    else if (whose == UNSURE)
        h->alive += !below_leader(h->leaders, pid);
    if (pidfd >= 0)
        close(pidfd);
}

uint32_t ft_reap_signal(const struct ft_leaders *leaders, uint32_t rank, pid_t group, int signal, pid_t *one)
{
    struct hunt h = {.leaders = leaders, .rank = rank, .group = group, .signal = signal, .one = one};

    do {
        h.died = false;
        each_child(hunt_child, &h);
        if (leaders->strangers)
            each_process(hunt_stranger, &h);
    } while (h.died && !h.alive);
    return h.alive;
}
