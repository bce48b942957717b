/* SPDX-License-Identifier: BSD-3-Clause */
/* What the round wants written into the store, sealed there, and its lease. */
#ifndef LAUNCHER_RDZV_WRITE_H
#define LAUNCHER_RDZV_WRITE_H

#include "launcher/rdzv/rdzv_state.h"

void ft_rdzv_lease(struct ft_rdzv *r);
void ft_rdzv_keep(struct ft_rdzv *r, uint64_t lease);
void ft_rdzv_revoke(struct ft_rdzv *r, uint64_t lease);
void ft_rdzv_write(struct ft_rdzv *r, const struct ft_rdzv_round_effect *e);

/* After the store's end. */
void ft_rdzv_free_writes(struct ft_rdzv *r);

#endif
