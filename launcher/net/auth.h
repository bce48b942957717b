/* SPDX-License-Identifier: BSD-3-Clause */
/* Every TCP connection of a job proves that it knows the job's secret, both ways, before anything else that it says is looked at
   (DESIGN section 10). Who has connected is the caller, the other one answers:

     caller    hello {"ftmpi1", kind, nonce}
     answerer  hello {"ftmpi1", kind, nonce}
     caller    HMAC-SHA256(secret, "caller", kind, both nonces)
     answerer  HMAC-SHA256(secret, "answerer", kind, both nonces)

   All of a fixed size, so there is nothing to parse. Nonces are new each time: a recording is worth nothing. The two proofs differ, so
   neither can be sent back as the other; and the answerer gives none to who has not given his. What follows is neither encrypted nor
   signed: who can write into the middle of a TCP connection is not kept out.

   A stranger costs a descriptor for 5 seconds at most, of 64 that strangers can have together (then the oldest goes), and one line a
   second at most. */
#ifndef LAUNCHER_NET_AUTH_H
#define LAUNCHER_NET_AUTH_H

#include <stddef.h>

#include "ft/base/err.h"
#include "launcher/base/address.h"
#include "launcher/net/handshake.h"

struct event_base;
struct ft_say;

enum { FT_STRANGERS = 64 };

struct ft_auth;
struct ft_dial;

/* fd is connected and proved, non-blocking, close-on-exec and the callee's; nothing of what follows the proof has been read. -1 (of a
   dial only): it did not come to that, and e says why in a line. */
typedef void ft_auth_done(void *arg, int fd, enum ft_auth_kind kind, const struct ft_error *e);

/* NULL: no memory. say is borrowed; secret is copied. */
struct ft_auth *ft_auth_new(struct event_base *base, const unsigned char secret[FT_SECRET_BYTES], const struct ft_say *say);

/* Ends all that is not proved yet, without a word. Neither closes a listener nor what was handed out. */
void ft_auth_free(struct ft_auth *a);

/* So many friends may come at once (all nodes of a job do): strangers can have so many descriptors more. */
void ft_auth_expect(struct ft_auth *a, unsigned friends);

/* Accepts at listener (non-blocking; borrowed) from now on connections of these kinds, a mask of 1 << enum ft_auth_kind. -1: no memory.
   done may be called until ft_auth_free. */
int ft_auth_listen(struct ft_auth *a, int listener, unsigned kinds, ft_auth_done *done, void *arg);

/* Connects to the first of n addresses that answers and proves itself; each has 5 seconds. done is called once, later. NULL: no memory. */
struct ft_dial *ft_auth_dial(struct ft_auth *a, const struct ft_address *to, size_t n, enum ft_auth_kind kind, ft_auth_done *done,
                             void *arg);

/* Before done was called: it will not be. */
void ft_auth_hang_up(struct ft_dial *d);

#endif
