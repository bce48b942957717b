/* SPDX-License-Identifier: BSD-3-Clause */
/* What the policy of a job's hosts knows (nodes_policy.h), and how it is kept where a successor finds it. */
#ifndef LAUNCHER_POLICY_NODES_STATE_H
#define LAUNCHER_POLICY_NODES_STATE_H

#include <stddef.h>

#include "launcher/policy/nodes_events.h"

enum ft_nodes_life {
    STARTING,                  /* its agent has been started, or is to be: no HELLO yet */
    UP,
    LEAVING,                   /* stranded: told to end, and replaced when it has left */
    WAITING,                   /* to be started again at `until` */
    GONE                       /* left, or lost when nothing is replaced any more */
};

enum ft_nodes_stage { RUNNING, SIGNALLED, ENDING, FINISHING, RENEWING, OVER };

struct ft_nodes_node {
    enum ft_nodes_life life;
    uint32_t ranks, host, incarnation;
    bool connected;
    uint32_t tries;            /* on this host, in a row */
    uint64_t heard;            /* UP, LEAVING: when last */
    uint64_t until;            /* STARTING: given up; WAITING: tried again */
    uint64_t wanted_since;     /* WAITING: when it was lost; 0: it has a host that may be good */
    enum ft_node_phase phase;
    bool whole, talks;         /* talks: its ranks have had connections of their own */
    uint64_t committed, restarts;
    uint64_t before;           /* restarts of its ranks in earlier incarnations */
    uint32_t losses;           /* in a row, at lost_at */
    uint64_t lost_at;
};

struct ft_nodes_host {
    uint32_t slots, used;      /* ranks that are on it */
    bool bad;                  /* a node was lost on it or could not be started; good again when one has said HELLO, or when it comes */
    bool away;                 /* nothing can be started there until it comes */
    uint64_t came;             /* when; 0: it has been there from the start */
};

/* Hosts and effects lie behind the nodes. */
struct ft_nodes {
    struct ft_nodes_config config;
    struct ft_nodes_record *record;
    enum ft_nodes_stage stage;
    int code;
    uint32_t epoch;
    uint64_t now, replaced;
    bool begun;
    bool stranded;             /* a node has been, in this epoch */
    struct ft_nodes_effect *effects;
    uint32_t neffects, room;
    uint32_t done;             /* in a half: of these effects */
    struct ft_nodes_host *hosts;
    struct ft_nodes_node nodes[];
};

/* Hosts and effects are found behind the nodes. ft_nodes_room: effects of one step, at most. */
uint32_t ft_nodes_room(uint32_t nnodes);
size_t ft_nodes_half(const struct ft_nodes_config *config);  /* bytes */
void ft_nodes_place(struct ft_nodes *p);

/* The step is recorded, all of it or nothing. Loaded: as it was then, and done says how many of its effects have been obeyed. */
void ft_nodes_record(struct ft_nodes *p, const struct ft_nodes_event *ev);
void ft_nodes_load(struct ft_nodes *p);

#endif
