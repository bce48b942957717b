/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of wire.h over a connection that is proved (auth.h), in the event loop. */
#ifndef LAUNCHER_NET_CHANNEL_H
#define LAUNCHER_NET_CHANNEL_H

#include <stddef.h>

#include "launcher/wire/wire.h"

struct event_base;
struct ft_channel;

struct ft_channel_config {
    /* A whole frame. May free the channel. */
    void (*frame)(void *arg, struct ft_channel *c, const struct ft_wire_frame *f);
    /* It has broken, or what came is no frame: e says which. Has to free the channel. */
    void (*closed)(void *arg, struct ft_channel *c, const struct ft_error *e);
    /* No more than `low` bytes wait to be sent, after some were. NULL: nobody wants to know. */
    void (*written)(void *arg);
    size_t low;
    void *arg;
};

/* fd is the channel's from now on, also if there is no memory (NULL). */
struct ft_channel *ft_channel_new(struct event_base *base, int fd, const struct ft_channel_config *config);

/* Takes over the bytes. No memory: the channel breaks, later. */
void ft_channel_send(struct ft_channel *c, struct ft_wire_bytes bytes);

/* Bytes that wait to be sent. */
size_t ft_channel_backlog(const struct ft_channel *c);

void ft_channel_free(struct ft_channel *c);

#endif
