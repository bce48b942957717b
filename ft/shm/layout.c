/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/layout.h"

#include <string.h>

#include "ft/shm/box.h"

/* Sizes by the number of ranks, from measurements (docs/internals/sizes.md). Two ranks have a core each, and a
   middling operation is better halved than done twice; ranks that share cores want few turns, so more at a
   time; many ranks are to share a cache. */
void ft_params_default(struct ft_params *p, uint32_t nranks, uint32_t cores, uint64_t log_limit)
{
    memset(p, 0, sizeof *p);
    p->nranks = nranks;
    p->nstreams = 1;
    p->cores = cores;
    p->short_max = nranks <= 2 ? 2048 : nranks <= 4 ? 8192 : nranks <= 16 ? 4096 : nranks <= 64 ? 2048 : 512;
    p->rooted_max = ft_max(p->short_max, nranks <= 2 ? 8192 - FT_LINE : 0);
    p->gather_max = nranks <= 2 ? 1024 : 512;
    p->slot_past_min = UINT32_MAX;
    p->bcast_past_min = 512 << 10;
    p->gather_past_min = UINT32_MAX;
    p->short_depth = 4;
    p->slot_bytes = nranks <= 2 ? 65536 : nranks <= 4 ? 131072 : nranks <= 8 ? 65536 : nranks <= 16 ? 131072 : nranks <= 64 ? 32768 : 16384;
    p->gather_bytes = nranks <= 2 ? 262144 : nranks <= 16 ? 15 * 65536 : nranks <= 64 ? 262144 : p->slot_bytes;  /* four of the largest fill an extent */
    p->slot_depth = nranks <= 8 ? 8 : 4;
    p->slot_room = p->slot_bytes;
    ft_params_cache(p, 1u << 20);
    p->trail = 64;
    p->past_cache = 4u << 20;
    p->extent_bytes = 4u << 20;
    p->nextents = log_limit / p->extent_bytes;
    p->ntable = 1u << 20;
    p->world = nranks;
    p->nnodes = 1;
    p->segment = p->slot_bytes;
}

/* The log is made ready five extents ahead: 20 MiB. */
void ft_params_small(struct ft_params *p, uint64_t log_limit)
{
    p->extent_bytes = 1u << 20;
    p->nextents = log_limit / p->extent_bytes;
    p->gather_bytes = (uint32_t)ft_min(p->gather_bytes, p->extent_bytes / 4);
}

void ft_params_streams(struct ft_params *p)
{
    p->nstreams = 1 + p->nranks * (p->nranks <= 16 ? 8 : p->nranks <= 64 ? 4 : 2);
}

enum { MOST_LOGS = 1 << 22 /* struct ft_await */ };

void ft_params_channels(struct ft_params *p)
{
    uint64_t n = (uint64_t)p->nranks * p->nranks;

    p->nchannels = p->nnodes == 1 && n + p->nstreams <= MOST_LOGS ? (uint32_t)n : 0;
}

void ft_params_cache(struct ft_params *p, uint64_t bytes)
{
    if (p->nranks != 2 || !bytes)
        return;
    p->slot_room = (uint32_t)ft_align(ft_min(ft_max(p->slot_bytes, 4 * bytes / p->slot_depth), 1u << 20), FT_LINE);
}

void ft_params_redundant(struct ft_params *p)
{
    p->redundant_max = (uint32_t)p->past_cache;
}

/* Less at a time has no choice: the order that stores past the cache need costs more than they win. */
void ft_params_far(struct ft_params *p)
{
    p->slot_past_min = 4 << 10;
    p->bcast_past_min = p->nranks <= 8 ? 12 << 10 : 64 << 10;
    p->gather_past_min = p->nranks == 2 ? 4 << 10 : 64 << 10;
}

void ft_params_nodes(struct ft_params *p, uint32_t nnodes, uint32_t node, uint32_t world)
{
    p->world = world;
    p->nnodes = nnodes;
    p->node = node;
    if (nnodes == 1)
        return;
    /* The smallest segment that uses a link, and the largest that wins anything
       (docs/performance/hosts.md, "Segments"). On its way at most is depth times as much: more than
       bandwidth times round trip of what hosts of one room are joined by (10 Gbit/s and 0.8 ms).
       Seven of the largest fill an extent. */
    p->segment = 131072;
    p->slot_bytes = p->gather_bytes = 9 * 65536;
    p->slot_depth = 8;
    p->slot_room = p->slot_bytes;
}

void ft_params_check_replay(struct ft_params *p, uint64_t log_limit)
{
    uint64_t page = 4096 / sizeof(uint64_t);

    p->check_units = ft_align(ft_max(log_limit, 1u << 30) / sizeof(uint64_t) / p->nranks, page);
}

static int power_of_two(uint64_t x) { return x && !(x & (x - 1)); }

int ft_params_check(const struct ft_params *p, struct ft_error *e)
{
    if (p->nranks == 0 || p->nstreams == 0 || p->cores == 0)
        return ft_err_set(e, FT_EINVAL, "a job needs at least one rank, one stream and one core");
    if (!power_of_two(p->short_depth) || !power_of_two(p->slot_depth) || !power_of_two(p->trail) ||
        !power_of_two(p->extent_bytes) || p->short_depth < 2 || p->slot_depth < 2)
        return ft_err_set(e, FT_EINVAL, "slots, trail and extents come in powers of two, at least 2 slots");
    if (!power_of_two(p->ntable))
        return ft_err_set(e, FT_EINVAL, "the table of extents must have a power of two of entries");
    if (p->trail < 4 * p->short_depth || p->trail < 4 * p->slot_depth)
        return ft_err_set(e, FT_EINVAL, "the trail must be longer than what ranks can be apart");
    if (p->slot_bytes % FT_LINE || p->short_max % FT_LINE || p->rooted_max % FT_LINE || ft_max(p->short_max, p->rooted_max) > FT_SHORT_LIMIT || p->gather_max > p->short_max ||
        p->slot_room % FT_LINE || p->slot_room < p->slot_bytes || ft_max(p->slot_bytes, p->gather_bytes) * 4ull > p->extent_bytes)
        return ft_err_set(e, FT_EINVAL, "slots must be whole cache lines, short ones 16 KiB (a gather's no larger than others') and others a quarter of an extent at most");
    if (p->nnodes > 1 && (p->node >= p->nnodes || p->nranks >= p->world || p->segment > p->slot_bytes || p->segment % FT_LINE))
        return ft_err_set(e, FT_EINVAL, "node %u of %u with %u of %u rank%s: this cannot be", p->node, p->nnodes, p->nranks, p->world,
                          ft_plural(p->world));
    if (p->spread > (p->nnodes > 1 ? (p->nstreams - 1) / p->nranks : 0))
        return ft_err_set(e, FT_EINVAL, "%u of %u streams between %u node%s: this cannot be", p->spread, p->nstreams, p->nnodes,
                          ft_plural(p->nnodes));
    if (p->nextents < 4)
        return ft_err_set(e, FT_EINVAL, "--log-limit is too small: it must be at least %lluM",
                          (4ull * p->extent_bytes + (1 << 20) - 1) >> 20);
    return 0;
}

void ft_layout_stream(const struct ft_params *p, struct ft_stream_layout *l)
{
    l->short_bytes = ft_align(sizeof(struct ft_slot) + ft_max(p->short_max, p->rooted_max), FT_LINE);
    l->members_at = ft_align(sizeof(struct ft_stream_head), FT_LINE);
    l->stays_at = l->members_at + p->nranks * sizeof(struct ft_member);
    l->counters_at = l->stays_at + p->nranks * sizeof(struct ft_stay);
    l->trails_at = l->counters_at + p->nranks * sizeof(struct ft_counters);
    l->shorts_at = l->trails_at + (uint64_t)p->nranks * p->trail * sizeof(struct ft_trail);
    l->slots_at = ft_align(l->shorts_at + (uint64_t)p->nranks * p->short_depth * l->short_bytes, 4096);
    l->table_at = ft_align(l->slots_at + (uint64_t)p->nranks * p->slot_depth * p->slot_room, 4096);
    l->partials_at = ft_align(l->table_at + p->ntable * sizeof(uint64_t), 4096);
    l->checks_at = l->partials_at + (p->nnodes > 1 ? ft_align((uint64_t)p->slot_depth * p->slot_bytes, 4096) : 0);
    l->bytes = ft_align(l->checks_at + p->nranks * p->check_units * sizeof(uint64_t), 4096);
}

struct ft_channel_layout ft_layout_channel(void)
{
    struct ft_channel_layout l = { .members_at = ft_align(sizeof(struct ft_stream_head), FT_LINE) };

    l.counters_at = l.members_at + 2 * sizeof(struct ft_member);
    l.slots_at = l.counters_at + 2 * sizeof(struct ft_counters);
    l.cells_at = ft_align(l.slots_at + FT_CHANNEL_SLOTS * sizeof(struct ft_message_slot), 4096);
    l.acks_at = l.cells_at + (uint64_t)FT_CHANNEL_SLOTS * FT_CHANNEL_CELL;
    l.table_at = ft_align(l.acks_at + FT_CHANNEL_ACKS * sizeof(uint64_t), 4096);
    l.bytes = ft_align(l.table_at + FT_CHANNEL_TABLE * sizeof(uint64_t), 4096);
    return l;
}

void ft_layout_header(const struct ft_params *p, struct ft_header *h)
{
    struct ft_stream_layout l;

    ft_layout_stream(p, &l);
    h->version = FT_LAYOUT_VERSION;
    h->params = *p;
    h->map_at = h->links_at = 0;
    h->checkpoints_at = ft_align(sizeof *h, 4096);
    if (p->nnodes > 1) {
        h->map_at = h->checkpoints_at;
        h->links_at = ft_align(h->map_at + (p->nnodes + 1 + p->world) * sizeof(uint32_t), FT_LINE);
        h->checkpoints_at = ft_align(h->links_at + (1 + p->spread) * p->nnodes * sizeof(struct ft_link_words), 4096);
    }
    h->ranks_at = ft_align(h->checkpoints_at + sizeof(struct ft_version_head) + p->nranks * sizeof(struct ft_version_words), 4096);
    h->asleep_at = h->ranks_at + p->nranks * sizeof(struct ft_rank_block);
    h->doorbells_at = h->asleep_at + ft_align(p->nranks, FT_LINE);
    h->used_at = h->doorbells_at + p->nranks * sizeof(struct ft_doorbell);
    h->streams_at = ft_align(h->used_at + ft_align(ft_params_logs(p), sizeof(uint64_t)), 4096);
    h->stream_bytes = l.bytes;
    h->channels_at = h->streams_at + p->nstreams * l.bytes;
    h->channel_bytes = ft_layout_channel().bytes;
    /* Extents start at a multiple of their size: their addresses are then as aligned as the mapping. */
    h->extents_at = ft_align(h->channels_at + p->nchannels * h->channel_bytes, p->extent_bytes);
    h->outcomes_at = ft_align(h->extents_at + ft_params_places(p) * p->extent_bytes, 4096);
    h->boxes_at = ft_align(h->outcomes_at + p->nranks * p->outcome_bytes, 4096);
    h->size = h->boxes_at + p->nranks * ft_box_bytes();
}
