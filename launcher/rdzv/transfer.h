/* SPDX-License-Identifier: BSD-3-Clause */
/* HTTP requests by libcurl, on libevent. One thread; names are looked up beside it. */
#ifndef LAUNCHER_RDZV_TRANSFER_H
#define LAUNCHER_RDZV_TRANSFER_H

#include <stddef.h>
#include <stdint.h>

struct event_base;
struct ft_transfers;
struct ft_transfer;

enum { FT_TRANSFER_BODY = 64 << 20 /* bytes of an answer, or of a line of a stream, at most */ };

struct ft_transfers_config {
    struct event_base *base;
    const char *cacert, *cert, *key;   /* files for TLS; "": none. Borrowed */
};

struct ft_transfer_request {
    const char *url, *token, *body;    /* copied; token "": none */
    uint64_t patience_ms;              /* 0: for ever, but for the connection */
    /* Called once, not by who asks; the transfer is gone then. status 0: there was no answer, and why says the reason. */
    void (*done)(void *arg, int status, const char *body, size_t n, const char *why);
    void (*line)(void *arg, const char *line, size_t n);   /* not NULL: a stream, whose lines are given as they come; cancel is allowed */
    void *arg;
};

/* NULL: no memory. */
struct ft_transfers *ft_transfers_new(const struct ft_transfers_config *config);

/* All transfers end without a word. */
void ft_transfers_free(struct ft_transfers *t);

/* NULL: no memory. */
struct ft_transfer *ft_transfer_post(struct ft_transfers *t, const struct ft_transfer_request *request);

/* done is not called. */
void ft_transfer_cancel(struct ft_transfer *x);

#endif
