/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/cut.h"

#include "ft/shm/streams.h"
#include "ft/shm/versions.h"
#include "ft/shm/word.h"

/* What `named` says: which bank, and how many names there have been. Without that a reader that looks
   before and after it has read could find the same bank twice, and in between another cut. */
enum { NOBODY, FIRST, SECOND, NAME = 4 };

static struct ft_cut_words *words_of(const struct ft_region *r, uint32_t rank) { return &ft_region_rank(r, rank)->cuts; }

static struct ft_cut_bank *bank_of(struct ft_cut_words *w, uint64_t named)
{
    return named % NAME ? &w->bank[named % NAME - FIRST] : NULL;
}

static struct ft_position look_in(const struct ft_cut_bank *b, uint32_t stream)
{
    uint64_t n = ft_peek(&b->n);

    for (uint64_t i = 0; i < n; i++)
        if (ft_peek(&b->in[i].stream) == stream)
            return (struct ft_position){ ft_peek(&b->in[i].use), ft_peek(&b->in[i].unit), ft_peek(&b->in[i].end) };
    return (struct ft_position){ 0 };
}

struct ft_position ft_cut_in(const struct ft_region *r, uint32_t rank, uint32_t stream)
{
    struct ft_cut_words *w = words_of(r, rank);
    struct ft_position at;
    uint64_t named, again = ft_ask(&w->named);

    do {
        const struct ft_cut_bank *b = bank_of(w, named = again);

        if (!b)
            return (struct ft_position){ 0 };
        at = look_in(b, stream);
        atomic_thread_fence(memory_order_acquire); /* pairs with fill's: who has read of a later cut finds a later name */
    } while ((again = ft_ask(&w->named)) != named);
    return at;
}

/* From a cut in which it had left the stream a rank comes again once at most (ft_streams_pick). */
uint64_t ft_cut_need_from(const struct ft_region *r, uint32_t rank, uint32_t stream, struct ft_position at)
{
    const struct ft_stay *stay = &ft_region_stream(r, stream).stays[rank];
    uint64_t need = at.use ? at.end : FT_POSITION_LEFT;

    if (ft_ask(&stay->use) > at.use)
        need = ft_min(need, ft_peek(at.use ? &stay->at : &stay->first));
    return need;
}

uint64_t ft_cut_need(const struct ft_region *r, uint32_t rank, uint32_t stream)
{
    return ft_cut_need_from(r, rank, stream, ft_cut_in(r, rank, stream));
}

/* Who is not in it comes in where its log has come to, at the earliest. */
uint64_t ft_cut_floor(const struct ft_region *r, uint32_t stream)
{
    uint64_t floor = ft_streams_end(r, stream);

    for (uint32_t i = 0; i < r->header->params.nranks; i++)
        floor = ft_min(floor, ft_cut_need(r, i, stream));
    return floor;
}

/* The bank is read by nobody who believes what is in it before it is named. */
static void fill(struct ft_cut_bank *b, const struct ft_positions *p)
{
    atomic_thread_fence(memory_order_release);
    for (uint32_t i = 0; i < p->n; i++) {
        ft_note(&b->in[i].stream, p->in[i].stream);
        ft_note(&b->in[i].use, p->in[i].at.use);
        ft_note(&b->in[i].unit, p->in[i].at.unit);
        ft_note(&b->in[i].end, p->in[i].at.end);
    }
    ft_note(&b->n, p->n);
}

static void name(struct ft_cut_words *w, const struct ft_positions *p)
{
    uint64_t named = ft_peek(&w->named), which = !p ? NOBODY : named % NAME == FIRST ? SECOND : FIRST;

    if (p)
        fill(bank_of(w, which), p);
    ft_announce(&w->named, named - named % NAME + NAME + which);
}

bool ft_cut_is_after(const struct ft_region *r, uint32_t rank, const struct ft_positions *p)
{
    for (uint32_t s = 0; s < r->header->params.nstreams; s++) {
        struct ft_position at = ft_position_in(p, s), cut = ft_cut_in(r, rank, s);

        if (at.use < cut.use || at.unit < cut.unit || (at.use == cut.use && at.end < cut.end))
            return true;
    }
    return false;
}

void ft_cut_register(const struct ft_region *r, uint32_t rank, const struct ft_positions *p)
{
    if (!ft_cut_is_after(r, rank, p))
        name(words_of(r, rank), p);
}

void ft_cut_hold(const struct ft_region *r, uint32_t rank)
{
    for (uint32_t s = 0; s < r->header->params.nstreams; s++)
        ft_announce(&ft_region_stream(r, s).members[rank].left_at, ft_cut_need(r, rank, s));
}

/* Of a rank that is started from its beginning: it goes on behind that version, if it loads one. */
static struct ft_positions beginning(const struct ft_version *v)
{
    return v->version ? ft_positions_world(v->unit + 1, v->end) : (struct ft_positions){ 0 };
}

static bool is_there(const struct ft_region *r, uint32_t stream, uint64_t position)
{
    return ft_ask(&ft_region_stream(r, stream).head->floor) * r->header->params.extent_bytes <= position;
}

static bool is_there_from(const struct ft_region *r, uint32_t rank, const struct ft_positions *p)
{
    bool there = true;

    for (uint32_t s = 0; s < r->header->params.nstreams; s++)
        there = there && is_there(r, s, ft_cut_need_from(r, rank, s, ft_position_in(p, s)));
    return there;
}

static void fall_back(const struct ft_region *r, uint32_t rank, const struct ft_version *v)
{
    struct ft_positions p = beginning(v);

    name(words_of(r, rank), p.n ? &p : NULL);
}

void ft_cut_unregister(const struct ft_region *r, uint32_t rank)
{
    struct ft_positions p;
    struct ft_version v;

    ft_versions_loadable(r, rank, &v);
    p = beginning(&v);
    /* Woken from the snapshot it may still be on its way to that version, and needs the log (found by the explorer). */
    if (v.version && ft_cut_unit(r, rank) <= v.unit && !ft_versions_moves_cut(r, rank, &v))
        return;
    if (is_there_from(r, rank, &p))
        fall_back(r, rank, &v);
}

/* The keeper says how far it is going to forget, and then asks what ranks have left behind. Here it is said first what the rank
   needs, and the floor is asked for second: one of the two sees the other. */
bool ft_cut_holds(const struct ft_region *r, uint32_t rank)
{
    bool holds = true;

    for (uint32_t s = 0; s < r->header->params.nstreams; s++)
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

    fall_back(r, rank, &v);
    return ft_cut_reaches(r, rank) && (loads || ft_versions_can_begin(r, rank));
}

bool ft_cut_whole(const struct ft_region *r)
{
    bool whole = true;

    for (uint32_t s = 0; s < r->header->params.nstreams; s++)
        whole = whole && is_there(r, s, 0);
    return whole;
}
