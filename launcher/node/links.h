/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent's part of the links between nodes: it opens and proves the sockets, and hands them to its representative (local rank 0), who
   alone reads and writes them. Life of a link:

     the representative wants one      its word `wanted` of that stream and peer is ahead of the agent's `posted`, and the bell rings
     the node with the higher number   connects to the other's listening socket; the other one, if it wants the link, asks it to
                                       (a connection that says so and no more)
     both agents                       have proved the secret (auth.h), and compare node numbers and incarnations (struct ft_greeting)
     both agents                       send the socket over the socketpair whose other end local rank 0 inherits, then say `posted`

   A link is of one stream: each of those from 0 to `spread` (ft/shm/layout.h) has one with each other node. They come and go alone. What
   is known of a node, its incarnation and that it has left, is known for all of them.

   A socket that was handed over is replaced by the next one: only one side connects, so both sides see them in one order. It is tried
   again, after 10 ms to 1 s, for as long as the link is wanted and the table has the peer. The end of a connection is the end of no
   node.

   (handover.h is the last of these, await.h what is read before that.)

   Both launcher processes have the listening socket and the socketpair, so a takeover costs connections that were not handed over yet. */
#ifndef LAUNCHER_NODE_LINKS_H
#define LAUNCHER_NODE_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/net/auth.h"
#include "launcher/node/whereabouts.h"

struct ft_kept;
struct ft_links;
struct ft_region;

struct ft_links_config {
    const unsigned char *secret;      /* FT_SECRET_BYTES, borrowed */
    uint32_t node, nnodes, incarnation;
    int listener;                     /* ft_address_listen; the links' from now on */
    const struct ft_region *region;   /* borrowed; of this node */
    int spill_fd;                     /* of its log */
    struct ft_kept *kept;             /* borrowed; NULL: no checkpoints are kept */
    ft_whereabouts_look_up *look_up;
    bool (*left)(void *arg);          /* local rank 0 has left MPI_Finalize, its process is gone and will not come back. NULL: never */
    void *arg;
};

/* Before the first fork: what is open then stays open in all launcher processes. FT_ENOMEM, FT_ESYS. */
int ft_links_new(struct ft_links **out, const struct ft_links_config *config, struct ft_error *e);

/* The end of the socketpair that local rank 0 inherits (the 7th number of FTMPI_FDS). */
int ft_links_socket(const struct ft_links *l);

/* This process is the agent: what its predecessor had begun is nothing to it. l may be NULL, as in all that follows. */
void ft_links_forget(struct ft_links *l);

/* Starts accepting and connecting; fetches of the log are served as well. -1: no memory. */
int ft_links_serve(struct ft_links *l, struct event_base *base, const struct ft_say *say);

/* The bell rang: perhaps the representative wants something. */
void ft_links_look(struct ft_links *l);

/* The table says something new of some node. */
void ft_links_table_changed(struct ft_links *l);

/* The agent's part; and all of it. */
void ft_links_leave(struct ft_links *l);
void ft_links_free(struct ft_links *l);

#endif
