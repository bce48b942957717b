/* SPDX-License-Identifier: BSD-3-Clause */
/* An allreduce that is begun on a stream, to be finished together with one on another: as nonblocking
   calls will. */
#ifndef FT_TEST_BOTH_H
#define FT_TEST_BOTH_H

#include "ft/core/progress.h"
#include "ft/ft.h"

struct both {
    struct ft_op op;
    struct ft_coll c;
    union ft_progress progress;
};

/* Sums of int32. Then ft_coll_finish_all of all that are begun. 0, or an error. */
static inline int both_begin(struct both *b, struct ft_stream *s, const int32_t *send, int32_t *recv, uint32_t count, uint64_t site,
                             struct ft_error *e)
{
    static const struct ft_type type = { .elem = 4, .kind = FT_I32 };
    struct ft_sig sig = { .call = FT_CALL_ALLREDUCE, .reduction = FT_SUM, .kind = FT_I32, .root = -1, .elem = 4, .count = count };
    int err;

    b->op = (struct ft_op){ FT_SUM, ft_reduce_find(FT_I32, FT_SUM), NULL, NULL };
    b->c = (struct ft_coll){ .s = s, .op = &b->op, .send = ft_view_of(send, count, type), .recv = ft_view_of(recv, count, type),
                             .bytes = (uint64_t)count * 4, .elem = 4, .root = -1, .progress = &b->progress };
    err = ft_stream_begin(s, &sig, site, e);
    return err ? err : ft_coll_start(&b->c, b->c.bytes, e);
}

#endif
