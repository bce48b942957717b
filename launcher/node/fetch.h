/* SPDX-License-Identifier: BSD-3-Clause */
/* The log of a node that was replaced comes from another node's agent, which reads its own region: no rank is needed for that. The caller says
   from which position, and gets what is committed there, in pieces of a known length with a checksum each. Logs are the same byte
   for byte on all nodes, so one source may go on where another has stopped. What has come so far counts, up to the last whole
   record: ft/shm/transfer.h. */
#ifndef LAUNCHER_NODE_FETCH_H
#define LAUNCHER_NODE_FETCH_H

#include <stddef.h>
#include <stdint.h>

#include "launcher/net/auth.h"

struct ft_fetch;
struct ft_keeper;
struct ft_links;
struct ft_region;

/* Another node that may have the log. */
struct ft_source {
    uint32_t node, incarnation;
    size_t naddresses;
    struct ft_address addresses[FT_ADDRESSES];
};

struct ft_fetch_config {
    struct event_base *base;
    const unsigned char *secret;      /* FT_SECRET_BYTES; borrowed for the call */
    const struct ft_say *say;
    uint32_t node, incarnation;       /* of this node */
    struct ft_region *region;         /* new, no rank has been started; its keeper runs */
    struct ft_keeper *keeper;
    int spill_fd;
};

/* units, bytes: of the log that this node has now, perhaps none. e: empty, or why it is not all that a source had. The fetch
   is gone when this is called. */
typedef void ft_fetch_done(void *arg, uint64_t units, uint64_t bytes, const struct ft_error *e);

/* Fetches from the sources, in their order, until one has given all it had; each is asked three times at most. done is called once, later.
   NULL: no memory. */
struct ft_fetch *ft_fetch_start(const struct ft_fetch_config *config, const struct ft_source *sources, size_t n, ft_fetch_done *done,
                                void *arg);

/* Before done was called: it will not be. What has come stays. */
void ft_fetch_stop(struct ft_fetch *f);

/* ---- the other end, used by links.c ---- */

struct ft_answer;
struct ft_serving;

/* What is there for who asks from this position on: fills verdict, extent_bytes and position. */
void ft_fetch_answer(const struct ft_region *region, uint64_t position, struct ft_answer *a);

/* Sends it, on a connection that is its own from now on. NULL: no memory. gone is called once: all is sent, or the other
   end has gone, or does not read. */
struct ft_serving *ft_fetch_serve(struct event_base *base, int fd, const struct ft_region *region, int spill_fd, uint64_t position,
                                  void (*gone)(void *arg), void *arg);

/* Before gone was called: it will not be. */
void ft_fetch_hang_up(struct ft_serving *s);

#endif
