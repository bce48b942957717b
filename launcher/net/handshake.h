/* SPDX-License-Identifier: BSD-3-Clause */
/* Both ends of one connection prove to each other that they know the job's secret (auth.h says how). */
#ifndef LAUNCHER_NET_HANDSHAKE_H
#define LAUNCHER_NET_HANDSHAKE_H

#include <stdbool.h>

struct event_base;
struct ft_handshake;

enum { FT_SECRET_BYTES = 32, FT_HELLO_BYTES = 64, FT_PROOF_BYTES = 32, FT_AUTH_MS = 5000 };

/* What a connection is for. The caller says it; both proofs contain it. */
enum ft_auth_kind {
    FT_AUTH_CONTROL = 1, FT_AUTH_LINK, FT_AUTH_FETCH,
    FT_AUTH_ASK,               /* for ftrun status and so on (control/server.h) */
    FT_AUTH_COME,              /* of a host that comes by itself (--rdzv) */
    FT_AUTH_KINDS
};

/* Called once, and the handshake is gone then; not by who has just begun it. fd is the callee's in any case. why NULL: it is proved, is for
   `kind`, and nothing of what follows has been read. Else: what is wrong, in a few words. */
typedef void ft_handshake_done(void *arg, int fd, enum ft_auth_kind kind, const char *why);

struct ft_handshake_config {
    struct event_base *base;
    const unsigned char *secret;   /* FT_SECRET_BYTES; borrowed for as long as it lasts */
    bool caller;                   /* fd is being connected; else it has been accepted */
    unsigned kinds;                /* a mask of 1 << enum ft_auth_kind: the one that the caller wants, those that the answerer has */
    ft_handshake_done *done;
    void *arg;
};

/* fd is non-blocking, and its own from now on. All of it has to be done within FT_AUTH_MS. NULL: no memory. */
struct ft_handshake *ft_handshake_new(int fd, const struct ft_handshake_config *config);

int ft_handshake_fd(const struct ft_handshake *h);

/* Closes the connection without a word; done is not called. NULL: there is none. */
void ft_handshake_free(struct ft_handshake *h);

#endif
