/* SPDX-License-Identifier: BSD-3-Clause */
/* Which synchronous messages of a channel are matched, as its receiver says: a bit for each. A word has FT_ACKS_EACH of them, and says in
   its upper half how often it has been full: those of earlier laps are all matched. So it only grows, and may be said again. Who writes
   it: ft/msg/acks.h. */
#ifndef FT_SHM_ACKS_H
#define FT_SHM_ACKS_H

#include <stdbool.h>

#include "ft/shm/layout.h"

enum { FT_ACKS_EACH = 32 };

static inline uint64_t ft_acks_at(uint64_t number) { return number / FT_ACKS_EACH % FT_CHANNEL_ACKS; }
static inline uint64_t ft_acks_lap(uint64_t number) { return number / FT_ACKS_EACH / FT_CHANNEL_ACKS; }

/* word: that of the number. */
static inline bool ft_acks_has(uint64_t word, uint64_t number)
{
    uint64_t lap = ft_acks_lap(number);

    return word >> FT_ACKS_EACH > lap || (word >> FT_ACKS_EACH == lap && word >> number % FT_ACKS_EACH & 1);
}

/* The same with this one, which is of its lap. */
static inline uint64_t ft_acks_with(uint64_t word, uint64_t number)
{
    uint64_t all = (1ull << FT_ACKS_EACH) - 1, with = word | 1ull << number % FT_ACKS_EACH;

    return (with & all) == all ? with + 1 : with;
}

#endif
