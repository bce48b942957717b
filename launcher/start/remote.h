/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting node agents: on this host directly, elsewhere by ssh, srun or a command of the user's. What is started gets the job's description on
   its standard input; its standard error is read line by line. All at once, but no more than `width` (--launch-tree) that have not come up yet.

   More than that wait: they are cut into as many shares as may be started. The first of a share is started by us as a starter
   (starter.h): a process on that host with an ft_remote of its own, for the first and the rest of the share. Nodes know nothing of that. Whoever
   could not be started from another host is started from here the next time. */
#ifndef LAUNCHER_START_REMOTE_H
#define LAUNCHER_START_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"
#include "launcher/base/child.h"
#include "launcher/options/options.h"

struct event_base;
struct ft_signals;
struct ft_remote;

struct ft_remote_config {
    const struct ft_options *options;
    const struct ft_signals *signals;
    uint32_t nnodes;
    const char *path;          /* of ftrun on other hosts; NULL: as options say */
    pid_t *pids;               /* by node: of what is started, in shared memory, for a successor; NULL: there will be none */
    int64_t own;               /* the node that is this host's in any case; -1: none. No shares of less than all: it has been given its own */
    /* What was started has ended: without it nothing is known of the agent if it is ssh. status as of waitpid, -1: it could not be started,
       and said is why; said: its last line on stderr, "" for none. from: the host that started it; NULL: this one. Never called from within
       another function than ft_remote_reap and the event loop. */
    void (*ended)(void *arg, uint32_t node, int status, const char *said, const struct ft_host *from);
    /* A line on its stderr, after ft_remote_up. */
    void (*line)(void *arg, uint32_t node, const char *line);
    /* What is done about shares, for who wants to know; may be NULL. */
    void (*detail)(void *arg, const char *line);
    void *arg;
};

/* NULL with a line. */
struct ft_remote *ft_remote_new(struct event_base *base, const struct ft_remote_config *config, struct ft_error *e);

/* Starts an agent of node on host, from the event loop; text, freed here, goes to it. What was started for this node before is ended. */
void ft_remote_start(struct ft_remote *r, uint32_t node, const struct ft_host *host, char *text);

/* In a successor, before anything is started: what its predecessor has started for the node, if that is a child of ours now. It counts as what
   has come up; or (up false) is ended. */
void ft_remote_adopt(struct ft_remote *r, uint32_t node, bool up);

/* It has connected. */
void ft_remote_up(struct ft_remote *r, uint32_t node);

/* Ends what was started for the node, without a word. On another host this ends ssh, and not the agent. */
void ft_remote_end(struct ft_remote *r, uint32_t node);

/* Those that have not come up. */
void ft_remote_end_unstarted(struct ft_remote *r);

/* SIGCHLD. */
void ft_remote_reap(struct ft_remote *r);

/* Some have not ended yet. */
bool ft_remote_busy(const struct ft_remote *r);

/* "ssh: ... refused": the line's own words are enough. Says how a starter ended, in text, which is returned. */
const char *ft_remote_how(int status, const char *said, char *text, size_t size);

void ft_remote_free(struct ft_remote *r);

#endif
