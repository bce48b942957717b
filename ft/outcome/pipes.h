/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipes, standard input and output first of all: what cannot be read or written a second time at an offset. */
#ifndef FT_OUTCOME_PIPES_H
#define FT_OUTCOME_PIPES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

/* The library's own two pipes: at the start, before there is a copy. False: errno. */
bool ft_pipes_open(void);

/* The descriptor is to be read, or written, as a pipe: said by its record in a replay, so it is the same then. Terminals are written
   so, too. */
bool ft_pipes_gives(int fd);
bool ft_pipes_takes(int fd);

ssize_t ft_pipes_read(int fd, void *to, size_t n, bool waits);
ssize_t ft_pipes_write(int fd, const struct iovec *from, int n);

#endif
