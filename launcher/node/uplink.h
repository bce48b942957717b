/* SPDX-License-Identifier: BSD-3-Clause */
/* A node's connection to the controller: made, proved (auth.h), made again when it breaks, after 20 ms to 0.5 s, for as long as there is a node.
   Frames go both ways; what the ranks print comes out of a spool (spool.h), where it stays until it is acknowledged, so that each
   connection begins where the acknowledgements end. What the frames mean is node_hear.c's. */
#ifndef LAUNCHER_NODE_UPLINK_H
#define LAUNCHER_NODE_UPLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/net/auth.h"
#include "launcher/wire/wire.h"

struct event_base;
struct ft_say;
struct ft_spool;
struct ft_uplink;

struct ft_uplink_config {
    struct event_base *base;
    struct ft_auth *auth;
    const struct ft_address *controllers;  /* borrowed */
    size_t ncontrollers;
    const struct ft_spool *spool;
    void (*up)(void *arg);       /* there is a connection: what is said now is the first that it carries */
    void (*down)(void *arg);     /* there is none any more */
    /* A frame has come. Below 0: it is not what it should be, and the connection is given up. It must not be freed here. */
    int (*take)(void *arg, const struct ft_wire_frame *f, struct ft_error *e);
    void *arg;
};

/* NULL: no memory. */
struct ft_uplink *ft_uplink_new(const struct ft_uplink_config *config);

bool ft_uplink_is_up(const struct ft_uplink *u);

/* When the connection that is up was begun, before anything was sent (ft_timer_boot_ns). */
uint64_t ft_uplink_dialled(const struct ft_uplink *u);

/* Why the last attempt failed; empty: none did. */
const char *ft_uplink_trouble(const struct ft_uplink *u);

/* Says something, if there is a connection; bytes are taken over in any case. */
void ft_uplink_say(struct ft_uplink *u, struct ft_wire_bytes frame);

/* There is more in the spool, or less (what is acknowledged). */
void ft_uplink_flush(struct ft_uplink *u);

void ft_uplink_free(struct ft_uplink *u);

#endif
