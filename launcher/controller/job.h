/* SPDX-License-Identifier: BSD-3-Clause */
/* The controller's state, shared by the files that act on it: controller.c (set-up, signals, the
   end), act.c (what the policy says is done), nodes.c (what nodes say), say.c (what they are
   told), start.c (how they are started), stdio.c (what is printed and read). One thread. */
#ifndef LAUNCHER_CONTROLLER_JOB_H
#define LAUNCHER_CONTROLLER_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/base/say.h"
#include "launcher/base/signals.h"
#include "launcher/options/options.h"
#include "launcher/policy/nodes_policy.h"
#include "launcher/wire/description.h"
#include "launcher/wire/wire.h"

struct event;
struct event_base;
struct ft_asking;
struct ft_auth;
struct ft_control;
struct ft_controller_durable;
struct ft_controller_report;
struct ft_files;
struct ft_happens;
struct ft_merge;
struct ft_peers;
struct ft_relay;
struct ft_remote;
struct ft_sink;
struct ft_stdio_memory;

enum { FT_CONTROLLER_TEXT = 1024 };

/* What is remembered of a node beside its life (nodes_policy.h). */
struct ft_controller_node {
    char why[FT_CONTROLLER_TEXT]; /* why it could not be started */
    uint64_t before;           /* signals from before this incarnation was started: not for it */
    uint64_t signals;          /* how many it has had */
    uint64_t got;              /* said with the last GOT */
    bool said_state;           /* on this connection */
    bool told_table;           /* there, too */
    struct ft_wire_state state;
    char *reason;              /* why it ends the job, a line; NULL: it has not said that, or it has been told */
};

struct ft_controller {
    const struct ft_options *o;
    const struct ft_map *map;
    struct ft_say say;
    struct ft_signals signals;
    struct ft_stdio_memory *stdio;
    struct event_base *base;
    struct ft_sink *sinks[2];
    struct ft_merge *merge;
    uint32_t ender;            /* the node that has ended the job, plus one; 0: none has */
    struct ft_files *files;    /* NULL: no --output-filename */
    struct ft_relay *relay;    /* NULL: no rank reads our standard input */
    uint32_t reader;           /* the node of the rank that does */
    struct ft_nodes *policy;
    struct ft_auth *auth;
    struct ft_peers *peers;
    struct ft_remote *remote;
    struct event *signalled, *due, *timeout;
    struct event *posted;      /* its callback is before all others (act.c) */
    struct ft_nodes_event *events; /* what the policy has not been told yet */
    size_t nevents;
    struct ft_controller_report *report;
    struct ft_happens *happens;
    struct ft_draft *draft;    /* NULL: no --report, no --timeline */
    struct ft_controller_durable *durable; /* NULL: no --ckpt-dir */
    struct ft_asking *ask;
    struct ft_control *control; /* NULL: the job cannot be asked anything */

    struct ft_description d;   /* what is the same for all nodes */
    int listener;
    struct ft_wire_job job;    /* as last said */
    struct event *table;       /* pending: something in it has changed, and is to be said */
    uint64_t table_ns;         /* not before that */
    int *sent;                 /* signals to ranks, in order */
    uint64_t nsent;
    struct ft_controller_node *nodes;
    uint64_t begin_ns;
    bool finished, over;       /* all nodes are gone; so is what they printed */
    int code;
};

/* Something for the policy: it is told when the caller has returned to the loop, before anything
   else happens. NULL: nothing, but the controller may have been waited for: it leaves if nothing
   is left to do. */
void ft_controller_post(struct ft_controller *c, const struct ft_nodes_event *ev);

#endif
