/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard input, kept: what was read from it is given to its rank, and again from the beginning to a successor of that
   rank, whichever launcher process does it. No event loop here.

   A regular file is its own store, opened a second time. Anything else is moved by splice() into an unlinked file; a pipe
   directly, a terminal or a socket by way of a pipe that all launcher processes hold. The store is given on by sendfile() from a
   second opening of it. The kernel moves both files' positions in the calls that move the bytes, so at any instruction they
   say how much has been taken and how much this incarnation of the rank has been given. */
#ifndef LAUNCHER_STDIO_STORE_H
#define LAUNCHER_STDIO_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ft/base/err.h"

enum ft_store_kind {
    FT_STORE_NONE,           /* nothing to read: not open, /dev/null */
    FT_STORE_FILE,           /* a regular file */
    FT_STORE_PIPE,
    FT_STORE_OTHER           /* a terminal, a socket, files in /proc */
};

struct ft_store {
    enum ft_store_kind kind;
    int from;                /* its position: given */
    int to;                  /* its position: taken; -1 with a regular file */
    int middle[2];           /* FT_STORE_OTHER: a pipe */
    int64_t start;           /* position of a regular file when the job began */
    bool *ended;             /* standard input is at its end; in shared memory */
};

/* Before the first fork. dir: for the file. FT_ESYS. */
int ft_store_open(struct ft_store *s, const char *dir, bool *ended, struct ft_error *e);

/* Takes some of what standard input has; it must be readable, or this may wait. 0: it is at its end. -1: errno. */
ssize_t ft_store_take(struct ft_store *s);

/* Writes at most so much of what has been taken to a pipe. 0: there is no more for now. -1: errno. */
ssize_t ft_store_give(struct ft_store *s, int pipe, size_t most);

/* There will be no more. */
bool ft_store_ended(const struct ft_store *s);

/* Bytes taken and not given. */
uint64_t ft_store_ahead(const struct ft_store *s);

/* From the beginning again: for a new incarnation. */
void ft_store_rewind(struct ft_store *s);

void ft_store_close(struct ft_store *s);

#endif
