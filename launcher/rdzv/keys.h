/* SPDX-License-Identifier: BSD-3-Clause */
/* Where things are in the store:

     PREFIX/JOB/round/state, leader, controller     watched by all
     PREFIX/JOB/list
     PREFIX/JOB/store                               which store it is (mark.h)
     PREFIX/JOB/member/NAME                         watched by the leader
     PREFIX/JOB/values/VERSION/KEY                  what the members of a round tell each other */
#ifndef LAUNCHER_RDZV_KEYS_H
#define LAUNCHER_RDZV_KEYS_H

#include "launcher/rdzv/round.h"
#include "launcher/rdzv/settings.h"

enum { FT_RDZV_KEY = FT_RDZV_TEXT + FT_RDZV_JOB + FT_RDZV_NAME + 64 };

/* text has FT_RDZV_KEY bytes; returned. */
const char *ft_rdzv_key(const struct ft_rdzv_settings *s, char *text, enum ft_rdzv_round_key key, const char *name);
const char *ft_rdzv_key_prefix(const struct ft_rdzv_settings *s, char *text, bool members);
const char *ft_rdzv_key_mark(const struct ft_rdzv_settings *s, char *text);
const char *ft_rdzv_key_values(const struct ft_rdzv_settings *s, char *text, uint64_t version);

/* False: it is none of the job's. *name points into key. */
bool ft_rdzv_key_read(const struct ft_rdzv_settings *s, const char *key, enum ft_rdzv_round_key *what, const char **name);

#endif
