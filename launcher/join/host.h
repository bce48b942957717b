/* SPDX-License-Identifier: BSD-3-Clause */
/* This host, as one that a controller elsewhere gives a node to: the connection with it (shares.h), made again for a lease when it breaks, and
   the agents (ftrun --node) that are started for it. */
#ifndef LAUNCHER_JOIN_HOST_H
#define LAUNCHER_JOIN_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "ft/base/err.h"
#include "launcher/wire/description.h"

struct event_base;
struct ft_join_host;
struct ft_say;
struct ft_signals;

struct ft_join_host_config {
    struct event_base *base;
    const struct ft_signals *signals;
    const struct ft_say *say;
    const char *name;
    uint32_t slots;
    uint64_t lease_ms;         /* until the controller has said what it is */
    void (*over)(void *arg, int code);         /* the job has ended with this exit code */
    void (*lost)(void *arg, const char *leader); /* the controller cannot be reached any more; leader: its host, NULL: it was never reached */
    void *arg;
};

/* FT_ENOMEM, FT_ESYS with a line. */
int ft_join_host_new(struct ft_join_host **out, const struct ft_join_host_config *config, struct ft_error *e);

/* There is a controller at these addresses ("IP:PORT,..."); what was started for another one is ended. FT_EINVAL with a line. */
int ft_join_host_follow(struct ft_join_host *h, const char *addresses, const unsigned char secret[FT_JOB_SECRET_BYTES], struct ft_error *e);

/* There is none any more: what was started for it is ended, and no call is made. */
void ft_join_host_leave(struct ft_join_host *h);

/* It is told that this host leaves, and ends its node here in good order; false: it is not connected. */
bool ft_join_host_say_leave(struct ft_join_host *h);

bool ft_join_host_follows(const struct ft_join_host *h);

/* Agents that have not ended. */
bool ft_join_host_busy(const struct ft_join_host *h);

/* A child of ours has ended: whether it was an agent. */
bool ft_join_host_reaped(struct ft_join_host *h, int pid, int status);

/* SIGKILL to all agents and whatever they have started. */
void ft_join_host_kill(struct ft_join_host *h);

void ft_join_host_free(struct ft_join_host *h);

#endif
