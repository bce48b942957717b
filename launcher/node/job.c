/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/node/job.h"

#include "launcher/base/timer.h"

enum { SOON_MS = 10 /* for several changes to become one */ };

void ft_node_changed(struct ft_node *n)
{
    if (!n->soon || n->dirty)
        return;
    n->dirty = true;
    ft_timer_set(n->soon, SOON_MS);
}
