/* SPDX-License-Identifier: BSD-3-Clause */
/* A process with pipes: text for its standard input, lines from its standard error and, if it talks, from its standard output. */
#ifndef LAUNCHER_BASE_CHILD_H
#define LAUNCHER_BASE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct event;
struct event_base;
struct ft_signals;

enum { FT_SAID_BYTES = 400 };  /* of a line of stderr; what is longer is cut into several */

struct ft_child_config {
    struct event_base *base;
    const struct ft_signals *signals;
    int nice;
    char *const *env;          /* for its environment: "NAME=VALUE", or "NAME", which is taken out; NULL at the end. NULL: it has ours */
    /* A line of stream 1 or 2, printable, not empty. Must not close the child. */
    void (*line)(void *arg, int stream, char *line);
    void *arg;
};

struct ft_child_stream {
    int fd;                    /* -1: closed */
    struct event *readable;
    char *part;                /* a line as it comes */
    size_t npart, room;
};

/* Ends with ft_child_close. */
struct ft_child {
    const struct ft_child_config *config;
    bool talks;
    char *text;                /* for its standard input, as far as it is not written: from `at` on */
    size_t len, at;
    int in;                    /* -1: closed */
    struct event *writable;
    struct ft_child_stream streams[2];
};

/* One without pipes, which somebody else has started. */
#define FT_CHILD_NONE ((struct ft_child){.in = -1, .streams = {{.fd = -1}, {.fd = -1}}})

/* Starts words, NULL at the end, and gives it text, which may be secret: it is overwritten in time. If it talks its standard output is read
   and its standard input stays open; else this is closed after the text. Its pid; -1: errno. ft_child_close in any case. */
pid_t ft_child_start(struct ft_child *c, const struct ft_child_config *config, const char **words, const char *text, bool talks);

/* More text, for one that talks. Without memory, or when it does not read any more, nothing happens: its end will tell. */
void ft_child_say(struct ft_child *c, const char *text);

/* It has ended: its last words. */
void ft_child_drain(struct ft_child *c);

void ft_child_close(struct ft_child *c);

/* Overwrites and frees; text may be NULL. */
void ft_child_wipe(char *text);

#endif
