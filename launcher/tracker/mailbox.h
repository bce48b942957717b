/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of descriptors that outlive the process that has opened them: they wait in a socket that all launcher processes have, and whoever
   becomes the agent takes them out. They come in the order in which they were put. */
#ifndef LAUNCHER_TRACKER_MAILBOX_H
#define LAUNCHER_TRACKER_MAILBOX_H

#include <stdint.h>

struct ft_mailbox {
    int pair[2];           /* written, read */
};

/* Before the first fork. -1: errno. */
int ft_mailbox_open(struct ft_mailbox *m);

/* A copy of fd. -1: there is no room. The agent's successor does without it then. */
int ft_mailbox_put(struct ft_mailbox *m, int fd);

/* The oldest copy, close-on-exec; -1: there is none. The caller owns it. */
int ft_mailbox_take(struct ft_mailbox *m);

void ft_mailbox_close(struct ft_mailbox *m);

#endif
