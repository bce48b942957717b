/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/node/table.h"

#include <stdlib.h>
#include <string.h>

#include "ft/shm/wait.h"
#include "launcher/base/say.h"
#include "launcher/node/durable.h"
#include "launcher/node/fetch.h"
#include "launcher/node/job.h"
#include "launcher/node/lease.h"
#include "launcher/node/links.h"
#include "launcher/node/partner.h"
#include "launcher/node/uplink.h"
#include "launcher/node/whereabouts.h"
#include "launcher/ranks/ranks.h"

/* That a peer's representative is gone for good is news for ours. */
static void tell_gone(const struct ft_node *n)
{
    for (uint32_t i = 0; n->d->nnodes > 1 && i < n->table.nnodes; i++)
        if (i != n->d->node && n->table.nodes[i].done)
            ft_announce(&ft_region_link(&n->job->region, 0, i)->gone, 1);
}

static void advance(struct ft_node *n);

static void on_fetched(void *arg, uint64_t units, uint64_t bytes, const struct ft_error *e)
{
    struct ft_node *n = arg;

    n->fetch = NULL;
    n->fetched = units;
    ft_say_detail(&n->job->say, "node %u (host %s) has fetched %llu units of log, %llu bytes%s%s", n->d->node, ft_say_host(),
                  (unsigned long long)units, (unsigned long long)bytes, e->text[0] ? ": " : "", e->text);
    advance(n);
}

/* A node that replaces a lost one replays out of its own memory: what there is of the log comes
   before the ranks. */
static bool start_fetch(struct ft_node *n)
{
    struct ft_fetch_config config = {.base = n->job->base, .secret = n->d->secret, .say = &n->job->say, .node = n->d->node,
                                     .incarnation = n->d->incarnation, .region = &n->job->region, .keeper = n->job->keeper,
                                     .spill_fd = ft_keeper_spill_fd(n->job->keeper)};
    struct ft_source *sources = calloc(n->table.nnodes, sizeof *sources);
    size_t count = 0;

    /* Those that were replaced come last: they may be fetching themselves, and what they have is
       all that they give. */
    for (uint32_t k = 0; sources && k < 2 * n->table.nnodes; k++) {
        uint32_t i = k % n->table.nnodes;
        struct ft_whereabouts peer;

        if (i == n->d->node || !ft_whereabouts_of(n, i, &peer) || !peer.up || !peer.naddresses ||
            (peer.incarnation > 0) != (k >= n->table.nnodes))
            continue;
        sources[count] = (struct ft_source){.node = i, .incarnation = peer.incarnation, .naddresses = peer.naddresses};
        memcpy(sources[count++].addresses, peer.addresses, sizeof peer.addresses);
    }
    if (count)
        n->fetch = ft_fetch_start(&config, sources, count, on_fetched, n);
    free(sources);
    return n->fetch;
}

/* Begins what the stage waits for: advance is called when it is here. False: there is nothing to
   wait for. */
static bool waits(struct ft_node *n, enum ft_node_stage stage)
{
    switch (stage) {
    case FT_STAGE_LOG:
        return n->d->incarnation && n->d->nnodes > 1 && start_fetch(n);
    case FT_STAGE_KEPT:
        return n->fetched && ft_partner_fetch(n->partner, n->fetched, advance);
    case FT_STAGE_BASE:
        return ft_node_durable_begin(n, advance);
    case FT_STAGE_TABLE:
    case FT_STAGE_READY:
        break;
    }
    return false;
}

/* What the stage waited for is here: on to the next one that has to wait. */
static void advance(struct ft_node *n)
{
    enum ft_node_stage *stage = &n->shared->stage;
    int code;

    while (*stage < FT_STAGE_BASE) {
        ++*stage;
        if (waits(n, *stage))
            return;
    }
    if (ft_policy_ends(n->job->policy, &code))
        return;
    *stage = FT_STAGE_READY;
    ft_ranks_start(n->job);
    ft_node_changed(n);
}

int ft_node_table_take(struct ft_node *n, const struct ft_wire_frame *f, struct ft_error *e)
{
    struct ft_wire_table table;

    if (ft_wire_get_table(f, &table, e) < 0)
        return FT_EDAMAGED;
    if (table.nnodes != n->d->nnodes) {
        ft_wire_table_free(&table);
        return ft_err_set(e, FT_EDAMAGED, "a table of another job");
    }
    ft_wire_table_free(&n->table);
    n->table = table;
    if (table.nodes[n->d->node].incarnation > n->d->incarnation) {
        ft_node_fence(n, "another one has been started in its place; the ranks here are killed");
        return 0;
    }
    ft_node_lease_heard(n, ft_uplink_dialled(n->uplink)); /* it says this to who has said HELLO, and we did since */
    atomic_store(&n->shared->met, 1);
    tell_gone(n);
    ft_links_table_changed(n->links);
    ft_partner_look(n->partner);
    if (n->shared->stage == FT_STAGE_TABLE)
        advance(n);
    return 0;
}
