/* SPDX-License-Identifier: BSD-3-Clause */
/* The leader's part of the round: who is in it, and what becomes of its places. */
#ifndef LAUNCHER_RDZV_LEAD_H
#define LAUNCHER_RDZV_LEAD_H

#include "launcher/rdzv/round_state.h"

/* Whether it leads or not: its part of a step, and when the next one is due. */
void ft_rdzv_round_lead(struct ft_rdzv_round *r);
uint64_t ft_rdzv_round_lead_due(const struct ft_rdzv_round *r);

#endif
