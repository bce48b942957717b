/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/streams.h"

#include "ft/shm/channels.h"
#include "ft/shm/word.h"

static _Atomic uint8_t *used(const struct ft_region *r) { return (_Atomic uint8_t *)(r->base + r->header->used_at); }

/* Eight at a time: most are not. */
uint32_t ft_streams_used_below(const struct ft_region *r, uint32_t from, uint32_t below)
{
    const _Atomic uint64_t *words = (const _Atomic uint64_t *)(const void *)used(r);

    while (from < below && !ft_streams_is_used(r, from))
        from = from % 8 == 0 && ft_peek(&words[from / 8]) == 0 ? from + 8 : from + 1;
    return ft_min(from, below);
}

uint32_t ft_streams_used(const struct ft_region *r, uint32_t from)
{
    return ft_streams_used_below(r, from, ft_params_logs(&r->header->params));
}

bool ft_streams_is_used(const struct ft_region *r, uint32_t stream)
{
    return atomic_load_explicit(&used(r)[stream], memory_order_acquire);
}

void ft_streams_use(const struct ft_region *r, uint32_t stream)
{
    if (ft_streams_is_used(r, stream))
        return;
    ft_point_store();
    atomic_store_explicit(&used(r)[stream], 1, memory_order_seq_cst);
}

int64_t ft_streams_index(const struct ft_region *r, uint32_t stream, uint32_t rank)
{
    if (!ft_channel_is(r, stream))
        return rank;
    return ft_channel_sender(r, stream) == rank ? 0 : ft_channel_receiver(r, stream) == rank ? 1 : -1;
}

void ft_streams_found(const struct ft_region *r)
{
    ft_streams_use(r, 0);
    for (uint32_t rank = 0; rank < r->header->params.nranks; rank++)
        ft_publish(&ft_region_stream(r, 0).stays[rank].use, 1);
}

uint64_t ft_streams_end(const struct ft_region *r, uint32_t stream)
{
    struct ft_stream_parts parts = ft_region_stream(r, stream);
    uint32_t n = ft_channel_is(r, stream) ? 1 : parts.n; /* who receives may be ahead: it takes what is not logged yet */
    uint64_t end = 0;

    for (uint32_t i = 0; i < n; i++)
        end = ft_max(end, ft_look(&parts.counters[i].done_at));
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

bool ft_streams_pick_after(const struct ft_region *r, uint32_t owner, const uint32_t *ranks, uint32_t n, uint32_t after, struct ft_use *use)
{
    for (uint32_t i = 0; i < each(r); i++) {
        uint32_t stream = 1 + owner * each(r) + i;

        if (stream > after && is_free(r, stream, ranks, n)) {
            describe(r, stream, use);
            return true;
        }
    }
    return false;
}

bool ft_streams_pick(const struct ft_region *r, uint32_t owner, const uint32_t *ranks, uint32_t n, struct ft_use *use)
{
    return ft_streams_pick_after(r, owner, ranks, n, 0, use);
}
