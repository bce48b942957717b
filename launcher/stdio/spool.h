/* SPDX-License-Identifier: BSD-3-Clause */
/* What is to be written to one of ftrun's own outputs, in a sparse file in memory that only grows: bytes are put behind its
   tail, the tail is published, and sendfile() writes from the file's position to the tail. The kernel moves the position
   in the same call that writes, so it says exactly what has been written, whoever dies. Written pages are given back.

   Outputs that take no sendfile (opened for appending, /dev/full) get write(), announced before and checked against the
   output's own position after: a regular file is exact too; of anything else the line in flight may be repeated. */
#ifndef LAUNCHER_STDIO_SPOOL_H
#define LAUNCHER_STDIO_SPOOL_H

#include <sys/types.h>

#include "launcher/stdio/memory.h"

/* This process is the agent from now on: finds out what its predecessor has written to `out`. */
void ft_spool_adopt(struct ft_spool *s, int out);

/* Copies bytes to `at`, not below the tail. The spool is given up if that fails. */
void ft_spool_put(struct ft_spool *s, uint64_t at, const void *data, size_t len);

/* What is below this place, not above the tail unless more was put, ends within a line. */
bool ft_spool_open(const struct ft_spool *s, uint64_t place);

/* Bytes below the tail that are not written. */
uint64_t ft_spool_pending(const struct ft_spool *s);

/* Writes some of them, at most `most`. -1: errno. */
ssize_t ft_spool_write(struct ft_spool *s, int out, size_t most);

/* For a thread that writes pieces in order, while the loop goes on with the spool: the next of them, at `from`. Whoever comes after this process
   finds out how much was written. ft_spool_had: the loop hears of it. -1: errno, and nothing more is to be written. */
int ft_spool_write_apart(const struct ft_spool *s, int out, uint64_t from, const char *data, size_t len);
void ft_spool_had(struct ft_spool *s, uint64_t place);

/* Somebody has taken over what is below this place: as if it had been written. */
void ft_spool_taken(struct ft_spool *s, uint64_t place);

/* Nothing more is written. error 0: for a reason that nobody needs to know. */
void ft_spool_give_up(struct ft_spool *s, int error);

#endif
