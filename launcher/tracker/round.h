/* SPDX-License-Identifier: BSD-3-Clause */
/* Which workers of XGBoost are at work: from the moment when all have been told of each other until each has left. In memory of all launcher
   processes: killed between two stores, a successor does the last step again, which changes nothing. */
#ifndef LAUNCHER_TRACKER_ROUND_H
#define LAUNCHER_TRACKER_ROUND_H

#include <stdbool.h>
#include <stdint.h>

struct ft_round;

/* NULL: no memory. */
struct ft_round *ft_round_new(uint32_t world);

bool ft_round_runs(const struct ft_round *r);

/* One has begun, now or before. */
bool ft_round_any(const struct ft_round *r);

/* Who has which rank; then it runs. */
void ft_round_enter(struct ft_round *r, uint32_t rank, const char *task);
void ft_round_begin(struct ft_round *r);

/* The last one to leave ends it. */
void ft_round_leave(struct ft_round *r, uint32_t rank);

/* How many workers of this name have left the round that runs. */
uint32_t ft_round_left(const struct ft_round *r, const char *task);

void ft_round_renew(struct ft_round *r);

void ft_round_free(struct ft_round *r);

#endif
