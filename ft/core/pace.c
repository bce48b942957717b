/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/pace.h"

#include <string.h>

#include "ft/base/util.h"

enum {
    NEAR_EVERY = 8,    /* fills a sample is one of: timing costs little, ... */
    FAR_EVERY = 64,    /* ... a copy into the cache that is far costs much */
    GIVEN_EVERY = 16,
    NEAR_AGAINST = 8,  /* an interrupt, pages touched for the first time, another process for a moment: not all of so many */
    FAR_AGAINST = 2
};

static enum { MEASURED, NEAR, FAR } cores;

int ft_pace_set(const char *text)
{
    cores = !text || !*text ? MEASURED : strcmp(text, "near") == 0 ? NEAR : FAR;
    return cores == FAR && strcmp(text, "far") != 0 ? -1 : 0;
}

/* One in `every`, about, of all numbers and of those that a program comes by that does the same few calls again and again, which are so far apart each time. */
static bool is_one_in(uint64_t number, uint64_t every)
{
    return number * 0x9e3779b97f4a7c15 < UINT64_MAX / every;
}

bool ft_pace_samples(uint64_t u) { return is_one_in(u, GIVEN_EVERY); }

bool ft_pace_gives_past(const struct ft_pace *p)
{
    return cores == MEASURED ? p->far : cores == FAR;
}

enum ft_pace_way ft_pace_next(struct ft_pace *p)
{
    if (cores != MEASURED)
        return cores == FAR ? FT_PACE_PAST : FT_PACE_CACHED;

    bool sample = ++p->fills % (p->far ? FAR_EVERY : NEAR_EVERY) == 0;

    return sample ? FT_PACE_SAMPLE : p->far ? FT_PACE_PAST : FT_PACE_CACHED;
}

enum ft_pace_way ft_pace_next_lent(struct ft_pace *p, uint64_t number)
{
    bool sample = p->samples;

    if (cores != MEASURED)
        return cores == FAR ? FT_PACE_PAST : FT_PACE_CACHED;
    p->samples = is_one_in(number, p->far ? FAR_EVERY : NEAR_EVERY);
    return sample ? FT_PACE_SAMPLE : p->far && !p->samples ? FT_PACE_PAST : FT_PACE_CACHED;
}

void ft_pace_saw(struct ft_pace *p, uint64_t ns, uint64_t n, enum ft_pace_far limit)
{
    bool far = ns * 10 > n / FT_LINE * limit;

    if (far == p->far) {
        p->against = 0;
    } else if (++p->against == (p->far ? FAR_AGAINST : NEAR_AGAINST)) {
        p->far = far;
        p->against = 0;
    }
}
