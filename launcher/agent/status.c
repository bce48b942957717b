/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/agent/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ft/base/reduce.h"
#include "ft/core/plan.h"
#include "ft/base/util.h"
#include "ft/shm/cut.h"
#include "ft/shm/wait.h"
#include "launcher/agent/deadlines.h"
#include "launcher/agent/watch.h"
#include "launcher/base/procstat.h"
#include "launcher/base/say.h"
#include "launcher/control/names.h"
#include "launcher/control/server.h"
#include "launcher/job/activity.h"
#include "launcher/job/sites.h"
#include "launcher/job/twin.h"
#include "launcher/ranks/ranks.h"
#include "launcher/report/report.h"
#include "launcher/snap/budget.h"
#include "launcher/snap/cut.h"
#include "launcher/snap/durable.h"
#include "launcher/snap/outcomes.h"
#include "launcher/snap/snapshot.h"

void ft_status_note(struct ft_job *job)
{
    for (uint32_t r = 0; r < job->options->nranks; r++)
        ft_ranks_note_end(job, r);
    ft_snapshots_note(job);
    ft_job_note_log(job);
    job->report->durable = ft_durable_totals(job);
    ft_versions_cache(&job->region, &job->report->cache);
}

json_t *ft_status_info(const struct ft_agent *a)
{
    const struct ft_job *job = &a->job;
    const struct ft_options *o = job->options;
    pid_t twin = ft_twin_pid(job->twin);
    double seconds = (double)(ft_clock_ns() - a->deadlines->begin_ns) / 1e9;

    return json_pack("{ss ss? si si so ss ss si sf sf so}", "job", o->job_id, "name", o->job_name, "pid", (int)a->launcher,
                     "agent_pid", (int)getpid(), "standby_pid", twin ? json_integer(twin) : json_null(), "host", ft_say_host(), "version",
                     PACKAGE_VERSION, "ranks", (int)o->nranks, "wall_seconds", seconds, "began_at", job->report->began_at, "command",
                     ft_control_command(o));
}

/* Everything about one rank that goes into its object. */
struct look {
    const struct ft_job *job;
    const struct ft_watch *watch;
    const struct ft_inspect *all;
    bool *awaited;
    struct ft_sites *sites;
};

static bool is_alive(const struct ft_proc *proc)
{
    return ft_proc_phase(proc) == FT_PROC_RUNNING;
}

/* Between nodes contributions are not counted as on one host: whoever has not called the unit is awaited, and once all here have, other
   hosts are. */
static uint32_t awaits_here(const struct look *l, uint32_t rank)
{
    uint32_t n = 0;

    for (uint32_t r = 0; r < l->job->options->nranks; r++) {
        const struct ft_inspect *i = &l->all[r];

        l->awaited[r] = i->state != FT_RANK_FINALIZED && i->state != FT_RANK_ENDED && i->called <= l->all[rank].unit;
        n += l->awaited[r];
    }
    return n;
}

static void add_awaited(json_t *o, const struct look *l, uint32_t rank)
{
    const struct ft_params *params = &l->job->region.header->params;
    const struct ft_inspect *i = &l->all[rank];
    bool between = params->nnodes > 1 && i->stream <= params->spread && !i->in_store && !i->replaying; /* others are of this node alone */
    bool pinned = ft_inspect_awaits_disk(l->all, rank);
    uint32_t n = between && !i->stream ? awaits_here(l, rank) : ft_inspect_awaits(&l->job->region, l->all, rank, l->awaited);
    json_t *list = json_array();

    for (uint32_t r = 0; r < params->nranks && json_array_size(list) < FT_STATUS_AWAITED; r++)
        if (n && l->awaited[r])
            json_array_append_new(list, json_integer(ft_job_rank(l->job, r)));
    json_object_set_new(o, "waits_for", list);
    json_object_set_new(o, "waits_for_count", json_integer(n));
    json_object_set_new(o, "waits_for_memory", json_boolean(ft_inspect_awaits_memory(&l->job->region, l->all, rank)));
    json_object_set_new(o, "waits_for_disk", json_boolean(pinned && params->nnodes == 1));
    if (params->nnodes > 1) /* pinned: by what goes to the next one (partner.h) or to the controller */
        json_object_set_new(o, "waits_for_hosts", json_boolean(pinned || (between && !n)));
}

/* The longest part of an allgatherv is in no signature, nor is how many ranks another stream has; between nodes there is one way
   (ft/core/nodes.h). */
static const char *way_of(const struct look *l, const struct ft_inspect *i)
{
    const struct ft_params *p = &l->job->region.header->params;
    const struct ft_sig *sig = &i->sig;
    uint64_t bytes = sig->count * sig->elem;

    if (i->stream || p->nnodes > 1 || p->nranks == 1 || sig->call == FT_CALL_ALLGATHERV)
        return NULL;
    if (ft_sig_is_word(sig))
        return ft_way_text(FT_WAY_SHORT);
    return ft_way_text(ft_plan_choose(p, p->nranks, sig, bytes, sig->call == FT_CALL_ALLGATHER ? p->nranks * bytes : bytes));
}

static void add_operation(json_t *o, const struct look *l, uint32_t rank)
{
    const struct ft_inspect *i = &l->all[rank];
    const struct ft_sig *sig = &i->sig;
    char text[160];

    ft_sig_print(sig, text, sizeof text);
    json_object_set_new(o, "operation", json_string(text));
    text[strcspn(text, "(")] = 0;
    json_object_set_new(o, "call", json_string(text));
    json_object_set_new(o, "count", json_integer((json_int_t)sig->count));
    json_object_set_new(o, "type", sig->count && sig->kind < FT_NKINDS ? json_string(ft_kind_text(sig->kind)) : json_null());
    json_object_set_new(o, "reduction", sig->reduction == FT_NONE ? json_null() : json_string(ft_reduction_text(sig->reduction)));
    json_object_set_new(o, "root", sig->root < 0 ? json_null() : json_integer(sig->root));
    if (way_of(l, i))
        json_object_set_new(o, "algorithm", json_string(way_of(l, i)));
    json_object_set_new(o, "site", json_string(ft_sites_print(l->sites, i->site, l->job->procs[rank].pid)));
}

static void add_message(json_t *o, const struct look *l, uint32_t rank)
{
    const struct ft_inspect *i = &l->all[rank];
    char text[96];

    json_object_set_new(o, "operation", json_string(ft_inspect_print(i, text, sizeof text)));
    json_object_set_new(o, "call", json_string(i->sig.call == FT_CALL_RECV ? "MPI_Recv" : "MPI_Send"));
    if (i->awaits.receives || i->awaits.sends)
        json_object_set_new(o, "waits_for_requests", json_pack("{sI sI sb}", "receives", (json_int_t)i->awaits.receives, "sends",
                                                               (json_int_t)i->awaits.sends, "one", (int)i->awaits.one));
    if (i->site)
        json_object_set_new(o, "site", json_string(ft_sites_print(l->sites, i->site, l->job->procs[rank].pid)));
}

/* What has come for it, as it said when it last waited for a message; and what it has not looked at. Nothing of one that has sent and received none. */
static void add_queue(json_t *o, const struct look *l, uint32_t rank)
{
    const struct ft_inspect_messages *m = &l->all[rank].messages;
    json_t *queue;

    if (!m->sent && !m->received && !m->unexpected && !m->unseen && !m->requests)
        return;
    queue = json_pack("{sI sI sI sI sI}", "unexpected", (json_int_t)m->unexpected, "unexpected_bytes", (json_int_t)m->unexpected_bytes, "receives",
                      (json_int_t)m->receives, "requests", (json_int_t)m->requests, "unseen", (json_int_t)m->unseen);
    json_object_set_new(queue, "oldest_source", m->unexpected ? json_integer((json_int_t)m->oldest_source) : json_null());
    json_object_set_new(queue, "oldest_tag", m->unexpected ? json_integer(m->oldest_tag) : json_null());
    json_object_set_new(o, "queue", queue);
}

static void add_call(json_t *o, const struct look *l, uint32_t rank)
{
    const struct ft_inspect *i = &l->all[rank];

    json_object_set_new(o, "unit", json_integer((json_int_t)i->first));
    if (i->stream)
        json_object_set_new(o, "stream", json_integer(i->stream));
    if (i->in_join)
        json_object_set_new(o, "operation", json_string("coming in"));
    else if (i->in_message)
        add_message(o, l, rank);
    else
        add_operation(o, l, rank);
    add_awaited(o, l, rank);
}

/* What would be tried if it died now, in this order. */
static void add_ways_back(json_t *o, const struct ft_job *job, uint32_t rank)
{
    char text[FT_CADENCE_REASON];
    const char *reason = ft_snapshots_reason(job, rank, text), *once = job->options->start_over_always ? NULL : ft_outcomes_once(job, rank);
    json_t *ways = json_array();
    const struct ft_snap_slot *slot = ft_snapshots_named(job, rank);
    uint64_t version = ft_cuts_newest(job); /* asked once: ranks go on meanwhile */

    if (slot && ft_snapshots_is_zero(job, rank, slot))
        slot = NULL; /* snapshot zero: that is the start */
    if (slot && ft_cut_holds(&job->region, rank))
        json_array_append_new(ways, json_string(ft_way_back_text(FT_BACK_SNAPSHOT)));
    if (ft_cuts_version(job, rank))
        json_array_append_new(ways, json_string(ft_way_back_text(FT_BACK_CHECKPOINT)));
    else if (ft_cut_whole(&job->region) && (!once || ft_snapshots_usable(job, rank)))
        json_array_append_new(ways, json_string(ft_way_back_text(FT_BACK_START)));
    if (!once || version)
        json_array_append_new(ways, json_string(ft_way_back_text(FT_BACK_ALL)));
    json_object_set_new(o, "ways_back", ways);
    if (slot)
        json_object_set_new(o, "snapshot", json_pack("{si sI sf si}", "pid", (int)slot->pid, "unit", (json_int_t)ft_position_in(&slot->at, 0).unit,
                                                     "seconds", (double)(ft_clock_ns() - slot->taken_ns) / 1e9, "threads", (int)slot->threads));
    if (version) {
        json_object_set_new(o, "checkpoint", json_integer((json_int_t)version));
        if (job->report->version == version)
            json_object_set_new(o, "checkpoint_seconds", json_real((double)(ft_clock_ns() - job->report->version_ns) / 1e9));
    }
    if (reason)
        json_object_set_new(o, "no_snapshot", json_string(reason));
    if (once)
        json_object_set_new(o, "no_start", json_string(once));
}

/* Before MPI_Init, which there may never be: then it is not said to be starting for as long as it runs. */
static const char *state_of(const struct ft_proc *proc, const struct ft_inspect *i)
{
    bool before = is_alive(proc) && i->state == FT_RANK_ABSENT;

    return before ? ft_phase_text(FT_NODE_RANK_UP) : ft_activity_text(ft_activity_of(proc, i));
}

static json_t *one_rank(const struct look *l, uint32_t rank)
{
    const struct ft_proc *proc = &l->job->procs[rank];
    const struct ft_inspect *i = &l->all[rank];
    bool alive = is_alive(proc);
    uint64_t now = ft_clock_ns(), since = ft_watch_since(l->watch, rank);
    json_t *o = json_pack("{si ss so sb si sI sI sf}", "rank", (int)ft_job_rank(l->job, rank), "state", state_of(proc, i), "pid",
                          alive ? json_integer(proc->pid) : json_null(), "stopped", alive && ft_procstat_stopped(proc->pid), "incarnation", (int)proc->incarnation, "restarts",
                          (json_int_t)ft_policy_restarts_of(l->job->policy, rank), "units", (json_int_t)i->done, "seconds",
                          (double)(now - ft_min(now, alive ? since : proc->died_ns)) / 1e9);

    if (o && alive && i->in_call)
        add_call(o, l, rank);
    if (o && alive)
        add_queue(o, l, rank);
    if (o && alive && i->replaying) {
        json_object_set_new(o, "replayed", json_integer((json_int_t)i->replayed));
        json_object_set_new(o, "to_replay", json_integer((json_int_t)i->replay_to));
    }
    if (o && l->job->options->max_restarts && ft_proc_phase(proc) != FT_PROC_RETIRED)
        add_ways_back(o, l->job, rank);
    return o;
}

static json_int_t mib(uint64_t bytes) { return (json_int_t)(bytes >> 20); }

json_t *ft_status_memory(const struct ft_agent *a)
{
    struct ft_budget_parts p;

    ft_budget_count(&a->job, &p);
    return json_pack("{sI sI sb sI sI sI sI sI sI}", "limit", mib(p.all.limit), "used", mib(p.all.used), "group", p.all.group, "programs",
                     mib(p.programs), "snapshots", mib(p.snapshots), "promised", mib(p.promised), "log", mib(p.log), "slots", mib(p.slots),
                     "launcher", mib(p.launcher));
}

json_t *ft_status_ranks(const struct ft_agent *a)
{
    const struct ft_job *job = &a->job;
    struct look l = {.job = job, .watch = a->watch};
    json_t *ranks = json_array();

    l.awaited = calloc(job->options->nranks, sizeof *l.awaited);
    l.sites = calloc(1, sizeof *l.sites);
    if (a->watch && l.awaited && l.sites) {
        l.all = ft_watch_look(a->watch);
        for (uint32_t r = 0; r < job->options->nranks; r++)
            json_array_append_new(ranks, one_rank(&l, r));
    }
    if (job->above) /* the controller makes it the node's */
        json_object_set_new(json_array_get(ranks, 0), "memory", ft_status_memory(a));
    free(l.sites);
    free(l.awaited);
    return ranks;
}

json_t *ft_status_all(struct ft_agent *a)
{
    struct ft_job *job = &a->job;
    json_t *info = ft_status_info(a);

    ft_status_note(job);
    json_object_set_new(info, "memory", ft_status_memory(a));
    return ft_names_status(ft_report_all(job->report, FT_UNFINISHED, ft_clock_ns()), info, ft_status_ranks(a));
}
