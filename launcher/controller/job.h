/* SPDX-License-Identifier: BSD-3-Clause */
/* The controller's state, shared by the files that act on it: controller.c (set-up, signals, the
   end), act.c (what the policy says is done), nodes.c (what nodes say), say.c (what they are
   told), start.c (how they are started), stdio.c (what is printed and read), pair.c (its two
   processes). One thread.

   Each of these files has two halves: FILE_make is called before the first fork, for what outlives
   a process; FILE_open in the process that runs the job, the first one or a successor. Of the
   others FILE_close is undone by the end of a process. */
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
struct ft_comers;
struct ft_control;
struct ft_controller_durable;
struct ft_controller_report;
struct ft_controller_store;
struct ft_files;
struct ft_happens;
struct ft_host;
struct ft_lead;
struct ft_merge;
struct ft_pair;
struct ft_peers;
struct ft_relay;
struct ft_remote;
struct ft_sink;
struct ft_stdio_memory;
struct ft_twin;
struct known;

enum { FT_CONTROLLER_TEXT = 1024, FT_CONTROLLER_SIGNALS = 4096 };

/* Beside the policy's record (nodes_policy.h), the merge's (merge.h) and the report a successor needs
   this. In shared memory. */
struct ft_controller_kept {
    uint32_t ender;            /* the node that has ended the job, plus one; 0: none has */
    uint64_t nsent;            /* signals to ranks, ever ... */
    int sent[FT_CONTROLLER_SIGNALS]; /* ... and the last of them: signal n is at n % FT_CONTROLLER_SIGNALS */
    uint32_t *incarnations;    /* by place (map.h): of the rank's next process, should its node be lost */
    pid_t *starters;           /* by node: of what we have started for it (remote.h) */
    struct ft_controller_kept_node {
        uint64_t before;       /* signals from before this incarnation was started: not for it */
        char reason[FT_CONTROLLER_TEXT]; /* why it ends the job, a line; "": it has not said that, or it has been told */
    } nodes[];
};

/* What is remembered of a node beside its life (nodes_policy.h). */
struct ft_controller_node {
    char why[FT_CONTROLLER_TEXT]; /* why it could not be started */
    uint64_t signals;          /* how many it has had */
    uint64_t got;              /* said with the last GOT */
    bool said_state;           /* on this connection */
    bool told_table;           /* there, too */
    struct ft_wire_state state;
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
    void *merged;              /* its memory */
    struct ft_files *files;    /* NULL: no --output-filename */
    struct ft_relay *relay;    /* NULL: no rank reads our standard input */
    uint32_t reader;           /* the node of the rank that does */
    struct ft_nodes *policy;
    void *decided;             /* its record */
    size_t decided_bytes;
    struct ft_controller_kept *kept;
    pid_t launcher;            /* the process that the user started */
    struct ft_twin *twin;
    struct ft_pair *pair;
    const struct ft_controller *made; /* as it was before the first fork */
    struct ft_auth *auth;
    struct ft_peers *peers;
    struct ft_remote *remote;
    const struct ft_lead *lead; /* NULL: hosts do not come by themselves */
    struct ft_comers *comers;  /* likewise */
    struct known *known;       /* by host: what a successor has to know of them */
    struct ft_host *comers_list; /* of the map */
    uint32_t nlater, most;     /* hosts that come later; ranks of the largest node */
    struct event *due, *timeout;
    struct event *posted;      /* its callback is before all others (act.c) */
    struct ft_nodes_event *events; /* what the policy has not been told yet */
    size_t nevents;
    struct ft_controller_report *report;
    struct ft_happens *happens;
    struct ft_draft *draft;    /* NULL: no --report, no --timeline */
    struct ft_controller_durable *durable; /* NULL: no --ckpt-dir */
    struct ft_controller_store *store;
    struct ft_asking *ask;
    struct ft_control *control; /* NULL: the job cannot be asked anything */

    struct ft_description d;   /* what is the same for all nodes */
    int listener;
    struct ft_wire_job job;    /* as last said */
    struct event *table;       /* pending: something in it has changed, and is to be said */
    uint64_t table_ns;         /* not before that */
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
