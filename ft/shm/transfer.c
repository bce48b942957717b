/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/transfer.h"

#include <string.h>

#include "ft/shm/extent.h"
#include "ft/shm/walk.h"

enum { AHEAD = 4 }; /* extents asked for before they are needed, as ft/shm/log.c does */

static struct ft_counters *counters_of(const struct ft_region *r) { return ft_region_stream(r, 0).counters; }

/* ---- reading ---- */

void ft_reader_open(struct ft_reader *t, const struct ft_region *r, uint32_t stream, int spill_fd)
{
    struct ft_stream_parts parts = ft_region_stream(r, stream);

    memset(t, 0, sizeof *t);
    t->extent_bytes = r->header->params.extent_bytes;
    t->log.region = r;
    t->log.head = parts.head;
    t->log.table = parts.table;
    t->log.ntable = parts.ntable;
    t->counters = parts.counters;
    ft_log_extents(&t->log, t->extent_bytes);
    t->log.spill_fd = spill_fd;
}

/* done_at of a rank may be behind its `done`, never ahead. */
uint64_t ft_reader_end(const struct ft_reader *t)
{
    const struct ft_region *r = t->log.region;
    uint64_t end = UINT64_MAX;

    for (uint32_t i = 0; i < r->header->params.nranks; i++)
        end = ft_min(end, ft_look(&t->counters[i].done_at));
    return end;
}

bool ft_reader_read(struct ft_reader *t, uint64_t position, void *to, uint64_t n)
{
    /* There was an extent for what is committed; the look at `ready` only spares ft_log_try_read its wait for one. */
    return ft_look(&t->log.head->ready) > position && ft_log_try_read(&t->log, position, to, n);
}

bool ft_reader_walks(void *arg, uint64_t position, void *to, uint64_t n) { return ft_reader_read(arg, position, to, n); }

/* ---- writing ---- */

static const _Atomic uint64_t *entry_of(const struct ft_writer *w, uint64_t extent)
{
    const struct ft_region *r = w->region;

    return ft_region_stream(r, 0).table + (extent & (r->header->params.ntable - 1));
}

/* What is not whole is in memory, and stays where it is: the keeper spills what is below done_at only. */
static char *live(const struct ft_writer *w, uint64_t position)
{
    uint64_t entry = ft_look(entry_of(w, position / w->extent_bytes));

    FT_INVARIANT(ft_extent_state(entry) == FT_EXTENT_MEMORY, "what is not committed is in memory");
    return w->region->base + w->region->header->extents_at + ft_extent_place(entry) * w->extent_bytes + position % w->extent_bytes;
}

/* The rank's words as it would have written them itself; nobody reads both before it is started. */
static void say_done(const struct ft_writer *w)
{
    struct ft_counters *c = counters_of(w->region);

    for (uint32_t i = 0; i < w->region->header->params.nranks; i++) {
        ft_publish(&c[i].done, w->unit);
        ft_publish(&c[i].done_at, w->end);
    }
}

/* What has just been put. */
static bool read_put(void *arg, uint64_t position, void *to, uint64_t n)
{
    const struct ft_writer *w = arg;

    if (position + n > w->at)
        return false;
    memcpy(to, live(w, position), n);
    return true;
}

/* Counts the records that are whole with the bytes below `have`. */
static int count(struct ft_writer *w, struct ft_walk *walk, uint64_t have, struct ft_error *e)
{
    struct ft_record head;

    for (walk->unit = w->unit, walk->position = w->end; walk->position + FT_LINE <= have; w->unit = walk->unit, w->end = walk->position) {
        enum ft_walk_step step = ft_walk_look(walk, &head);

        if (step == FT_WALK_DAMAGED)
            return ft_err_set(e, FT_EDAMAGED, "at %llu of the log, where unit %llu should be, is something else", (unsigned long long)walk->position,
                              (unsigned long long)w->unit);
        if (walk->position + FT_LINE > have)
            break;
        if (step == FT_WALK_ABSENT)
            return ft_err_set(e, FT_ESYS, "the log at %llu cannot be read", (unsigned long long)walk->position);
        if (walk->position + ft_record_bytes(head.sig.length) > have)
            break;
        ft_walk_on(walk, &head);
    }
    return 0;
}

int ft_writer_open(struct ft_writer *w, const struct ft_region *r, const struct ft_keeper *keeper, int spill_fd, struct ft_error *e)
{
    struct ft_reader t;
    struct ft_walk walk = {.read = ft_reader_walks, .arg = &t, .extent_bytes = r->header->params.extent_bytes};
    int err;

    *w = (struct ft_writer){.region = r, .keeper = keeper, .extent_bytes = r->header->params.extent_bytes};
    ft_reader_open(&t, r, 0, spill_fd);
    err = count(w, &walk, ft_reader_end(&t), e);
    w->at = w->end;
    say_done(w);
    return err;
}

uint64_t ft_writer_room(struct ft_writer *w)
{
    const struct ft_stream_head *head = ft_region_stream(w->region, 0).head;
    struct ft_counters *mine = counters_of(w->region);
    uint64_t extent = w->at / w->extent_bytes, ahead = (extent + 1 + AHEAD) * w->extent_bytes;

    if (ft_look(&head->ready) < ahead && ft_peek(&mine->ahead) < ahead) {
        ft_publish(&mine->want, (extent + 1) * w->extent_bytes);
        ft_publish(&mine->ahead, ahead);
        ft_keeper_kick(w->keeper);
    }
    return ft_look(&head->ready) > w->at ? w->extent_bytes - w->at % w->extent_bytes : 0;
}

int ft_writer_put(struct ft_writer *w, const void *bytes, uint64_t n, struct ft_error *e)
{
    struct ft_walk walk = {.read = read_put, .arg = w, .extent_bytes = w->extent_bytes};
    int err;

    FT_INVARIANT(n <= w->extent_bytes - w->at % w->extent_bytes, "there is room for what is put");
    ft_fill(live(w, w->at), bytes, n);
    w->at += n;
    err = count(w, &walk, w->at, e);
    say_done(w);
    return err;
}

void ft_writer_cut(struct ft_writer *w)
{
    w->at = w->end;
}
