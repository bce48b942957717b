/* SPDX-License-Identifier: BSD-3-Clause */
/* The controller of a job on several hosts: the life and death of its nodes. A pure state machine as policy.h: events with their time in,
   effects out; no clock, no socket, no text. Ranks are their node's business: here they are a phase and a number of restarts.

     a node that cannot be started            -> tried again; after `tries` as one whose host is lost
     not heard of for a lease                 -> lost; it has ended its ranks itself by then (fencing), so it is replaced:
     ... whose connection had broken before   -> on its own host, else on a spare one
     ... silently, as a dead host is          -> on a spare host, else on its own
     ... its ranks had connections of their own -> the job ends, or all nodes are started anew where that was chosen (--start-over always)
     ... and there is nowhere to put it       -> its host is tried once a second for --wait-for-host; then the job ends
     its host is away (--rdzv)                -> it is ended there, and goes to a host that is not; when one comes, who waits is started at once
     no other node has the log from the start -> all nodes are ended and started anew: a new epoch
     a node says that it is stranded          -> that one is ended, and replaced where it was; the next one: all anew
     a node reached a verdict                 -> the job ends with its code everywhere
     all nodes are done                       -> finish: they leave
     all nodes have left, or are lost         -> over */
#ifndef LAUNCHER_POLICY_NODES_POLICY_H
#define LAUNCHER_POLICY_NODES_POLICY_H

#include <stddef.h>

#include "launcher/policy/nodes_events.h"

struct ft_nodes;

/* Nothing is started before the first step. What is decided is recorded in memory before it is returned: ft_nodes_bytes of zeros, the
   caller's, who frees it. NULL: no memory, which memory may say, too. */
size_t ft_nodes_bytes(const struct ft_nodes_config *config);
struct ft_nodes *ft_nodes_new(void *memory, const struct ft_nodes_config *config);

/* One step. Events about nodes that are gone are ignored, as is everything after FT_ND_FINISH. */
struct ft_nodes_effects ft_nodes_step(struct ft_nodes *p, const struct ft_nodes_event *event);

/* One more of the last step's effects is a deed. */
void ft_nodes_settle(struct ft_nodes *p);

/* In the process that goes on after another one was killed (the memory is shared): from what is recorded. Nodes that are up are to connect again; those
   that were being started are started as another incarnation. What was not told for certain is told, so perhaps twice. */
struct ft_nodes_effects ft_nodes_recover(struct ft_nodes *p, uint64_t now_ms);

/* When the next step is due though nothing happens; UINT64_MAX: never. */
uint64_t ft_nodes_due(const struct ft_nodes *p);

/* For who asks. */
uint32_t ft_nodes_host(const struct ft_nodes *p, uint32_t node);
uint32_t ft_nodes_incarnation(const struct ft_nodes *p, uint32_t node);
uint32_t ft_nodes_epoch(const struct ft_nodes *p);
bool ft_nodes_is_away(const struct ft_nodes *p, uint32_t host);     /* as it was told last */
bool ft_nodes_is_up(const struct ft_nodes *p, uint32_t node);        /* has said HELLO, and is not lost */
bool ft_nodes_is_expected(const struct ft_nodes *p, uint32_t node);  /* is starting or up */
bool ft_nodes_comes_again(const struct ft_nodes *p, uint32_t node);  /* it is being ended, and starts anew */
bool ft_nodes_is_ending(const struct ft_nodes *p);
uint64_t ft_nodes_restarts(const struct ft_nodes *p);    /* of ranks, over all nodes and their incarnations */
uint64_t ft_nodes_replaced(const struct ft_nodes *p);    /* nodes */

void ft_nodes_free(struct ft_nodes *p);

#endif
