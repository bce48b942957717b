/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher's signals are read from a descriptor, in all of its processes: no handler ever runs. */
#ifndef LAUNCHER_SIGNALS_H
#define LAUNCHER_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum { FT_IGNORED = 4, FT_SIGNALS = 65 };

/* The last ones of a kind, all from the same sender. */
struct ft_signal_seen {
    pid_t sender;
    int ahead;                          /* that many more have come to us than have been passed on by the standby */
    uint64_t at_ns;                     /* when one was last taken for new */
};

struct ft_signals {
    int fd;                             /* signalfd; whoever reads gets his own */
    sigset_t mask;                      /* as it was when ftrun was started */
    void (*before[FT_IGNORED])(int);    /* dispositions of those we ignore */

    struct ft_signal_seen seen[FT_SIGNALS];
};

/* Blocks what the launcher takes (what is ignored, as under nohup, stays so). -1: errno. */
int ft_signals_take(struct ft_signals *s);

/* A process group gets a signal in both launcher processes, and the standby passes on what it gets: whether this one has been seen
   already. sender 0: the kernel. */
bool ft_signals_again(struct ft_signals *s, int signal, pid_t sender, bool direct, uint64_t now_ns);

/* In a rank's process before exec: everything as ftrun found it. System calls only. */
void ft_signals_give_back(const struct ft_signals *s);

#endif
