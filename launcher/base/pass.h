/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors that go along with a message of a local socket. */
#ifndef LAUNCHER_BASE_PASS_H
#define LAUNCHER_BASE_PASS_H

#include <stddef.h>
#include <sys/types.h>

enum { FT_PASS_MOST = 8 };

/* Sends the message with n descriptors, which stay the caller's. flags: of sendmsg. 0, or -1 with errno, which is not EINTR. */
int ft_pass_descriptors(int to, const void *message, size_t bytes, const int *fds, size_t n, int flags);

/* The next message, up to so many bytes of it, and its descriptors, close-on-exec: the caller's. -1 for each that has not come: there was
   none, or no number free for it. Bytes, 0 at the end, or -1 with errno, which is not EINTR. */
ssize_t ft_take_descriptors(int from, void *message, size_t bytes, int *fds, size_t n, int flags);

#endif
