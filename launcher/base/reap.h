/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank is its whole process tree (RULES 15-18). ftrun is a child subreaper: whatever a rank's processes leave behind
   becomes ftrun's child, is found here, killed and waited for. Leaders are the processes that ftrun started
   itself (its own second one is treated like them); they are waited for elsewhere. */
#ifndef LAUNCHER_BASE_REAP_H
#define LAUNCHER_BASE_REAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Leaders not yet waited for: pids[rank], 0 for none. */
struct ft_leaders {
    const pid_t *pids;
    uint32_t n;
    const pid_t *kept;   /* snapshots, which nobody hunts: nkept of them, 0 between them */
    uint32_t nkept;
    pid_t other;         /* the other process of ftrun, 0: none; may be our child */
    const char *job;     /* id */
    const uint32_t *ranks;  /* their numbers in the job, which are in their environment; NULL: as here */
    bool (*has)(void *arg, uint32_t rank, pid_t pid);  /* the rank has said that this is a child of its own; NULL: it does not say such things */
    void (*ended)(void *arg, pid_t pid, int status, const struct rusage *usage);  /* an orphan has; NULL: nobody asks */
    void *arg;
    bool strangers;      /* orphans may have become init's children: they are looked for by FTMPI_JOB in their environment */
};

/* Makes this process a subreaper. -1: errno. */
int ft_reap_adopt(void);

/* Waits for every dead child that is not a leader. */
void ft_reap_orphans(const struct ft_leaders *leaders);

/* Whether pid was started as (or by) rank of this job. */
bool ft_reap_is_rank(const struct ft_leaders *leaders, pid_t pid, uint32_t rank);

/* Sends `signal` to orphans: those of `rank`, whose dead leader's process group was `group`, or with group 0 all of them. Returns how
   many were found alive (a signalled one may take a moment to die), the first of them in *one. */
uint32_t ft_reap_signal(const struct ft_leaders *leaders, uint32_t rank, pid_t group, int signal, pid_t *one);

#endif
