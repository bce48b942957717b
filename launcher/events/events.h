/* SPDX-License-Identifier: BSD-3-Clause */
/* --events: what happens to a job, a JSON object a line, as it happens (docs/events.schema.json). Who has the job looks at what
   is so a few times a second, and tells what has not been told of it (told.h): so nothing has to be said where it happens, and
   after the death of a launcher process its successor finds what is left to tell. Of one host that is the agent
   (agent/happens.h), of several the controller (controller/happens.h). */
#ifndef LAUNCHER_EVENTS_EVENTS_H
#define LAUNCHER_EVENTS_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ft/base/err.h"

struct event_base;
struct ft_events;
struct ft_options;
struct ft_report;
struct ft_say;

struct ft_events_rank {
    pid_t pid;               /* of its process, or its last one; 0: none is known */
    bool ended;              /* for good, as the report says */
};

struct ft_events_node {
    const char *host;        /* it is started on, or runs on */
    uint32_t incarnation;
    bool started, up;
};

/* What is so. */
struct ft_events_view {
    const struct ft_report *report;  /* brought up to date; its restarts only grow, in order of their noting */
    void (*rank)(const void *arg, uint32_t rank, struct ft_events_rank *is);
    uint32_t nnodes;                 /* 0: one host */
    void (*node)(const void *arg, uint32_t node, struct ft_events_node *is);
    const void *arg;
    uint64_t all;                    /* so often all ranks were made to start again */
    int signal;                      /* that ftrun was told to end the job by; 0: none */
};

/* Opens what --events names; NULL in *ev: nothing is wanted, and ev may be NULL in all that follows. Before the first fork. FT_*
   with a line. */
int ft_events_new(struct ft_events **ev, const struct ft_options *o, const struct ft_say *say, uint32_t nranks, uint32_t nnodes,
                  struct ft_error *e);

/* This process is another one than the one that told. */
void ft_events_forget(struct ft_events *ev);

/* This process tells from now on; look, which calls ft_events_look, is called a few times a second. -1: errno. */
int ft_events_run(struct ft_events *ev, struct event_base *base, void (*look)(void *arg), void *arg);

void ft_events_look(struct ft_events *ev, const struct ft_events_view *v);

/* The loop is over, and so is the job: its end is told, with its code, and written within a few seconds. */
void ft_events_end(struct ft_events *ev, const struct ft_events_view *v, int code);

void ft_events_free(struct ft_events *ev);

#endif
