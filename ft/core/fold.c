/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/op.h"

#include <string.h>

#include "ft/base/copy.h"
#include "ft/shm/word.h"

enum { BLOCK = 1024 };

/* Rank r's contribution to unit u is in its slot. This rank's own is only if an earlier incarnation
   has put it there; else it is where the program has it. */
static bool is_in_slot(const struct ft_coll *c, uint64_t u, uint32_t r)
{
    return r != c->s->rank || u < c->in_slot;
}

static const char *slot_of(const struct ft_coll *c, uint64_t u, uint64_t from, uint32_t r)
{
    return ft_stream_slot(c->s, r, c->s->first + u, &c->plan) + from;
}

/* Rank r's bytes of unit u, from there on. */
static const char *chunk_of(const struct ft_coll *c, uint64_t u, uint64_t from, uint32_t r)
{
    return is_in_slot(c, u, r) ? slot_of(c, u, from, r)
                               : ft_view_direct(&c->send, u * c->plan.segment + from);
}

/* A copy of n of them. */
static void copy_chunk(const struct ft_coll *c, uint64_t u, uint64_t from, uint32_t r, char *to,
                       uint64_t n)
{
    if (is_in_slot(c, u, r))
        memcpy(to, slot_of(c, u, from, r), n);
    else
        ft_view_pack(&c->send, u * c->plan.segment + from, n, to);
}

static void fold_by_user(const struct ft_coll *c, uint64_t u, uint64_t from, char *to, uint64_t n,
                         char *acc, char *scratch)
{
    uint32_t r = c->s->n - 1;

    copy_chunk(c, u, from, r, acc, n);
    while (r-- > 0) {
        copy_chunk(c, u, from, r, scratch, n);
        c->op->user(c->op->ctx, scratch, acc, n / c->elem);
    }
    ft_fill(to, acc, n);
}

void ft_coll_fold_chunk(const struct ft_coll *c, uint64_t u, uint64_t from, char *to, uint64_t n,
                        char *acc, char *scratch)
{
    uint32_t r = c->s->n - 2;

    if (c->op->reduction == FT_USER) {
        fold_by_user(c, u, from, to, n, acc, scratch);
        return;
    }
    c->op->fold(chunk_of(c, u, from, r), chunk_of(c, u, from, r + 1), to, n / c->elem);
    while (r-- > 0)
        c->op->fold(chunk_of(c, u, from, r), to, to, n / c->elem);
}

/* A block at a time, so that the log's stores go on while the next one is folded. */
bool ft_coll_fold_logged(const struct ft_coll *c, uint64_t u, uint64_t from, char *to, char *log, uint64_t n)
{
    const char *x = chunk_of(c, u, from, 0), *y = chunk_of(c, u, from, 1);
    bool past = ft_coll_logs_past(c);
    uint64_t block = ft_max(c->elem, BLOCK / c->elem * c->elem);

    for (uint64_t at = 0, k; at < n; at += k) {
        k = ft_min(n - at, block);
        c->op->fold(x + at, y + at, to + at, k / c->elem);
        ft_copy_unordered(log + at, to + at, k, past);
    }
    return past;
}

bool ft_coll_receive_logged(const struct ft_coll *c, uint64_t u, char *log, uint64_t n)
{
    const char *from = chunk_of(c, u, 0, 1 - c->s->rank);
    bool past = ft_coll_logs_past(c);

    ft_view_unpack_logged(&c->recv, u * c->plan.segment, n, from, log, past);
    return past;
}

void ft_coll_fold_next(const struct ft_coll *c, uint64_t u, char *slot, uint64_t n)
{
    c->op->fold(chunk_of(c, u, 0, c->s->rank), chunk_of(c, u, 0, c->s->rank + 1), slot, n / c->elem);
}
