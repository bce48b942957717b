/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipes, standard input and output first of all: what cannot be read or written a second time at an offset. */
#ifndef FT_OUTCOME_PIPES_H
#define FT_OUTCOME_PIPES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

/* The descriptor is to be read and written as a pipe: said by its record in a replay, so it is the same then. */
bool ft_pipes_has(int fd);

ssize_t ft_pipes_read(int fd, void *to, size_t n);
ssize_t ft_pipes_write(int fd, const struct iovec *from, int n);

#endif
