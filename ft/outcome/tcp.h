/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP connections: what the kernel counts of one tells how much of a call that was under way was done (DESIGN-ranks section 4). */
#ifndef FT_OUTCOME_TCP_H
#define FT_OUTCOME_TCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "ft/outcome/record.h"

/* As ft_pipes_gives and ft_pipes_takes. */
bool ft_tcp_gives(int fd);
bool ft_tcp_takes(int fd);

/* recvmsg and sendmsg. At most FT_OUTCOME_PIECE bytes are received at once, but for MSG_WAITALL. */
ssize_t ft_tcp_receive(int fd, const struct iovec *to, int n, int flags);
ssize_t ft_tcp_send(int fd, const struct iovec *from, int n, int flags);

/* A call with these flags would wait. */
bool ft_tcp_waits(int fd, int flags);

/* The next call is told this error, which one that had done something was told; a record of such a call was given; an error has been told. */
void ft_tcp_owes(struct ft_recorded *c, int fd, int error);
void ft_tcp_given(const struct ft_recorded *c, int fd);
void ft_tcp_failed(int fd, int error);

/* How much has been sent over the connection; how much more than `before` was: lost if that cannot be, of `most`. */
int64_t ft_tcp_sent(int fd);
size_t ft_tcp_sent_since(int fd, int64_t before, size_t most);

/* Of the connection: FT_TCP_CLOSED and so on are states of tcp_info. */
enum { FT_TCP_ESTABLISHED = 1, FT_TCP_SYN_SENT = 2, FT_TCP_TIME_WAIT = 6, FT_TCP_CLOSED = 7, FT_TCP_CLOSE_WAIT = 8, FT_TCP_LAST_ACK = 9, FT_TCP_CLOSING = 11 };
int ft_tcp_state(int fd);

/* An error of it waits to be told. */
bool ft_tcp_has_error(int fd);

#endif
