/* SPDX-License-Identifier: BSD-3-Clause */
/* What a stream's table says of one extent of its log. The table is a ring: extent e is in entry e % ntable, which
   says the lap too, so that nobody takes one extent for another. Written by the keeper. */
#ifndef FT_SHM_EXTENT_H
#define FT_SHM_EXTENT_H

#include <stdint.h>

enum ft_extent_state {
    FT_EXTENT_NONE,      /* not assigned yet; the whole entry is 0 */
    FT_EXTENT_MEMORY,    /* at this place of the log memory */
    FT_EXTENT_FILE,      /* at this place of the spill file */
    FT_EXTENT_RELEASED   /* nobody needs it any more; its place is free */
};

enum { FT_EXTENT_PLACE_BITS = 30 };  /* petabytes */

static inline uint64_t ft_extent_entry(enum ft_extent_state state, uint64_t lap, uint64_t place)
{
    return lap << (FT_EXTENT_PLACE_BITS + 2) | place << 2 | state;
}

static inline enum ft_extent_state ft_extent_state(uint64_t entry) { return (enum ft_extent_state)(entry & 3); }
static inline uint64_t ft_extent_place(uint64_t entry) { return entry >> 2 & ((1ull << FT_EXTENT_PLACE_BITS) - 1); }
static inline uint64_t ft_extent_lap(uint64_t entry) { return entry >> (FT_EXTENT_PLACE_BITS + 2); }

#endif
