/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/job.h"

#include <event2/event.h>
#include <stdlib.h>

#include "ft/base/util.h"

void ft_controller_post(struct ft_controller *c, const struct ft_nodes_event *ev)
{
    struct ft_nodes_event *list = ev ? realloc(c->events, (c->nevents + 1) * sizeof *list) : c->events;

    FT_INVARIANT(!ev || list, "there is memory for a few events");
    c->events = list;
    if (ev)
        c->events[c->nevents++] = *ev;
    if (c->posted)
        event_active(c->posted, 0, 0);
}
