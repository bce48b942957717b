/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/agree.h"

#include "ft/collective.h"

static struct ft_sig signature(enum ft_call call, uint64_t count)
{
    return (struct ft_sig){ .call = (uint8_t)call, .root = -1, .elem = 1, .kind = FT_BYTE, .count = count };
}

/* An allreduce, the short way whatever the job's constants are. */
int ft_agree(struct ft_stream *s, enum ft_call call, uint64_t count, uint64_t *word, uint64_t site, struct ft_error *e)
{
    struct ft_sig sig = signature(call, count);
    struct ft_op max = { .reduction = FT_MAX, .fold = ft_reduce_find(FT_U64, FT_MAX) };
    uint64_t given = *word;
    struct ft_type type = { .elem = sizeof *word, .kind = FT_U64 };
    struct ft_coll c = { .s = s, .op = &max, .send = ft_view_of(&given, 1, type),
                         .recv = ft_view_of(word, 1, type), .bytes = sizeof *word,
                         .elem = sizeof *word, .root = -1 };

    return ft_collective_run(&c, &sig, sizeof *word, site, e);
}

void ft_agree_after(const struct ft_stream *s, enum ft_call call, uint64_t count, uint64_t *end, uint64_t *chain)
{
    struct ft_sig sig = signature(call, count);

    *end = ft_collective_is_lone(s) ? 0 : ft_log_place(&s->log, s->end, sizeof *end) + ft_record_bytes(sizeof *end);
    *chain = ft_collective_is_lone(s) && !s->checks ? s->chain : ft_sig_chain(s->chain, &sig);
}
