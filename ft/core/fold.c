/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/op.h"

#include <string.h>

#include "ft/base/copy.h"
#include "ft/shm/word.h"

enum { BLOCK = 1024 };

FT_HOT void ft_coll_fold(const struct ft_coll *c, const void *x, void *acc, uint64_t n, void *scratch)
{
    if (c->op->reduction != FT_USER) {
        c->op->fold(x, acc, acc, n / c->elem);
        return;
    }
    memcpy(scratch, x, n);
    c->op->user(c->op->ctx, scratch, acc, n / c->elem);
}

/* Rank r's bytes of unit u, from there on. */
static const char *chunk_of(const struct ft_coll *c, uint64_t u, uint64_t from, uint32_t r)
{
    if (r == c->s->rank && u >= c->in_slot)
        return ft_view_direct(&c->send, u * c->plan.segment + from);
    return ft_stream_slot(c->s, r, c->s->first + u, &c->plan) + from;
}

void ft_coll_fold_chunk(const struct ft_coll *c, uint64_t u, uint64_t from, char *to, uint64_t n, char *acc, void *scratch)
{
    uint32_t r = c->s->n - 1;

    if (c->op->reduction != FT_USER) {
        acc = to;
        c->op->fold(chunk_of(c, u, from, r - 1), chunk_of(c, u, from, r), acc, n / c->elem);
        r--;
    } else {
        memcpy(acc, chunk_of(c, u, from, r), n);
    }
    while (r-- > 0)
        ft_coll_fold(c, chunk_of(c, u, from, r), acc, n, scratch);
    if (acc != to)
        ft_fill(to, acc, n);
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

bool ft_coll_receive_logged(const struct ft_coll *c, uint64_t u, char *to, char *log, uint64_t n)
{
    const char *from = chunk_of(c, u, 0, 1 - c->s->rank);

    if (ft_coll_logs_past(c)) {
        ft_copy_twice(to, log, from, n);
        return true;
    }
    ft_copy_lines(to, from, n);
    ft_fill(log, to, n);
    return false;
}

void ft_coll_fold_next(const struct ft_coll *c, uint64_t u, char *slot, uint64_t n)
{
    c->op->fold(chunk_of(c, u, 0, c->s->rank), chunk_of(c, u, 0, c->s->rank + 1), slot, n / c->elem);
}
