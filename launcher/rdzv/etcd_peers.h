/* SPDX-License-Identifier: BSD-3-Clause */
/* What an etcd that has nothing on its disk is to the others of its cluster: they are asked, before it is started. Blocks, for a few
   seconds at most: for the process that tends it (etcd_tend.h). */
#ifndef LAUNCHER_RDZV_ETCD_PEERS_H
#define LAUNCHER_RDZV_ETCD_PEERS_H

#include <stdbool.h>
#include <stddef.h>

#include "launcher/rdzv/settings.h"

enum ft_etcd_part {
    FT_ETCD_NEW,               /* nobody knows of a cluster, or of this member that it has ever run: it founds that with the others */
    FT_ETCD_JOINS,             /* it has been added to the cluster of the others, in the place of one that is lost */
    FT_ETCD_LATER              /* they cannot decide that now: why says the reason */
};

enum { FT_ETCD_MEMBERS = 3, FT_ETCD_WHY = 512 };

/* Of the member number `self` of the settings' endpoints. */
enum ft_etcd_part ft_etcd_part_of(const struct ft_rdzv_settings *s, uint32_t self, char why[FT_ETCD_WHY]);

/* The others have a leader, and answer. */
bool ft_etcd_others_work(const struct ft_rdzv_settings *s, uint32_t self);

/* "http://HOST:PORT": of clients, or of the other members, which is the port after that. */
const char *ft_etcd_url(const struct ft_rdzv_endpoint *p, bool peer, char *text, size_t size);

#endif
