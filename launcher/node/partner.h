/* SPDX-License-Identifier: BSD-3-Clause */
/* --survive host on several nodes: the next node, in the order of nodes, keeps the newest checkpoint of this one (cargo.h, kept.h). So a node
   that replaces a lost one goes on behind that checkpoint. It is always a gain and never a need: the log is kept from the start (struct
   ft_params, keeps_log), so if there is none (the next node was lost as well, or none has been kept yet) the ranks begin at the start.

     a version is committed here     -> it is sent to the next node, one at a time, the newest; ranks go on meanwhile, and wait only if they
                                        want to write over it (the version after the next one)
     ... all of it is there, the controller has all that the ranks had printed by then, and the next node has committed that version's unit,
         too (so it is in the log of a living node)
                                     -> it counts, and takes the place of the one before
     the next node was replaced      -> the newest is sent again
     this node replaces a lost one   -> it asks the next node for what that has kept

   Event driven, in the agent; what a successor has to know, and what is kept, is in shared memory. */
#ifndef LAUNCHER_NODE_PARTNER_H
#define LAUNCHER_NODE_PARTNER_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/base/err.h"

struct ft_node;
struct ft_partner;

/* Before the first fork. FT_ENOMEM, FT_ESYS. In all that follows p may be NULL: then nothing is kept. */
int ft_partner_new(struct ft_partner **out, struct ft_node *node, struct ft_error *e);
void ft_partner_free(struct ft_partner *p);

/* This process is the agent. -1: no memory. */
void ft_partner_forget(struct ft_partner *p);
int ft_partner_serve(struct ft_partner *p);
void ft_partner_leave(struct ft_partner *p);

/* A rank has made a checkpoint, perhaps, or the table has changed. */
void ft_partner_look(struct ft_partner *p);

/* The node's log has been fetched, `units` of it, and no rank has been started: done is called once, later, when there is nothing more to
   be had. False: nobody can be asked; done is not called. */
bool ft_partner_fetch(struct ft_partner *p, uint64_t units, void (*done)(struct ft_node *node));

#endif
