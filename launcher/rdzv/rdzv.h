/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts of a job find each other: one of these on each host (round.h says how they agree; docs/rendezvous.md what they promise). Everything is
   told by calls back, which come from the event loop, never from within a call to here. */
#ifndef LAUNCHER_RDZV_RDZV_H
#define LAUNCHER_RDZV_RDZV_H

#include <stdbool.h>
#include <sys/types.h>

#include "ft/base/err.h"
#include "launcher/rdzv/rdzv_config.h"
#include "launcher/rdzv/seal.h"
#include "launcher/rdzv/values.h"

struct ft_rdzv;

/* FT_EINVAL, FT_ESYS, FT_ENOMEM: with a line. */
int ft_rdzv_open(struct ft_rdzv **out, const struct ft_rdzv_config *config, struct ft_error *e);

/* Where this host is reached if it becomes the leader. */
void ft_rdzv_publish(struct ft_rdzv *r, const char *address);

/* Of the leader, when it is final: a new round, with all who are there now. Of others it has no effect. */
void ft_rdzv_renew(struct ft_rdzv *r);

/* The job is over, for all, with this exit code; closed comes. */
void ft_rdzv_close(struct ft_rdzv *r, int code);

/* Its place is free at once. The store stays, if it is in this process, until the others have gone or for a lease's time; left comes then. */
void ft_rdzv_leave(struct ft_rdzv *r);

/* At once, without a word to anybody: the others wait for the end of its lease. NULL: there is none. */
void ft_rdzv_free(struct ft_rdzv *r);

/* The store of the round that it has joined; NULL: it has joined none. Gone with the round. */
struct ft_rdzv_values *ft_rdzv_values(struct ft_rdzv *r);

/* Another secret, by the job's: 64 hexadecimal digits, the same on each host for the same `what`. */
void ft_rdzv_derive(const struct ft_rdzv *r, const char *what, char hex[FT_SEAL_HEX]);

bool ft_rdzv_serves(const struct ft_rdzv *r);  /* the store is in this process */

/* With etcd-embedded:// this process has children besides those of who calls. NULL: it has none. Who waits for any child says so when such a one
   has ended. */
bool ft_rdzv_has_child(const struct ft_rdzv *r, pid_t pid);
void ft_rdzv_reaped(struct ft_rdzv *r, pid_t pid);

#endif
