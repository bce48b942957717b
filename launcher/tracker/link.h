/* SPDX-License-Identifier: BSD-3-Clause */
/* One connection of a worker's. What comes is looked at and left in the socket, where a successor of this process finds it; only what is
   longer than any start is taken out. */
#ifndef LAUNCHER_TRACKER_LINK_H
#define LAUNCHER_TRACKER_LINK_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "launcher/base/address.h"
#include "launcher/tracker/protocol.h"

struct ft_tracker;

struct ft_tracker_link {
    TAILQ_ENTRY(ft_tracker_link) link;
    struct ft_tracker *tracker;
    uint64_t number;           /* in the order in which they came */
    int fd;
    struct event *readable, *silent;
    char ip[FT_ADDRESS_TEXT], from[FT_ADDRESS_TEXT];  /* with its port */
    char *data;                /* all that has come */
    size_t len, room;
    bool taken;                /* ..., and it is not in the socket any more */
    size_t at, said;           /* bytes of the answer: up to here it is made; so much was sent, perhaps by a predecessor of this process */
    struct ft_worker worker;
    bool waits;                /* it has started, and the others have not all come */
    bool held;                 /* it would start while it seems to be at work */
};

TAILQ_HEAD(ft_tracker_links, ft_tracker_link); /* the oldest first */

/* Takes fd, which is accepted, or was by a predecessor. call comes when there is something to read, its end included; with EV_TIMEOUT once, if
   there was nothing for long. NULL: no memory. */
struct ft_tracker_link *ft_tracker_link_new(struct event_base *base, int fd, event_callback_fn call);

/* Looks at what has come. -1: no memory. */
int ft_tracker_link_fill(struct ft_tracker_link *l);

/* What every answer begins with, once. */
void ft_tracker_link_greet(struct ft_tracker_link *l);

/* The answer goes on with this. It fits into the socket, or nobody reads it. */
void ft_tracker_link_say(struct ft_tracker_link *l, const char *text, size_t len);

/* Nothing more is said on it, also where a copy of it is. */
void ft_tracker_link_end(struct ft_tracker_link *l);

#endif
