/* SPDX-License-Identifier: BSD-3-Clause */
/* What an event changes in what a host knows of the round. Nothing is done about it yet. */
#ifndef LAUNCHER_RDZV_HEAR_H
#define LAUNCHER_RDZV_HEAR_H

#include "launcher/rdzv/round_state.h"

void ft_rdzv_round_hear(struct ft_rdzv_round *r, const struct ft_rdzv_round_event *v);

#endif
