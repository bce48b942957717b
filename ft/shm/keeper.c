/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/keeper_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ft/shm/extent.h"
#include "ft/shm/pages.h"
#include "ft/shm/wait.h"

enum { FEW_RANKS = 8 };

static char *extent_at(const struct ft_keeper *k, uint64_t i)
{
    return k->region->base + k->region->header->extents_at + i * k->extent_bytes;
}

/* The world's slots for segments. */
static char *slots_of(const struct ft_keeper *k, uint64_t *bytes)
{
    const struct ft_stream_layout *l = &k->region->stream;

    *bytes = l->table_at - l->slots_at;
    return k->region->base + k->region->header->streams_at + l->slots_at;
}

/* Memory that no rank has been given yet. */
static void make(const struct ft_keeper *k, char *from, uint64_t bytes)
{
    ft_pages_write(k->region->fd, (uint64_t)(from - k->region->base), from, bytes, &k->stopping);
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

    for (uint32_t i = 0; i < p->nstreams; i++) {
        struct keeper_stream *s = &k->streams[i];
        uint64_t safe = UINT64_MAX;

        for (uint32_t r = 0; r < p->nranks; r++)
            safe = ft_min(safe, ft_look(&s->counters[r].done_at));
        if (s->spilled < s->assigned && (s->spilled + 1) * k->extent_bytes <= safe &&
            (!best || s->assigned - s->spilled > best->assigned - best->spilled))
            best = s;
    }
    return best;
}

static _Atomic uint64_t *entry_of(const struct ft_keeper *k, const struct keeper_stream *s, uint64_t extent)
{
    return &s->table[extent & (k->region->header->params.ntable - 1)];
}

static void say(const struct ft_keeper *k, const struct keeper_stream *s, uint64_t extent, enum ft_extent_state state, uint64_t place)
{
    ft_publish(entry_of(k, s, extent), ft_extent_entry(state, extent / k->region->header->params.ntable, place));
}

/* Moves the oldest committed extent to the file. 0 and the memory it had, or -1. Killed before the table says so:
   the successor writes over what is in the file. After it: no table names the memory, so the successor finds it free. */
static int spill(struct ft_keeper *k, uint64_t *freed)
{
    struct keeper_stream *s = oldest(k);
    uint64_t place;

    if (!s || !ft_spill_take(&k->file, &place))
        return -1;
    *freed = ft_extent_place(ft_look(entry_of(k, s, s->spilled)));
    if (ft_spill_write(&k->file, place, extent_at(k, *freed)) != 0) {
        char what[400];

        snprintf(what, sizeof what, "in %s: %s", k->config.spill_dir, strerror(errno));
        ft_keeper_fail(k, "the log has reached --log-limit and cannot be spilled %s; give it more of either, or another --log-spill", what);
        return -1;
    }
    /* Readers look at this word again after they have copied (RULE 14): it changes before the memory is
       given to anybody. */
    say(k, s, s->spilled, FT_EXTENT_FILE, place);
    s->spilled++;
    ft_note(&s->head->spilled, ft_peek(&s->head->spilled) + 1);
    return 0;
}

/* Where the log begins that other nodes may ask for. */
static uint64_t acknowledged(const struct ft_keeper *k)
{
    const struct ft_params *p = &k->region->header->params;
    uint64_t at = p->keeps_log ? 0 : UINT64_MAX;

    for (uint32_t i = 0; p->nnodes > 1 && i < p->nnodes; i++)
        if (i != p->node && ft_ask(&ft_region_link(k->region, i)->wanted))
            at = ft_min(at, ft_ask(&ft_region_link(k->region, i)->acked_at));
    return at;
}

/* Extents wholly below every rank's cut; or, where no rank has a use for one, below what every rank has left behind. */
static uint64_t below_cuts(const struct ft_keeper *k, const struct keeper_stream *s)
{
    const struct ft_params *p = &k->region->header->params;
    bool unkept = p->unkept && s == &k->streams[0];
    uint64_t end = acknowledged(k);

    for (uint32_t r = 0; r < p->nranks; r++)
        end = ft_min(end, ft_ask(unkept ? &ft_region_rank(k->region, r)->left_at : &s->cuts[r].end));
    return end / k->extent_bytes;
}

/* The oldest one. The table says so before anybody gets the place. Killed before that: the successor does it. After it:
   no table names the place, so the successor finds it free. */
static void release_oldest(struct ft_keeper *k, struct keeper_stream *s)
{
    uint64_t entry = ft_look(entry_of(k, s, s->released)), place = ft_extent_place(entry);

    say(k, s, s->released, FT_EXTENT_RELEASED, 0);
    s->released++;
    s->spilled = ft_max(s->spilled, s->released);
    if (ft_extent_state(entry) == FT_EXTENT_MEMORY)
        ft_places_give_back(&k->memory, place);
    else
        ft_spill_drop(&k->file, place);
}

/* What no rank goes back to. A cut may be withdrawn at any moment, by who then asks for the floor (ft_region_withdraw): either the
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

/* Every incarnation that runs, and that is about to (ft_region_reaches), needs nothing below `end` any more; nor do those that died
   lately, for all that is known. So everybody has finished with it, too. Of the world only: ranks say it of no other stream. */
static bool left_behind(const struct ft_keeper *k, uint64_t end)
{
    if (acknowledged(k) < end)
        return false;
    for (uint32_t r = 0; r < k->region->header->params.nranks; r++)
        if (ft_ask(&ft_region_rank(k->region, r)->left_at) < end)
            return false;
    return true;
}

/* Releases the oldest extent though a cut lies below it. A rank may die at any moment, and who starts it again lowers what it has
   left behind and then asks for the floor (ft_region_reaches): either the new floor is seen there, or here what is needed. 0 and the
   memory it had, or -1: not yet. */
static int forget(struct ft_keeper *k, uint64_t *freed)
{
    struct keeper_stream *s = &k->streams[0];
    uint64_t end = (s->released + 1) * k->extent_bytes;

    if (!left_behind(k, end))
        return -1;
    ft_announce(&s->head->floor, s->released + 1);
    if (!left_behind(k, end)) {
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

static int take_memory(struct ft_keeper *k, uint64_t *place)
{
    if (ft_places_used(&k->memory, place))
        return 0;  /* its pages are there, and mapped by the ranks */
    if (ft_places_fresh(&k->memory, place)) {
        make(k, extent_at(k, *place), k->extent_bytes);
        return 0;
    }
    if (k->failed || (k->config.full == FT_FULL_FORGET ? forget(k, place) : spill(k, place)) != 0)
        return -1;
    note_full(k);
    return 0;
}

/* The stream's `assigned` follows from its table; ranks sleep on it. */
static void tell_assigned(struct keeper_stream *s)
{
    ft_announce(&s->head->assigned, s->assigned);  /* then the sleep flags would be read; the keeper just wakes */
    ft_wake(&s->head->assigned);
}

/* Killed before the first store: the memory is free, as no table names it. After it: the successor counts the
   extent, and tells. */
static void assign(struct ft_keeper *k, struct keeper_stream *s, uint64_t place)
{
    say(k, s, s->assigned, FT_EXTENT_MEMORY, place);
    s->assigned++;
    tell_assigned(s);
}

bool ft_keeper_serve(struct ft_keeper *k)
{
    const struct ft_params *p = &k->region->header->params;
    bool met = true;

    if (p->ring) /* the memory is given out already; to make it now would be to write into it */
        return true;
    for (uint32_t i = 0; i < p->nstreams; i++) {
        struct keeper_stream *s = &k->streams[i];
        uint64_t want = 0, place;

        release(k, s);
        for (uint32_t r = 0; r < p->nranks; r++)
            want = ft_max(want, ft_look(&s->counters[r].want));
        if (want > s->released + p->ntable) {
            want = s->released + p->ntable;
            if (s->assigned == want)
                ft_keeper_fail(k, "the log has reached its greatest size, %s", "more extents than its table holds");
        }
        while (s->assigned < want && !atomic_load(&k->stopping)) {
            if (take_memory(k, &place) != 0) {
                met = false;
                break;
            }
            assign(k, s, place);
        }
    }
    return met;
}

/* One stream as its table has it. Extents are assigned, spilled and released in order, and an entry is used again only
   when its extent is released. */
static void adopt_stream(struct ft_keeper *k, struct keeper_stream *s)
{
    uint64_t entry, n = k->region->header->params.ntable;

    s->assigned = s->spilled = s->released = 0;
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
    k->failed = k->runs = false;
    atomic_store(&k->stopping, false);
    ft_places_forget(&k->memory);
    ft_places_forget(&k->file.places);
    for (uint32_t i = 0; i < p->nstreams; i++)
        adopt_stream(k, &k->streams[i]);
    ft_places_settle(&k->memory);
    ft_spill_settle(&k->file);
    for (uint32_t i = 0; i < p->nstreams; i++)
        tell_assigned(&k->streams[i]);
}

/* Small amounts are populated while the ranks start, large ones before (ft_keeper_open); many ranks have enough to
   do with starting, and populate what they use themselves. */
void ft_keeper_populate(struct ft_keeper *k)
{
    uint64_t bytes;
    char *slots = slots_of(k, &bytes);

    if (k->config.prepare > k->extent_bytes || k->region->header->params.nranks > FEW_RANKS)
        return;
    ft_pages_touch(extent_at(k, 0), k->extent_bytes, &k->stopping);
    ft_pages_touch(slots, bytes, &k->stopping);
}

static void close_streams(struct ft_keeper *k)
{
    free(k->streams);
    ft_places_close(&k->memory);
}

static int open_streams(struct ft_keeper *k, struct ft_error *e)
{
    const struct ft_header *h = k->region->header;

    k->streams = calloc(h->params.nstreams, sizeof *k->streams);
    if (!k->streams || ft_places_open(&k->memory, h->params.nextents) != 0)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < h->params.nstreams; i++) {
        char *base = k->region->base + h->streams_at + i * h->stream_bytes;

        k->streams[i].head = (struct ft_stream_head *)(void *)base;
        k->streams[i].counters = (struct ft_counters *)(void *)(base + k->region->stream.counters_at);
        k->streams[i].cuts = (struct ft_cut *)(void *)(base + k->region->stream.cuts_at);
        k->streams[i].table = (_Atomic uint64_t *)(void *)(base + k->region->stream.table_at);
    }
    return 0;
}

/* What there is before any rank asks: an extent for each stream, and what the user wants prepared for the first. */
static void prepare(struct ft_keeper *k)
{
    const struct ft_params *p = &k->region->header->params;
    uint64_t n = ft_max(1, ft_div_up(k->config.prepare, k->extent_bytes)), place, bytes;

    n = ft_min(n, ft_min(p->nextents - (p->nstreams - 1), p->ntable));
    while (k->streams[0].assigned < n && ft_places_fresh(&k->memory, &place))
        assign(k, &k->streams[0], place);
    for (uint32_t i = 1; i < p->nstreams && ft_places_fresh(&k->memory, &place); i++)
        assign(k, &k->streams[i], place);
    if (n > 1) {
        char *slots = slots_of(k, &bytes);

        ft_note(&k->region->header->prepared, n);
        make(k, slots, bytes);
        make(k, extent_at(k, 0), k->memory.fresh * k->extent_bytes);
    }
}

int ft_keeper_open(struct ft_keeper **out, struct ft_region *r, const struct ft_keeper_config *c, struct ft_error *e)
{
    struct ft_keeper *k = calloc(1, sizeof *k);
    int err;

    if (!k)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    k->region = r;
    k->config = *c;
    k->extent_bytes = r->header->params.extent_bytes;
    k->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (k->kick_fd < 0) {
        err = ft_err_set(e, FT_ESYS, "cannot create an eventfd: %s", strerror(errno));
        goto allocated;
    }
    err = ft_spill_open(&k->file, c->spill_dir, k->extent_bytes, r->header->params.nstreams * r->header->params.ntable, e);
    if (err)
        goto kick_opened;
    err = open_streams(k, e);
    if (err)
        goto spill_opened;
    prepare(k);
    *out = k;
    return 0;

spill_opened:
    close_streams(k);
    ft_spill_close(&k->file);
kick_opened:
    close(k->kick_fd);
allocated:
    free(k);
    return err;
}

void ft_keeper_close(struct ft_keeper *k)
{
    ft_spill_close(&k->file);
    close(k->kick_fd);
    close_streams(k);
    free(k);
}

int ft_keeper_kick_fd(const struct ft_keeper *k) { return k->kick_fd; }
int ft_keeper_spill_fd(const struct ft_keeper *k) { return k->file.fd; }

struct ft_keeper_stats ft_keeper_stats(const struct ft_keeper *k)
{
    struct ft_keeper_stats stats = { .file_bytes = ft_spill_bytes(&k->file) };
    struct stat st;

    for (uint32_t i = 0; i < k->region->header->params.nstreams; i++)
        stats.spilled_bytes += ft_peek(&k->streams[i].head->spilled) * k->extent_bytes;
    if (fstat(k->region->fd, &st) == 0)
        stats.memory_bytes = (uint64_t)st.st_blocks * 512;
    return stats;
}
