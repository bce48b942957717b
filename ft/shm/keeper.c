/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/keeper_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ft/shm/channels.h"
#include "ft/shm/cut.h"
#include "ft/shm/extent.h"
#include "ft/shm/pages.h"
#include "ft/shm/streams.h"
#include "ft/shm/wait.h"

enum { LEAST = 2 /* extents that have memory */, REFUSED_MS = 10000, PARTS = 64 /* of an extent */ };

char *ft_keeper_extent(const struct ft_keeper *k, uint64_t i)
{
    return k->region->base + k->region->header->extents_at + i * k->extent_bytes;
}

void ft_keeper_fail(struct ft_keeper *k, const char *format, const char *detail)
{
    char line[512];

    if (k->failed)
        return;
    k->failed = true;
    snprintf(line, sizeof line, format, detail);
    k->tell(k->arg, line);
}

/* The stream with the most log in memory that can go: committed by everybody. NULL if there is none. */
static struct keeper_stream *oldest(struct ft_keeper *k)
{
    const struct ft_params *p = &k->region->header->params;
    struct keeper_stream *best = NULL;

    for (uint32_t i = 0; i < ft_params_logs(p); i = ft_streams_used(k->region, i + 1)) {
        struct keeper_stream *s = &k->streams[i];
        uint64_t safe = UINT64_MAX;

        for (uint32_t r = 0; s->stays && r < s->n; r++) /* who is to receive messages may read them out of the file */
            if (ft_streams_has(&s->stays[r]))
                safe = ft_min(safe, ft_look(&s->counters[r].done_at));
        safe = ft_min(safe, ft_streams_end(k->region, i));
        if (s->spilled < s->assigned && (s->spilled + 1) * k->extent_bytes <= safe &&
            (!best || s->assigned - s->spilled > best->assigned - best->spilled))
            best = s;
    }
    return best;
}

static _Atomic uint64_t *entry_of(const struct keeper_stream *s, uint64_t extent)
{
    return &s->table[extent & (s->ntable - 1)];
}

static void say(const struct keeper_stream *s, uint64_t extent, enum ft_extent_state state, uint64_t place)
{
    ft_publish(entry_of(s, extent), ft_extent_entry(state, extent / s->ntable, place));
}

static void cannot_spill(struct ft_keeper *k, bool must)
{
    char what[400];

    k->disk_full = true;
    snprintf(what, sizeof what, "in %s: %s", k->config.spill_dir, strerror(errno));
    if (must)
        ft_keeper_fail(k, "the log has reached --log-limit and cannot be spilled %s; give it more of either, or another --log-spill", what);
}

/* Moves the oldest committed extent to the file. 0 and the memory it had, or -1. Killed before the table says so:
   the successor writes over what is in the file. After it: no table names the memory, so the successor finds it free. */
static int spill(struct ft_keeper *k, uint64_t *freed, bool must)
{
    struct keeper_stream *s = oldest(k);
    uint64_t place;

    if (!s || (k->disk_full && !must) || !ft_spill_take(&k->file, &place))
        return -1;
    *freed = ft_extent_place(ft_look(entry_of(s, s->spilled)));
    if (ft_spill_write(&k->file, place, ft_keeper_extent(k, *freed)) != 0) {
        cannot_spill(k, must);
        return -1;
    }
    /* Readers look at this word again after they have copied (RULE 14): it changes before the memory is
       given to anybody. */
    say(s, s->spilled, FT_EXTENT_FILE, place);
    s->spilled++;
    ft_note(&s->head->spilled, ft_peek(&s->head->spilled) + 1);
    return 0;
}

static uint32_t number_of(const struct ft_keeper *k, const struct keeper_stream *s) { return (uint32_t)(s - k->streams); }

/* Where the log begins that other nodes may ask for. */
static uint64_t acknowledged(const struct ft_keeper *k, const struct keeper_stream *s)
{
    const struct ft_params *p = &k->region->header->params;
    uint64_t at = p->keeps_log ? 0 : UINT64_MAX;

    if (number_of(k, s) > p->spread)
        return UINT64_MAX;
    for (uint32_t i = 0; p->nnodes > 1 && i < p->nnodes; i++) {
        const struct ft_link_words *words = ft_region_link(k->region, number_of(k, s), i);

        if (i != p->node && ft_ask(&words->wanted))
            at = ft_min(at, ft_ask(&words->acked_at));
    }
    return at;
}

/* A rank that was never in it comes in where the log has come to. */
static uint64_t left_by(const struct keeper_stream *s, uint32_t rank)
{
    return !s->stays || ft_ask(&s->stays[rank].use) ? ft_ask(&s->members[rank].left_at) : FT_CUT_NOWHERE;
}

/* Extents wholly below every rank's cut; or, where no rank has a use for one, below what every rank has left behind. Both in a channel: a
   checkpoint has the messages that are not received yet, and so the cut after it is past them, but who made it receives them out of the log. */
static uint64_t below_cuts(const struct ft_keeper *k, const struct keeper_stream *s)
{
    bool cuts = !k->region->header->params.unkept;
    uint64_t end = acknowledged(k, s);

    if (!cuts || ft_channel_is(k->region, number_of(k, s)))
        for (uint32_t r = 0; r < s->n; r++)
            end = ft_min(end, left_by(s, r));
    if (cuts)
        end = ft_min(end, ft_cut_floor(k->region, number_of(k, s)));
    return ft_min(end, ft_streams_end(k->region, number_of(k, s))) / k->extent_bytes;
}

/* The oldest one. The table says so before anybody gets the place. Killed before that: the successor does it. After it:
   no table names the place, so the successor finds it free. */
static void release_oldest(struct ft_keeper *k, struct keeper_stream *s)
{
    uint64_t entry = ft_look(entry_of(s, s->released)), place = ft_extent_place(entry);

    say(s, s->released, FT_EXTENT_RELEASED, 0);
    s->released++;
    s->spilled = ft_max(s->spilled, s->released);
    if (ft_extent_state(entry) == FT_EXTENT_MEMORY)
        ft_places_give_back(&k->memory, place);
    else
        ft_spill_drop(&k->file, place);
}

/* What no rank goes back to. A cut may be withdrawn at any moment, by who then asks for the floor (ft_cut_withdraw): either the
   new floor is seen there, or here that the cut is gone. */
static void release(struct ft_keeper *k, struct keeper_stream *s)
{
    uint64_t floor = below_cuts(k, s);

    if (floor <= s->released)
        return;
    FT_INVARIANT(floor <= s->assigned, "a cut lies within the log");
    ft_announce(&s->head->floor, floor);
    if (below_cuts(k, s) < floor)
        ft_announce(&s->head->floor, s->released);  /* next time, perhaps */
    else
        while (s->released < floor)
            release_oldest(k, s);
}

/* Every incarnation that runs, and that is about to (ft_cut_reaches), needs nothing below `end` any more; nor do those that died
   lately, for all that is known. So everybody has finished with it, too. */
static bool left_behind(const struct ft_keeper *k, const struct keeper_stream *s, uint64_t end)
{
    if (acknowledged(k, s) < end || ft_streams_end(k->region, number_of(k, s)) < end)
        return false;
    for (uint32_t r = 0; r < s->n; r++)
        if (left_by(s, r) < end)
            return false;
    return true;
}

/* The stream with the most log of those whose oldest extent is left behind. NULL: there is none. */
static struct keeper_stream *longest_left(const struct ft_keeper *k)
{
    struct keeper_stream *best = NULL;

    for (uint32_t i = 0; i < ft_params_logs(&k->region->header->params); i = ft_streams_used(k->region, i + 1)) {
        struct keeper_stream *s = &k->streams[i];

        if (s->released < s->assigned && (!best || s->assigned - s->released > best->assigned - best->released) &&
            left_behind(k, s, (s->released + 1) * k->extent_bytes))
            best = s;
    }
    return best;
}

/* Releases the oldest extent though a cut lies below it. A rank may die at any moment, and who starts it again lowers what it has
   left behind and then asks for the floor (ft_cut_reaches): either the new floor is seen there, or here what is needed. 0 and the
   memory it had, or -1: not yet. */
static int forget(struct ft_keeper *k, uint64_t *freed)
{
    struct keeper_stream *s = longest_left(k);
    uint64_t end;

    if (!s)
        return -1;
    end = (s->released + 1) * k->extent_bytes;
    ft_announce(&s->head->floor, s->released + 1);
    if (!left_behind(k, s, end)) {
        ft_announce(&s->head->floor, s->released);
        return -1;
    }
    release_oldest(k, s);
    ft_note(&s->head->forgotten, ft_peek(&s->head->forgotten) + 1);
    return ft_places_used(&k->memory, freed) ? 0 : -1;
}

/* The agent tells it, once. */
static void note_full(const struct ft_keeper *k)
{
    if (ft_peek(&k->region->header->full) == 0)
        ft_note(&k->region->header->full, 1);
}

/* The oldest part goes, and what it had is to be used again. must: there is no other way. */
static int make_room(struct ft_keeper *k, uint64_t *place, bool must)
{
    if (k->failed || (k->config.full == FT_FULL_FORGET ? forget(k, place) : spill(k, place, must)) != 0)
        return -1;
    if (!must)
        atomic_store(&k->is_short, true);
    note_full(k);
    return 0;
}

static uint64_t limit_of(const struct ft_keeper *k) { return k->region->header->params.nextents * k->extent_bytes; }

static bool is_at_limit(const struct ft_keeper *k, uint64_t more) { return k->bytes + more > limit_of(k); }

static bool is_within_bound(const struct ft_keeper *k, uint64_t more)
{
    uint64_t bound = atomic_load(&k->bound);

    return bound == UINT64_MAX || ft_keeper_bytes(k) + more <= bound;
}

/* False: the system gives none, which is tried again for a time. */
static bool populate(struct ft_keeper *k, char *from, uint64_t bytes)
{
    if (ft_keeper_make(k, from, bytes) == 0) {
        k->bytes += bytes;
        k->refused_ns = 0;
        return true;
    }
    if (!k->refused_ns)
        k->refused_ns = ft_clock_ns();
    if (ft_clock_ns() - k->refused_ns > REFUSED_MS * 1000000ull)
        ft_keeper_fail(k, "the log cannot go on: the system gives no memory for it (%s)", strerror(errno));
    return false;
}

static bool take_fresh(struct ft_keeper *k, uint64_t *place)
{
    if (!ft_places_fresh(&k->memory, place))
        return false;
    if (populate(k, ft_keeper_extent(k, *place), k->extent_bytes))
        return true;
    ft_places_give_back_bare(&k->memory, *place);
    return false;
}

/* The memory of an extent that is free, or of the oldest one, goes back to the system. */
static bool drop_one(struct ft_keeper *k, bool must)
{
    uint64_t place;
    bool dropped;

    if (!ft_places_used(&k->memory, &place) && make_room(k, &place, must) != 0)
        return false;
    dropped = ft_pages_drop(k->region->fd, (uint64_t)(ft_keeper_extent(k, place) - k->region->base), k->extent_bytes) == 0;
    if (dropped) {
        ft_places_give_back_bare(&k->memory, place);
        k->bytes -= k->extent_bytes;
    } else {
        ft_places_give_back(&k->memory, place);
    }
    return dropped;
}

static void give_memory_back(struct ft_keeper *k)
{
    while (k->bytes > LEAST * k->extent_bytes && !is_within_bound(k, 0) && !atomic_load(&k->stopping) && drop_one(k, false))
        ;
}

/* Rather more memory than standing still: ranks wait for this. Not beyond the limit, unless other streams have what
   there is: one alone is given what it may need at a time (ft_params_check). */
static bool may_exceed(const struct ft_keeper *k, uint64_t more, bool needed)
{
    const struct ft_params *p = &k->region->header->params;
    uint64_t others = 0;

    if (!is_at_limit(k, more))
        return true;
    for (uint32_t s = ft_streams_used(k->region, 1); s < ft_params_logs(p); s = ft_streams_used(k->region, s + 1))
        others += s < p->nstreams ? FT_PLACES_EACH : FT_PLACES_CHANNEL;
    return needed && k->bytes + more <= limit_of(k) + others * k->extent_bytes;
}

/* For a whole extent. At the limit the oldest part has to go, and goes before, too, if there is no more memory or there should
   not be. What is beyond the limit is for those who wait, or streams that are far ahead would have it all. 0, or -1: not yet. */
static int take_memory(struct ft_keeper *k, uint64_t *place, bool needed)
{
    bool within = is_within_bound(k, k->extent_bytes), limit = is_at_limit(k, k->extent_bytes);

    if (ft_places_used(&k->memory, place))
        return 0;  /* its pages are there, and mapped by the ranks */
    if (within && !limit && take_fresh(k, place))
        return 0;
    if (!needed && k->bytes > limit_of(k))
        return -1;
    if (make_room(k, place, limit) == 0)
        return 0;
    return (!within || limit) && may_exceed(k, k->extent_bytes, needed) && take_fresh(k, place) ? 0 : -1;
}

/* The stream's `ready` follows from its table, or it is what a predecessor has said; ranks wait for it. */
static void tell_ready(const struct ft_keeper *k, struct keeper_stream *s)
{
    ft_publish(&s->head->ready, s->ready);
    ft_doorbells_tell(k->region, &(struct ft_announced){ .kind = FT_AWAIT_MEMORY, .stream = number_of(k, s), .below = s->ready });
}

/* Killed before the store: the memory is free, as no table names it. After it: the successor counts the extent. */
static void enter(struct keeper_stream *s, uint64_t place)
{
    say(s, s->assigned, FT_EXTENT_MEMORY, place);
    s->assigned++;
}

void ft_keeper_assign(struct ft_keeper *k, struct keeper_stream *s, uint64_t place)
{
    enter(s, place);
    s->ready = s->assigned * k->extent_bytes;
    tell_ready(k, s);
}

/* The first extent of a stream has memory for as much again as has been logged, and a small part of it at least: many of
   them do not take the limit from those that log much. */
static uint64_t part_of(const struct ft_keeper *k, const struct keeper_stream *s)
{
    uint64_t left = k->extent_bytes - s->ready % k->extent_bytes, part = k->extent_bytes / PARTS;

    while (part < s->ready)
        part *= 2;
    return ft_min(left, part);
}

/* A place with nothing in it, for an extent that comes to have memory in parts. */
static bool enter_bare(struct ft_keeper *k, struct keeper_stream *s)
{
    uint64_t place;

    if (!ft_places_fresh(&k->memory, &place) && !(drop_one(k, true) && ft_places_fresh(&k->memory, &place)))
        return false;
    enter(s, place);
    return true;
}

static int grow_part(struct ft_keeper *k, struct keeper_stream *s, bool needed)
{
    uint64_t part = part_of(k, s);
    bool room = true;

    if (s->ready == s->assigned * k->extent_bytes && !enter_bare(k, s))
        return -1;
    while (room && (is_at_limit(k, part) || !is_within_bound(k, part)))
        room = drop_one(k, is_at_limit(k, part));
    if (!room && !may_exceed(k, part, needed))
        return -1;
    if (!populate(k, ft_keeper_extent(k, ft_extent_place(ft_look(entry_of(s, s->assigned - 1)))) + s->ready % k->extent_bytes, part))
        return -1;
    s->ready += part;
    tell_ready(k, s);
    return 0;
}

static int grow_whole(struct ft_keeper *k, struct keeper_stream *s, bool needed)
{
    uint64_t place;

    if (take_memory(k, &place, needed) != 0)
        return -1;
    ft_keeper_assign(k, s, place);
    return 0;
}

/* needed: ranks wait for it. False: not all of it can be had now. */
static bool grow(struct ft_keeper *k, struct keeper_stream *s, uint64_t to, bool needed)
{
    while (s->ready < to && !atomic_load(&k->stopping)) {
        bool whole = s->whole || (s->ready > 0 && s->ready % k->extent_bytes == 0);

        if ((whole ? grow_whole(k, s, needed) : grow_part(k, s, needed)) != 0)
            return false;
    }
    return true;
}

static bool serve(struct ft_keeper *k, struct keeper_stream *s)
{
    uint64_t want = 0, ahead = 0, most = (s->released + s->ntable) * k->extent_bytes;

    for (uint32_t r = 0; r < s->n; r++) {
        want = ft_max(want, ft_look(&s->counters[r].want));
        ahead = ft_max(ahead, ft_look(&s->counters[r].ahead));
    }
    if (want > most && s->ready == most)
        ft_keeper_fail(k, "the log has reached its greatest size, %s", "more extents than its table holds");
    return grow(k, s, ft_min(want, most), true) && grow(k, s, ft_min(ahead, most), false) && want <= most;
}

/* Told only while there is no other way: what is spilled makes room as long as there is a disk, and a system without memory is asked again. */
static void note_starved(const struct ft_keeper *k, bool met)
{
    uint64_t starved = !met && k->config.full == FT_FULL_FORGET && !k->refused_ns && !k->failed && is_at_limit(k, 1);

    if (ft_peek(&k->region->header->starved) != starved)
        ft_publish(&k->region->header->starved, starved);
}

bool ft_keeper_serve(struct ft_keeper *k)
{
    bool met = true;

    give_memory_back(k);
    for (uint32_t i = 0; i < ft_params_logs(&k->region->header->params); i = ft_streams_used(k->region, i + 1)) {
        release(k, &k->streams[i]);
        met = serve(k, &k->streams[i]) && met;
    }
    atomic_store(&k->full, k->bytes);
    note_starved(k, met);
    return met;
}

/* One stream as its table has it. Extents are assigned, spilled and released in order, and an entry is used again only
   when its extent is released. */
static void adopt_stream(struct ft_keeper *k, struct keeper_stream *s)
{
    uint64_t entry, n = s->ntable;

    for (uint64_t i = 0; i < n && (entry = ft_look(&s->table[i])) != 0; i++) {
        uint64_t next = ft_extent_lap(entry) * n + i + 1;

        s->assigned = ft_max(s->assigned, next);
        if (ft_extent_state(entry) == FT_EXTENT_RELEASED) {
            s->released = ft_max(s->released, next);
        } else if (ft_extent_state(entry) == FT_EXTENT_FILE) {
            s->spilled = ft_max(s->spilled, next);
            ft_places_name(&k->file.places, ft_extent_place(entry));
        } else {
            ft_places_name(&k->memory, ft_extent_place(entry));
        }
    }
    s->spilled = ft_max(s->spilled, s->released);
    s->ready = s->assigned * k->extent_bytes;
    if (!s->whole && s->assigned) /* the last one has what the predecessor has said, whatever it has made beyond that */
        s->ready = ft_max(s->ready - k->extent_bytes, ft_peek(&s->head->ready));
    k->bytes += (s->assigned - s->spilled) * k->extent_bytes - (s->assigned * k->extent_bytes - s->ready);
    /* The predecessor may have been about to release more, and not have seen yet whether it may. */
    ft_announce(&s->head->floor, s->released);
}

void ft_keeper_adopt(struct ft_keeper *k, ft_keeper_failed *failed, void *arg)
{
    const struct ft_params *p = &k->region->header->params;

    if (ft_region_resetting(k->region))
        ft_region_reset(k->region);
    k->tell = failed;
    k->arg = arg;
    k->failed = k->runs = k->disk_full = false;
    k->refused_ns = k->bytes = 0;
    atomic_store(&k->bound, UINT64_MAX);
    atomic_store(&k->stopping, false);
    ft_places_forget(&k->memory);
    ft_places_forget(&k->file.places);
    for (uint32_t i = 0; i < ft_params_logs(p); i++)
        k->streams[i].assigned = k->streams[i].spilled = k->streams[i].released = k->streams[i].ready = 0;
    for (uint32_t i = 0; i < ft_params_logs(p); i = ft_streams_used(k->region, i + 1))
        adopt_stream(k, &k->streams[i]);
    ft_places_settle(&k->memory);
    ft_places_doubt(&k->memory); /* the predecessor may have given their memory back */
    ft_spill_settle(&k->file);
    for (uint32_t i = 0; i < ft_params_logs(p); i = ft_streams_used(k->region, i + 1))
        tell_ready(k, &k->streams[i]);
}
