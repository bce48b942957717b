/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ft/shm/await.h"
#include "ft/shm/box.h"
#include "ft/shm/channels.h"
#include "ft/shm/cut.h"
#include "ft/shm/random.h"
#include "ft/shm/streams.h"
#include "ft/shm/versions.h"
#include "ft/shm/word.h"

static int map_region(struct ft_region *r, uint64_t size, struct ft_error *e)
{
    r->base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, r->fd, 0);
    if (r->base == MAP_FAILED)
        return ft_err_set(e, FT_ESYS, "cannot map %llu bytes of the job's shared memory: %s (is ulimit -v set? a "
                          "smaller --log-limit needs less)", (unsigned long long)size, strerror(errno));
    madvise(r->base, size, MADV_DONTDUMP); /* or a core dump has the size of the log limit, and makes all of it memory */
    r->header = (struct ft_header *)(void *)r->base;
    return 0;
}

static struct ft_stream_parts channel_parts(const struct ft_region *r, uint32_t id)
{
    struct ft_channel_layout l = ft_layout_channel();
    char *base = r->base + r->header->channels_at + (id - r->header->params.nstreams) * r->header->channel_bytes;

    return (struct ft_stream_parts){
        .n = ft_channel_sender(r, id) == ft_channel_receiver(r, id) ? 1 : 2,
        .ntable = FT_CHANNEL_TABLE,
        .head = (struct ft_stream_head *)(void *)base,
        .members = (struct ft_member *)(void *)(base + l.members_at),
        .counters = (struct ft_counters *)(void *)(base + l.counters_at),
        .slots = base + l.slots_at,
        .cells = base + l.cells_at,
        .acks = (_Atomic uint64_t *)(void *)(base + l.acks_at),
        .table = (_Atomic uint64_t *)(void *)(base + l.table_at),
    };
}

struct ft_stream_parts ft_region_stream(const struct ft_region *r, uint32_t id)
{
    const struct ft_stream_layout *l = &r->stream;
    char *base = r->base + r->header->streams_at + id * r->header->stream_bytes;

    if (ft_channel_is(r, id))
        return channel_parts(r, id);
    return (struct ft_stream_parts){
        .n = r->header->params.nranks,
        .ntable = (uint32_t)r->header->params.ntable,
        .head = (struct ft_stream_head *)(void *)base,
        .members = (struct ft_member *)(void *)(base + l->members_at),
        .stays = (struct ft_stay *)(void *)(base + l->stays_at),
        .counters = (struct ft_counters *)(void *)(base + l->counters_at),
        .trails = (struct ft_trail *)(void *)(base + l->trails_at),
        .shorts = base + l->shorts_at,
        .slots = base + l->slots_at,
        .table = (_Atomic uint64_t *)(void *)(base + l->table_at),
        .partials = base + l->partials_at,
        .checks = (_Atomic uint64_t *)(void *)(base + l->checks_at),
    };
}

int ft_region_create(struct ft_region *r, const struct ft_params *params, struct ft_error *e)
{
    struct ft_header h = { 0 };
    int err = ft_params_check(params, e);

    if (err)
        return err;
    ft_layout_header(params, &h);
    if (ft_random(&h.nonce, sizeof h.nonce) < 0)
        return ft_err_set(e, FT_ESYS, "no random bytes: getrandom is refused, and /dev/urandom cannot be read: %s", strerror(errno));
    r->fd = memfd_create("ftmpi", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (r->fd < 0)
        return ft_err_set(e, FT_ESYS, "cannot create shared memory: %s", strerror(errno));
    /* The one ftruncate there is: a later, smaller one would be SIGBUS for everybody (RULE 13). */
    if (ftruncate(r->fd, (off_t)h.size) != 0 ||
        fcntl(r->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        ft_err_set(e, FT_ESYS, "cannot size the shared memory to %llu bytes: %s%s", (unsigned long long)h.size,
                   strerror(errno), errno == EFBIG ? " (raise ulimit -Hf, or give a smaller --log-limit)" : "");
        goto created;
    }
    if (map_region(r, h.size, e) != 0)
        goto created;
    *r->header = h;
    ft_layout_stream(params, &r->stream);
    ft_streams_found(r);
    atomic_thread_fence(memory_order_release);
    r->header->magic = FT_MAGIC;
    return 0;

created:
    close(r->fd);
    *r = (struct ft_region){ .fd = -1 }; /* not MAP_FAILED for a base: the caller asks whether there is one */
    return FT_ESYS;
}

const uint32_t *ft_region_first(const struct ft_region *r)
{
    return r->header->map_at ? (const uint32_t *)(const void *)(r->base + r->header->map_at) : NULL;
}

const uint32_t *ft_region_rank_at(const struct ft_region *r)
{
    return r->header->map_at ? ft_region_first(r) + r->header->params.nnodes + 1 : NULL;
}

int ft_region_map(const struct ft_region *r, const uint32_t *first, const uint32_t *rank_at, struct ft_error *e)
{
    const struct ft_params *p = &r->header->params;
    uint32_t *to = (uint32_t *)(void *)(r->base + r->header->map_at);
    bool *met = calloc(p->world, 1);
    bool sound = met && first[0] == 0 && first[p->nnodes] == p->world && first[p->node + 1] - first[p->node] == p->nranks;

    for (uint32_t k = 0; k < p->nnodes; k++)
        sound = sound && first[k] < first[k + 1];
    for (uint32_t i = 0; sound && i < p->world; i++) {
        sound = rank_at[i] < p->world && !met[rank_at[i]];
        if (sound)
            met[rank_at[i]] = true;
    }
    free(met);
    if (!sound)
        return ft_err_set(e, FT_EINVAL, "the map of ranks (%u) to nodes (%u) is damaged", p->world, p->nnodes);
    memcpy(to, first, (p->nnodes + 1) * sizeof *to);
    memcpy(to + p->nnodes + 1, rank_at, p->world * sizeof *to);
    return 0;
}

uint32_t ft_region_rank_of(const struct ft_region *r, uint32_t local)
{
    return r->header->map_at ? ft_region_rank_at(r)[ft_region_first(r)[r->header->params.node] + local] : local;
}

int64_t ft_region_local(const struct ft_region *r, uint32_t rank)
{
    for (uint32_t i = 0; i < r->header->params.nranks; i++)
        if (ft_region_rank_of(r, i) == rank)
            return i;
    return -1;
}

uint32_t ft_region_node_of(const struct ft_region *r, uint32_t rank)
{
    const uint32_t *first = ft_region_first(r), *rank_at = ft_region_rank_at(r);

    for (uint32_t k = 0; first && k < r->header->params.nnodes; k++)
        for (uint32_t i = first[k]; i < first[k + 1]; i++)
            if (rank_at[i] == rank)
                return k;
    return 0;
}

struct ft_link_words *ft_region_link(const struct ft_region *r, uint32_t stream, uint32_t node)
{
    const struct ft_header *h = r->header;

    return (struct ft_link_words *)(void *)(r->base + h->links_at) + stream * h->params.nnodes + node;
}

int ft_region_open(struct ft_region *r, int fd, struct ft_error *e)
{
    struct ft_header h;
    struct stat st;

    if (fstat(fd, &st) != 0)
        return ft_err_set(e, FT_EJOB, "descriptor %d, which should be the job's shared memory, is not open: was this "
                          "program started through something that closes descriptors?", fd);
    if (pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h || h.magic != FT_MAGIC || h.version != FT_LAYOUT_VERSION ||
        h.size != (uint64_t)st.st_size)
        return ft_err_set(e, FT_EJOB, "descriptor %d is not this job's shared memory: ftrun and libftmpi must be of one "
                          "version, and only one program per rank may use it", fd);
    r->fd = fd;
    if (map_region(r, h.size, e) != 0)
        return FT_ESYS;
    /* RULE 15: a child the program forks must not be able to write where its rank's successor works. */
    if (ft_region_fork_keeps(r, false) != 0) {
        ft_err_set(e, FT_ESYS, "cannot keep the job's shared memory from children: %s", strerror(errno));
        munmap(r->base, h.size);
        return FT_ESYS;
    }
    ft_layout_stream(&r->header->params, &r->stream);
    return 0;
}

int ft_region_fork_keeps(const struct ft_region *r, bool keep)
{
    return madvise(r->base, r->header->size, keep ? MADV_DOFORK : MADV_DONTFORK);
}

void ft_region_close(struct ft_region *r)
{
    munmap(r->base, r->header->size);
    close(r->fd);
}

struct ft_rank_block *ft_region_rank(const struct ft_region *r, uint32_t rank)
{
    return (struct ft_rank_block *)(void *)(r->base + r->header->ranks_at) + rank;
}

struct ft_doorbell *ft_region_doorbell(const struct ft_region *r, uint32_t rank)
{
    return (struct ft_doorbell *)(void *)(r->base + r->header->doorbells_at) + rank;
}

void *ft_region_outcomes(const struct ft_region *r, uint32_t rank)
{
    uint64_t bytes = r->header->params.outcome_bytes;

    return bytes ? r->base + r->header->outcomes_at + rank * bytes : NULL;
}

static void renew_member(struct ft_member *m)
{
    atomic_store(&m->from, 0);
    atomic_store(&m->left, 0);
    atomic_store(&m->mine, 0);
    atomic_store(&m->called, 0);
    atomic_store(&m->next, 0);
    atomic_store(&m->again.unit, 0);
}

void ft_region_start_rank(const struct ft_region *r, uint32_t rank, uint32_t incarnation)
{
    struct ft_rank_block *b = ft_region_rank(r, rank);

    ft_cut_hold(r, rank);
    ft_versions_void(r, rank);
    b->last_words[0] = 0;
    atomic_store(&b->exit_code, 0);
    atomic_store(&b->attached_pid, 0);
    atomic_store(&b->live_ns, 0);
    for (uint32_t s = 0; s < ft_params_logs(&r->header->params); s = ft_streams_used(r, s + 1))
        if (ft_streams_index(r, s, rank) >= 0)
            renew_member(&ft_region_stream(r, s).members[ft_streams_index(r, s, rank)]);
    atomic_store(&ft_region_doorbell(r, rank)->awaits.what, FT_AWAIT_NOBODY);
    atomic_store(&b->incarnation, incarnation);
    atomic_store(&b->state, FT_RANK_ABSENT);
    atomic_store((_Atomic uint8_t *)(r->base + r->header->asleep_at) + rank, 0);
    if (ft_box_is_used(r))
        atomic_store(&ft_box(r, rank)->answered, atomic_load(&ft_box(r, rank)->asked)); /* the predecessor waits no more */
}

static struct ft_counters *counters_of(const struct ft_region *r, uint32_t stream)
{
    return ft_region_stream(r, stream).counters;
}

uint64_t ft_region_progress(const struct ft_region *r, uint32_t rank)
{
    uint64_t sum = 0;

    for (uint32_t s = 0; s < ft_params_logs(&r->header->params); s = ft_streams_used(r, s + 1))
        if (ft_streams_index(r, s, rank) >= 0)
            sum += ft_look(&counters_of(r, s)[ft_streams_index(r, s, rank)].done);
    return sum;
}

uint64_t ft_region_done(const struct ft_region *r, uint32_t rank) { return ft_look(&counters_of(r, 0)[rank].done); }

bool ft_region_committed(const struct ft_region *r, uint64_t unit)
{
    const struct ft_counters *c = counters_of(r, 0);

    for (uint32_t i = 0; i < r->header->params.nranks; i++)
        if (ft_look(&c[i].done) <= unit)
            return false;
    return true;
}

uint64_t ft_region_replayed(const struct ft_region *r, uint32_t rank)
{
    uint64_t sum = 0;

    for (uint32_t s = 0; s < r->header->params.nstreams; s = ft_streams_used(r, s + 1)) {
        const struct ft_member *m = &ft_region_stream(r, s).members[rank];
        uint64_t from = ft_look(&m->from), to = ft_min(ft_look(&m->left), ft_look(&m->mine));

        sum += to > from ? to - from : 0;
    }
    return sum;
}

uint64_t ft_region_log_since(const struct ft_region *r, uint32_t rank, const struct ft_positions *p)
{
    uint64_t sum = 0;

    for (uint32_t s = 0; s < ft_params_logs(&r->header->params); s = ft_streams_used(r, s + 1)) {
        uint64_t end = ft_streams_end(r, s), from = ft_cut_need_from(r, rank, s, ft_position_in(p, s).end);

        sum += end > from ? end - from : 0;
    }
    return sum;
}

uint64_t ft_region_log_bytes(const struct ft_region *r)
{
    uint64_t sum = 0;

    for (uint32_t s = 0; s < ft_params_logs(&r->header->params); s = ft_streams_used(r, s + 1))
        sum += ft_streams_end(r, s);
    return sum;
}

uint64_t ft_region_released_bytes(const struct ft_region *r)
{
    const struct ft_params *p = &r->header->params;
    uint64_t extents = 0;

    for (uint32_t s = 0; s < ft_params_logs(p); s = ft_streams_used(r, s + 1))
        extents += ft_look(&ft_region_stream(r, s).head->floor);
    return extents * p->extent_bytes;
}

bool ft_region_tell_full(const struct ft_region *r)
{
    if (ft_look(&r->header->full) != 1)
        return false;
    ft_publish(&r->header->full, 2);
    return true;
}

bool ft_region_resetting(const struct ft_region *r) { return ft_look(&r->header->resetting) != 0; }

/* Memory of the log keeps its pages: they are warm, and nobody looks into what is not assigned. */
void ft_region_reset(const struct ft_region *r)
{
    const struct ft_header *h = r->header;
    uint64_t streams = h->params.nstreams * h->stream_bytes + h->params.nchannels * h->channel_bytes;

    if (!ft_region_resetting(r)) /* then it has been done, and counters may be gone */
        ft_versions_settle(r);
    ft_publish(&r->header->resetting, 1);
    ft_versions_renew(r);
    ft_point_store();
    memset(r->base + h->ranks_at, 0, h->streams_at - h->ranks_at);
    /* Tables are large and for the most part untouched: holes are zeros. */
    ft_point_store();
    if (fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)h->streams_at, (off_t)streams) != 0)
        memset(r->base + h->streams_at, 0, streams);
    ft_streams_found(r);
    ft_publish(&r->header->resetting, 0);
}
