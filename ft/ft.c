/* SPDX-License-Identifier: BSD-3-Clause */
/* From a call's arguments to an operation on a stream; joining and leaving the job. */
#include "ft/ft.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ft/agree.h"
#include "ft/checkpoint.h"
#include "ft/core/cache.h"
#include "ft/core/check.h"
#include "ft/core/nodes.h"
#include "ft/net/links.h"
#include "ft/prefix.h"
#include "ft/shm/models.h"
#include "ft/snap/snapshot.h"

struct ft {
    struct ft_region region;    /* base NULL in a world of one */
    struct ft_patience patience;
    struct ft_stream world, self;
    struct ft_rank_block *block;
    struct ft_snapshots snapshots;
    struct ft_checkpoints checkpoints;
    struct ft_cache cache;
    struct ft_nodes nodes;      /* of a job on several nodes, ... */
    struct ft_net *net;         /* ... its representative's; else NULL */
    int kick_fd, spill_fd;
    char host[HOST_NAME_MAX + 1];
};

static void single(struct ft_stream *s, const char *name)
{
    memset(s, 0, sizeof *s);
    s->n = s->size = 1;
    s->apart = true;
    s->name = name;
}

/* Ranks with a core each spin: an answer takes a fraction of a microsecond. Others give way at once. The
   numbers are where waiting longer the dearer way stopped to pay (docs/design.md). */
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
        .asleep = (_Atomic uint8_t *)(ft->region.base + ft->region.header->asleep_at),
        .nasleep = (uint32_t)ft_align(p->nranks, 8),
        .self = ft->world.rank,
    };
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

/* One program per rank slot and incarnation (RULE 15): a wrapper that runs two of them would have both
   write the same words. */
static int take_slot(struct ft *ft, struct ft_error *e)
{
    uint32_t nobody = 0, pid = (uint32_t)getpid();

    if (!atomic_compare_exchange_strong(&ft->block->attached_pid, &nobody, pid) && nobody != pid)
        return ft_err_set(e, FT_EJOB, "rank %u already is process %u: only one program per rank may call MPI_Init",
                          ft->world.rank, nobody);
    if (ft_peek32(&ft->block->state) != FT_RANK_ABSENT)
        return ft_err_set(e, FT_EJOB, "rank %u has called MPI_Init before", ft->world.rank);
    return 0;
}

/* Of the bootstrap cache: the job goes on without. */
static void tell_lost(const char *why)
{
    fprintf(stderr, "ftmpi: the bootstrap cache is not complete: %s; a rank that dies may not find its way back\n", why);
}

/* A job on several nodes: local rank 0 asks for links at once, they are there before the program needs them. */
static int join_nodes(struct ft *ft, int post, int bell, struct ft_error *e)
{
    struct ft_wire wire;

    if (ft->region.header->params.nnodes == 1)
        return 0;
    if (ft->world.rank != 0) {
        ft_nodes_open(&ft->nodes, &ft->world, NULL);
        return 0;
    }
    if (post < 0)
        return ft_err_set(e, FT_EJOB, "rank %u is to speak for its node and has been given no way to the others", ft->world.me);
    ft->net = malloc(sizeof *ft->net);
    if (!ft->net)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    ft_net_open(ft->net, &ft->nodes, &ft->region, post, bell, &wire);
    ft_nodes_open(&ft->nodes, &ft->world, &wire);
    ft_net_start(ft->net);
    return 0;
}

static int join(struct ft *ft, const char *fds, struct ft_error *e)
{
    int memory, bell, life, models, post = -1, err, given;
    int64_t local;
    long rank;
    char rest;

    given = sscanf(fds, "%d,%d,%d,%d,%d,%d,%d%c", &memory, &ft->kick_fd, &ft->spill_fd, &bell, &life, &models, &post, &rest);
    if ((given != 6 && given != 7) ||
        number_from("FTMPI_RANK", 0, &rank) != 0)
        return ft_err_set(e, FT_EJOB, "the environment is damaged: FTMPI_FDS=%s FTMPI_RANK=%s", fds,
                          getenv("FTMPI_RANK") ? getenv("FTMPI_RANK") : "(none)");
    err = ft_region_attach(&ft->region, memory, e);
    if (err)
        return err;
    local = rank > UINT32_MAX ? -1 : ft_region_local(&ft->region, (uint32_t)rank);
    if (local < 0) {
        err = ft_err_set(e, FT_EJOB, "FTMPI_RANK is %ld in a job of %u ranks", rank, ft->region.header->params.nranks);
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
    ft_stream_open(&ft->world, &ft->region, 0, (uint32_t)local, "MPI_COMM_WORLD", &ft->patience, ft->kick_fd, ft->spill_fd);
    if (ft->world.checks && gethostname(ft->host, sizeof ft->host) == 0)
        ft->world.host = ft->host;
    ft_log_warm(&ft->world.log);
    ft->world.ft = ft;
    err = join_nodes(ft, post, bell, e);
    if (err)
        goto attached;
    ft_cache_open(&ft->cache, &ft->world, &ft->region, models, tell_lost);
    ft_snapshots_open(&ft->snapshots, &ft->region, (uint32_t)local,
                      &(struct ft_image_own){.fds = {memory, ft->kick_fd, ft->spill_fd, bell, life, models, post}, .nfds = 7, .not_copied = models},
                      bell, life);
    ft_checkpoints_open(&ft->checkpoints, &ft->world, &ft->region, models, bell);
    ft_publish32(&ft->block->state, FT_RANK_ATTACHED);
    return 0;

attached:
    ft_region_close(&ft->region);
    ft->region.base = NULL;
    return err;
}

int ft_attach(struct ft **out, struct ft_error *e)
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
        err = join(ft, fds, e);
    else
        ft_checkpoints_open(&ft->checkpoints, &ft->world, NULL, -1, -1);
    if (err)
        free(ft);
    else
        *out = ft;
    return err;
}

void ft_detach(struct ft *ft)
{
    if (ft->net)
        ft_net_close(ft->net);
    free(ft->net);
    ft_nodes_close(&ft->nodes);
    if (ft->region.base) {
        ft_stream_close(&ft->world);
        ft_region_close(&ft->region);
        close(ft->kick_fd);
        close(ft->spill_fd);
    }
    ft_cache_close(&ft->cache);
    ft_checkpoints_close(&ft->checkpoints);
    free(ft);
}

int ft_rank(const struct ft *ft) { return (int)ft->world.me; }
int ft_size(const struct ft *ft) { return (int)ft->world.size; }
int ft_incarnation(const struct ft *ft) { return ft->block ? (int)ft_peek32(&ft->block->incarnation) : 0; }
bool ft_solo(const struct ft *ft) { return !ft->block; }
struct ft_stream *ft_world(struct ft *ft) { return &ft->world; }
struct ft_stream *ft_self(struct ft *ft) { return &ft->self; }

/* Only what the earlier incarnation went beyond is certain to be complete: its last operation may be half done. */
bool ft_replaying(struct ft_stream *s)
{
    /* The bootstrap cache may have to tell by what is contributed. */
    return s->unit + 1 < s->called && !s->checks && !(s->attentive && s->cache->loaded);
}

void ft_mark_rabit(struct ft *ft)
{
    if (ft->block)
        ft_publish32(&ft->block->rabit_used, 1);
}

/* Of one rank. */
static inline bool is_lone(const struct ft_stream *s) { return s->apart && !s->nodes; }

/* A stream of one rank has nobody to agree with and nothing to lose: results are this rank's own input. */
static int alone(const struct ft_coll *c)
{
    struct ft_stream *s = c->s;
    char *to = c->recv ? c->recv + ft_coll_displ(c, 0) : NULL;

    if (to && to != c->send && c->bytes)
        memmove(to, c->send, c->bytes);
    s->unit++;
    if (s->counters)
        ft_stream_done_quiet(s, s->unit, 0);
    if (s->block)
        ft_stream_end(s, 0, 0);
    return 0;
}

/* A snapshot is wanted; the copy that it makes comes back here, too. */
static bool take_snapshot(struct ft *ft)
{
    struct ft_position at;

    ft_position(ft, &at);
    ft->snapshots.nlinks = ft->net ? ft_net_descriptors(ft->net, ft->snapshots.links) : 0;
    if (!ft_snapshots_take(&ft->snapshots, &at))
        return false;
    ft_resume(ft);
    return true;
}

/* Sign, check, plan, run. total: bytes of the whole result. */
static int perform(struct ft_coll *c, const struct ft_sig *sig, uint64_t total, uint64_t site, struct ft_error *e)
{
    struct ft_stream *s = c->s;
    int err;

    if (__builtin_expect(s->loading, 0) && (err = ft_prefix_check(s, sig, site, e)))
        return err;
    err = is_lone(s) && !s->checks ? 0 : ft_stream_begin(s, sig, site, e);
    if (!err && __builtin_expect(s->checks != NULL, 0) && !ft_sig_agrees(sig) && !c->known)
        err = ft_check_contribution(c, e);
    if (err)
        return err;
    if (s->apart)
        return is_lone(s) ? alone(c) : ft_nodes_run(c, e);
    ft_plan_make(&c->plan, s->params, s->n, sig, c->bytes, total);
    return c->plan.way == FT_WAY_SHORT ? ft_short_run(c, e) : ft_standard_run(c, e);
}

/* Every collective. */
static int collective(struct ft_coll *c, const struct ft_sig *sig, uint64_t total, uint64_t site, struct ft_error *e)
{
    struct ft_stream *s = c->s;

    if (s->ft && ft_snapshots_due(&s->ft->snapshots) && !s->loading)
        take_snapshot(s->ft);
    if (__builtin_expect(s->attentive || c->key, 0) && s->cache)
        return ft_cache_call(s->cache, c, sig, total, site, perform, e);
    return perform(c, sig, total, site, e);
}

/* What an element of the type consists of. */
static uint8_t data_kind(struct ft_type type) { return type.kind == FT_OPAQUE ? type.base : type.kind; }

static int rendezvous(struct ft_stream *s, enum ft_call call, uint64_t site, struct ft_error *e)
{
    struct ft_sig sig = { .call = (uint8_t)call, .root = -1, .elem = 1, .kind = FT_BYTE };
    struct ft_coll c = { .s = s, .root = -1, .elem = 1, .kind = FT_BYTE };

    return collective(&c, &sig, 0, site, e);
}

int ft_barrier(struct ft_stream *s, uint64_t site, struct ft_error *e)
{
    return rendezvous(s, FT_CALL_BARRIER, site, e);
}

int ft_bcast_cached(struct ft_stream *s, void *buf, uint64_t count, struct ft_type type, int root, const char *key, uint64_t site,
                    struct ft_error *e)
{
    struct ft_sig sig = { .call = FT_CALL_BCAST, .kind = type.kind, .root = root, .elem = type.elem, .count = count };
    bool is_root = (uint32_t)root == s->me;
    struct ft_coll c = { .s = s, .send = is_root ? buf : NULL, .recv = is_root ? NULL : buf,
                         .bytes = count * type.elem, .elem = type.elem, .kind = data_kind(type), .root = root, .key = key };

    return collective(&c, &sig, c.bytes, site, e);
}

int ft_bcast(struct ft_stream *s, void *buf, uint64_t count, struct ft_type type, int root, uint64_t site, struct ft_error *e)
{
    return ft_bcast_cached(s, buf, count, type, root, NULL, site, e);
}

/* The elements did not fit slots: everybody's contributions were gathered, and whoever wants the result
   folds them, from the right as everywhere. */
static void fold_gathered(const struct ft_coll *c, char *parts, void *recv)
{
    uint32_t r = c->s->size - 1;
    uint64_t n = c->bytes / c->elem;

    memcpy(recv, parts + r * c->bytes, c->bytes);
    while (r-- > 0)
        c->op->user(c->op->ctx, parts + r * c->bytes, recv, n);  /* parts is private: the copy is made already */
}

static bool fits_slots(const struct ft_coll *c, const struct ft_sig *sig)
{
    const struct ft_stream *s = c->s;

    return s->apart ? !s->nodes || !ft_nodes_gathers(s->nodes, c, sig) : sig->elem <= s->params->slot_bytes;
}

static int reduction(struct ft_coll *c, const struct ft_sig *sig, uint64_t site, struct ft_error *e)
{
    char *recv = c->recv;
    int err;

    if (fits_slots(c, sig) || c->bytes == 0)
        return collective(c, sig, c->bytes, site, e);
    if (recv) {
        c->recv = malloc(c->s->size * c->bytes);
        if (!c->recv)
            return ft_err_set(e, FT_ENOMEM, "rank %u has no memory to reduce %llu bytes by a user function", c->s->me,
                              (unsigned long long)c->bytes);
    }
    err = collective(c, sig, c->s->size * c->bytes, site, e);
    if (recv && !err)
        fold_gathered(c, c->recv, recv);
    if (recv)
        free(c->recv);
    return err;
}

int ft_allreduce_cached(struct ft_stream *s, const void *send, void *recv, uint64_t count, struct ft_type type,
                        const struct ft_op *op, const char *key, uint64_t site, struct ft_error *e)
{
    struct ft_sig sig = { .call = FT_CALL_ALLREDUCE, .reduction = op->reduction, .kind = type.kind, .root = -1,
                          .elem = type.elem, .count = count };
    struct ft_coll c = { .s = s, .op = op, .send = send, .recv = recv, .bytes = count * type.elem, .elem = type.elem,
                         .kind = data_kind(type), .root = -1, .key = key };

    return reduction(&c, &sig, site, e);
}

int ft_allreduce(struct ft_stream *s, const void *send, void *recv, uint64_t count, struct ft_type type,
                 const struct ft_op *op, uint64_t site, struct ft_error *e)
{
    return ft_allreduce_cached(s, send, recv, count, type, op, NULL, site, e);
}

int ft_reduce(struct ft_stream *s, const void *send, void *recv, uint64_t count, struct ft_type type,
              const struct ft_op *op, int root, uint64_t site, struct ft_error *e)
{
    struct ft_sig sig = { .call = FT_CALL_REDUCE, .reduction = op->reduction, .kind = type.kind, .root = root,
                          .elem = type.elem, .count = count };
    struct ft_coll c = { .s = s, .op = op, .send = send, .recv = (uint32_t)root == s->me ? recv : NULL,
                         .bytes = count * type.elem, .elem = type.elem, .kind = data_kind(type), .root = root };

    return reduction(&c, &sig, site, e);
}

int ft_allgather(struct ft_stream *s, const void *send, void *recv, uint64_t count, struct ft_type type,
                 uint64_t site, struct ft_error *e)
{
    struct ft_sig sig = { .call = FT_CALL_ALLGATHER, .kind = type.kind, .root = -1, .elem = type.elem, .count = count };
    struct ft_coll c = { .s = s, .send = send, .recv = recv, .bytes = count * type.elem, .elem = type.elem,
                         .kind = data_kind(type), .root = -1 };

    return collective(&c, &sig, s->size * c.bytes, site, e);
}

int ft_allgatherv(struct ft_stream *s, const void *send, void *recv, const int *counts, const int *displs,
                  struct ft_type type, uint64_t site, struct ft_error *e)
{
    struct ft_sig sig = { .call = FT_CALL_ALLGATHERV, .kind = type.kind, .root = -1, .elem = type.elem };
    struct ft_coll c = { .s = s, .send = send, .recv = recv, .elem = type.elem, .kind = data_kind(type), .root = -1, .counts = counts,
                         .displs = displs };

    for (uint32_t r = 0; r < s->size; r++) {
        struct ft_sig one = { .count = (uint64_t)counts[r] };

        sig.count += (uint64_t)counts[r];
        sig.shape = ft_sig_chain(sig.shape, &one);
        c.bytes = ft_max(c.bytes, (uint64_t)counts[r] * type.elem);
    }
    return collective(&c, &sig, sig.count * type.elem, site, e);
}

static struct ft_sig agreement(enum ft_call call, uint64_t count)
{
    return (struct ft_sig){ .call = (uint8_t)call, .root = -1, .elem = 1, .kind = FT_BYTE, .count = count };
}

/* An allreduce, the short way whatever the job's constants are. */
int ft_agree(struct ft_stream *s, enum ft_call call, uint64_t count, uint64_t *word, uint64_t site, struct ft_error *e)
{
    struct ft_sig sig = agreement(call, count);
    struct ft_op max = { .reduction = FT_MAX, .fold = ft_reduce_find(FT_U64, FT_MAX) };
    uint64_t given = *word;
    struct ft_coll c = { .s = s, .op = &max, .send = (const char *)&given, .recv = (char *)word, .bytes = sizeof *word,
                         .elem = sizeof *word, .kind = FT_U64, .root = -1 };

    return collective(&c, &sig, sizeof *word, site, e);
}

void ft_agree_after(const struct ft_stream *s, enum ft_call call, uint64_t count, uint64_t *end, uint64_t *chain)
{
    struct ft_sig sig = agreement(call, count);

    *end = is_lone(s) ? 0 : ft_log_place(&s->log, s->end, sizeof *end) + ft_record_bytes(sizeof *end);
    *chain = is_lone(s) && !s->checks ? s->chain : ft_sig_chain(s->chain, &sig);
}

/* The bootstrap cache goes by the version. */
static int at_version(struct ft *ft, bool jumped, int err)
{
    if (!err)
        ft_cache_at_version(&ft->cache, ft->checkpoints.version, jumped);
    return err;
}

int ft_checkpoint(struct ft *ft, const struct ft_models *m, uint64_t site, struct ft_error *e)
{
    int err = ft_cache_settle(&ft->cache, perform, e); /* a checkpoint says where it is before it is made */

    return err ? err : at_version(ft, false, ft_checkpoints_make(&ft->checkpoints, m, site, e));
}

int ft_checkpoint_lazy(struct ft *ft, ft_serialize *serialize, void *state, uint64_t site, struct ft_error *e)
{
    int err = ft_cache_settle(&ft->cache, perform, e);

    return err ? err : at_version(ft, false, ft_checkpoints_make_lazy(&ft->checkpoints, serialize, state, site, e));
}

int ft_load(struct ft *ft, struct ft_models *m, uint64_t site, struct ft_error *e)
{
    uint64_t before = ft->checkpoints.version;
    int err = ft_checkpoints_load(&ft->checkpoints, m, site, e);

    return at_version(ft, ft->checkpoints.version != before, err);
}

uint64_t ft_version(const struct ft *ft) { return ft->checkpoints.version; }

bool ft_snapshot_now(struct ft *ft)
{
    struct ft_version_words *words = ft->checkpoints.mine;
    struct ft_wait w = { 0 };
    uint64_t number, seen;

    if (!ft->block || ft->world.loading || ft->checkpoints.bell < 0)
        return false;
    number = ft_checkpoints_ask(&ft->checkpoints, FT_ASK_SNAPSHOT, 0);
    while ((seen = ft_look(&words->answered)) < number) {
        if (ft_snapshots_due(&ft->snapshots) && take_snapshot(ft))
            return true;
        ft_wait_turn(&w, &ft->patience, &words->answered, seen);
    }
    return ft_peek(&words->answer) != 0;
}

int ft_finalize(struct ft *ft, uint64_t site, struct ft_error *e)
{
    int err = rendezvous(&ft->world, FT_CALL_FINALIZE, site, e);

    if (!err && ft->net)
        err = ft_nodes_leave(&ft->nodes, e);
    if (!err && ft->block)
        ft_publish32(&ft->block->state, FT_RANK_FINALIZED);
    return err;
}

void ft_position(const struct ft *ft, struct ft_position *p)
{
    *p = (struct ft_position){ .stream[0] = { .unit = ft->world.unit, .end = ft->world.end } };
}

int ft_fork_keeps(struct ft *ft, bool keep, struct ft_error *e)
{
    if (!ft->region.base || ft_region_fork_keeps(&ft->region, keep) == 0)
        return 0;
    return ft_err_set(e, FT_ESYS, "a snapshot cannot have the job's shared memory: %s", strerror(errno));
}

/* What else struct ft has is as true here as it was at the cut: the mapping is at the same address, descriptors have the
   same numbers, how to wait follows from job constants, the flag of a sleeper is the rank's (and down: nobody snapshots
   while asleep), MPI_COMM_SELF shares nothing with anybody, the host is the same. */
void ft_resume(struct ft *ft)
{
    char incarnation[16];

    if (!ft->block)
        return;
    snprintf(incarnation, sizeof incarnation, "%u", ft_peek32(&ft->block->incarnation));
    setenv("FTMPI_INCARNATION", incarnation, 1); /* for who asks from now on */
    ft_stream_resume(&ft->world);
    ft_cache_resume(&ft->cache);
    ft_checkpoints_resume(&ft->checkpoints);
    if (ft->net) {
        ft_nodes_resume(&ft->nodes);
        ft_net_resume(ft->net);
    }
    atomic_store(&ft->block->attached_pid, (uint32_t)getpid());
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
