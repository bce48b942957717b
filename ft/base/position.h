/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a rank is in all that is logged: what is said of a snapshot, which goes on from there. Plain data: it may be
   sent and stored as it is. */
#ifndef FT_BASE_POSITION_H
#define FT_BASE_POSITION_H

#include <stdint.h>

enum {
    FT_MOST_STREAMS = 260,   /* that a rank has ever been in: all there are in jobs of up to 64 ranks (ft_params_streams) */
    FT_MOST_CHANNELS = 513   /* that it has ever used: to and from 256 others, and that of its outcomes */
};

/* In one stream. */
struct ft_position {
    uint64_t unit;  /* the next one */
    uint64_t end;   /* bytes of the log up to there: what is below is not needed */
};

struct ft_positions {
    uint32_t n;
    struct {
        uint32_t stream;
        struct ft_position at;
    } in[FT_MOST_STREAMS + FT_MOST_CHANNELS];  /* [n], each stream or channel once that it has ever been in */
    struct ft_position outcomes;  /* unit: so many of them (ft/outcome/log.h) */
};

static inline struct ft_position ft_position_in(const struct ft_positions *p, uint32_t stream)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->in[i].stream == stream)
            return p->in[i].at;
    return (struct ft_position){ 0 };
}

/* Units of all streams: how far a rank has come (ft_region_progress). */
static inline uint64_t ft_position_units(const struct ft_positions *p)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < p->n; i++)
        sum += p->in[i].at.unit;
    return sum;
}

static inline void ft_position_add(struct ft_positions *p, uint32_t stream, struct ft_position at)
{
    p->in[p->n].stream = stream;
    p->in[p->n++].at = at;
}

/* The first stream's, which all ranks are in from the beginning on. */
static inline struct ft_positions ft_positions_world(uint64_t unit, uint64_t end)
{
    return (struct ft_positions){ .n = 1, .in[0].at = { unit, end } };
}

#endif
