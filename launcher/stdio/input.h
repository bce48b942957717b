/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard input goes to one rank through a pipe, a new one for each incarnation that is started, and each of those is given all of
   it from the beginning (store.h); a snapshot that goes on has its rank's pipe, and what that had read from it is an outcome. Reads
   ahead of the rank, but not far. A terminal is only read while ftrun is in its foreground. */
#ifndef LAUNCHER_STDIO_INPUT_H
#define LAUNCHER_STDIO_INPUT_H

#include <stdbool.h>
#include <sys/types.h>

#include "ft/base/err.h"

struct event_base;
struct ft_input;
struct ft_stdio_memory;

struct ft_input_config {
    /* The rank has been given all there is, or does not read any more: nobody may hold a write end of its pipe now. */
    void (*ended)(void *arg);
    /* Standard input cannot be kept (the disk is full). Once. */
    void (*failed)(void *arg, const struct ft_error *e);
    void *arg;
};

/* In the agent, the first or a successor. NULL: no memory. */
struct ft_input *ft_input_new(struct event_base *base, struct ft_stdio_memory *memory, const struct ft_input_config *config);

/* A new pipe for a new incarnation of the rank: the read end, the caller's to close. -1: errno. */
int ft_input_open(struct ft_input *in);

/* Its write end, -1: nobody reads. It stays ours. */
int ft_input_fd(const struct ft_input *in);

/* Goes on with a pipe that a dead agent made: our copy of its write end, ours from now on; -1: it was closed. */
void ft_input_adopt(struct ft_input *in, int fd);

void ft_input_free(struct ft_input *in);

#endif
