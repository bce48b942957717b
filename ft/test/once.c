/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of an explored job that its program makes once in a life, whatever it has loaded: those of the bootstrap cache. A life that has
   loaded a version makes them right behind the load, not in the order in which they were made first.

   KEYS: all have keys, but one, which is declared only. A life that begins at the start may make them in another order than before, if rank 0
   has put them all into the cache: a program cannot know that, and one that did not could not do so.
   PLACES: known by the place of the call. Two of them have it in common with a step of the program (--bootstrap-cache tells by what is
   contributed); by the version that is loaded they change places, or one is left out. */
#include <stdio.h>

#include "ft/ft.h"
#include "ft/test/explore.h"

enum { BEFORE = 2 /* calls, and then the load */, FIRST_CALL = 64 /* what their data follow from */, MOST_ONCE = 4 };

struct once {
    uint32_t step;     /* of a first life: see make_once; 0: there is none */
    uint32_t late;     /* so many steps after the load, in a later life */
    enum what what;
    uint32_t root, count;
    uint64_t site;
    const char *key;   /* NULL: known by its place */
};

static const struct once with_keys[MOST_ONCE] = {
    { 2, 0, BCAST, 0, 5, 20, "before the load" },
    { 4, 1, ALLREDUCE, 0, 300, 21, "one" },  /* several units */
    { 7, 0, BCAST, 0, 5, 22, "" },  /* a rank may be far behind rank 0 */
    { 12, 0, ALLREDUCE, 0, 40, 23, "in a later version" },
};

static const struct once by_places[MOST_ONCE] = {
    { 4, 0, ALLREDUCE, 0, ONCE_COUNT, ONCE_PLACE, NULL },
    { 4, 0, ALLREDUCE, 0, ONCE_COUNT, ONCE_PLACE, NULL },
    { 6, 1, BCAST, 1, ONCE_COUNT, 22, NULL },
};

static const struct once *table(void)
{
    static const struct once none[MOST_ONCE];

    return job.sc.what == KEYS ? with_keys : job.sc.what == PLACES ? by_places : none;
}

static bool is_first(const struct actor *r) { return r->life.from <= BEFORE; }

/* All ranks began with what this life began with: it does everything for the first time. */
static bool is_base(const struct actor *r) { return r->life.from == job.begins[ft_peek(&ft_versions_head(&job.region)->base_version)]; }

/* This life leaves out what the ranks that load the same version leave out, too. */
static bool is_left_out(const struct actor *r, uint32_t i)
{
    return job.sc.what == PLACES && i == 0 && !is_first(r) && !is_base(r) && r->life.from / 2 % 3 == 0;
}

static bool all_are_cached(void) { return job.sc.what == KEYS && (job.cached >> 1 & 3) == 3; }

void begin_life(struct actor *r)
{
    if (r->call == 0)
        r->life.had = 0;
    r->life.from = r->call;
    r->life.turned = is_first(r) ? all_are_cached() && (r->index + r->incarnation) % 2 : r->call / 2 % 2;
    r->life.ahead = is_first(r) && r->life.turned ? job.cached : 0;
}

/* When it is the turn of one in this life. */
static uint32_t due(const struct actor *r, const struct once *o)
{
    uint32_t load = 2 * r->life.from;

    if (!is_first(r))
        return o->step < 2 * BEFORE || o->step >= load ? o->step : load + o->late;
    return o->step > 2 * BEFORE && r->life.ahead >> (o - table()) & 1 ? 2 * BEFORE : o->step;
}

static int call(struct actor *r, const struct once *o, uint32_t number, struct ft_error *e)
{
    static const struct ft_type type = { .elem = 4, .kind = FT_I32 };
    struct ft_op op = { FT_SUM, ft_reduce_find(FT_I32, FT_SUM), NULL, NULL };
    int32_t *send = o->what == BCAST ? r->recv : r->send;
    struct ft_stream *s = &r->ft.world;

    for (uint32_t i = 0; i < o->count; i++)
        send[i] = o->what == BCAST && r->index != o->root ? 0x55555555 : contribution(r, FIRST_CALL + number, i);
    if (o->what == BCAST)
        return ft_bcast_cached(s, r->recv, o->count, type, (int)o->root, o->key, o->site, e);
    return ft_allreduce_cached(s, r->send, r->recv, o->count, type, &op, o->key, o->site, e);
}

static bool make_one(struct actor *r, uint32_t number)
{
    const struct once *o = &table()[number];
    uint64_t before = r->ft.world.unit;
    struct ft_error e;

    stop_here(r, -1);
    if (call(r, o, number, &e) != 0) {
        failed("rank %u incarnation %u call %u, operation %u of the bootstrap cache: %s", r->index, r->incarnation, r->call, number, e.text);
        return false;
    }
    r->life.had |= 1u << number;
    job.cached |= r->index == 0 ? 1u << number : 0;
    run.seen[AHEAD] += r->ft.cache.nahead > 0;
    run.seen[REPEATED] += r->ft.world.unit != before && r->ft.world.sig.cached == FT_CACHED_REPEATED;
    if (o->what == BCAST)
        expect_bcast(r, FIRST_CALL + number, o->root, o->count);
    else
        expect_reduced(r, FIRST_CALL + number, o->count);
    return true;
}

bool make_once(struct actor *r, uint32_t step)
{
    for (uint32_t i = 0; i < MOST_ONCE; i++) {
        uint32_t number = r->life.turned ? MOST_ONCE - 1 - i : i;
        const struct once *o = &table()[number];

        if (o->step && !(r->life.had >> number & 1) && due(r, o) == step && !is_left_out(r, number) && !make_one(r, number))
            return false;
    }
    return true;
}
