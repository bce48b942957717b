/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard input of a job on several hosts, on its way to the node whose rank reads it: all of it is kept (store.h), and said from where
   that node has it. */
#ifndef LAUNCHER_STDIO_RELAY_H
#define LAUNCHER_STDIO_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"

struct event_base;
struct ft_relay;
struct ft_stdio_memory;

struct ft_relay_config {
    /* The next bytes; last: no more will come. */
    void (*send)(void *arg, uint64_t place, bool last, const void *data, uint32_t len);
    /* Standard input cannot be kept. Once. */
    void (*failed)(void *arg, const struct ft_error *e);
    void *arg;
};

/* NULL: no memory. */
struct ft_relay *ft_relay_new(struct event_base *base, struct ft_stdio_memory *memory, const struct ft_relay_config *config);

/* The node has connected, with so many bytes: from there on. */
void ft_relay_from(struct ft_relay *r, uint64_t had);

/* It has had so many: not much more than that is ever on its way. */
void ft_relay_had(struct ft_relay *r, uint64_t had);

/* It is gone. */
void ft_relay_stop(struct ft_relay *r);

void ft_relay_free(struct ft_relay *r);

#endif
