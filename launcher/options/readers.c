/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/readers.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/options/hosts.h"
#include "launcher/options/options.h"
#include "launcher/options/placement.h"
#include "launcher/options/values.h"
#include "launcher/rdzv/settings.h"

#define READER(name) int ft_read_##name(struct ft_options *o, const struct ft_word *w, struct ft_error *e)

enum { VERBOSE_MOST = 3 };

/* The context that is being read. */
static struct ft_context *last(struct ft_options *o)
{
    return &o->contexts[o->ncontexts - 1];
}

static int read_ranks(const struct ft_word *w, uint32_t most, uint32_t *ranks, struct ft_error *e)
{
    uint64_t n;

    if (ft_values_number(w->value, &n) < 0)
        return FT_EINVAL;
    if (n < 1)
        return ft_err_set(e, FT_EINVAL, "%s %s: a job has at least one rank", w->who, w->value);
    if (n > most)
        return ft_err_set(e, FT_EINVAL, "%s %s: too many, at most %d ranks run on one host", w->who, w->value, FT_RANKS_MAX);
    *ranks = (uint32_t)n;
    return 0;
}

READER(count)
{
    last(o)->counted = true;
    return read_ranks(w, FT_WORLD_MAX, &last(o)->nranks, e);
}

READER(per_host)
{
    return read_ranks(w, FT_RANKS_MAX, &last(o)->per_host, e);
}

READER(wdir)
{
    (void)e;
    last(o)->wdir = w->value;
    return *w->value ? 0 : FT_EINVAL;
}

READER(app)
{
    (void)e;
    last(o)->app = w->value;
    return *w->value ? 0 : FT_EINVAL;
}

READER(host)
{
    return ft_hosts_list(o, w->value, w->who, &last(o)->hosts, e);
}

READER(hostfile)
{
    return ft_hosts_file(o, w->value, w->who, 0, &o->hosts, e);
}

READER(hydra_hostfile)
{
    return ft_hosts_file(o, w->value, w->who, 1, &o->hosts, e);
}

READER(bind)
{
    return ft_placement_bind(o, w->value, w->who, e);
}

READER(map)
{
    return ft_placement_map(o, w->value, w->who, e);
}

READER(order)
{
    return ft_placement_order(o, w->value, w->who, e);
}

READER(hwthreads)
{
    (void)w;
    (void)e;
    o->place.hwthreads = true;
    return 0;
}

/* "map,bind", as Open MPI 5 has it. */
READER(display)
{
    char *list = ft_options_keep(o, "%s", w->value), *item;

    if (!list)
        return ft_err_set(e, FT_EINVAL, "out of memory");
    while ((item = strsep(&list, ","))) {
        if (!strcmp(item, "map"))
            o->display_map = true;
        else if (!strcmp(item, "bind") || !strcmp(item, "bindings"))
            o->report_bindings = true;
        else
            return ft_err_set(e, FT_EINVAL, "%s: \"%.80s\" is not valid; wanted: map, bind", w->who, item);
    }
    return 0;
}

READER(pernode)
{
    (void)w;
    (void)e;
    last(o)->per_host = 1;
    return 0;
}

/* --bind-to-core, --bycore. */
READER(old_placement)
{
    const char *name = w->who + strspn(w->who, "-");

    return strncmp(name, "by", 2) ? ft_placement_bind(o, name + 8, w->who, e) : ft_placement_map(o, name + 2, w->who, e);
}

READER(oversubscribe)
{
    (void)w;
    (void)e;
    o->oversubscribe = true;
    return 0;
}

READER(nooversubscribe)
{
    (void)w;
    (void)e;
    o->oversubscribe = false;
    return 0;
}

READER(export)
{
    if (!*w->value || *w->value == '=')
        return FT_EINVAL;
    return ft_options_add(&last(o)->exports, &last(o)->nexports, w->value, e);
}

/* "NAME=VALUE" of a name and a value. */
static const char *joined(struct ft_options *o, const struct ft_word *w, struct ft_error *e)
{
    const char *text;

    if (!*w->value || strchr(w->value, '=')) {
        ft_err_set(e, FT_EINVAL, "%s: \"%.80s\" is not the name of a variable", w->who, w->value);
        return NULL;
    }
    text = ft_options_keep(o, "%s=%s", w->value, w->second);
    if (!text)
        ft_err_set(e, FT_EINVAL, "out of memory");
    return text;
}

READER(genv)
{
    const char *text = joined(o, w, e);

    return text ? ft_options_add(&o->genv, &o->ngenv, text, e) : FT_EINVAL;
}

READER(env)
{
    const char *text = joined(o, w, e);

    return text ? ft_options_add(&last(o)->exports, &last(o)->nexports, text, e) : FT_EINVAL;
}

READER(genvlist)
{
    const char *name = w->value;

    last(o)->bare = true;
    for (;;) {
        size_t len = strcspn(name, ",");
        const char *text = ft_options_keep(o, "%.*s", (int)len, name);

        if (!len || memchr(name, '=', len))
            return FT_EINVAL;
        if (!text)
            return ft_err_set(e, FT_EINVAL, "out of memory");
        if (ft_options_add(&last(o)->exports, &last(o)->nexports, text, e) < 0)
            return FT_EINVAL;
        if (!name[len])
            return 0;
        name += len + 1;
    }
}

READER(genvnone)
{
    (void)w;
    (void)e;
    last(o)->bare = true;
    return 0;
}

READER(genvall)
{
    (void)w;
    (void)e;
    last(o)->bare = false;
    return 0;
}

static int read_output_item(struct ft_options *o, const struct ft_word *w, const char *item, struct ft_error *e)
{
    if (!strcmp(item, "tag") || !strcmp(item, "rank"))
        o->tag_output = true;
    else if (!strcmp(item, "timestamp"))
        o->timestamp_output = true;
    else if (!strcmp(item, "merge") || !strcmp(item, "merge-stderr-to-stdout"))
        o->merge_stderr = true;
    else if (!strncmp(item, "dir=", 4) && item[4])
        o->output_dir = item + 4;
    else if (!strncmp(item, "file=", 5) && item[5])
        o->output_dir = item + 5;
    else
        return ft_err_set(e, FT_EINVAL, "%s: \"%.80s\" is not valid; wanted: tag, timestamp, merge, dir=DIR", w->who, item);
    return 0;
}

READER(output)
{
    char *list = ft_options_keep(o, "%s", w->value), *item;

    if (!list)
        return ft_err_set(e, FT_EINVAL, "out of memory");
    while ((item = strsep(&list, ",")))
        if (read_output_item(o, w, item, e) < 0)
            return FT_EINVAL;
    return 0;
}

READER(stdin)
{
    uint64_t rank;

    if (!strcmp(w->value, "none")) {
        o->stdin_rank = -1;
        return 0;
    }
    if (!strcmp(w->value, "all"))
        return ft_err_set(e, FT_EINVAL, "%s all: standard input goes to one rank only; name it, or none", w->who);
    if (ft_values_number(w->value, &rank) < 0 || rank >= FT_WORLD_MAX)
        return FT_EINVAL;
    o->stdin_rank = (int64_t)rank; /* whether there is such a rank is known at the end */
    return 0;
}

READER(max_restarts)
{
    (void)e;
    if (strcmp(w->value, "unlimited"))
        return ft_values_number(w->value, &o->max_restarts);
    o->max_restarts = UINT64_MAX;
    return 0;
}

READER(ckpt_every)
{
    char text[32];
    size_t len = strlen(w->value);

    (void)e;
    if (!len || len >= sizeof text)
        return FT_EINVAL;
    o->ckpt_versions = 1;
    o->ckpt_ms = 0;
    if (w->value[len - 1] != 's')
        return ft_values_number(w->value, &o->ckpt_versions) < 0 || !o->ckpt_versions ? FT_EINVAL : 0;
    memcpy(text, w->value, len - 1);
    text[len - 1] = 0;
    return ft_values_milliseconds(text, &o->ckpt_ms) < 0 || !o->ckpt_ms ? FT_EINVAL : 0;
}

/* "-vv" is "-v -v" and --verbose=2; yes is 1. */
READER(verbose)
{
    const char *name = w->who + strspn(w->who, "-");
    size_t vs = strspn(name, "v");
    uint64_t level;
    bool yes;

    (void)e;
    if (!w->value)
        level = (uint64_t)o->verbose + (name[vs] ? 1 : vs);
    else if (ft_values_flag(w->value, &yes) == 0)
        level = yes;
    else if (ft_values_number(w->value, &level) < 0)
        return FT_EINVAL;
    o->verbose = (int)ft_min(level, VERBOSE_MOST);
    return 0;
}

READER(resume)
{
    bool yes;

    if (w->value && !strcmp(w->value, "auto")) {
        o->resume = FT_RESUME_AUTO;
        return 0;
    }
    if (ft_values_flag(w->value, &yes) < 0)
        return ft_err_set(e, FT_EINVAL, "%s: \"%.80s\" is not a valid value; wanted: yes, no or auto", w->who, w->value);
    o->resume = yes ? FT_RESUME_YES : FT_RESUME_NO;
    return 0;
}

READER(check_replay)
{
    bool yes;

    o->check_seed = 0;
    o->check_replay = true;
    if (w->value && !strcmp(w->value, "compare"))
        return 0;
    if (ft_values_flag(w->value, &yes) == 0) {
        o->check_replay = yes;
        o->check_seed = yes;
        return 0;
    }
    if (ft_values_number(w->value, &o->check_seed) < 0)
        return ft_err_set(e, FT_EINVAL, "%s: \"%.80s\" is not a valid value; wanted: yes, no, compare or a number", w->who, w->value);
    return 0;
}

READER(snapshot)
{
    (void)e;
    if (!strcmp(w->value, "auto") || !strcmp(w->value, "off")) {
        o->snapshot_ms = *w->value == 'a' ? FT_SNAPSHOT_AUTO : 0;
        return 0;
    }
    return ft_values_milliseconds(w->value, &o->snapshot_ms) < 0 || !o->snapshot_ms ? FT_EINVAL : 0;
}

READER(start_over)
{
    (void)e;
    o->start_over_always = !strcmp(w->value, "always");
    return o->start_over_always || !strcmp(w->value, "safe") ? 0 : FT_EINVAL;
}

READER(other_mpi)
{
    (void)e;
    o->other_mpi_allowed = !strcmp(w->value, "allow");
    return o->other_mpi_allowed || !strcmp(w->value, "end") ? 0 : FT_EINVAL;
}

READER(snapshot_threads)
{
    (void)e;
    o->one_thread = !strcmp(w->value, "off");
    return o->one_thread || !strcmp(w->value, "on") ? 0 : FT_EINVAL;
}

READER(replay_time)
{
    (void)e;
    o->replay_time_off = !strcmp(w->value, "off");
    return o->replay_time_off || !strcmp(w->value, "on") ? 0 : FT_EINVAL;
}

/* Which of these words it is; -1: none. */
static int one_of(const char *const *words, const char *value)
{
    for (int i = 0; words[i]; i++)
        if (!strcmp(value, words[i]))
            return i;
    return -1;
}

READER(sockets)
{
    static const char *const words[] = {[FT_SOCKETS_AUTO] = "auto", [FT_SOCKETS_ON] = "on", [FT_SOCKETS_OFF] = "off", NULL};
    int i = one_of(words, w->value && strcmp(w->value, "yes") ? w->value : "on");

    if (i < 0)
        return ft_err_set(e, FT_EINVAL, "%s: \"%.80s\" is not a valid value; wanted: auto, on or off", w->who, w->value);
    o->sockets = (enum ft_sockets)i;
    return 0;
}

READER(restart_on)
{
    if (ft_values_restart_on(w->value, &o->restart_on) == 0)
        return 0;
    return ft_err_set(e, FT_EINVAL, "%s: \"%.80s\" is not a valid value; wanted: signal, exit codes from 1 to 255 (3 or 129-159), "
                      "separated by commas, or none", w->who, w->value);
}

READER(log_limit)
{
    if (!strcmp(w->value, "auto")) {
        o->log_limit = 0;
        return 0;
    }
    if (ft_values_size(w->value, &o->log_limit) < 0)
        return FT_EINVAL;
    return o->log_limit ? 0 : ft_err_set(e, FT_EINVAL, "%s %s: the log needs some memory", w->who, w->value);
}

READER(log_full)
{
    bool forget = !strcmp(w->value, "forget");

    (void)e;
    o->log_full = forget ? FT_FULL_FORGET : FT_FULL_SPILL;
    return forget || !strcmp(w->value, "spill") ? 0 : FT_EINVAL;
}

READER(cores)
{
    static const char *const words[] = {[FT_CORES_AUTO] = "auto", [FT_CORES_NEAR] = "near", [FT_CORES_FAR] = "far", NULL};
    int i = one_of(words, w->value);

    (void)e;
    if (i < 0)
        return FT_EINVAL;
    o->cores = (enum ft_cores)i;
    return 0;
}

READER(allreduce)
{
    static const char *const words[] = {[FT_ALLREDUCE_DOUBLED] = "doubled", [FT_ALLREDUCE_HALVED] = "halved", NULL};
    int i = one_of(words, w->value);

    (void)e;
    if (i < 0)
        return FT_EINVAL;
    o->allreduce = (enum ft_allreduce)i;
    return 0;
}

READER(survive)
{
    (void)e;
    o->survive_host = !strcmp(w->value, "host");
    return o->survive_host || !strcmp(w->value, "rank") ? 0 : FT_EINVAL;
}

READER(launch_tree)
{
    if (!strcmp(w->value, "auto")) {
        o->launch_tree = FT_TREE_AUTO;
        return 0;
    }
    if (ft_values_number(w->value, &o->launch_tree) < 0)
        return FT_EINVAL;
    if (o->launch_tree && (o->launch_tree < FT_TREE_MIN || o->launch_tree > FT_NODES_MAX))
        return ft_err_set(e, FT_EINVAL, "%s %s: wanted: %d to %d, 0 or auto", w->who, w->value, FT_TREE_MIN, FT_NODES_MAX);
    return 0;
}

/* Hydra's name for it, where that is what happens anyway. */
static bool is_slurm_here(const char *word)
{
    return !strcmp(word, "slurm") && getenv("SLURM_JOB_ID");
}

/* What Hydra has besides is not to be had, and what it starts here is started here anyway. */
READER(launcher)
{
    static const char *const others[] = {"cobalt", "flux", "fork", "jmi", "ll", "lsf", "manual", "pbs", "pbsdsh", "pdsh", "persist", "rsh",
                                         "sge", "slurm", NULL};

    if (!strcmp(w->value, "ssh") || !strcmp(w->value, "srun") || (!strncmp(w->value, "exec:", 5) && w->value[5]))
        o->launcher = w->value;
    else if (!strncmp(w->value, "exec", 4))
        return ft_err_set(e, FT_EINVAL, "%s %.80s: wanted: exec:COMMAND, which is called as COMMAND HOST PROGRAM ARGUMENT...", w->who, w->value);
    else if (!is_slurm_here(w->value))
        return one_of(others, w->value) < 0 ? FT_EINVAL : ft_read_foreign(o, w, e);
    return 0;
}

/* ps shows the command line, and --report what was set. */
READER(rdzv)
{
    o->rdzv = strcmp(w->value, "none") ? ft_options_keep(o, "%s", w->value) : NULL;
    ft_rdzv_settings_hide((char *)w->value); /* of argv, of the environment or kept: ours */
    if (!*w->value)
        return FT_EINVAL;
    return o->rdzv || !strcmp(w->value, "none") ? 0 : ft_err_set(e, FT_EINVAL, "out of memory");
}

READER(join)
{
    (void)w;
    (void)e;
    o->join = true;
    return 0;
}

READER(rmk) { return is_slurm_here(w->value) ? 0 : ft_read_foreign(o, w, e); }

READER(launch_arg)
{
    return ft_options_add(&o->launch_args, &o->nlaunch_args, w->value, e);
}

READER(help)
{
    (void)w;
    (void)e;
    o->help = true;
    return 0;
}

READER(version)
{
    (void)w;
    (void)e;
    o->version = true;
    return 0;
}

READER(tune)
{
    (void)w;
    (void)e;
    o->tune = true;
    return 0;
}

READER(nothing)
{
    (void)o;
    (void)w;
    (void)e;
    return 0;
}

READER(foreign)
{
    if (!o->nforeign++ && !(o->foreign = ft_options_keep(o, "%s %s", w->who, w->value)))
        return ft_err_set(e, FT_EINVAL, "out of memory");
    return 0;
}
