/* SPDX-License-Identifier: BSD-3-Clause */
/* The next bytes of a connection, of a known number, within a known time: what is said on a proved connection before it is what it is for
   (greeting.h). No more is read than that. */
#ifndef LAUNCHER_NET_AWAIT_H
#define LAUNCHER_NET_AWAIT_H

#include <stddef.h>
#include <stdint.h>

struct event_base;
struct ft_await;

/* Called once, and this is gone then. bytes: all of them are there, good for the call, and fd is the callee's. NULL: they will not come, why
   says it in a few words, and fd (then -1) is closed. */
typedef void ft_await_done(void *arg, int fd, const uint8_t *bytes, const char *why);

enum { FT_AWAIT_MOST = 64 };

/* fd is non-blocking, and its own from now on. n: at most FT_AWAIT_MOST. NULL: no memory; done is not called. */
struct ft_await *ft_await_new(struct event_base *base, int fd, size_t n, unsigned ms, ft_await_done *done, void *arg);

/* Closes the connection; done is not called. NULL: nothing is awaited. */
void ft_await_free(struct ft_await *a);

#endif
