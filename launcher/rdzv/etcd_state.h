/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of a store's client have in common: requests (etcd.c) and watches (etcd_watch.c). */
#ifndef LAUNCHER_RDZV_ETCD_STATE_H
#define LAUNCHER_RDZV_ETCD_STATE_H

#include <event2/event.h>
#include <sys/queue.h>

#include "launcher/rdzv/keys.h"
#include "launcher/rdzv/mark.h"
#include "launcher/rdzv/store.h"
#include "launcher/rdzv/transfer.h"

struct call;

enum {
    FT_ETCD_LONGEST_PAUSE_MS = 2000,
    FT_ETCD_OUT_OF_RANGE = 11  /* of gRPC: what is asked for is compacted */
};

struct ft_rdzv_watch {
    LIST_ENTRY(ft_rdzv_watch) link;
    struct ft_rdzv_store *store;
    char *key, *end;
    uint64_t from, era;
    bool known;                /* what comes is of the store that it was begun on */
    bool asked;                /* whether it is */
    struct ft_gateway_reply held;      /* what has come meanwhile */
    unsigned tries;
    uint32_t endpoint;
    struct ft_transfer *transfer;
    struct event *again;
    ft_rdzv_events *events;
    void *arg;
};

struct ft_rdzv_store {
    struct ft_rdzv_store_config config;
    struct ft_transfers *transfers;
    char password[FT_RDZV_TEXT], token[1024];
    bool logs_in, has_token, logging_in;
    unsigned logins;
    uint32_t endpoint;
    bool is_away;
    char mark_key[FT_RDZV_KEY];
    struct ft_rdzv_mark mark;
    uint64_t era;              /* goes up when the store has lost its memory */
    LIST_HEAD(, call) calls;
    LIST_HEAD(, ft_rdzv_watch) watches;
};

/* Before the same is asked again. */
uint64_t ft_etcd_pause_ms(unsigned tries);
void ft_etcd_print_url(const struct ft_rdzv_store *s, const char *path, char *url, size_t size);

/* The endpoint does not do: the next one is asked, and what watches there begins again there. */
void ft_etcd_leave(struct ft_rdzv_store *s, uint32_t endpoint, const char *why);

bool ft_etcd_is_of_token(const struct ft_gateway_reply *r);
int ft_etcd_login(struct ft_rdzv_store *s);
void ft_etcd_free_watch(struct ft_rdzv_watch *w);

#endif
