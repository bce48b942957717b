/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/ranks/environ.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "launcher/base/say.h"
#include "launcher/options/options.h"
#include "launcher/wire/description.h"

/* Which number each variable of a rank holds. */
enum value { RANK, SIZE, LOCAL_RANK, LOCAL_SIZE, NODE, NODES, INCARNATION, PROGRAM, ZERO, VALUES };

static const struct {
    const char *name;
    enum value value;
} own[] = {
    {"FTMPI_RANK", RANK},
    {"FTMPI_SIZE", SIZE},
    {"FTMPI_INCARNATION", INCARNATION},
    {"FTMPI_APPNUM", PROGRAM},
    {"OMPI_COMM_WORLD_RANK", RANK},
    {"OMPI_COMM_WORLD_SIZE", SIZE},
    {"OMPI_COMM_WORLD_LOCAL_RANK", LOCAL_RANK},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", LOCAL_SIZE},
    {"OMPI_COMM_WORLD_NODE_RANK", LOCAL_RANK},
    {"OMPI_UNIVERSE_SIZE", SIZE},
    {"MPI_LOCALRANKID", LOCAL_RANK},
    {"MPI_LOCALNRANKS", LOCAL_SIZE},
    {"PMI_RANK", RANK},
    {"PMI_SIZE", SIZE},
    {"RANK", RANK}, /* as torchrun */
    {"WORLD_SIZE", SIZE},
    {"LOCAL_RANK", LOCAL_RANK},
    {"LOCAL_WORLD_SIZE", LOCAL_SIZE},
    {"GROUP_RANK", NODE},
    {"GROUP_WORLD_SIZE", NODES},
    {"ROLE_RANK", RANK},
    {"ROLE_WORLD_SIZE", SIZE},
    {"TORCHELASTIC_RESTART_COUNT", ZERO}, /* of all workers: there is no such thing here */
    {"TORCHELASTIC_MAX_RESTARTS", ZERO},
    {"DMLC_TASK_ID", RANK}, /* as XGBoost's launchers. DMLC_TRACKER_URI with --xgboost-tracker only: XGBoost 1.7 would wait for a tracker of its kind */
    {"DMLC_NUM_WORKER", SIZE},
};

/* Where programs that bring a network of their own meet: at a port of rank 0's host. What the user has set stays. */
static const char master_host[] = "MASTER_ADDR", master_port[] = "MASTER_PORT";

enum { PORT_FROM = 20000, PORTS = 10000 /* below those that the kernel gives to connections */ };

enum { NOWN = sizeof own / sizeof own[0], OTHERS = 32 /* variables, at most, that are set beside those, and the NULL behind all */, TEXT = 64 };

struct ft_environ {
    const struct ft_description *node;
    uint32_t nranks, program;
    int first_fd;
    char fds[2 * TEXT], job[TEXT], run[TEXT], pid[TEXT], output[TEXT], host[5 * TEXT];
    char *preload, *recorder, *library_path, *python_path, *mpi4py, *master, *tracker;
    char port[TEXT], tracker_port[TEXT];
    char text[NOWN][TEXT];
    size_t n, room;
    char *vars[];
};

static bool names(const char *var, const char *name, size_t len)
{
    return !strncmp(var, name, len) && var[len] == '=';
}

static bool is_set(const struct ft_environ *env, const char *name)
{
    for (size_t i = 0; i < env->n; i++)
        if (names(env->vars[i], name, strlen(name)))
            return true;
    return false;
}

/* A later definition replaces an earlier one. */
static void set(struct ft_environ *env, char *var)
{
    size_t len = strcspn(var, "=");

    for (size_t i = 0; i < env->n; i++) {
        if (names(env->vars[i], var, len)) {
            env->vars[i] = var;
            return;
        }
    }
    FT_INVARIANT(env->n + 1 < env->room, "a variable of a rank has a place");
    env->vars[env->n++] = var;
}

/* "A=v", or "A": as it is here, which it is already unless the context is bare. */
static void export(struct ft_environ *env, const char *text)
{
    if (strchr(text, '=')) {
        set(env, (char *)text);
        return;
    }
    for (char **v = environ; *v; v++)
        if (names(*v, text, strlen(text)))
            set(env, *v);
}

/* "NAME=first", and after a colon what NAME was; *list owns the text. */
static int prepend(struct ft_environ *env, char **list, const char *name, const char *first)
{
    const char *before = NULL;
    size_t len = strlen(name);

    for (size_t i = 0; i < env->n; i++)
        if (names(env->vars[i], name, len))
            before = env->vars[i] + len + 1;
    if (asprintf(list, "%s=%s%s%s", name, first, before && *before ? ":" : "", before ? before : "") < 0) {
        *list = NULL;
        return -1;
    }
    set(env, *list);
    return 0;
}

/* mpi4py's wheel takes the libmpi that it finds first, but before that the one that it is told. Objects are reduced by messages on a
   communicator of its own, neither of which there is yet, or by allgather. */
static int lead_mpi4py(struct ft_environ *env, const char *library_path)
{
    static const char name[] = "MPI4PY_LIBMPI";

    if (!is_set(env, "MPI4PY_RC_FAST_REDUCE"))
        set(env, (char *)"MPI4PY_RC_FAST_REDUCE=no");
    for (size_t i = 0; i < env->n; i++)
        if (names(env->vars[i], name, sizeof name - 1))
            return 0;
    if (asprintf(&env->mpi4py, "%s=%s/libmpi.so.40", name, library_path) < 0) {
        env->mpi4py = NULL;
        return -1;
    }
    set(env, env->mpi4py);
    return 0;
}

/* The same for all ranks of the job, wherever they are and however often one is started. */
static int master_port_of(const char *job_id)
{
    uint32_t n = 0;

    for (; *job_id; job_id++)
        n = n * 31 + (unsigned char)*job_id;
    return PORT_FROM + (int)(n % PORTS);
}

/* "USER@HOST" is for ssh. */
const char *ft_environ_master(const struct ft_description *d)
{
    const char *user = strrchr(d->master, '@');

    return user ? user + 1 : d->master;
}

/* --xgboost-tracker: here what ftrun was told by its environment does not count. */
static int lead_to_tracker(struct ft_environ *env, const struct ft_spawn_config *config)
{
    if (!config->tracker_host)
        return 0;
    if (asprintf(&env->tracker, "DMLC_TRACKER_URI=%s", config->tracker_host) < 0) {
        env->tracker = NULL;
        return -1;
    }
    set(env, env->tracker);
    snprintf(env->tracker_port, TEXT, "DMLC_TRACKER_PORT=%u", config->tracker_port);
    set(env, env->tracker_port);
    return 0;
}

static int lead_to_master(struct ft_environ *env, const char *job_id)
{
    if (!is_set(env, master_port)) {
        snprintf(env->port, TEXT, "%s=%d", master_port, master_port_of(job_id));
        set(env, env->port);
    }
    if (is_set(env, master_host))
        return 0;
    if (asprintf(&env->master, "%s=%s", master_host, env->node ? ft_environ_master(env->node) : "127.0.0.1") < 0) {
        env->master = NULL;
        return -1;
    }
    set(env, env->master);
    return 0;
}

/* With other nodes there are the representative's links to them. */
static void list_descriptors(struct ft_environ *env, bool links)
{
    int first = env->first_fd;
    size_t n = (size_t)snprintf(env->fds, sizeof env->fds, "FTMPI_FDS=%d,%d,%d,%d,%d,%d", first, first + 1, first + 2, first + 3, first + 4,
                                first + 5);

    if (env->node && env->node->nnodes > 1)
        snprintf(env->fds + n, sizeof env->fds - n, ",%d", links ? first + 6 : -1);
}

struct ft_environ *ft_environ_new(const struct ft_spawn_config *config, const struct ft_context *context, int first_fd)
{
    struct ft_environ *env;
    size_t count = 0, room;

    while (environ[count])
        count++;
    room = count + context->nexports + NOWN + OTHERS;
    env = calloc(1, sizeof *env + room * sizeof env->vars[0]);
    if (!env)
        return NULL;
    env->room = room;
    env->node = config->node;
    env->nranks = config->nranks;
    env->program = context->number;
    env->first_fd = first_fd;
    for (size_t i = 0; i < count; i++)
        if (!context->bare || !strncmp(environ[i], "FTMPI_", 6))
            env->vars[env->n++] = environ[i];
    if (!is_set(env, "GFORTRAN_UNBUFFERED_PRECONNECTED"))
        set(env, (char *)"GFORTRAN_UNBUFFERED_PRECONNECTED=y"); /* ft/outcome/output.h */
    for (size_t i = 0; i < context->nexports; i++)
        export(env, context->exports[i]);
    if (prepend(env, &env->library_path, "LD_LIBRARY_PATH", config->library_path) < 0 || lead_mpi4py(env, config->library_path) < 0 || lead_to_master(env, config->job_id) < 0 ||
        lead_to_tracker(env, config) < 0 ||
        (config->preload && prepend(env, &env->preload, "LD_PRELOAD", config->preload) < 0) ||
        (*config->recorder && !context->alone && prepend(env, &env->recorder, "LD_PRELOAD", config->recorder) < 0) ||
        (config->python_path && prepend(env, &env->python_path, "PYTHONPATH", config->python_path) < 0)) {
        ft_environ_free(env);
        return NULL;
    }
    list_descriptors(env, false);
    set(env, env->fds);
    snprintf(env->job, TEXT, "FTMPI_JOB=%s", config->job_id);
    set(env, env->job);
    snprintf(env->run, TEXT, "TORCHELASTIC_RUN_ID=%s", config->job_id); /* by this libraries see that torchrun has started them */
    set(env, env->run);
    set(env, (char *)"ROLE_NAME=default");
    set(env, (char *)"TORCHELASTIC_USE_AGENT_STORE=False"); /* rank 0 has the store */
    snprintf(env->host, sizeof env->host, "FTMPI_HOST=%s", ft_say_host());
    set(env, env->host);
    set(env, strcpy(env->pid, "FTMPI_PID="));
    set(env, strcpy(env->output, "FTMPI_OUTPUT="));
    if (config->recorded)
        set(env, (char *)"FTMPI_RECORDED=1");
    if (config->bootstrap_cache || getenv("FTMPI_BOOTSTRAP_CACHE"))
        set(env, config->bootstrap_cache ? (char *)"FTMPI_BOOTSTRAP_CACHE=1" : (char *)"FTMPI_BOOTSTRAP_CACHE=0");
    if (config->other_mpi_allowed || getenv("FTMPI_OTHER_MPI"))
        set(env, config->other_mpi_allowed ? (char *)"FTMPI_OTHER_MPI=allow" : (char *)"FTMPI_OTHER_MPI=end");
    for (int i = 0; i < NOWN; i++) {
        snprintf(env->text[i], TEXT, "%s=", own[i].name);
        set(env, env->text[i]);
    }
    return env;
}

void ft_environ_rank(struct ft_environ *env, uint32_t rank, uint32_t incarnation)
{
    const struct ft_description *d = env->node;
    const uint32_t values[VALUES] = {
        [RANK] = d ? d->rank_at[d->first[d->node] + rank] : rank, [SIZE] = d ? d->world : env->nranks,
        [LOCAL_RANK] = rank, [LOCAL_SIZE] = env->nranks, [NODE] = d ? d->node : 0,
        [NODES] = d ? d->nnodes : 1, [INCARNATION] = incarnation,
        [PROGRAM] = env->program,
    };

    list_descriptors(env, rank == 0);
    for (int i = 0; i < NOWN; i++)
        snprintf(env->text[i], TEXT, "%s=%u", own[i].name, values[own[i].value]);
}

/* No snprintf: environ.h. */
void ft_environ_process(struct ft_environ *env, int pid, uint64_t output, uint64_t errors)
{
    char *end;

    ft_number_write(env->pid + sizeof "FTMPI_PID=" - 1, (uint64_t)pid);
    end = ft_number_write(env->output + sizeof "FTMPI_OUTPUT=" - 1, output);
    *end++ = ',';
    ft_number_write(end, errors);
}

char **ft_environ_get(struct ft_environ *env)
{
    return env->vars;
}

void ft_environ_free(struct ft_environ *env)
{
    if (!env)
        return;
    free(env->tracker);
    free(env->master);
    free(env->mpi4py);
    free(env->python_path);
    free(env->recorder);
    free(env->preload);
    free(env->library_path);
    free(env);
}
