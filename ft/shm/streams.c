/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/streams.h"

#include "ft/shm/word.h"

static _Atomic uint64_t *used(const struct ft_region *r) { return (_Atomic uint64_t *)(void *)(r->base + r->header->used_at); }

uint32_t ft_streams_used(const struct ft_region *r, uint32_t from)
{
    while (from < r->header->params.nstreams && !ft_look(&used(r)[from]))
        from++;
    return from;
}

void ft_streams_use(const struct ft_region *r, uint32_t stream)
{
    if (!ft_peek(&used(r)[stream]))
        ft_announce(&used(r)[stream], 1);
}

void ft_streams_found(const struct ft_region *r)
{
    ft_streams_use(r, 0);
    for (uint32_t rank = 0; rank < r->header->params.nranks; rank++)
        ft_publish(&ft_region_stream(r, 0).stays[rank].use, 1);
}

uint64_t ft_streams_end(const struct ft_region *r, uint32_t stream)
{
    const struct ft_counters *c = ft_region_stream(r, stream).counters;
    uint64_t end = 0;

    for (uint32_t i = 0; i < r->header->params.nranks; i++)
        end = ft_max(end, ft_look(&c[i].done_at));
    return end;
}

/* A cut has room for it. */
static bool has_room(const struct ft_region *r, uint32_t stream, uint32_t rank)
{
    uint32_t known = 0;

    if (ft_look(&ft_region_stream(r, stream).stays[rank].use))
        return true;
    for (uint32_t s = 0; s < r->header->params.nstreams; s = ft_streams_used(r, s + 1))
        known += ft_look(&ft_region_stream(r, s).stays[rank].use) != 0;
    return known < FT_MOST_STREAMS;
}

static bool is_free(const struct ft_region *r, uint32_t stream, const uint32_t *ranks, uint32_t n)
{
    for (uint32_t i = 0; i < r->header->params.nranks; i++)
        if (ft_streams_has(&ft_region_stream(r, stream).stays[i]))
            return false;
    for (uint32_t i = 0; i < n; i++)
        if (!has_room(r, stream, ranks[i]))
            return false;
    return true;
}

/* Everybody has left it: nothing of this changes any more. */
static void describe(const struct ft_region *r, uint32_t stream, struct ft_use *use)
{
    struct ft_stream_parts parts = ft_region_stream(r, stream);

    *use = (struct ft_use){ .stream = stream, .end = ft_streams_end(r, stream) };
    for (uint32_t i = 0; i < r->header->params.nranks; i++) {
        use->use = ft_max(use->use, ft_look(&parts.stays[i].use));
        use->unit = ft_max(use->unit, ft_look(&parts.counters[i].done));
    }
    use->use++;
}

static uint32_t each(const struct ft_region *r) { return (r->header->params.nstreams - 1) / r->header->params.nranks; }

bool ft_streams_is_of(const struct ft_region *r, uint32_t stream, uint32_t owner)
{
    return stream && (stream - 1) / each(r) == owner;
}

bool ft_streams_pick(const struct ft_region *r, uint32_t owner, const uint32_t *ranks, uint32_t n, struct ft_use *use)
{
    for (uint32_t i = 0; i < each(r); i++) {
        uint32_t stream = 1 + owner * each(r) + i;

        if (is_free(r, stream, ranks, n)) {
            describe(r, stream, use);
            return true;
        }
    }
    return false;
}
