/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node keeps of the one before it, in the order of nodes: its newest checkpoint (partner.h is the other end). It comes while the one before it
   stays, and counts when all of it is there and its unit is in the log of this node, too: so it is part of the job's one history, whoever is
   lost. In memory that all launcher processes of the node have. */
#ifndef LAUNCHER_NODE_KEPT_H
#define LAUNCHER_NODE_KEPT_H

#include "ft/base/err.h"

struct ft_answer;
struct ft_greeting;
struct ft_kept;
struct ft_node;

/* Before the first fork. FT_ENOMEM, FT_ESYS. In all that follows k may be NULL: then nothing is kept. */
int ft_kept_new(struct ft_kept **out, struct ft_node *node, struct ft_error *e);
void ft_kept_free(struct ft_kept *k);

/* This process is the agent. -1: no memory. */
void ft_kept_forget(struct ft_kept *k);
int ft_kept_serve(struct ft_kept *k);
void ft_kept_leave(struct ft_kept *k);

/* What the agent of the node before wants (links.c): fills verdict and position in; and, if that was YES and has been said, goes on with it. */
void ft_kept_answer(struct ft_kept *k, const struct ft_greeting *said, struct ft_answer *a);
void ft_kept_take(struct ft_kept *k, int fd, const struct ft_greeting *said);

#endif
