/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/agent/jobmem.h"

#include <string.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/shm/models.h"
#include "ft/shm/wait.h"
#include "launcher/agent/recording.h"
#include "launcher/base/memory.h"
#include "launcher/job/full.h"
#include "launcher/job/job.h"
#include "launcher/options/topology.h"

enum { LEAST_LOG = 16 << 20, SMALL_MEMORY = 1 << 30 };

/* It lies between other nodes, and may have to give them what it has. */
static void set_up_nodes(struct ft_params *params, const struct ft_options *o)
{
    if (o->node->nnodes > 1)
        ft_params_nodes(params, o->node->nnodes, o->node->node, o->node->world);
    params->keeps_log = o->survive_host;
}

/* In a file that is memory the log would take as much as before, and the ranks would be killed for it. */
static void look_at_spill_dir(struct ft_job *job)
{
    const struct ft_options *o = job->options;

    job->spill_memory = o->log_full == FT_FULL_SPILL ? ft_memory_of_files(o->log_spill) : NULL;
    if (!job->spill_memory || !strcmp(o->log_spill, ft_options_spill_dir()))
        return; /* who has not asked for it is told if it comes to that: full.c */
    ft_say_notice(&job->say, "--log-spill %s is memory itself on %s (%s), %s; a directory on a disk has room for the log", o->log_spill, ft_say_host(),
                  job->spill_memory, job->above ? "so what the log spills counts as the job's memory" :
                  "so the log's oldest part is forgotten at its limit, not spilled");
}

static void choose_ways(struct ft_params *p, const struct ft_options *o)
{
    if (o->cores == FT_CORES_FAR || (o->cores == FT_CORES_AUTO && ft_topology_apart()))
        ft_params_far(p);
    if (p->nranks == 2 && p->nnodes == 1 && o->allreduce == FT_ALLREDUCE_DOUBLED)
        ft_params_redundant(p);
}

static int open_memory(struct ft_job *job, struct ft_error *e)
{
    const struct ft_options *o = job->options;
    struct ft_keeper_config config = {.full = ft_job_log_full(job), .spill_dir = o->log_spill, .prepare = o->log_prepare};
    uint64_t memory = ft_memory_here(), limit = o->log_limit ? o->log_limit : ft_max(LEAST_LOG, memory / 4);
    uint32_t processors = ft_topology_processors();
    struct ft_params params;
    int err;

    if (o->log_prepare > memory)
        return ft_err_set(e, FT_EINVAL, "--log-prepare %llu MiB is more memory than %s has available, %llu MiB", (unsigned long long)o->log_prepare >> 20,
                          ft_say_host(), (unsigned long long)memory >> 20);
    ft_params_default(&params, o->nranks, processors, limit);
    if (memory < SMALL_MEMORY && !o->node) /* nodes agree on these, and may have more */
        ft_params_small(&params, limit);
    ft_params_cache(&params, (uint64_t)ft_max(0, sysconf(_SC_LEVEL2_CACHE_SIZE))); /* hwloc would say the same, and take ms to load */
    ft_params_streams(&params);
    params.bootstrap_cache = o->bootstrap_cache;
    if (o->node)
        set_up_nodes(&params, o);
    ft_params_channels(&params);
    if (o->check_replay)
        ft_params_check_replay(&params, limit);
    if ((err = ft_recording_choose(job, &params, limit, e)) < 0)
        return err;
    params.unfenced = ft_wait_can_register();
    params.unkept = o->max_restarts == 0;
    choose_ways(&params, o);
    if ((err = ft_region_create(&job->region, &params, e)) < 0 || (err = ft_keeper_open(&job->keeper, &job->region, &config, e)) < 0 ||
        (err = job->models = ft_models_create(e)) < 0)
        return err;
    if (params.slot_past_min < UINT32_MAX)
        ft_say_step(&job->say, "the ranks' processors share no cache: what is for others is written past it");
    if (params.redundant_max)
        ft_say_step(&job->say, "allreduce: each rank makes all of it");
    if (params.nnodes > 1 && (err = ft_region_map(&job->region, o->node->first, o->node->rank_at, e)) < 0)
        return err;
    ft_say_detail(&job->say, "%u rank%s on %u processor%s of %s; log limit %llu MiB, then %s", o->nranks, ft_plural(o->nranks), processors,
                  ft_plural(processors), ft_say_host(),
                  (unsigned long long)(params.nextents * params.extent_bytes) >> 20,
                  config.full == FT_FULL_FORGET ? "the oldest is forgotten" : o->log_spill);
    return 0;
}

int ft_jobmem_open(struct ft_job *job, struct ft_error *e)
{
    look_at_spill_dir(job); /* what comes of a full log depends on it */
    return open_memory(job, e);
}
