/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/mpirun.h"

#include <string.h>

#include "launcher/options/environment.h"
#include "launcher/options/hosts.h"
#include "launcher/options/map.h"
#include "launcher/options/values.h"

static const struct {
    const char *hostfile, *slots, *ssh;
    bool one;                  /* a host without a number has one slot, as with -f; else as with --hostfile */
} launchers[] = {
    {"OMPI_MCA_orte_default_hostfile", "OMPI_MCA_orte_set_default_slots", "OMPI_MCA_plm_rsh_args", false},
    {"HYDRA_HOST_FILE", NULL, "HYDRA_LAUNCH_EXTRA_ARGS", true},
    {"I_MPI_HYDRA_HOST_FILE", "I_MPI_PERHOST", "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", true},
};

enum { LAUNCHERS = sizeof launchers / sizeof launchers[0] };

/* Of a host without a number. */
static int read_slots(const char *name, bool one, uint32_t *each, struct ft_error *e)
{
    const char *text = ft_environment_text(name);
    uint64_t n;

    *each = one;
    if (!text)
        return 0;
    if (ft_values_number(text, &n) < 0 || n < 1 || n > FT_RANKS_MAX)
        return ft_err_set(e, FT_EINVAL, "%s is \"%.80s\", which is not a number of slots; -H names hosts", name, text);
    *each = (uint32_t)n;
    return 0;
}

int ft_mpirun_hosts(struct ft_options *o, struct ft_error *e)
{
    size_t i = 0;
    const char *path;
    uint32_t each;

    if (ft_hosts_are_named(o) || ft_environment_in_rank())
        return 0;
    while (i < LAUNCHERS && !ft_environment_text(launchers[i].hostfile))
        i++;
    if (i == LAUNCHERS)
        return 0;
    path = ft_environment_text(launchers[i].hostfile);
    if (read_slots(launchers[i].slots, launchers[i].one, &each, e) < 0 ||
        ft_hosts_file(o, path, launchers[i].hostfile, each, &o->hosts, e) < 0)
        return FT_EINVAL;
    if (o->verbose)
        ft_options_notice(o, "hosts are those of %.300s (%s)", path, launchers[i].hostfile);
    return 0;
}

static int add_words(struct ft_options *o, const char *text, struct ft_error *e)
{
    char *rest = ft_options_keep(o, "%s", text), *word;

    if (!rest)
        return ft_err_set(e, FT_EINVAL, "out of memory");
    while ((word = strsep(&rest, " \t")))
        if (*word && ft_options_add(&o->launch_args, &o->nlaunch_args, word, e) < 0)
            return FT_EINVAL;
    return 0;
}

int ft_mpirun_ssh(struct ft_options *o, struct ft_error *e)
{
    if (!ft_map_wanted(o) || strcmp(ft_options_launcher(o), "ssh"))
        return 0;
    for (size_t i = 0; i < LAUNCHERS; i++)
        if (ft_environment_text(launchers[i].ssh))
            return add_words(o, ft_environment_text(launchers[i].ssh), e);
    return 0;
}
