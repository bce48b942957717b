/* SPDX-License-Identifier: BSD-3-Clause */
/* The representative's links, of each stream to each peer: TCP sockets that the agents have opened and authenticated, moved along by the rank
   itself while it is in a call, whatever stream that is of. Frames are read to where they are needed and written from where they are;
   ft/core/nodes.h knows where that is. */
#ifndef FT_NET_LINKS_H
#define FT_NET_LINKS_H

#include <poll.h>

#include "ft/core/nodes.h"

enum {
    FT_NET_STAGE = 16384 + 128,  /* what is read before it is known what it is: heads, and payloads of up to 16 KiB behind them: one call less */
    FT_NET_SMALL = 8192          /* a frame with so much is copied and sent in one piece: gathering two costs more */
};

struct ft_net_link {
    struct ft_nodes *nodes;     /* of its stream, ... */
    uint32_t p;                 /* ... and which peer of these */
    int fd;                     /* -1: there is none */
    uint64_t generation;        /* of the last socket */

    /* out */
    struct ft_frame_head out;
    const char *payload;
    uint64_t written;           /* bytes of head and payload */
    bool sending;
    char small[sizeof(struct ft_frame_head) + FT_NET_SMALL];

    /* in */
    struct ft_frame_head in;
    bool headed;                /* `in` has come, and nobody wants it yet */
    bool taking;                /* its payload is being read ... */
    char *sink;                 /* ... to here (NULL: nowhere) ... */
    uint64_t left;              /* ... so much more of it */
    uint64_t from, to;          /* of stage: read and not looked at */
    char stage[FT_NET_STAGE];
};

struct ft_net {
    struct ft_nodes *nodes;     /* of each stream that is between nodes */
    const struct ft_region *region;
    int post, bell;             /* the socketpair from the agent; how it is told that a word has changed */
    int (*aside)(int fd);       /* puts a socket out of the program's way: its new number; NULL: it stays */
    uint32_t turns;
    uint32_t npeers, n;
    struct ft_net_link *link;   /* [n], of each stream one for each peer (ft_tree_peers) */
    int *fds;                   /* [n], of ft_net_descriptors: it may be in no state to ask for memory then */
    struct pollfd *polls;       /* [n + 1] */
    char scrap[65536];          /* payloads that nobody wants: not on the stack of whoever calls MPI */
};

/* Fills wire, for ft_nodes_open of each of nodes[1 + spread]. post, bell: the rank's. 0, or FT_ENOMEM: ft_net_close, then, too. */
int ft_net_open(struct ft_net *net, struct ft_nodes *nodes, const struct ft_region *region, int post, int bell, struct ft_wire *wire,
                struct ft_error *e);
void ft_net_close(struct ft_net *net);

/* The descriptors of links there are now, in net->fds, and how many: a snapshot does not keep them, or the peer would not see this
   rank's end. */
int ft_net_descriptors(struct ft_net *net);

/* In the copy, which has none of them open; after ft_nodes_resume of all. */
void ft_net_resume(struct ft_net *net);

#endif
