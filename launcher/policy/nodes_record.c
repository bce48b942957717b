/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdatomic.h>
#include <string.h>

#include "launcher/policy/nodes_policy.h"
#include "launcher/policy/nodes_state.h"

/* A step is recorded in the half that does not count, which counts then. */
struct ft_nodes_record {
    _Atomic uint32_t half;
    uint64_t halves[];         /* each a struct ft_nodes */
};

uint32_t ft_nodes_room(uint32_t nnodes) { return 8 * nnodes + 16; }

/* What follows has an address that eight divides. */
static size_t hosts_bytes(const struct ft_nodes_config *c) { return (c->nhosts * sizeof(struct ft_nodes_host) + 7) & ~(size_t)7; }

static size_t bytes_of(const struct ft_nodes_config *c, uint32_t neffects)
{
    return sizeof(struct ft_nodes) + c->nnodes * sizeof(struct ft_nodes_node) + hosts_bytes(c) + neffects * sizeof(struct ft_nodes_effect);
}

size_t ft_nodes_half(const struct ft_nodes_config *c)
{
    return (bytes_of(c, ft_nodes_room(c->nnodes)) + 63) & ~(size_t)63;
}

static struct ft_nodes *half_of(const struct ft_nodes *p, uint32_t half)
{
    return (struct ft_nodes *)((char *)p->record->halves + half * ft_nodes_half(&p->config));
}

static struct ft_nodes *recorded(const struct ft_nodes *p) { return half_of(p, atomic_load(&p->record->half)); }

/* What only says more of one node is entered in its place: any part of it is as good. */
void ft_nodes_record(struct ft_nodes *p, const struct ft_nodes_event *ev)
{
    uint32_t other = !atomic_load(&p->record->half);

    if (!p->neffects && (ev->kind == FT_NV_TIME || ev->kind == FT_NV_HEARD || ev->kind == FT_NV_CLOSED))
        return;
    if (!p->neffects && ev->kind == FT_NV_STATE) {
        recorded(p)->nodes[ev->node] = p->nodes[ev->node];
        return;
    }
    p->done = 0;
    memcpy(half_of(p, other), p, bytes_of(&p->config, p->neffects));
    atomic_store(&p->record->half, other);
}

void ft_nodes_settle(struct ft_nodes *p) { recorded(p)->done++; }

void ft_nodes_place(struct ft_nodes *p)
{
    p->hosts = (struct ft_nodes_host *)&p->nodes[p->config.nnodes];
    p->effects = (struct ft_nodes_effect *)((char *)p->hosts + hosts_bytes(&p->config));
}

void ft_nodes_load(struct ft_nodes *p)
{
    const struct ft_nodes *from = recorded(p);
    struct ft_nodes own = *p;

    memcpy(p, from, bytes_of(&own.config, from->neffects));
    p->config = own.config;
    p->record = own.record;
    ft_nodes_place(p);
}

size_t ft_nodes_bytes(const struct ft_nodes_config *config)
{
    return sizeof(struct ft_nodes_record) + 2 * ft_nodes_half(config);
}
