/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/node/say.h"

#include <stdlib.h>

#include "ft/base/util.h"
#include "ft/shm/cut.h"
#include "ft/shm/versions.h"
#include "ft/shm/word.h"
#include "launcher/agent/status.h"
#include "launcher/node/durable.h"
#include "launcher/node/input.h"
#include "launcher/node/job.h"
#include "launcher/node/uplink.h"
#include "launcher/ranks/absent.h"
#include "launcher/snap/cut.h"
#include "launcher/snap/outcomes.h"
#include "launcher/wire/calls.h"

static enum ft_node_phase phase_of(const struct ft_node *n)
{
    int code;

    if (n->shared->left)
        return FT_NODE_LEFT;
    if (n->shared->stranded)
        return FT_NODE_STRANDED;
    if (ft_policy_ends(n->job->policy, &code))
        return FT_NODE_ENDED;
    if (ft_policy_stays(n->job->policy))
        return FT_NODE_DONE;
    return n->shared->stage == FT_STAGE_READY ? FT_NODE_RUNNING : FT_NODE_STARTING;
}

/* That may go to other hosts, and there is no checkpoint from which its ranks would go on: those ends have been told what they would be told
   again. */
static bool has_connections(const struct ft_node *n)
{
    struct ft_job *job = n->job;
    bool any = false;

    for (uint32_t r = 0; r < job->options->nranks; r++)
        any |= ft_outcomes_connected(job, r);
    return any && !ft_cuts_newest(job);
}

void ft_node_say_connected(struct ft_node *n)
{
    if (has_connections(n) != n->connected)
        ft_node_say_state(n);
}

static uint64_t committed(const struct ft_job *job)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t r = 0; r < job->options->nranks; r++)
        least = ft_min(least, ft_region_done(&job->region, r));
    return least;
}

bool ft_node_is_through(const struct ft_node *n)
{
    int code;

    return ft_proc_phase(&n->job->procs[0]) == FT_PROC_RETIRED && !ft_policy_ends(n->job->policy, &code) &&
           ft_look32(&ft_region_rank(&n->job->region, 0)->state) == FT_RANK_FINALIZED;
}

void ft_node_say_state(struct ft_node *n)
{
    struct ft_job *job = n->job;
    uint32_t nranks = job->options->nranks;
    struct ft_absent absent = ft_absent_look(job);
    struct ft_wire_state m = {.phase = phase_of(n), .committed = committed(job), .whole = ft_cut_whole(&job->region),
                              .signals = n->shared->signals, .input = ft_node_input_place(n), .through = ft_node_is_through(n), .called = absent.called, .absent = absent.rank,
                              .nranks = nranks};

    if (n->shared->fenced || !n->uplink || !ft_uplink_is_up(n->uplink) || !(m.ranks = calloc(nranks, sizeof *m.ranks)))
        return;
    ft_policy_ends(job->policy, &m.code);
    m.version = ft_node_durable_newest(n);
    m.connected = n->connected = has_connections(n);
    m.loaded = ft_look(&ft_versions_of(&job->region, 0)->loads);
    for (uint32_t r = 0; r < nranks; r++)
        m.ranks[r] = (struct ft_wire_rank){ft_phase_said(ft_proc_phase(&job->procs[r])), job->procs[r].incarnation,
                                           (uint32_t)ft_policy_restarts_of(job->policy, r), (uint32_t)job->procs[r].pid};
    ft_uplink_say(n->uplink, ft_wire_put_state(&m));
    ft_wire_state_free(&m);
    n->dirty = false;
}

void ft_node_say_calls(struct ft_node *n)
{
    struct ft_wire_calls m = {.more = true, .ranks = ft_status_ranks(n->agent)};

    for (; m.ranks && m.more; m.first += FT_WIRE_CALLS_MOST)
        ft_uplink_say(n->uplink, ft_wire_put_calls(&m));
    json_decref(m.ranks);
}
