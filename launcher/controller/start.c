/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/controller/start.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ft/shm/random.h"
#include "launcher/controller/comers.h"
#include "launcher/controller/lead.h"
#include "launcher/controller/report.h"
#include "launcher/net/auth.h"
#include "launcher/options/map.h"
#include "launcher/start/remote.h"
#include "launcher/stdio/merge.h"

_Static_assert((int)FT_SECRET_BYTES == (int)FT_JOB_SECRET_BYTES, "one secret");

static uint32_t *first_incarnations(const struct ft_controller *c, uint32_t node)
{
    uint32_t n = ft_description_count(&c->d, node), *list = calloc(n + 1, sizeof *list);

    if (list)
        memcpy(list, c->kept->incarnations + c->map->first[node], n * sizeof *list); /* ranks of the one before count on */
    return list;
}

/* Where rank 0 is, or was lastly. */
static char *master_host(const struct ft_controller *c)
{
    uint32_t place = 0, node = 0;

    while (c->d.rank_at[place] != 0)
        place++;
    while (place >= c->d.first[node + 1])
        node++;
    return c->map->hosts.list[ft_nodes_host(c->policy, node)].name;
}

void ft_controller_start_node(struct ft_controller *c, const struct ft_nodes_effect *fx)
{
    const struct ft_host *host = &c->map->hosts.list[fx->host];
    struct ft_description d = c->d;
    char *text = NULL;

    d.node = fx->node;
    d.incarnation = fx->incarnation;
    d.epoch = fx->epoch;
    d.host = host->name;
    d.master = master_host(c);
    d.incarnations = first_incarnations(c, fx->node);
    if (c->comers && !host->here)
        explicit_bzero(d.secret, sizeof d.secret); /* it knows it, and who listens shall not */
    if (d.incarnations)
        text = ft_description_write(c->o, &d);
    free(d.incarnations);
    ft_merge_replaced(c->merge, fx->node);
    ft_controller_report_start(c->report, fx->node, fx->host);
    c->nodes[fx->node].got = 0;
    c->kept->nodes[fx->node].before = c->kept->nsent;
    c->nodes[fx->node].why[0] = 0;
    c->nodes[fx->node].said_state = false;
    c->nodes[fx->node].state.phase = FT_NODE_STARTING; /* what its ranks were stays: they count on from there */
    if (!text) {
        ft_say(&c->say, "out of memory");
        ft_controller_post(c, &(struct ft_nodes_event){.kind = FT_NV_STOP, .code = FT_CODE_JOB});
        return;
    }
    ft_say_detail(&c->say, "node %u starts on %s", fx->node, host->name);
    if (c->comers && !host->here)
        ft_comers_start(c->comers, fx->node, fx->incarnation, fx->host, text);
    else
        ft_remote_start(c->remote, fx->node, host, text);
}

static const char *without_name(const char *line)
{
    return strncmp(line, "ftrun: ", 7) ? line : line + 7;
}

/* No more tries: nothing about these changes in a second. A pod's name is known only when the pod is ready. */
static bool is_fatal(const struct ft_options *o, int status, const char *why)
{
    static const char *const words[] = {"Permission denied", "Host key verification failed", "Could not resolve hostname"};
    size_t n = sizeof words / sizeof words[0] - (o->start_tries > FT_START_TRIES);

    for (size_t i = 0; i < n; i++)
        if (strstr(why, words[i]))
            return true;
    return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) != 255;
}

/* 127 for a command that is not there, as on one host. */
static int code_of(int status)
{
    int code = status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : 0;

    return code && code != 255 ? code : FT_CODE_JOB;
}

/* Somebody else's failure is no reason to give up: the next try is ours. */
void ft_controller_start_ended(struct ft_controller *c, uint32_t node, int status, const char *said, const struct ft_host *from)
{
    char *why = c->nodes[node].why;

    if (ft_nodes_is_expected(c->policy, node) && !ft_nodes_is_up(c->policy, node)) {
        ft_remote_how(status, without_name(said), why, sizeof c->nodes[node].why);
        if (from && !ft_nodes_is_ending(c->policy))
            ft_say_detail(&c->say, "node %u on %s cannot be started from %s: %s; it is started from here", node,
                          c->map->hosts.list[ft_nodes_host(c->policy, node)].name, from->name, why);
        ft_controller_post(c, &(struct ft_nodes_event){.kind = FT_NV_NOT_STARTED, .node = node, .fatal = !from && is_fatal(c->o, status, why),
                                                       .code = code_of(status)});
    }
    ft_controller_post(c, NULL);
}

static void on_starter_ended(void *arg, uint32_t node, int status, const char *said, const struct ft_host *from)
{
    ft_controller_start_ended(arg, node, status, said, from);
}

static void on_shares(void *arg, const char *line)
{
    const struct ft_controller *c = arg;

    if (!ft_nodes_is_ending(c->policy))
        ft_say_detail(&c->say, "%s", line);
}

/* A line that does not come from the agent's own sink: it is about to die, or ssh has something to say. */
void ft_controller_start_line(const struct ft_controller *c, uint32_t node, const char *line)
{
    if (!ft_nodes_is_ending(c->policy) || c->say.verbose)
        ft_say(&c->say, "host %s: %s", c->map->hosts.list[ft_nodes_host(c->policy, node)].name, without_name(line));
}

static void on_starter_line(void *arg, uint32_t node, const char *line) { ft_controller_start_line(arg, node, line); }

/* FTMPI_* goes along by itself, but for what is of this host, or of the rank that we are perhaps started by. */
static char **environment_of_job(void)
{
    static const char *const own[] = {"FTMPI_RUN_DIR=", "FTMPI_FDS=", "FTMPI_JOB=", "FTMPI_RANK=", "FTMPI_SIZE=", "FTMPI_INCARNATION=",
                                      "FTMPI_APPNUM=", "FTMPI_HOST=",
                                      "FTMPI_RDZV=", "FTMPI_NODES=", "FTMPI_RDZV_SECRET_FILE=", "FTMPI_SECRET_FILE="};
    size_t n = 0, count = 0;
    char **list;

    while (environ[count])
        count++;
    list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; list && i < count; i++) {
        bool ours = !strncmp(environ[i], "FTMPI_", 6);

        for (size_t k = 0; k < sizeof own / sizeof own[0]; k++)
            ours &= strncmp(environ[i], own[k], strlen(own[k])) != 0;
        if (ours)
            list[n++] = environ[i];
    }
    return list;
}

int ft_controller_start_make(struct ft_controller *c, struct ft_error *e)
{
    c->d.nnodes = c->map->nnodes;
    c->d.world = c->map->world;
    c->d.first = c->map->first;
    c->d.rank_at = c->map->rank_at;
    c->d.env = environment_of_job();
    c->d.cwd = getcwd(NULL, 0);
    if (!c->d.cwd)
        return ft_err_set(e, FT_ESYS, "cannot tell the other hosts where to start: %s", strerror(errno));
    if (!c->d.env)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    if (c->lead)
        memcpy(c->d.secret, c->lead->secret, sizeof c->d.secret);
    else if (ft_random(c->d.secret, sizeof c->d.secret) < 0)
        return ft_err_set(e, FT_ESYS, "cannot draw the job's secret: %s", strerror(errno));
    return 0;
}

int ft_controller_start_open(struct ft_controller *c, struct ft_error *e)
{
    struct ft_remote_config config = {.options = c->o, .signals = &c->signals, .nnodes = c->map->nnodes, .ended = on_starter_ended,
                                      .line = on_starter_line, .detail = on_shares, .own = -1, .pids = c->kept->starters, .arg = c};

    c->remote = ft_remote_new(c->base, &config, e);
    return c->remote ? 0 : FT_ESYS;
}

void ft_controller_start_adopt(struct ft_controller *c)
{
    for (uint32_t i = 0; i < c->map->nnodes; i++)
        ft_remote_adopt(c->remote, i, ft_nodes_is_up(c->policy, i));
}

void ft_controller_start_close(struct ft_controller *c)
{
    ft_remote_free(c->remote);
}

void ft_controller_start_free(struct ft_controller *c)
{
    free(c->d.env);
    free(c->d.cwd);
    explicit_bzero(c->d.secret, sizeof c->d.secret);
}
