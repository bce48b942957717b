/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/cut.h"

#include "ft/shm/channels.h"
#include "ft/shm/streams.h"
#include "ft/shm/versions.h"
#include "ft/shm/word.h"

/* NULL: it has no part in that channel. */
static struct ft_member *member_of(const struct ft_region *r, uint32_t rank, uint32_t stream)
{
    int64_t i = ft_streams_index(r, stream, rank);

    return i < 0 ? NULL : &ft_region_stream(r, stream).members[i];
}

uint64_t ft_cut_unit(const struct ft_region *r, uint32_t rank) { return ft_look(&member_of(r, rank, 0)->cut_unit); }

uint64_t ft_cut_need_from(const struct ft_region *r, uint32_t rank, uint32_t stream, uint64_t position)
{
    const struct ft_stay *stays = ft_region_stream(r, stream).stays, *stay;

    if (!stays)
        return ft_streams_index(r, stream, rank) < 0 ? FT_CUT_NOWHERE : position;
    stay = &stays[rank];
    return ft_ask(&stay->use) ? ft_max(position, ft_peek(&stay->first)) : FT_CUT_NOWHERE;
}

uint64_t ft_cut_need(const struct ft_region *r, uint32_t rank, uint32_t stream)
{
    const struct ft_member *m = member_of(r, rank, stream);

    return m ? ft_cut_need_from(r, rank, stream, ft_ask(&m->cut)) : FT_CUT_NOWHERE;
}

/* Who is not in it comes in where its log has come to, at the earliest. */
uint64_t ft_cut_floor(const struct ft_region *r, uint32_t stream)
{
    uint64_t floor = ft_streams_end(r, stream);

    if (ft_channel_is(r, stream))
        return ft_min(floor, ft_min(ft_cut_need(r, ft_channel_sender(r, stream), stream), ft_cut_need(r, ft_channel_receiver(r, stream), stream)));
    for (uint32_t i = 0; i < r->header->params.nranks; i++)
        floor = ft_min(floor, ft_cut_need(r, i, stream));
    return floor;
}

/* Killed in the middle, some streams have the new cut: where the rank goes on from is at that or past it by then, or it has no
   way back before the rest is done. */
static void move(const struct ft_region *r, uint32_t rank, const struct ft_positions *p)
{
    for (uint32_t s = 0; s < ft_params_logs(&r->header->params); s = ft_streams_used(r, s + 1)) {
        struct ft_member *m = member_of(r, rank, s);
        struct ft_position at = ft_position_in(p, s);

        if (m) {
            ft_note(&m->cut_unit, at.unit);
            ft_announce(&m->cut, at.end);
        }
    }
}

bool ft_cut_is_after(const struct ft_region *r, uint32_t rank, const struct ft_positions *p)
{
    for (uint32_t s = 0; s < ft_params_logs(&r->header->params); s = ft_streams_used(r, s + 1)) {
        const struct ft_member *m = member_of(r, rank, s);
        struct ft_position at = ft_position_in(p, s);

        if (m && (at.unit < ft_peek(&m->cut_unit) || at.end < ft_peek(&m->cut)))
            return true;
    }
    return false;
}

void ft_cut_register(const struct ft_region *r, uint32_t rank, const struct ft_positions *p)
{
    if (!ft_cut_is_after(r, rank, p))
        move(r, rank, p);
}

void ft_cut_hold(const struct ft_region *r, uint32_t rank)
{
    for (uint32_t s = 0; s < ft_params_logs(&r->header->params); s = ft_streams_used(r, s + 1))
        if (member_of(r, rank, s))
            ft_announce(&member_of(r, rank, s)->left_at, ft_cut_need(r, rank, s));
}

/* Of a rank that is started from its beginning: it goes on behind that version, if it loads one. */
static bool find_beginning(const struct ft_region *r, uint32_t rank, const struct ft_version *v, struct ft_positions *p)
{
    p->n = 0;
    return !v->version || ft_versions_positions(r, rank, v, p);
}

static bool is_there(const struct ft_region *r, uint32_t stream, uint64_t position)
{
    return ft_ask(&ft_region_stream(r, stream).head->floor) * r->header->params.extent_bytes <= position;
}

static bool is_there_from(const struct ft_region *r, uint32_t rank, const struct ft_positions *p)
{
    bool there = true;

    for (uint32_t s = 0; s < ft_params_logs(&r->header->params); s = ft_streams_used(r, s + 1))
        there = there && is_there(r, s, ft_cut_need_from(r, rank, s, ft_position_in(p, s).end));
    return there;
}

void ft_cut_unregister(const struct ft_region *r, uint32_t rank)
{
    struct ft_positions p;
    struct ft_version v;

    ft_versions_loadable(r, rank, &v);
    if (!find_beginning(r, rank, &v, &p))
        return;
    /* Woken from the snapshot it may still be on its way to that version, and needs the log (found by the explorer). */
    if (v.version && ft_cut_unit(r, rank) <= v.unit && !ft_versions_moves_cut(r, rank, &v))
        return;
    if (is_there_from(r, rank, &p))
        move(r, rank, &p);
}

/* The keeper says how far it is going to forget, and then asks what ranks have left behind. Here it is said first what the rank
   needs, and the floor is asked for second: one of the two sees the other. */
bool ft_cut_holds(const struct ft_region *r, uint32_t rank)
{
    bool holds = true;

    for (uint32_t s = 0; s < ft_params_logs(&r->header->params); s = ft_streams_used(r, s + 1))
        holds = holds && is_there(r, s, ft_cut_need(r, rank, s));
    return holds;
}

bool ft_cut_reaches(const struct ft_region *r, uint32_t rank)
{
    ft_cut_hold(r, rank);
    return ft_cut_holds(r, rank);
}

bool ft_cut_withdraw(const struct ft_region *r, uint32_t rank)
{
    struct ft_version v;
    bool loads = ft_versions_loadable(r, rank, &v);
    struct ft_positions p;

    find_beginning(r, rank, &v, &p); /* nobody writes over what a dead rank has not consumed */
    move(r, rank, &p);
    return ft_cut_reaches(r, rank) && (loads || ft_versions_can_begin(r, rank));
}

bool ft_cut_whole(const struct ft_region *r)
{
    bool whole = true;

    for (uint32_t s = 0; s < ft_params_logs(&r->header->params); s = ft_streams_used(r, s + 1))
        whole = whole && is_there(r, s, 0);
    return whole;
}
