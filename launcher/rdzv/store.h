/* SPDX-License-Identifier: BSD-3-Clause */
/* The store of a job, etcd or what speaks as it does (server.h), as the rest of ftmpi sees it. Everything is asked, and answered by a call back
   later. A store that is away is asked again, with growing pauses, at its next endpoint; so a request may be done twice: whoever writes
   compares with the revision that it knows, and finds its own value when that was done already. */
#ifndef LAUNCHER_RDZV_STORE_H
#define LAUNCHER_RDZV_STORE_H

#include <stdint.h>

#include "launcher/rdzv/gateway.h"
#include "launcher/rdzv/kvs.h"
#include "launcher/rdzv/settings.h"

struct event_base;
struct ft_rdzv_store;
struct ft_rdzv_watch;

enum ft_rdzv_answer {
    FT_RA_DONE,                /* txn: held says which list was */
    FT_RA_NO_LEASE,            /* there is none such */
    FT_RA_ANEW,                /* it has lost its memory, and nothing was done */
    FT_RA_DENIED               /* for good; why says the reason */
};

/* reply: valid within the call. */
typedef void ft_rdzv_done(void *arg, enum ft_rdzv_answer a, const struct ft_gateway_reply *reply, const char *why);

struct ft_rdzv_store_config {
    struct event_base *base;
    const struct ft_rdzv_settings *settings;   /* borrowed */
    const char *mark;          /* the key that says which store it is (mark.h); copied */
    const char *password, *token;              /* of settings->user; or the embedded store's. Copied; "": none */
    uint64_t patience_ms;                      /* with one request */
    void (*away)(void *arg, const char *why);  /* it does not answer, for why; called for each try */
    void (*back)(void *arg);                   /* it does again */
    void (*anew)(void *arg);                   /* it has lost its memory: before what stands in the new one is told. Leases that it gives may come before */
    void *arg;
};

/* NULL: no memory. */
struct ft_rdzv_store *ft_rdzv_store_new(const struct ft_rdzv_store_config *config);

/* Nothing is called any more. */
void ft_rdzv_store_free(struct ft_rdzv_store *s);

/* -1: no memory. patient: the answer may be large. */
int ft_rdzv_store_do(struct ft_rdzv_store *s, const struct ft_kvs_txn *txn, bool patient, ft_rdzv_done *done, void *arg);
int ft_rdzv_store_grant(struct ft_rdzv_store *s, uint64_t ttl_s, ft_rdzv_done *done, void *arg);
int ft_rdzv_store_keep(struct ft_rdzv_store *s, uint64_t lease, ft_rdzv_done *done, void *arg);    /* NO_LEASE: it has run out */
int ft_rdzv_store_revoke(struct ft_rdzv_store *s, uint64_t lease, ft_rdzv_done *done, void *arg);

/* Of what was asked with this arg nothing is answered any more; what is on its way may be done. */
void ft_rdzv_store_forget(struct ft_rdzv_store *s, const void *arg);

/* Changes of the keys that begin with prefix, from that revision on; again and again. events NULL: not all can be had, and it has ended: what is
   there has to be read anew. NULL: no memory. */
typedef void ft_rdzv_events(void *arg, const struct ft_gateway_reply *events, const char *why);
struct ft_rdzv_watch *ft_rdzv_store_watch(struct ft_rdzv_store *s, const char *prefix, uint64_t from, ft_rdzv_events *events, void *arg);

/* NULL: there is none. */
void ft_rdzv_store_unwatch(struct ft_rdzv_watch *w);

#endif
