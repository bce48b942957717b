/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands in the store, told the round: as it is, and as it changes. */
#ifndef LAUNCHER_RDZV_FOLLOW_H
#define LAUNCHER_RDZV_FOLLOW_H

#include "launcher/rdzv/rdzv_state.h"

/* STATE, LEADER, CONTROLLER and its own MEMBER: at first, when the watch has ended, and once a lease: a watch may be dead without a word. */
void ft_rdzv_look(struct ft_rdzv *r);
void ft_rdzv_on_again(evutil_socket_t fd, short what, void *arg);

/* All MEMBERs, and their changes; or no longer. */
void ft_rdzv_follow(struct ft_rdzv *r, bool follows);

void ft_rdzv_fetch_list(struct ft_rdzv *r);

/* Those of the keys (a mask of 1 << enum ft_rdzv_round_key) that are in reply as they are, the others as gone. */
void ft_rdzv_tell_keys(struct ft_rdzv *r, const struct ft_gateway_reply *reply, unsigned keys);

#endif
