/* SPDX-License-Identifier: BSD-3-Clause */
/* The leader's view of who is there: the MEMBER entries, by name. Pure. */
#ifndef LAUNCHER_RDZV_ROLL_H
#define LAUNCHER_RDZV_ROLL_H

#include "launcher/rdzv/doc.h"

struct ft_rdzv_roll;

/* NULL: no memory. */
struct ft_rdzv_roll *ft_rdzv_roll_new(void);
void ft_rdzv_roll_free(struct ft_rdzv_roll *roll);

/* It is so since revision `at`, there since `made`. What is older than what is known has no effect. m NULL: it is not there. -1: no memory. */
int ft_rdzv_roll_set(struct ft_rdzv_roll *roll, const char *name, uint64_t at, uint64_t made, const struct ft_rdzv_member *m);

/* A stranger has written there, perhaps over a member's: who was there counts until then, and nobody of that name is known to be gone. -1: no
   memory. */
int ft_rdzv_roll_doubt(struct ft_rdzv_roll *roll, const char *name, uint64_t at, uint64_t until_ms);
bool ft_rdzv_roll_is_doubted(const struct ft_rdzv_roll *roll, const char *name);

/* Those that were doubted for too long are gone. When that is due next; UINT64_MAX: never. */
uint64_t ft_rdzv_roll_expire(struct ft_rdzv_roll *roll, uint64_t now_ms);

/* Between the two all entries are set as they are at revision `at`; who was not is gone. */
void ft_rdzv_roll_begin(struct ft_rdzv_roll *roll, uint64_t at);
void ft_rdzv_roll_end(struct ft_rdzv_roll *roll);

/* How many are there. */
uint32_t ft_rdzv_roll_count(const struct ft_rdzv_roll *roll);

/* The one called name, or NULL. */
const struct ft_rdzv_member *ft_rdzv_roll_find(const struct ft_rdzv_roll *roll, const char *name);

/* All that are there, who came first first; the caller's. NULL: no memory. */
struct ft_rdzv_member *ft_rdzv_roll_by_arrival(const struct ft_rdzv_roll *roll);

/* The highest version that one has confirmed. */
uint64_t ft_rdzv_roll_confirmed(const struct ft_rdzv_roll *roll);

#endif
