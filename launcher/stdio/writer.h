/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that writes to files, one piece after the other, so that nobody else waits for a disk: the controller's loop, which
   answers nodes that would count themselves lost. The loop adds pieces, and hears there what has come of each. */
#ifndef LAUNCHER_STDIO_WRITER_H
#define LAUNCHER_STDIO_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"

struct event_base;
struct ft_writer;

struct ft_writer_piece {
    /* In the thread. 0, or errno or FT_* and a line, as done wants it. */
    int (*write)(const struct ft_writer_piece *p, struct ft_error *e);
    /* In the loop, in the order in which they were added: what has come of it. */
    void (*done)(const struct ft_writer_piece *p, int error, const struct ft_error *e);
    void *arg;
    uint32_t which;         /* write's and done's */
    uint64_t at;
    size_t len;
    const char *data;       /* copied */
};

/* `room` is called when pieces are done. NULL: errno. */
struct ft_writer *ft_writer_new(struct event_base *base, void (*room)(void *arg), void *arg);

/* False: no memory. */
bool ft_writer_add(struct ft_writer *w, const struct ft_writer_piece *p);

/* So much is waiting that the sources should pause. */
bool ft_writer_full(const struct ft_writer *w);

/* Pieces, ever. */
uint64_t ft_writer_added(const struct ft_writer *w);
uint64_t ft_writer_done(const struct ft_writer *w);

/* What waits is dropped. False: a piece is still being written, which is left to itself until the process ends; what it points to has
   to stay. */
bool ft_writer_free(struct ft_writer *w);

#endif
