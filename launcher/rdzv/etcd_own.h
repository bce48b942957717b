/* SPDX-License-Identifier: BSD-3-Clause */
/* etcd-embedded://: the etcds of the job's own that belong on this host. Each is tended by a process (etcd_tend.h), a child of this one. */
#ifndef LAUNCHER_RDZV_ETCD_OWN_H
#define LAUNCHER_RDZV_ETCD_OWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "ft/base/err.h"
#include "launcher/rdzv/settings.h"

struct event_base;
struct ft_etcd_own;
struct ft_say;

/* *out NULL: none belongs here. settings and say are borrowed. FT_EINVAL: etcd is not installed; FT_ESYS, FT_ENOMEM: with a line. */
int ft_etcd_own_new(struct ft_etcd_own **out, const struct ft_rdzv_settings *s, struct event_base *base, const struct ft_say *say,
                    struct ft_error *e);

/* One of them runs here, started by this process and not by another one of this host. */
bool ft_etcd_own_serves(const struct ft_etcd_own *o);

/* A child of this process is one that tends them. Who waits for any child says so when it has ended. */
bool ft_etcd_own_has(const struct ft_etcd_own *o, pid_t pid);
void ft_etcd_own_reaped(struct ft_etcd_own *o, pid_t pid);

/* Ends them, and takes what they have on disk along: a second, at most a few. NULL: there are none. */
void ft_etcd_own_free(struct ft_etcd_own *o);

#endif
