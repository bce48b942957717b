/* SPDX-License-Identifier: BSD-3-Clause */
/* One of ftrun's own output descriptors. Never blocks the event loop on a slow reader, never fails: a reader
   that went away harms nobody, what is written for it is dropped.

   Descriptors are not made non-blocking in place: the description is shared with the user's shell. Pipes and
   terminals are opened a second time through /proc; regular files block, as everywhere. */
#ifndef LAUNCHER_SINK_H
#define LAUNCHER_SINK_H

#include <stdbool.h>
#include <stddef.h>

struct event_base;
struct ft_sink;

/* `room` is called from the event loop each time something was written. fd stays the caller's. NULL: no memory. */
struct ft_sink *ft_sink_new(struct event_base *base, int fd, void (*room)(void *arg), void *arg);

/* True if both descriptors lead to the same place: then one sink must serve both, or a piece of a line of the
   one could be followed by a line of the other. */
bool ft_sink_same(int fd_a, int fd_b);

/* Writes what can be written at once and keeps the rest. Whole lines in, whole lines out. */
void ft_sink_add(struct ft_sink *s, const void *data, size_t len);

/* So much is waiting that the sources should pause / may go on. */
bool ft_sink_full(const struct ft_sink *s);
size_t ft_sink_pending(const struct ft_sink *s);

/* errno of a write that failed other than by the reader going away (a full disk); 0 if none did. */
int ft_sink_error(const struct ft_sink *s);

void ft_sink_free(struct ft_sink *s);

#endif
