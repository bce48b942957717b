/* SPDX-License-Identifier: BSD-3-Clause */
/* The embedded store: etcd's gateway, as far as ftmpi speaks it (service.h), by HTTP, in the memory of the ftrun on the host that the URL
   names. Who has no token, which the job's secret gives, is turned away at its first request.

   Bounded: connections, of strangers as well as of the job; a request's head and body; what waits to be sent, of one and of all. A connection
   that has not shown the token is closed after 5 s. */
#ifndef LAUNCHER_RDZV_SERVER_H
#define LAUNCHER_RDZV_SERVER_H

#include <stdint.h>

#include "ft/base/err.h"

struct event_base;
struct ft_rdzv_server;

enum {
    FT_SERVER_STRANGERS = 64, FT_SERVER_STRANGER_MS = 5000,
    FT_SERVER_BODY = 8 << 20, FT_SERVER_UNSENT = 16 << 20 /* of one */, FT_SERVER_ALL_UNSENT = 64 << 20
};

struct ft_rdzv_server_config {
    struct event_base *base;
    const char *address;           /* a number; "::" is all */
    uint16_t port;                 /* 0: any */
    const char *token;             /* copied */
    uint32_t connections;          /* at most */
    uint64_t seed;                 /* drawn by each process */
    void (*stranger)(void *arg, const char *from, const char *what);   /* one was turned away; may be NULL */
    void *arg;
};

/* FT_ESYS with a line; errno says why (EADDRINUSE: somebody serves there already). */
int ft_rdzv_server_new(struct ft_rdzv_server **out, const struct ft_rdzv_server_config *config, struct ft_error *e);
void ft_rdzv_server_free(struct ft_rdzv_server *s);

uint16_t ft_rdzv_server_port(const struct ft_rdzv_server *s);

/* Of the job, that are open. */
uint32_t ft_rdzv_server_clients(const struct ft_rdzv_server *s);

#endif
