/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/pace.h"

#include <string.h>

#include "ft/base/util.h"

enum {
    NEAR_EVERY = 8,    /* fills a sample is one of: timing costs little, ... */
    FAR_EVERY = 64,    /* ... a copy into the cache that is far costs much */
    TRIED_EVERY = 32,  /* of each way */
    WEIGHT = 8,        /* of a mean against a sample; of so many samples it is the least before it says anything: pages touched for the first time */
    MOST = 4,          /* means: an interrupt counts as so much */
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

bool ft_pace_tries(uint64_t u) { return cores == MEASURED && is_one_in(u, TRIED_EVERY / 2); }

/* Of units that are tried: past the cache. */
static bool is_tried_past(uint64_t u) { return is_one_in(u, TRIED_EVERY); }

bool ft_pace_gives_past(const struct ft_pace_both *p, uint64_t u)
{
    if (cores != MEASURED)
        return cores == FAR;
    return ft_pace_tries(u) ? is_tried_past(u) : p->past;
}

static bool is_known(const struct ft_pace_mean halves[2])
{
    return ft_min(halves[FT_PACE_WRITTEN].samples, halves[FT_PACE_READ].samples) >= WEIGHT;
}

static uint64_t both_halves(const struct ft_pace_mean halves[2]) { return halves[FT_PACE_WRITTEN].ps + halves[FT_PACE_READ].ps; }

void ft_pace_took(struct ft_pace_both *p, uint64_t u, enum ft_pace_half half, uint64_t ns, uint64_t n)
{
    struct ft_pace_mean *m = &p->mean[is_tried_past(u)][half];
    const struct ft_pace_mean *now = p->mean[p->past], *other = p->mean[!p->past];
    uint64_t ps = ns * 1000 * FT_LINE / n;

    if (m->samples == WEIGHT)
        m->ps = (m->ps * (WEIGHT - 1) + ft_min(ps, m->ps * MOST + 1000)) / WEIGHT;
    else
        m->ps = m->samples ? ft_min(m->ps, ps) : ps;
    m->samples = (uint32_t)ft_min(m->samples + 1, WEIGHT);
    if (is_known(now) && is_known(other) && both_halves(other) * 20 < both_halves(now) * 19)
        p->past = !p->past;
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
