/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting node agents: on this host directly, elsewhere by ssh or a command of the user's. What is started gets the job's description on
   its standard input; its standard error is read line by line. All at once, but no more than 32 that have not come up yet. */
#ifndef LAUNCHER_REMOTE_H
#define LAUNCHER_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"
#include "launcher/options.h"

enum { FT_STARTERS = 32, FT_SAID_BYTES = 400 };

struct event_base;
struct ft_signals;
struct ft_remote;

struct ft_remote_config {
    const struct ft_options *options;
    const struct ft_signals *signals;
    uint32_t nnodes;
    /* What was started has ended: without it nothing is known of the agent if it is ssh. status as of waitpid, -1: it could not be started,
       and said is why; said: its last line on stderr, "" for none. */
    void (*ended)(void *arg, uint32_t node, int status, const char *said);
    /* A line on its stderr, after ft_remote_up. */
    void (*line)(void *arg, uint32_t node, const char *line);
    void *arg;
};

/* NULL with a line. */
struct ft_remote *ft_remote_new(struct event_base *base, const struct ft_remote_config *config, struct ft_error *e);

/* Starts an agent of node on host; text, freed here, goes to it. What was started for this node before is ended. */
void ft_remote_start(struct ft_remote *r, uint32_t node, const struct ft_host *host, char *text);

/* It has connected. */
void ft_remote_up(struct ft_remote *r, uint32_t node);

/* Ends what was started for the node, without a word. On another host this ends ssh, and not the agent. */
void ft_remote_end(struct ft_remote *r, uint32_t node);

/* SIGCHLD. */
void ft_remote_reap(struct ft_remote *r);

/* Some have not ended yet. */
bool ft_remote_busy(const struct ft_remote *r);

/* "ssh: ... refused": the line's own words are enough. Says how a starter ended, in text, which is returned. */
const char *ft_remote_how(int status, const char *said, char *text, size_t size);

void ft_remote_free(struct ft_remote *r);

#endif
