/* SPDX-License-Identifier: BSD-3-Clause */
/* Joining and leaving the job; what a snapshot that is woken reads again. */
#include "ft/ft.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ft/alone.h"
#include "ft/base/util.h"
#include "ft/carry.h"
#include "ft/collective.h"
#include "ft/outcome/copies.h"
#include "ft/outcome/log.h"
#include "ft/handle.h"
#include "ft/shm/given.h"
#include "ft/shm/models.h"

static void single(struct ft_stream *s, const char *name)
{
    memset(s, 0, sizeof *s);
    s->n = s->size = 1;
    s->apart = true;
    s->name = name;
}

/* Ranks with a core each spin: an answer takes a fraction of a microsecond. Others give way at once. The
   numbers are where waiting longer the dearer way stopped to pay (docs/performance/operations.md). */
static void set_patience(struct ft *ft)
{
    const struct ft_params *p = &ft->region.header->params;
    bool crowded = p->nranks > p->cores;
    uint64_t turn = ft_max(1, p->nranks / (16 * p->cores)); /* each yield lets all the others on the core have theirs */

    ft->patience = (struct ft_patience){
        .spins = crowded ? 0 : 2000,
        .yields = crowded ? 8 : 256,
        .yield_ns = crowded ? 300000 * turn : 1000000,
        .sleeps = true,
        .doorbells = ft_doorbells_of(&ft->region),
        .self = ft->world.rank,
        .place = crowded ? &ft->place : NULL,
    };
    ft_wait_begin(&ft->patience, p->unfenced);
    if (crowded)
        ft_place_open(&ft->place, ft->world.rank, p->nranks);
}

static int number_from(const char *name, long least, long *value)
{
    const char *text = getenv(name);
    char *end;

    if (!text || !*text)
        return -1;
    *value = strtol(text, &end, 10);
    return *end || *value < least ? -1 : 0;
}

/* A program that the rank's process has started is the rank: what that process would do again is not what it did. */
static void close_ways_of_parent(const struct ft *ft, uint32_t pid)
{
    struct ft_outcome_words *outcomes = ft_region_outcomes(&ft->region, ft->world.rank);
    uint64_t recorder = ft_peek(&ft->block->snap.recorder);

    if (outcomes && recorder && recorder != pid)
        ft_outcome_close(outcomes, "a child of it has called MPI_Init");
}

/* One program per rank slot and incarnation (RULE 15): a wrapper that runs two of them would have both
   write the same words. */
static int take_slot(struct ft *ft, struct ft_error *e)
{
    uint32_t nobody = 0, pid = (uint32_t)syscall(SYS_getpid);

    if (!atomic_compare_exchange_strong(&ft->block->attached_pid, &nobody, pid) && nobody != pid)
        return ft_err_set(e, FT_EJOB, "rank %u already is process %u: only one program per rank may call MPI_Init",
                          ft->world.rank, nobody);
    if (ft_peek32(&ft->block->state) != FT_RANK_ABSENT)
        return ft_err_set(e, FT_EJOB, "rank %u has called MPI_Init before", ft->world.rank);
    close_ways_of_parent(ft, pid);
    if (ft_rank_joined)
        ft_rank_joined();
    return 0;
}

/* Of the bootstrap cache: the job goes on without. */
static void tell_lost(const char *why)
{
    fprintf(stderr, "ftmpi: the bootstrap cache is not complete: %s; a rank that dies may not find its way back\n", why);
}

static int open_net(struct ft *ft, int post, int bell, struct ft_wire *wire, struct ft_error *e)
{
    int err;

    if (post < 0)
        return ft_err_set(e, FT_EJOB, "rank %u connects its host with the others, and was given no socket for that", ft->world.me);
    ft->net = malloc(sizeof *ft->net);
    if (!ft->net)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    err = ft_net_open(ft->net, ft->nodes, &ft->region, post, bell, wire, e);
    ft->net->aside = ft->door ? ft->door->aside : NULL;
    return err;
}

/* A job on several nodes: local rank 0 asks for links at once, they are there before the program needs them. */
static int join_nodes(struct ft *ft, int post, int bell, struct ft_error *e)
{
    const struct ft_params *p = &ft->region.header->params;
    bool represents = ft->world.rank == 0;
    struct ft_wire wire;
    int err = 0;

    if (p->nnodes == 1)
        return 0;
    ft->nodes = calloc(1 + p->spread, sizeof *ft->nodes);
    if (!ft->nodes)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    if (represents)
        err = open_net(ft, post, bell, &wire, e);
    for (uint32_t stream = 0; stream <= p->spread && !err; stream++)
        err = ft_nodes_open(&ft->nodes[stream], &ft->region, stream, represents ? &wire : NULL, e);
    if (!err)
        ft_nodes_join(ft->nodes, &ft->world);
    return err;
}

/* What has been inherited, and is not to be passed on (RULE 15): a daemon of the program's would keep the file of the log on disk, and a way to
   other nodes, for as long as it lives. Not so `life`: by that descriptor the kernel ends a rank's programs too when ftrun is gone. -1: not given. */
static void keep_from_children(const int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fds[i] >= 0)
            fcntl(fds[i], F_SETFD, FD_CLOEXEC);
}

static void where(void *arg, struct ft_positions *at) { ft_positions(arg, at); }

static void stand(void *arg, struct ft_stand *stand)
{
    struct ft *ft = arg;

    stand->where = where;
    stand->arg = ft;
    stand->links = ft->net ? ft->net->fds : NULL;
    stand->nlinks = ft->net ? ft_net_descriptors(ft->net) : 0;
}

static void woken(void *arg) { ft_resume(arg); }

static int join(struct ft *ft, const char *fds, bool cache, struct ft_error *e)
{
    int memory, bell, life, models, post = -1, err = 0, given;
    uint64_t one = 1;
    int64_t local;
    long rank;
    char rest;

    given = sscanf(fds, "%d,%d,%d,%d,%d,%d,%d%c", &memory, &ft->kick_fd, &ft->spill_fd, &bell, &life, &models, &post, &rest);
    if ((given != 6 && given != 7) ||
        number_from("FTMPI_RANK", 0, &rank) != 0)
        return ft_err_set(e, FT_EJOB, "the environment is damaged: FTMPI_FDS=%s FTMPI_RANK=%s", fds,
                          getenv("FTMPI_RANK") ? getenv("FTMPI_RANK") : "(none)");
    if (ft->door)
        ft->door->enter(&(struct ft_guest){ft, stand, woken});
    if (ft->door)
        ft->region = ft->door->region; /* the mapping is there already */
    else if (fcntl(memory, F_GETFD) < 0)
        return ft_alone_explain(memory, (uint32_t)rank, e);
    else if ((err = ft_region_open(&ft->region, memory, e)))
        return err;
    keep_from_children((int[]){memory, ft->kick_fd, ft->spill_fd, bell, post}, 5); /* models: ft_models_attach */
    local = rank > UINT32_MAX ? -1 : ft_region_local(&ft->region, (uint32_t)rank);
    if (local < 0) {
        err = ft_err_set(e, FT_EJOB, "FTMPI_RANK is %ld in a job of %u rank%s", rank, ft->region.header->params.nranks,
                         ft_plural(ft->region.header->params.nranks));
        goto attached;
    }
    err = ft_models_attach(models, e);
    if (err)
        goto attached;
    ft->block = ft_region_rank(&ft->region, (uint32_t)local);
    ft->world.rank = (uint32_t)local;
    ft->world.me = (uint32_t)rank;
    err = take_slot(ft, e);
    if (err)
        goto attached;
    set_patience(ft);
    ft_stream_open(&ft->world, &ft->region, (uint32_t)local, "MPI_COMM_WORLD", &ft->patience, ft->kick_fd, ft->spill_fd);
    if (ft->world.checks) {
        ft_host_name(ft->host, sizeof ft->host);
        ft->world.host = ft->host;
    }
    ft_log_warm(&ft->world.log);
    ft->world.ft = ft;
    err = join_nodes(ft, post, bell, e);
    if (err)
        goto attached;
    /* Each rank says it before it looks, and all say the same. */
    if (cache && ft->region.header->params.nnodes == 1)
        __atomic_store_n(&ft->region.header->params.bootstrap_cache, 1, __ATOMIC_RELAXED);
    ft_cache_open(&ft->cache, &ft->world, &ft->region, models, tell_lost);
    ft_checkpoints_open(&ft->checkpoints, &ft->world, &ft->region, models, bell);
    ft_publish32(&ft->block->state, FT_RANK_ATTACHED);
    if (write(bell, &one, sizeof one) < 0) {
        /* the agent looks now and then */
    }
    return 0;

attached:
    if (ft->door)
        ft->door->leave();
    else
        ft_region_close(&ft->region);
    ft->region.base = NULL;
    return err;
}

/* Without a copy by another thread. */
static int join_alone(struct ft *ft, const char *fds, bool cache, struct ft_error *e)
{
    bool says;
    int err;

    ft->door = ft_rank_door ? ft_rank_door() : NULL;
    says = ft_handle_begin(ft);
    err = join(ft, fds, cache, e);
    ft_handle_end(ft, says);
    return err;
}

int ft_attach(struct ft **out, bool cache, struct ft_error *e)
{
    const char *fds = getenv("FTMPI_FDS");
    struct ft *ft = calloc(1, sizeof *ft);
    int err = 0;

    if (!ft)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    single(&ft->world, "MPI_COMM_WORLD");
    single(&ft->self, "MPI_COMM_SELF");
    ft_cache_open(&ft->cache, &ft->world, NULL, -1, tell_lost);
    if (fds)
        err = join_alone(ft, fds, cache, e);
    else if ((err = ft_alone_check(e)) == 0)
        ft_checkpoints_open(&ft->checkpoints, &ft->world, NULL, -1, -1);
    if (err)
        free(ft);
    else
        *out = ft;
    return err;
}

void ft_detach(struct ft *ft)
{
    if (ft->door)
        ft->door->leave();
    if (ft->net)
        ft_net_close(ft->net);
    free(ft->net);
    for (uint32_t stream = 0; ft->nodes && stream <= ft->region.header->params.spread; stream++)
        ft_nodes_close(&ft->nodes[stream]);
    free(ft->nodes);
    ft_messages_close(ft);
    ft_comms_close(ft);
    if (ft->region.base && !ft->door)
        ft_region_close(&ft->region);
    if (ft->door) {
        ft->checkpoints.fd = -1; /* these stay open: its snapshots have them, too, and who is woken joins the job again */
    } else if (ft->region.base) {
        close(ft->kick_fd);
        close(ft->spill_fd);
    }
    ft_cache_close(&ft->cache);
    ft_checkpoints_close(&ft->checkpoints);
    ft_values_caller_close(&ft->values);
    free(ft);
}

bool ft_has_cache(const struct ft *ft) { return ft->block && ft->region.header->params.bootstrap_cache; }
void ft_host(char *to, size_t size) { ft_host_name(to, size); }
int ft_rank(const struct ft *ft) { return (int)ft->world.me; }
int ft_size(const struct ft *ft) { return (int)ft->world.size; }
int ft_node(const struct ft *ft) { return ft->region.base ? (int)ft->region.header->params.node : 0; }
int ft_incarnation(const struct ft *ft) { return ft->block ? (int)ft_peek32(&ft->block->incarnation) : 0; }
struct ft_stream *ft_world(struct ft *ft) { return &ft->world; }
struct ft_stream *ft_self(struct ft *ft) { return &ft->self; }

/* Only what the earlier incarnation went beyond is certain to be complete: its last operation may be half done. */
bool ft_replaying(struct ft_stream *s)
{
    /* The bootstrap cache may have to tell by what is contributed; a node that replaces a lost one has yet to note that. */
    return s->unit + 1 < s->called && !s->checks && !(s->attentive && (s->cache->loaded || (s->nodes && s->cache->version == 0)));
}

void ft_mark_rabit(struct ft *ft)
{
    if (ft->block)
        ft_publish32(&ft->block->rabit_used, 1);
}

/* A snapshot is wanted; the copy that it makes comes back here, too. */
bool ft_handle_snapshot(struct ft *ft, void *unread, uint64_t bytes)
{
    return ft->door->cut(unread, bytes);
}

/* What a checkpoint needs flushed, at the same place in a replay, where none is made: a flush is a write, which is recorded. */
static void flush_all(const struct ft *ft)
{
    if (ft->door)
        fflush(NULL);
}

int ft_checkpoint(struct ft *ft, const struct ft_models *m, uint64_t site, struct ft_error *e)
{
    bool says;
    int err;

    ft_order_checkpoint(ft);
    flush_all(ft);
    says = ft_handle_begin(ft);
    err = ft_checkpoints_make(&ft->checkpoints, m, site, e);
    ft_handle_end(ft, says);
    return err;
}

int ft_checkpoint_lazy(struct ft *ft, ft_serialize *serialize, void *state, uint64_t site, struct ft_error *e)
{
    ft_order_checkpoint(ft);
    flush_all(ft);
    return ft_checkpoints_make_lazy(&ft->checkpoints, serialize, state, site, e);
}

/* A program that is started again loads the newest checkpoint, and so would a replay of what was before: another one than its
   predecessor did. */
int ft_load(struct ft *ft, struct ft_models *m, uint64_t site, struct ft_error *e)
{
    ft_order_checkpoint(ft);
    flush_all(ft);
    if (ft->door)
        ft->door->close("it has loaded a checkpoint, or asked for one");
    return ft_checkpoints_load(&ft->checkpoints, m, site, e);
}

bool ft_checkpoint_carries(const struct ft *ft) { return !ft->region.base || ft_carry_is_on(ft); }

uint64_t ft_version(const struct ft *ft) { return ft->checkpoints.version; }

bool ft_snapshot_now(struct ft *ft)
{
    struct ft_version_words *words = ft->checkpoints.mine;
    struct ft_wait w;
    uint64_t number;

    if (!ft->block || ft->world.loading || ft->checkpoints.bell < 0)
        return false;
    number = ft_checkpoints_ask(&ft->checkpoints, FT_ASK_SNAPSHOT, 0);
    w = ft_wait_for_agent(&ft->patience);
    while (ft_look(&words->answered) < number) {
        if (ft_handle_due(ft)) {
            ft_wait_over(&w, &ft->patience); /* what goes on from the snapshot does not sleep */
            if (ft_handle_snapshot(ft, NULL, 0))
                return true;
        }
        ft_wait_turn(&w, &ft->patience);
    }
    ft_wait_over(&w, &ft->patience);
    return ft_peek(&words->answer) != 0;
}

int ft_finalize(struct ft *ft, uint64_t site, struct ft_error *e)
{
    int err;

    ft_messages_finalize(ft);
    err = ft_collective_rendezvous(&ft->world, FT_CALL_FINALIZE, site, e);

    if (!err && ft->net)
        err = ft_nodes_leave(ft->nodes, e);
    if (!err && ft->block)
        ft_publish32(&ft->block->state, FT_RANK_FINALIZED);
    return err;
}

void ft_positions(const struct ft *ft, struct ft_positions *p)
{
    p->n = 0;
    ft_position_add(p, 0, (struct ft_position){ ft->world.unit, ft->world.end });
    ft_comms_positions(ft, p);
    ft_messages_positions(ft, p);
}

void ft_clock(struct timespec *now)
{
    struct ft_door *door = ft_rank_door ? ft_rank_door() : NULL;

    if (door)
        door->clock(now);
    else
        clock_gettime(CLOCK_MONOTONIC, now);
}

void ft_function(bool begins)
{
    struct ft_door *door = ft_rank_door ? ft_rank_door() : NULL;

    if (door)
        door->inside(begins);
}

int ft_fork_keeps(struct ft *ft, bool keep, struct ft_error *e)
{
    if (!ft->region.base || ft_region_fork_keeps(&ft->region, keep) == 0)
        return 0;
    return ft_err_set(e, FT_ESYS, "a snapshot cannot have the job's shared memory: %s", strerror(errno));
}

/* What else struct ft has is as true here as it was at the cut: the mapping is at the same address, descriptors have the
   same numbers, how to wait follows from job constants but for what the kernel knows of a process, the flag of a sleeper is the rank's (and down: nobody snapshots
   while asleep), MPI_COMM_SELF shares nothing with anybody, the host is the same. */
void ft_resume(struct ft *ft)
{
    if (!ft->block)
        return;
    ft_wait_begin(&ft->patience, ft->region.header->params.unfenced);
    ft_stream_resume(&ft->world);
    ft_comms_resume(ft);
    ft_messages_resume(ft);
    ft_cache_resume(&ft->cache);
    ft_checkpoints_resume(&ft->checkpoints);
    for (uint32_t stream = 0; ft->net && stream <= ft->region.header->params.spread; stream++)
        ft_nodes_resume(&ft->nodes[stream]);
    if (ft->net)
        ft_net_resume(ft->net);
    atomic_store(&ft->block->attached_pid, (uint32_t)syscall(SYS_getpid));
    ft_publish32(&ft->block->state, FT_RANK_ATTACHED);
}

void ft_end(struct ft *ft, int code, const char *line)
{
    if (ft && ft->block) {
        snprintf(ft->block->last_words, sizeof ft->block->last_words, "%s", line);
        atomic_store(&ft->block->exit_code, code);
        ft_publish32(&ft->block->state, FT_RANK_ENDED);
    } else {
        fprintf(stderr, "ftmpi: %s\n", line);
    }
    _exit(code);
}
