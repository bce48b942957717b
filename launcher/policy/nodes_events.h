/* SPDX-License-Identifier: BSD-3-Clause */
/* What the policy of a job's hosts is told, and what it wants done (nodes_policy.h). */
#ifndef LAUNCHER_POLICY_NODES_EVENTS_H
#define LAUNCHER_POLICY_NODES_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/policy/phases.h"

enum {
    FT_START_TRIES = 3,        /* on one host, in a row */
    FT_START_TRIES_LATE = 10,  /* where hosts, and their names, come later than the job: 23 s */
    FT_START_AGAIN_MS = 500,   /* after the first; after the second twice that, and so on */
    FT_HOST_AGAIN_MS = 1000,   /* between looks for a host that is waited for */
    FT_NODE_LOSSES = 5         /* of a node, in a row, while the job committed nothing: given up */
};

struct ft_nodes_config {
    uint32_t nnodes;
    const uint32_t *ranks;     /* by node: how many; copied */
    const uint32_t *host;      /* by node: where it is first; copied */
    uint32_t nhosts;
    const uint32_t *slots;     /* by host; copied */
    uint32_t nlater;           /* so many hosts, the last, are away until they come */
    bool oversubscribe;        /* a node may be put where there are not enough slots for it */
    uint64_t max_restarts;     /* of ranks, in the whole job; 0: nothing is ever replaced */
    uint64_t lease_ms, start_ms, wait_ms;
    uint32_t tries;            /* to start a node on one host, in a row */
    bool start_over;           /* ranks that have had connections may begin again, with all others */
};

enum ft_nodes_event_kind {
    FT_NV_TIME,                /* nothing but its time */
    FT_NV_HELLO,               /* node: its agent has connected */
    FT_NV_HEARD,               /* node: anything at all */
    FT_NV_CLOSED,              /* node: the connection has broken */
    FT_NV_STATE,               /* node: phase, code, whole, committed, restarts, connected */
    FT_NV_NOT_STARTED,         /* node: what was to start it has ended before it said HELLO; fatal: no use in trying again; code: the job's,
                                  if it ends for that */
    FT_NV_HOST,                /* host, slots: it has come, perhaps again */
    FT_NV_HOST_AWAY,           /* host: it has left, or nothing can be started there any more */
    FT_NV_SIGNAL,              /* code: ftrun was sent a signal that ends the job */
    FT_NV_STOP                 /* code: the job is to end; why has been said */
};

struct ft_nodes_event {
    enum ft_nodes_event_kind kind;
    uint64_t now_ms;           /* never goes back */
    uint32_t node;
    uint32_t host, slots;
    bool fatal;
    int code;
    enum ft_node_phase phase;
    bool whole, connected;     /* ft_wire_state */
    uint64_t committed, restarts;
};

enum ft_nodes_effect_kind {
    FT_ND_START,               /* node, host, incarnation, epoch: its agent is started */
    FT_ND_DROP,                /* node: nothing is taken from this incarnation any more; its connection and its starter are closed */
    FT_ND_JOB,                 /* phase, code: said to all, and to who connects later */
    FT_ND_END_ONE,             /* node: JOB END to this node alone, in the place of what all are told */
    FT_ND_TABLE,               /* who is where has changed */
    FT_ND_RENEW,               /* all nodes are gone, and start anew: what their ranks printed is counted from the beginning */
    FT_ND_TELL,                /* reason, node, host, number */
    FT_ND_FINISH               /* code: over */
};

enum ft_nodes_reason {
    FT_NT_LOST,                /* node, host: replaced on `to`; number 1: not heard of for a lease, 2: it has left
                                  with its host, else its connection had broken */
    FT_NT_CANNOT_START,        /* node, host, number: after so many tries; why is known to who tried. Started on `to` if that is another,
                                  else waited for; or, without --wait-for-host, the job ends */
    FT_NT_RENEW,               /* node, host, number as LOST, or 2: it is stranded, or 3: as LOST, and its ranks had connections of their own; because
                                  of it all start again */
    FT_NT_STRANDED,            /* node: it starts again */
    FT_NT_NOWHERE,             /* node, host: it has been waited for in vain; the job ends */
    FT_NT_GIVEN_UP,            /* node, number: lost so many times in a row without progress; the job ends */
    FT_NT_NO_RESTARTS,         /* node, host: lost with --max-restarts 0; the job ends */
    FT_NT_CONNECTED,           /* node, host: lost, and its ranks had connections of their own; the job ends */
    FT_NT_LOST_TOO,            /* node, host: likewise, when the job ended already, perhaps for that */
    FT_NT_MAX_RESTARTS         /* number: of ranks, more than --max-restarts; the job ends */
};

struct ft_nodes_effect {
    enum ft_nodes_effect_kind kind;
    uint32_t node, host, incarnation, epoch;
    uint32_t to;               /* TELL */
    bool waits;                /* CANNOT_START: it is waited for */
    bool lost;                 /* TELL: its ranks have run before on the host that they had */
    uint64_t number;
    int code;
    enum ft_job_phase phase;
    enum ft_nodes_reason reason;
};

/* In the order in which they are to be done. Valid until the next step. */
struct ft_nodes_effects {
    uint32_t n;
    const struct ft_nodes_effect *e;
};

#endif
