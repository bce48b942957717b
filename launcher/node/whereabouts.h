/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the other nodes are, as the last table has it (table.h). */
#ifndef LAUNCHER_NODE_WHEREABOUTS_H
#define LAUNCHER_NODE_WHEREABOUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/base/address.h"

/* What the table of nodes says of one. */
struct ft_whereabouts {
    uint32_t incarnation;
    bool up;                 /* it can be connected to */
    size_t naddresses;
    struct ft_address addresses[FT_ADDRESSES];
};

/* False: nothing is known of this node yet. */
typedef bool ft_whereabouts_look_up(void *arg, uint32_t node, struct ft_whereabouts *peer);

/* The same; arg: the node. */
ft_whereabouts_look_up ft_whereabouts_of;

#endif
