/* SPDX-License-Identifier: BSD-3-Clause */
/* Links on their way from the agent to its representative: messages of a socketpair, each with a connected socket (struct ft_link_post). */
#ifndef LAUNCHER_NET_HANDOVER_H
#define LAUNCHER_NET_HANDOVER_H

#include "ft/shm/layout.h"

/* Sends fd, which stays the caller's. pair: the agent's end, the representative's. If there is no room, the oldest go that the representative
   has not come to: it is out of MPI for long, and newer ones are better. 0, or -1 with errno. */
int ft_handover(const int pair[2], const struct ft_link_post *post, int fd);

#endif
