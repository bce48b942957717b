/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/slurm.h"

#include <string.h>
#include <strings.h>

#include "launcher/options/environment.h"
#include "launcher/options/hosts.h"
#include "launcher/options/map.h"
#include "launcher/options/nodelist.h"

/* srun's, and not one of those that Slurm itself makes, as for a batch script and the shell of salloc: they have the last numbers. */
static bool in_step(void)
{
    return ft_environment_number("SLURM_STEP_ID", UINT32_MAX) < UINT32_MAX - 15;
}

/* Slurm tells batch scripts and steps what their node is called, which need not be the host's name. */
static void mark_here(struct ft_hosts *hosts)
{
    const char *own = ft_environment_text("SLURMD_NODENAME");

    for (size_t i = 0; own && i < hosts->n; i++)
        hosts->list[i].here |= !strcasecmp(hosts->list[i].name, own);
}

static int read_nodes(struct ft_options *o, struct ft_hosts *nodes, struct ft_error *e)
{
    const char *list = ft_environment_text("SLURM_JOB_NODELIST");

    if (ft_environment_number("SLURM_HET_SIZE", 1) > 1)
        return ft_err_set(e, FT_EINVAL, "job %.20s of Slurm is heterogeneous (SLURM_HET_SIZE), which is not supported; -H names hosts",
                          ft_environment_text("SLURM_JOB_ID"));
    if (!list)
        return ft_err_set(e, FT_EINVAL, "SLURM_JOB_ID is set, and SLURM_JOB_NODELIST is not: which nodes job %.20s of Slurm has is not known; -H names "
                          "hosts", ft_environment_text("SLURM_JOB_ID"));
    if (ft_nodelist_names(o, list, "SLURM_JOB_NODELIST", nodes, e) < 0)
        return FT_EINVAL;
    for (size_t i = 0; i < nodes->n; i++)
        nodes->list[i].here = ft_hosts_is_here(nodes->list[i].name);
    mark_here(nodes);
    return 0;
}

/* Their slots: tasks, which Slurm counts also where only nodes or processors were asked for. *n: for how many nodes these are. */
static int read_slots(struct ft_hosts *nodes, const char **name, size_t *n, struct ft_error *e)
{
    uint32_t numbers[FT_NODES_MAX] = {0};

    *name = ft_environment_text("SLURM_TASKS_PER_NODE") ? "SLURM_TASKS_PER_NODE" : "SLURM_JOB_CPUS_PER_NODE";
    if (!ft_environment_text(*name))
        return ft_err_set(e, FT_EINVAL, "SLURM_JOB_ID is set, and neither SLURM_TASKS_PER_NODE nor SLURM_JOB_CPUS_PER_NODE is: how many ranks each node "
                          "takes is not known; -H names hosts");
    if (ft_nodelist_numbers(ft_environment_text(*name), *name, numbers, nodes->n, n, e) < 0)
        return FT_EINVAL;
    for (size_t i = 0; i < nodes->n; i++)
        nodes->list[i].slots = numbers[i];
    return 0;
}

/* What is asked for without a word is the allocation, but in a step of one task, which is of one node: there it is this host, unless
   srun --preserve-env has left the job's own numbers. */
static int take_nodes(struct ft_options *o, struct ft_error *e)
{
    uint64_t tasks = ft_environment_number("SLURM_STEP_NUM_TASKS", 1);
    struct ft_hosts nodes = {0};
    const char *name;
    size_t n;

    if (in_step() && tasks > 1)
        return ft_err_set(e, FT_EINVAL, "srun has started this ftrun as task %llu of %llu (SLURM_STEP_NUM_TASKS), and each would be a whole job: start "
                          "ftrun once, without srun; -H localhost is for a job in each task",
                          (unsigned long long)ft_environment_number("SLURM_PROCID", 0), (unsigned long long)tasks);
    if (read_nodes(o, &nodes, e) < 0 || read_slots(&nodes, &name, &n, e) < 0)
        return FT_EINVAL;
    if (in_step() && n != nodes.n) {
        ft_options_notice(o, "started by srun in a step of one task, so the job is on this host only; ftrun without srun uses all %zu nodes of "
                          "the allocation", nodes.n);
        return 0;
    }
    if (n != nodes.n)
        return ft_err_set(e, FT_EINVAL, "%s is \"%.80s\", for %zu node%s, and SLURM_JOB_NODELIST has %zu; -H names hosts", name,
                          ft_environment_text(name), n, n == 1 ? "" : "s", nodes.n);
    o->hosts = nodes;
    return 0;
}

static bool has_all(const struct ft_hosts *nodes, const struct ft_hosts *hosts)
{
    for (size_t i = 0; i < hosts->n; i++)
        if (!hosts->list[i].here && !ft_hosts_find(nodes, hosts->list[i].name))
            return false;
    return true;
}

/* srun starts what is on the hosts if all are the allocation's. What is wrong with that is nothing to who has named others. */
static bool are_nodes(struct ft_options *o)
{
    struct ft_hosts nodes = {0};
    struct ft_error e;
    bool all;

    if (read_nodes(o, &nodes, &e) < 0)
        return false;
    mark_here(&o->hosts);
    all = has_all(&nodes, &o->hosts);
    for (size_t c = 0; c < o->ncontexts; c++) {
        mark_here(&o->contexts[c].hosts);
        all &= has_all(&nodes, &o->contexts[c].hosts);
    }
    return all;
}

int ft_slurm_take(struct ft_options *o, struct ft_error *e)
{
    bool asked = o->launcher && !strcmp(o->launcher, "srun"), rank = ft_environment_in_rank(), named = ft_hosts_are_named(o);

    if (!ft_environment_text("SLURM_JOB_ID") && (!asked || !ft_map_wanted(o)))
        return 0;
    if (!ft_environment_text("SLURM_JOB_ID"))
        return ft_err_set(e, FT_EINVAL, "--launcher srun: there is no allocation of Slurm's here (SLURM_JOB_ID); salloc and sbatch make one");
    if (rank && !named)
        return 0;
    if (!named && take_nodes(o, e) < 0)
        return FT_EINVAL;
    o->srun = !o->launcher && are_nodes(o);
    return 0;
}
