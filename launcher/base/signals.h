/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher's signals are read from a descriptor, in all of its processes: no handler ever runs.

   A process group is sent a signal in both of ftrun's processes, a caller of kill(2) may mean one of them, and nobody can tell the two apart.
   So the end that is asked for (SIGINT, SIGTERM, SIGHUP) is taken from both, and counted in each: the job has been asked as often as the one
   that was asked more often. All else, of which each one counts and the order, is taken from one process only (ft_twin_leads). */
#ifndef LAUNCHER_BASE_SIGNALS_H
#define LAUNCHER_BASE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum { FT_IGNORED = 4, FT_SIGNALS = 65 };

/* The last one of a kind that was taken for new. */
struct ft_signal_seen {
    pid_t sender;
    uint64_t at_ns;
};

struct ft_signals {
    int fd;                             /* signalfd; whoever reads gets his own */
    sigset_t mask;                      /* as it was when ftrun was started */
    void (*before[FT_IGNORED])(int);    /* dispositions of those we ignore */

    struct ft_signal_seen seen[FT_SIGNALS];
    uint32_t ends[2], counted;          /* asked for here, passed on by the standby; the larger of the two */
};

/* Blocks what the launcher takes (what is ignored, as under nohup, stays so). -1: errno. */
int ft_signals_take(struct ft_signals *s);

/* What this process has been sent, one after the other; 0: no more. One that the same sender sends twice at once comes once. */
int ft_signals_next(struct ft_signals *s);

/* Likewise, with whether it was sent by the kernel (a terminal does that, to all of a process group). */
int ft_signals_next_from(struct ft_signals *s, bool *kernel);

/* It comes again. */
void ft_signals_put_back(struct ft_signals *s, int signal);

/* Whether this one is the second of such two. sender 0: the kernel. */
bool ft_signals_twice(struct ft_signals *s, int signal, pid_t sender, uint64_t now_ns);

/* It asks the job to end. */
bool ft_signals_end(int signal);

/* Such a one has come: whether the job has been asked once more. */
bool ft_signals_count(struct ft_signals *s, bool passed_on);

/* In a process that goes on with the job: nobody has asked it yet. */
void ft_signals_forget(struct ft_signals *s);

/* In a rank's process before exec: everything as ftrun found it. System calls only. */
void ft_signals_give_back(const struct ft_signals *s);

#endif
