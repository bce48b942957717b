/* SPDX-License-Identifier: BSD-3-Clause */
/* The controller's connections: one of each node at most, the newest, known by its HELLO. */
#ifndef LAUNCHER_CONTROLLER_PEERS_H
#define LAUNCHER_CONTROLLER_PEERS_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/wire/wire.h"

struct event_base;
struct ft_peers;

struct ft_peers_config {
    uint32_t nnodes;
    /* May this incarnation be one of the job's nodes? If not, it is told to end. */
    bool (*welcome)(void *arg, const struct ft_wire_hello *hello);
    /* It has said HELLO, on this connection for the first time. */
    void (*hello)(void *arg, uint32_t node);
    /* Another frame than HELLO. 0, or FT_E* with a line: the connection is closed. May call ft_peers_drop. */
    int (*frame)(void *arg, uint32_t node, const struct ft_wire_frame *f, struct ft_error *e);
    /* The connection has broken. */
    void (*closed)(void *arg, uint32_t node, const struct ft_error *e);
    void *arg;
};

/* NULL: no memory. */
struct ft_peers *ft_peers_new(struct event_base *base, const struct ft_peers_config *config);

/* A connection that is proved. */
void ft_peers_add(struct ft_peers *p, int fd);

/* Whether a node is connected; what it said of itself, NULL: nothing yet, or it was dropped. */
bool ft_peers_connected(const struct ft_peers *p, uint32_t node);
const struct ft_wire_hello *ft_peers_hello(const struct ft_peers *p, uint32_t node);

/* To a node if it is connected; bytes are taken over in any case. */
void ft_peers_send(struct ft_peers *p, uint32_t node, struct ft_wire_bytes bytes);

/* The same bytes to all that are connected. */
void ft_peers_send_all(struct ft_peers *p, struct ft_wire_bytes bytes);

/* Closes the node's connection without a word, and forgets what it said. */
void ft_peers_drop(struct ft_peers *p, uint32_t node);

void ft_peers_free(struct ft_peers *p);

#endif
