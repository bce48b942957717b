/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/walk.h"

#include "ft/shm/log.h"

static enum ft_walk_step look(const struct ft_walk *w, struct ft_record *rec)
{
    uint64_t left = w->extent_bytes - w->position % w->extent_bytes;

    if (!w->read(w->arg, w->position, rec, sizeof *rec))
        return FT_WALK_ABSENT;
    return rec->unit == w->unit + 1 && ft_record_bytes(rec->sig.length) <= left ? FT_WALK_RECORD : FT_WALK_DAMAGED;
}

static bool is_gap(const struct ft_walk *w, const struct ft_record *rec)
{
    return rec->sig.call == FT_CALL_NONE && w->position % w->extent_bytes != 0;
}

enum ft_walk_step ft_walk_look(struct ft_walk *w, struct ft_record *rec)
{
    enum ft_walk_step step = look(w, rec);

    if (step != FT_WALK_RECORD || !is_gap(w, rec))
        return step;
    w->position += w->extent_bytes - w->position % w->extent_bytes;
    return look(w, rec);
}

void ft_walk_on(struct ft_walk *w, const struct ft_record *rec)
{
    w->unit++;
    w->position += ft_record_bytes(rec->sig.length);
}

/* The unit that an extent begins with, plus one; 0: it cannot be read. */
static uint64_t first_of(const struct ft_walk *w, uint64_t extent)
{
    struct ft_record rec;

    return w->read(w->arg, extent * w->extent_bytes, &rec, sizeof rec) ? rec.unit : 0;
}

/* Extents are released from below, also meanwhile: one that cannot be read is too low. */
bool ft_walk_seek(struct ft_walk *w, uint64_t unit, uint64_t from, uint64_t to)
{
    uint64_t first = 0;

    while (from < to) {
        uint64_t middle = from + (to - from) / 2, begins = first_of(w, middle);

        if (begins && begins - 1 > unit) {
            to = middle;
            continue;
        }
        from = middle + 1;
        if (begins) {
            first = begins;
            w->position = middle * w->extent_bytes;
        }
    }
    w->unit = first - 1;
    return first;
}
