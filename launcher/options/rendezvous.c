/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/rendezvous.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/options/environment.h"
#include "launcher/options/hosts.h"
#include "launcher/options/kubernetes.h"
#include "launcher/options/nodelist.h"
#include "launcher/options/settings.h"
#include "launcher/options/topology.h"
#include "launcher/options/values.h"

enum { SLURM_STEPS = 16, SLURM_PORTS = 2000 };

/* What a file or the environment says holds for all jobs, so that it need not fit to this one. */
static bool on_command_line(const struct ft_options *o, const char *name)
{
    const char *source = ft_settings_origin(o, ft_settings_find(name, strlen(name))).source;

    return source && !strcmp(source, "command line");
}

static bool names_hosts(const struct ft_options *o)
{
    bool any = o->hosts.n > 0;

    for (size_t c = 0; c < o->ncontexts; c++)
        any |= o->contexts[c].hosts.n > 0;
    return any;
}

/* Ways to start something on other hosts, and which of a list are spares: there is neither here. */
static int refuse_others(struct ft_options *o, struct ft_error *e)
{
    static const char *const names[] = {"launcher", "launch-arg", "launch-tree", "prefix", "spares"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (on_command_line(o, names[i]))
            return ft_err_set(e, FT_EINVAL, "--%s does nothing with --rdzv: each host starts its own ftrun, and those beyond --nodes are "
                              "spares", names[i]);
    o->launcher = NULL;
    o->spares = 0;
    return 0;
}

/* In a step of srun's with a task on each node: the store is on the first, the job is the step. Two jobs may share a node, so ports
   differ. */
static int by_slurm(struct ft_options *o, struct ft_rendezvous *r, struct ft_error *e)
{
    const char *list = ft_environment_text("SLURM_STEP_NODELIST");
    uint64_t job = ft_environment_number("SLURM_JOB_ID", 0), step = ft_environment_number("SLURM_STEP_ID", UINT32_MAX);
    uint64_t tasks = ft_environment_number("SLURM_STEP_NUM_TASKS", 0);
    struct ft_hosts nodes = {0};
    const char *url;

    if (!list || !job || step == UINT32_MAX || !tasks)
        return ft_err_set(e, FT_EINVAL, "--rdzv slurm: this is no step of Slurm's; srun --ntasks-per-node=1 ftrun --rdzv slurm is meant");
    if (ft_nodelist_names(o, list, "SLURM_STEP_NODELIST", &nodes, e) < 0)
        return FT_EINVAL;
    if (tasks != nodes.n)
        return ft_err_set(e, FT_EINVAL, "--rdzv slurm: srun has started %llu task%s on %zu node%s; one on each is wanted "
                          "(--ntasks-per-node=1)", (unsigned long long)tasks, ft_plural(tasks), nodes.n, ft_plural(nodes.n));
    r->settings.min = r->settings.max = (uint32_t)nodes.n;
    url = ft_options_keep(o, "rdzv://%s:%u/slurm-%llu-%llu", nodes.list[0].name,
                          FT_RDZV_PORT + (unsigned)((job * SLURM_STEPS + step) % SLURM_PORTS), (unsigned long long)job,
                          (unsigned long long)step);
    return url ? ft_rdzv_settings_url(&r->settings, url, e) : ft_err_set(e, FT_EINVAL, "out of memory");
}

/* 1: by options, 0: by none of them. */
static int by_options(struct ft_options *o, struct ft_rendezvous *r, struct ft_error *e)
{
    if (!o->rdzv && o->join && !ft_environment_text("PET_NNODES"))
        return ft_err_set(e, FT_EINVAL, "--join does nothing without --rdzv URL, which says which job is meant");
    if (!o->rdzv && (on_command_line(o, "nodes") || on_command_line(o, "rdzv-secret-file")) && !ft_environment_text("PET_NNODES"))
        return ft_err_set(e, FT_EINVAL, "%s does nothing without --rdzv URL, which says where the hosts find each other",
                          on_command_line(o, "nodes") ? "--nodes" : "--rdzv-secret-file");
    if (!o->rdzv)
        return 0;
    if (names_hosts(o) && on_command_line(o, "rdzv"))
        return ft_err_set(e, FT_EINVAL, "--rdzv and --host: hosts are named, or they find each other");
    if (names_hosts(o) || (ft_environment_in_rank() && !on_command_line(o, "rdzv")))
        return 0;
    ft_rdzv_settings_init(&r->settings);
    if (!strcmp(o->rdzv, "slurm"))
        return by_slurm(o, r, e) < 0 ? FT_EINVAL : 1;
    return ft_rdzv_settings_url(&r->settings, o->rdzv, e) < 0 ? FT_EINVAL : 1;
}

static int take_nproc(struct ft_options *o, const char *nproc, struct ft_error *e)
{
    struct ft_context *c = &o->contexts[0];
    uint64_t n;

    if (!*nproc || o->ncontexts > 1 || c->counted || c->per_host || !strcmp(nproc, "auto") || !strcmp(nproc, "cpu"))
        return 0;
    if (!strcmp(nproc, "gpu") || ft_values_number(nproc, &n) < 0 || !n || n > FT_RANKS_MAX)
        return ft_err_set(e, FT_EINVAL, "PET_NPROC_PER_NODE is \"%.40s\", and not a number of ranks; -N says how many each host takes",
                          nproc);
    c->per_host = (uint32_t)n;
    return 0;
}

/* A PyTorchJob has one number for torchrun and for what rank 0 listens at, which is there under torchrun, too, but in the same process. */
static void leave_port(struct ft_rdzv_settings *s)
{
    const char *port = ft_environment_text("MASTER_PORT");
    uint64_t n;

    if (s->embedded && port && ft_values_number(port, &n) == 0 && n == s->endpoints[0].port)
        s->endpoints[0].port = ft_kubernetes_port(port);
}

/* What ft_rdzv_settings_torchrun takes for an option's. */
static int check_torchrun(struct ft_error *e)
{
    const char *nodes = ft_environment_text("PET_NNODES"), *endpoint = ft_environment_text("PET_RDZV_ENDPOINT");
    const char *port = endpoint ? NULL : ft_environment_text("PET_MASTER_PORT");
    struct ft_rdzv_settings s;
    struct ft_error why;
    uint64_t n;

    if (!nodes)
        return ft_kubernetes_whole(endpoint ? "PET_RDZV_ENDPOINT" : "PET_MASTER_ADDR", "PET_NNODES", "PET_NODE_RANK",
                                   ft_environment_get, NULL, e);
    if (ft_rdzv_settings_nodes(&s, nodes, &why) < 0)
        return ft_err_set(e, FT_EINVAL, "PET_NNODES is \"%.40s\", which is no number of hosts, or MIN:MAX", nodes);
    if (port && (ft_values_number(port, &n) < 0 || !n || n > UINT16_MAX))
        return ft_err_set(e, FT_EINVAL, "PET_MASTER_PORT is \"%.40s\", which is no port", port);
    return 0;
}

/* Likewise, by torchrun's environment. */
static int by_torchrun(struct ft_options *o, struct ft_rendezvous *r, struct ft_error *e)
{
    struct ft_rdzv_torchrun t;
    int found;

    if (names_hosts(o) || ft_environment_in_rank())
        return 0;
    found = check_torchrun(e) < 0 ? FT_EINVAL : ft_rdzv_settings_torchrun(&r->settings, &t, ft_environment_get, NULL, e);
    if (found <= 0)
        return found;
    if (t.max_restarts >= 0 && o->max_restarts == UINT64_MAX)
        o->max_restarts = (uint64_t)t.max_restarts;
    leave_port(&r->settings);
    if (o->verbose)
        ft_options_notice(o, "%u to %u hosts find each other at %s, port %u (PET_NNODES and others of torchrun's)", r->settings.min, r->settings.max,
                          r->settings.endpoints[0].host, r->settings.endpoints[0].port);
    return take_nproc(o, t.nproc, e) < 0 ? FT_EINVAL : 1;
}

/* Slurm's name for a node need not be the host's. */
static int name_host(char name[FT_RDZV_NAME + 1], struct ft_error *e)
{
    const char *node = ft_environment_text("SLURMD_NODENAME");

    if (node && strlen(node) <= FT_RDZV_NAME)
        strcpy(name, node);
    else if (ft_kubernetes_is_here() ? !ft_kubernetes_name(name, FT_RDZV_NAME) : gethostname(name, FT_RDZV_NAME) < 0)
        return ft_err_set(e, FT_EINVAL, "--rdzv: this host has no name");
    return 0;
}

/* Likewise, by what the operator of Kubernetes' that has made this pod tells it. */
static int by_kubernetes(struct ft_options *o, struct ft_rendezvous *r, struct ft_error *e)
{
    struct ft_context *c = &o->contexts[0];
    struct ft_kubernetes k;
    int found;

    if (!ft_kubernetes_is_here() || names_hosts(o) || ft_environment_in_rank())
        return 0;
    found = name_host(r->name, e) < 0 ? FT_EINVAL : ft_kubernetes_read(&k, r->name, c->per_host, ft_environment_get, NULL, e);
    if (!found && ft_kubernetes_alone(ft_environment_get, NULL) > 0)
        ft_options_notice(o, "this pod is number %lld of an indexed Job (JOB_COMPLETION_INDEX), and nothing says who the others are: this job is in "
                          "this pod only (--rdzv and --nodes bring pods together)", (long long)ft_kubernetes_alone(ft_environment_get, NULL));
    if (found <= 0 || k.nodes == 1)
        return found < 0 ? FT_EINVAL : 0;
    ft_rdzv_settings_init(&r->settings);
    if (ft_rdzv_settings_url(&r->settings, k.url, e) < 0)
        return FT_EINVAL;
    r->settings.min = r->settings.max = k.nodes;
    if (!c->counted && o->ncontexts == 1)
        c->per_host = k.per_host;
    if (o->verbose)
        ft_options_notice(o, "%u pods find each other at %s, port %u, with %u rank%s each (%s)", k.nodes, r->settings.endpoints[0].host,
                          r->settings.endpoints[0].port, k.per_host, ft_plural(k.per_host), k.contract);
    return 1;
}

static int take_secrets(struct ft_options *o, struct ft_rendezvous *r, struct ft_error *e)
{
    char *password = getenv("FTMPI_RDZV_PASSWORD");
    size_t len = password ? strlen(password) : 0;

    r->secret_file = o->rdzv_secret_file ? o->rdzv_secret_file : ft_environment_text("FTMPI_SECRET_FILE");
    if (len >= sizeof r->password)
        return ft_err_set(e, FT_EINVAL, "FTMPI_RDZV_PASSWORD is too long for a password");
    if (!password)
        return 0;
    memcpy(r->password, password, len);
    explicit_bzero(password, len); /* ranks would have it, and /proc/PID/environ shows it */
    unsetenv("FTMPI_RDZV_PASSWORD");
    return 0;
}

static int read_all(struct ft_options *o, struct ft_rendezvous *r, struct ft_error *e)
{
    int found = by_options(o, r, e);

    if (!found)
        found = by_torchrun(o, r, e);
    if (!found)
        found = by_kubernetes(o, r, e);
    if (found <= 0)
        return found;
    if ((o->nodes && ft_rdzv_settings_nodes(&r->settings, o->nodes, e) < 0) || ft_rdzv_settings_check(&r->settings, e) < 0 ||
        refuse_others(o, e) < 0 || name_host(r->name, e) < 0 || take_secrets(o, r, e) < 0)
        return FT_EINVAL;
    if (!o->wait_ms)
        o->wait_ms = r->settings.timeout_ms; /* a host that is lost may come back, or another one */
    r->slots = o->contexts[0].per_host ? o->contexts[0].per_host : ft_topology_processors();
    return 1;
}

int ft_rendezvous_take(struct ft_options *o, struct ft_error *e)
{
    struct ft_rendezvous *r = calloc(1, sizeof *r);
    int found = r ? read_all(o, r, e) : ft_err_set(e, FT_EINVAL, "out of memory");

    if (found > 0)
        o->rendezvous = r;
    else
        ft_rendezvous_free(r);
    return found < 0 ? FT_EINVAL : 0;
}

void ft_rendezvous_free(struct ft_rendezvous *r)
{
    if (r)
        explicit_bzero(r, sizeof *r);
    free(r);
}
