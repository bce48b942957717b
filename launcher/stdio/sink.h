/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a spool (spool.h) to one of ftrun's own output descriptors. Never blocks the event loop on a slow reader, never
   fails: a reader that went away harms nobody, what is written for it is dropped.

   Descriptors are not made non-blocking in place: the description is shared with the user's shell. Pipes and
   terminals are opened a second time through /proc; regular files block, as everywhere, unless a thread writes them. */
#ifndef LAUNCHER_STDIO_SINK_H
#define LAUNCHER_STDIO_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;
struct ft_sink;
struct ft_spool;

/* `room` is called from the event loop each time something was written. fd stays the caller's, and so does the spool. NULL:
   no memory. */
struct ft_sink *ft_sink_new(struct event_base *base, struct ft_spool *spool, int fd, void (*room)(void *arg), void *arg);

/* What goes to a file is written by a thread of its own from now on, where the loop must not wait for a disk. What a predecessor has published
   and not written is, now. -1: errno. */
int ft_sink_apart(struct ft_sink *s, struct event_base *base);

/* One node of several: what is in the spool is records (wire.h), and goes to the controller. `flush` is called when there is more, and calls
   ft_sink_taken when that has it. */
struct ft_sink *ft_sink_new_records(struct ft_spool *spool, void (*flush)(void *arg), void *flush_arg, void (*room)(void *arg), void *arg);
void ft_sink_taken(struct ft_sink *s, uint64_t place);

/* Puts whole lines into the spool and writes what can be written at once. */
void ft_sink_add(struct ft_sink *s, const void *data, size_t len);

/* The same in two steps: what lies ahead of the spool's tail is as if it had not been put, until the tail is at its end, ft_sink_place, or
   something else is added. */
void ft_sink_put_ahead(struct ft_sink *s, const void *data, size_t len);
uint64_t ft_sink_place(const struct ft_sink *s);
void ft_sink_publish(struct ft_sink *s, uint64_t place);

/* A program's line ends here, if it has not; likewise ahead. Whether it had not. */
bool ft_sink_end_line(struct ft_sink *s);

/* The same for struct ft_say (say.h): a line of ftrun's, which begins a line even if a program has not ended its own. arg: the sink. */
void ft_sink_put(void *arg, const char *line, size_t len);

/* After the event loop: written to standard error at once, however long that takes. */
void ft_sink_put_last(void *arg, const char *line, size_t len);

/* Whether what ft_sink_put is given is why the job ends: of several nodes' reasons one is told. */
void ft_sink_reason(struct ft_sink *s, bool is_one);

/* Something was put into the spool. */
void ft_sink_flush(struct ft_sink *s);

/* So much is waiting that the sources should pause / may go on. */
bool ft_sink_full(const struct ft_sink *s);
size_t ft_sink_pending(const struct ft_sink *s);

/* Nobody waits any more for what is waiting, nor for what comes. */
void ft_sink_drop(struct ft_sink *s);

/* errno of a write that failed other than by the reader going away (a full disk); 0 if none did. */
int ft_sink_error(const struct ft_sink *s);

void ft_sink_free(struct ft_sink *s);

#endif
