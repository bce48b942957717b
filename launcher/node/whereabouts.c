/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/node/whereabouts.h"

#include "launcher/node/job.h"

bool ft_whereabouts_of(void *arg, uint32_t node, struct ft_whereabouts *peer)
{
    const struct ft_node *n = arg;
    const struct ft_wire_node *w = node < n->table.nnodes ? &n->table.nodes[node] : NULL;

    if (!w)
        return false;
    *peer = (struct ft_whereabouts){.incarnation = w->incarnation, .up = w->up};
    for (uint32_t i = 0; i < w->naddresses && peer->naddresses < FT_ADDRESSES; i++)
        peer->naddresses += ft_address_parse(&peer->addresses[peer->naddresses], w->addresses[i].text, (uint16_t)w->port);
    return true;
}
