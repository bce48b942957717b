/* SPDX-License-Identifier: BSD-3-Clause */
/* --xgboost-tracker: what brings the workers of XGBoost 2.1 to 3.4 together. It knows them by what they say alone, never by a process: a worker
   that is killed keeps its connections, and its successor goes on with them. Which of them are at work outlives this process, too, and of a
   connection it keeps nothing that the kernel does not have: what a worker has said stays unread until it is answered, and how much of the
   answer was sent is asked of TCP. So an agent that takes over goes on in the middle. */
#ifndef LAUNCHER_TRACKER_TRACKER_H
#define LAUNCHER_TRACKER_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"

struct event_base;
struct ft_say;
struct ft_tracker;

struct ft_tracker_config {
    uint32_t world;                 /* workers */
    const char *host;               /* of several hosts, this one, as the others know it; NULL: the job is on one */
    uint16_t port;                  /* 0: any that is free */
};

struct ft_tracker_calls {
    const struct ft_say *say;
    void (*print)(void *arg, const char *text, size_t len);  /* what a worker has printed by it, with a newline */
    void (*failed)(void *arg);      /* a worker has reported an error, which has been told: the job is over */
    void *arg;
};

/* Listens, before the first fork. FT_ENOMEM, FT_ESYS. */
int ft_tracker_new(struct ft_tracker **out, const struct ft_tracker_config *config, struct ft_error *e);

uint16_t ft_tracker_port(const struct ft_tracker *t);

/* In each process that becomes the agent: what a copy of another one brings along is not its own. */
void ft_tracker_forget(struct ft_tracker *t);

/* From now on it answers, from base's loop. calls and what it points to is borrowed. -1: no memory. */
int ft_tracker_serve(struct ft_tracker *t, struct event_base *base, const struct ft_tracker_calls *calls);

/* The job's workers have come together, at least once. */
bool ft_tracker_was_used(const struct ft_tracker *t);

/* No rank is left, and all begin again. */
void ft_tracker_renew(struct ft_tracker *t);

void ft_tracker_leave(struct ft_tracker *t);

void ft_tracker_free(struct ft_tracker *t);

#endif
