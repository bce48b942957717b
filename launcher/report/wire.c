/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/report/wire.h"

#include <endian.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ft/base/util.h"

enum { NUMBER = 8, REPORT_HEAD = 8 * NUMBER, CELLS_HEAD = 6 * NUMBER, RESTART_NUMBERS = 14, LIFE_NUMBERS = 23, COUNT = 2, CELL = 8 * COUNT };

_Static_assert(FT_ACTIVITIES + 1 == CELL / COUNT, "a cell's counts and its snapshots");
_Static_assert(REPORT_HEAD + FT_WIRE_ROWS * (RESTART_NUMBERS + LIFE_NUMBERS) * NUMBER <= FT_WIRE_MOST, "a REPORT is a frame");

static uint8_t *put(uint8_t *at, uint64_t v)
{
    v = htole64(v);
    memcpy(at, &v, NUMBER);
    return at + NUMBER;
}

/* Takes numbers one after the other; what does not fit into what it is for spoils all. */
struct numbers {
    const uint8_t *at;
    bool good;
};

static uint64_t take(struct numbers *n, uint64_t most)
{
    uint64_t v;

    memcpy(&v, n->at, NUMBER);
    v = le64toh(v);
    n->at += NUMBER;
    n->good &= v <= most;
    return n->good ? v : 0;
}

static uint64_t moment(struct numbers *n) { return take(n, INT64_MAX); }

static uint8_t *put_restart(uint8_t *at, const struct ft_wire_restart *m)
{
    const struct ft_restart *r = &m->restart;

    at = put(put(put(at, m->index), r->rank), (uint64_t)r->pid);
    at = put(put(put(at, (uint64_t)r->signal), (uint64_t)r->code), r->lost);
    at = put(put(put(put(at, r->seen_ns), r->died_ns), r->started_ns), r->live_ns);
    return put(put(put(put(at, r->way), r->from_ns), r->replayed), r->astray);
}

static void get_restart(struct numbers *n, struct ft_wire_restart *m)
{
    struct ft_restart *r = &m->restart;

    m->index = take(n, FT_RESTARTS_MAX - 1);
    r->rank = (uint32_t)take(n, FT_WIRE_ROWS - 1);
    r->pid = (pid_t)take(n, INT_MAX);
    r->signal = (int)take(n, 64);
    r->code = (int)take(n, 255);
    r->lost = take(n, 1);
    r->seen_ns = moment(n);
    r->died_ns = moment(n);
    r->started_ns = moment(n);
    r->live_ns = moment(n);
    r->way = (enum ft_way_back)take(n, FT_BACK_ALL);
    r->from_ns = moment(n);
    r->replayed = moment(n);
    r->astray = (uint32_t)take(n, UINT32_MAX);
}

static uint8_t *put_life(uint8_t *at, const struct ft_wire_life *m)
{
    const struct ft_rank_total *t = &m->total;

    at = put(put(put(at, (uint64_t)t->pid), (uint64_t)t->signal), (uint64_t)t->code);
    at = put(put(put(put(at, t->ended_ns), t->restarts), t->units), t->origin_ns);
    at = put(put(put(put(at, t->cut_unit), t->cuts), t->cuts_cost_ns), t->cuts_most_ns);
    at = put(put(put(put(at, t->still_ns), t->still_most_ns), t->threads), t->refused);
    at = put(at, t->checkpoint_ns);
    at = put(put(put(put(at, t->checks.from_snapshot), t->checks.from_start), t->checks.differed), t->checks.records);
    at = put(at, t->checks.unable);
    return put(put(at, m->live_ns), m->replayed);
}

static void get_life(struct numbers *n, struct ft_wire_life *m)
{
    struct ft_rank_total *t = &m->total;

    t->pid = (pid_t)take(n, INT_MAX);
    t->signal = (int)take(n, 64);
    t->code = (int)take(n, 255);
    t->ended_ns = moment(n);
    t->restarts = (uint32_t)take(n, UINT32_MAX);
    t->units = moment(n);
    t->origin_ns = moment(n);
    t->cut_unit = moment(n);
    t->cuts = moment(n);
    t->cuts_cost_ns = moment(n);
    t->cuts_most_ns = moment(n);
    t->still_ns = moment(n);
    t->still_most_ns = moment(n);
    t->threads = (uint32_t)take(n, UINT32_MAX);
    t->refused = moment(n);
    t->checkpoint_ns = moment(n);
    t->checks.from_snapshot = (uint32_t)take(n, UINT32_MAX);
    t->checks.from_start = (uint32_t)take(n, UINT32_MAX);
    t->checks.differed = (uint32_t)take(n, UINT32_MAX);
    t->checks.records = moment(n);
    t->checks.unable = take(n, 1);
    m->live_ns = moment(n);
    m->replayed = moment(n);
}

static size_t report_length(uint64_t nrestarts, uint64_t nranks)
{
    return REPORT_HEAD + (nrestarts * RESTART_NUMBERS + nranks * LIFE_NUMBERS) * NUMBER;
}

struct ft_wire_bytes ft_wire_put_report(const struct ft_wire_report *m)
{
    struct ft_wire_bytes b = ft_wire_new(FT_WIRE_REPORT, report_length(m->nrestarts, m->nranks));
    uint8_t *at;

    if (!b.data)
        return b;
    at = put(put(put(b.data + FT_WIRE_HEAD, m->now_ns), m->log_bytes), m->released_bytes);
    at = put(put(put(at, m->peak_log_bytes), m->spilled_bytes), m->peak_memory_bytes);
    at = put(put(at, m->nrestarts), m->nranks);
    for (uint32_t i = 0; i < m->nrestarts; i++)
        at = put_restart(at, &m->restarts[i]);
    for (uint32_t i = 0; i < m->nranks; i++)
        at = put_life(at, &m->ranks[i]);
    return b;
}

int ft_wire_get_report(const struct ft_wire_frame *f, struct ft_wire_report *m, struct ft_error *e)
{
    struct numbers n = {.at = f->payload, .good = f->length >= REPORT_HEAD};

    *m = (struct ft_wire_report){0};
    if (n.good) {
        m->now_ns = moment(&n);
        m->log_bytes = moment(&n);
        m->released_bytes = moment(&n);
        m->peak_log_bytes = moment(&n);
        m->spilled_bytes = moment(&n);
        m->peak_memory_bytes = moment(&n);
        m->nrestarts = (uint32_t)take(&n, FT_WIRE_ROWS);
        m->nranks = (uint32_t)take(&n, FT_WIRE_ROWS);
    }
    if (!n.good || f->length != report_length(m->nrestarts, m->nranks))
        return ft_err_set(e, FT_EDAMAGED, "a REPORT that is none");
    m->restarts = calloc(m->nrestarts + 1, sizeof *m->restarts);
    m->ranks = calloc(m->nranks + 1, sizeof *m->ranks);
    for (uint32_t i = 0; m->restarts && m->ranks && i < m->nrestarts; i++)
        get_restart(&n, &m->restarts[i]);
    for (uint32_t i = 0; m->restarts && m->ranks && i < m->nranks; i++)
        get_life(&n, &m->ranks[i]);
    if (m->restarts && m->ranks && n.good)
        return 0;
    ft_wire_report_free(m);
    return n.good ? ft_err_set(e, FT_ENOMEM, "out of memory") : ft_err_set(e, FT_EDAMAGED, "a REPORT that is none");
}

void ft_wire_report_free(struct ft_wire_report *m)
{
    free(m->restarts);
    free(m->ranks);
    *m = (struct ft_wire_report){0};
}

uint32_t ft_wire_cells_ranks(uint32_t ncells)
{
    return (uint32_t)ft_max(1, (FT_WIRE_MOST - CELLS_HEAD) / CELL / ft_max(1, ncells));
}

static uint8_t *put_count(uint8_t *at, uint16_t v)
{
    v = htole16(v);
    memcpy(at, &v, COUNT);
    return at + COUNT;
}

struct ft_wire_bytes ft_wire_put_cells(const struct ft_wire_cells *m, const struct ft_cell *(*row)(const void *arg, uint32_t rank), const void *arg)
{
    struct ft_wire_bytes b = ft_wire_new(FT_WIRE_CELLS, CELLS_HEAD + (size_t)m->nranks * m->ncells * CELL);
    uint8_t *at;

    if (!b.data)
        return b;
    at = put(put(put(b.data + FT_WIRE_HEAD, m->now_ns), m->begin_ns), m->width_ns);
    at = put(put(put(at, m->first), m->nranks), m->ncells);
    for (uint32_t r = 0; r < m->nranks; r++) {
        const struct ft_cell *cells = row(arg, m->first + r);

        for (uint32_t i = 0; i < m->ncells; i++) {
            for (int a = 0; a < FT_ACTIVITIES; a++)
                at = put_count(at, cells[i].seen[a]);
            at = put_count(at, cells[i].cuts);
        }
    }
    return b;
}

int ft_wire_get_cells(const struct ft_wire_frame *f, struct ft_wire_cells *m, struct ft_error *e)
{
    struct numbers n = {.at = f->payload, .good = f->length >= CELLS_HEAD};

    *m = (struct ft_wire_cells){.data = f->payload + CELLS_HEAD};
    if (n.good) {
        m->now_ns = moment(&n);
        m->begin_ns = moment(&n);
        m->width_ns = moment(&n);
        m->first = (uint32_t)take(&n, FT_WIRE_ROWS - 1);
        m->nranks = (uint32_t)take(&n, FT_WIRE_ROWS - m->first);
        m->ncells = (uint32_t)take(&n, FT_WIRE_MOST / CELL);
    }
    if (n.good && m->width_ns && m->width_ns <= INT64_MAX / ft_max(1, m->ncells) && f->length == CELLS_HEAD + (uint64_t)m->nranks * m->ncells * CELL)
        return 0;
    return ft_err_set(e, FT_EDAMAGED, "CELLS that are none");
}

struct ft_cell ft_wire_cell(const struct ft_wire_cells *m, uint32_t rank, uint32_t cell)
{
    const uint8_t *at = m->data + ((size_t)rank * m->ncells + cell) * CELL;
    uint16_t counts[CELL / COUNT];
    struct ft_cell c = {.seen = {0}};

    memcpy(counts, at, sizeof counts);
    for (int a = 0; a < FT_ACTIVITIES; a++)
        c.seen[a] = le16toh(counts[a]);
    c.cuts = le16toh(counts[FT_ACTIVITIES]);
    return c;
}
