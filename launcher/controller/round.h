/* SPDX-License-Identifier: BSD-3-Clause */
/* One round (docs/internals/nodes.md, "Fetching one"): all nodes hold one committed version, the global model and each rank's own are
   fetched from where they are, and all that was printed before that version is out. What becomes of it then, and when a round begins, is
   durable.c's. */
#ifndef LAUNCHER_CONTROLLER_ROUND_H
#define LAUNCHER_CONTROLLER_ROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/ckpt/series.h"

struct ft_controller;
struct ft_controller_round;
struct ft_wire_frame;

struct ft_controller_round_config {
    struct ft_controller *c;
    struct ft_ckpt_series *series;
    int models;                                /* what is fetched comes to slot `slot` of this */
    uint32_t slot;
    bool (*wanted)(void *arg, uint64_t version); /* that one is the newest: is it to be had? */
    void (*ready)(void *arg, const struct ft_ckpt_header *h); /* the round is over, and all is there; h is the callee's now */
    void (*none)(void *arg, bool last);        /* the round is over, nothing was to be had; last as it was begun */
    void *arg;
};

/* There is an event loop. NULL: errno. */
struct ft_controller_round *ft_controller_round_new(const struct ft_controller_round_config *config);
void ft_controller_round_free(struct ft_controller_round *r);

bool ft_controller_round_is_on(const struct ft_controller_round *r);

/* None is on. `last`: ranks are dead, and what a node has not it will not get. */
void ft_controller_round_begin(struct ft_controller_round *r, bool last);

/* Ends it, if one is on, without a word to the owner. */
void ft_controller_round_give_up(struct ft_controller_round *r);

/* Nodes are to keep that version when they come to it. A node has connected, and nothing has been said to it: it is told. */
void ft_controller_round_keep(struct ft_controller_round *r, uint64_t version);
void ft_controller_round_greet(struct ft_controller_round *r, uint32_t node);

/* HELD, MODEL. FT_EDAMAGED, FT_ENOMEM. */
int ft_controller_round_take(struct ft_controller_round *r, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e);

#endif
