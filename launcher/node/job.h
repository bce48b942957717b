/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a node of several, shared by the files that act on it: node.c (from its making to
   its end), hear.c (what the controller says), table.c (what follows from who is where), say.c
   (what it says of itself), lease.c (fencing), input.c (standard input). One thread; the process
   that stands by looks at the lease. */
#ifndef LAUNCHER_NODE_JOB_H
#define LAUNCHER_NODE_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/agent/state.h"
#include "launcher/base/address.h"
#include "launcher/wire/description.h"
#include "launcher/wire/wire.h"

struct evbuffer;
struct event;
struct ft_auth;
struct ft_boxes;
struct ft_callers;
struct ft_doubts;
struct ft_fetch;
struct ft_kept;
struct ft_links;
struct ft_node_durable;
struct ft_node_report;
struct ft_partner;
struct ft_uplink;

enum {
    FT_NODE_BEATS = 64,         /* without an answer, that are remembered */
    FT_NODE_CONTROLLERS = FT_ADDRESSES
};

/* From the first TABLE to the ranks: each stage waits for what it is named after, and is passed
   by if there is nothing to wait for. A successor of this agent begins again, unless they were
   READY. */
enum ft_node_stage {
    FT_STAGE_TABLE,             /* the controller says who is where */
    FT_STAGE_LOG,               /* in the place of a lost one: what other nodes have of the log (fetch.h) */
    FT_STAGE_KEPT,              /* ... and what the next one has kept of its checkpoints (partner.h) */
    FT_STAGE_BASE,              /* what the job was resumed from (durable.h) */
    FT_STAGE_READY              /* ranks may be started */
};

/* In shared memory: what a successor of this agent has to know. */
struct ft_node_shared {
    _Atomic uint64_t heard_ns;  /* CLOCK_BOOTTIME: the controller has heard of us since, or we look for it since then */
    _Atomic uint32_t met;       /* it has taken us */
    enum ft_node_stage stage;
    bool fenced;
    bool stranded;
    bool left;                  /* said, or about to be */
    bool input_ended;           /* standard input has been said to its end, which is at input_end; perhaps not all of it has been kept */
    uint64_t input_end;
    uint64_t signals;           /* number of the last one */
    enum ft_job_phase phase;
    int code;
    bool stay;                  /* with END, FINISH: not to leave yet */
};

struct ft_node {
    struct ft_agent *agent;
    struct ft_job *job;             /* its */
    const struct ft_description *d;
    struct ft_node_shared *shared;
    struct ft_address controllers[FT_NODE_CONTROLLERS];
    size_t ncontrollers;
    struct ft_links *links;     /* to the other nodes; NULL: there are none */
    struct ft_partner *partner; /* the next node keeps our checkpoints, ... */
    struct ft_kept *kept;       /* ... and this one those of the one before; NULL: no */
    struct ft_doubts *doubts;   /* --bootstrap-cache: what other nodes know of a unit; NULL: no */
    struct ft_callers *callers; /* NULL: nobody finds the job here */
    struct ft_wire_hello hello;
    int input;                  /* what is written there comes out of standard input; -1: no rank here reads it */

    /* of the agent */
    struct ft_auth *auth;
    struct ft_fetch *fetch;     /* NULL: not now */
    uint64_t fetched;           /* units of the log */
    struct ft_uplink *uplink;
    struct ft_node_report *report; /* NULL: no memory for it */
    struct ft_node_durable *durable;
    struct ft_boxes *boxes;     /* what ranks ask of the job's store */
    struct ft_wire_table table;
    struct event *pulse, *soon, *room, *bye;
    struct evbuffer *waiting;   /* input that found no room */
    unsigned pulses;
    uint64_t sent_ns[FT_NODE_BEATS]; /* when BEAT i % FT_NODE_BEATS of this connection was */
    uint64_t sent, answered;
    bool dirty;                 /* STATE is to be said */
    bool connected;             /* as STATE has said it last */
    bool let_go;                /* the controller has heard the last word, or will not */
};

/* Something in the node's state is new: it is said soon (say.h). Before the node serves, nothing
   is. */
void ft_node_changed(struct ft_node *n);

#endif
