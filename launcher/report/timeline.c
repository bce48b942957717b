/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/report/timeline.h"

#include <string.h>

#include "ft/base/util.h"
#include "launcher/base/shared.h"

/* A picture is about 1000 pixels wide. With thousands of ranks it is the number of cells that gives in. */
enum { CELLS_MAX = 1024, CELLS_MIN = 256, CELLS_OF_ALL = 1 << 20 };
enum { PER_CELL = 4, EVERY_NS_MAX = 20000000, GAP_NS_MAX = 1000000000 };

static size_t half_bytes(const struct ft_timeline *t)
{
    return (size_t)t->nranks * t->ncells * sizeof(struct ft_cell);
}

struct ft_timeline *ft_timeline_new(uint32_t nranks, uint64_t now_ns)
{
    struct ft_timeline *t = ft_shared_new(sizeof *t);

    if (!t)
        return NULL;
    t->file.fd = -1;
    t->nranks = nranks;
    t->ncells = (uint32_t)ft_min(CELLS_MAX, ft_max(CELLS_MIN, CELLS_OF_ALL / nranks));
    t->begin_ns = t->last_ns = t->said_ns = now_ns;
    for (int i = 0; i < 2; i++)
        t->cells[i] = ft_shared_new(half_bytes(t));
    if (t->cells[0] && t->cells[1])
        return t;
    ft_timeline_close(t);
    return NULL;
}

int ft_timeline_open(struct ft_timeline **made, const char *path, uint32_t nranks, uint64_t now_ns, struct ft_error *e)
{
    *made = NULL;
    if (!path)
        return 0;
    *made = ft_timeline_new(nranks, now_ns);
    if (!*made)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    return ft_outfile_open(&(*made)->file, "--timeline", path, e);
}

/* Only the agent changes it, and sees its own changes; a successor is another process, after the death of this one. */
static uint32_t level(const struct ft_timeline *t)
{
    return atomic_load_explicit(&t->level, memory_order_relaxed);
}

static struct ft_cell *row(const struct ft_timeline *t, uint32_t which, uint32_t rank)
{
    return t->cells[which % 2] + (size_t)rank * t->ncells;
}

const struct ft_cell *ft_timeline_row(const struct ft_timeline *t, uint32_t rank)
{
    return row(t, level(t), rank);
}

uint64_t ft_timeline_width(const struct ft_timeline *t)
{
    return (uint64_t)FT_CELL_NS << level(t);
}

uint64_t ft_timeline_every(const struct ft_timeline *t)
{
    return ft_max(FT_CELL_NS, ft_min(EVERY_NS_MAX, ft_timeline_width(t) / PER_CELL));
}

void ft_timeline_add(struct ft_cell *to, const struct ft_cell *cell)
{
    uint32_t most = 0;
    int shift;

    for (int i = 0; i < FT_ACTIVITIES; i++)
        most = (uint32_t)ft_max(most, (uint32_t)to->seen[i] + cell->seen[i]);
    shift = most > UINT16_MAX;
    for (int i = 0; i < FT_ACTIVITIES; i++)
        to->seen[i] = (uint16_t)(((uint32_t)to->seen[i] + cell->seen[i]) >> shift);
    to->cuts = (uint16_t)ft_min(UINT16_MAX, (uint32_t)to->cuts + cell->cuts);
}

/* The other half is what a successor sees, from the last line on. */
static void widen(struct ft_timeline *t)
{
    uint32_t old = level(t);

    for (uint32_t r = 0; r < t->nranks; r++) {
        const struct ft_cell *from = row(t, old, r);
        struct ft_cell *to = row(t, old + 1, r);

        memset(to, 0, t->ncells * sizeof *to);
        for (uint32_t i = 0; i < t->ncells; i++)
            ft_timeline_add(&to[i / 2], &from[i]);
    }
    atomic_store_explicit(&t->level, old + 1, memory_order_release);
}

/* The cell of a moment; there is one afterwards. */
static uint32_t cell_at(struct ft_timeline *t, uint64_t at_ns)
{
    uint64_t since = at_ns > t->begin_ns ? at_ns - t->begin_ns : 0;

    while (since / ft_timeline_width(t) >= t->ncells)
        widen(t);
    return (uint32_t)(since / ft_timeline_width(t));
}

void ft_timeline_sample(struct ft_timeline *t, uint64_t now_ns, const enum ft_activity *ranks)
{
    uint32_t to = cell_at(t, now_ns), from = to;

    if (now_ns - t->last_ns < GAP_NS_MAX)
        from = (uint32_t)ft_min(to, cell_at(t, t->last_ns) + 1);
    for (uint32_t r = 0; r < t->nranks; r++) {
        struct ft_cell one = {.seen = {0}};

        one.seen[ranks[r]] = 1;
        for (uint32_t i = from; i <= to; i++)
            ft_timeline_add(&row(t, level(t), r)[i], &one);
    }
    t->last_ns = now_ns;
}

void ft_timeline_cut(struct ft_timeline *t, uint32_t rank, uint64_t at_ns)
{
    uint32_t i = cell_at(t, at_ns);

    ft_timeline_add(&row(t, level(t), rank)[i], &(struct ft_cell){.cuts = 1});
}

/* Its own cells have other bounds: a part of it in each of ours is near enough, and leaves no gap. */
void ft_timeline_put(struct ft_timeline *t, uint32_t rank, uint64_t from_ns, uint64_t to_ns, const struct ft_cell *cell)
{
    uint32_t to = cell_at(t, to_ns - 1), from = cell_at(t, from_ns);
    struct ft_cell one = *cell;

    for (uint32_t i = from; i <= to; i++) {
        ft_timeline_add(&row(t, level(t), rank)[i], &one);
        one.cuts = 0;
    }
}

void ft_timeline_close(struct ft_timeline *t)
{
    if (!t)
        return;
    ft_outfile_close(&t->file);
    for (int i = 0; i < 2; i++)
        ft_shared_free(t->cells[i], half_bytes(t));
    ft_shared_free(t, sizeof *t);
}
