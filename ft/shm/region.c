/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/region.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ft/shm/word.h"

static int map_region(struct ft_region *r, uint64_t size, struct ft_error *e)
{
    r->base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, r->fd, 0);
    if (r->base == MAP_FAILED)
        return ft_err_set(e, FT_ESYS, "cannot map %llu bytes of the job's shared memory: %s (is `ulimit -v` set? a "
                          "smaller --log-limit needs less)", (unsigned long long)size, strerror(errno));
    madvise(r->base, size, MADV_DONTDUMP); /* or a core dump has the size of the log limit, and makes all of it memory */
    r->header = (struct ft_header *)(void *)r->base;
    return 0;
}

static struct ft_stream_head *stream_head(const struct ft_region *r, uint32_t i)
{
    return (struct ft_stream_head *)(void *)(r->base + r->header->streams_at + i * r->header->stream_bytes);
}

int ft_region_create(struct ft_region *r, const struct ft_params *params, struct ft_error *e)
{
    struct ft_header h = { 0 };
    int err = ft_params_check(params, e);

    if (err)
        return err;
    ft_layout_header(params, &h);
    r->fd = memfd_create("ftmpi", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (r->fd < 0)
        return ft_err_set(e, FT_ESYS, "cannot create shared memory: %s", strerror(errno));
    /* The one ftruncate there is: a later, smaller one would be SIGBUS for everybody (RULE 13). */
    if (ftruncate(r->fd, (off_t)h.size) != 0 ||
        fcntl(r->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        ft_err_set(e, FT_ESYS, "cannot size the shared memory to %llu bytes: %s%s", (unsigned long long)h.size,
                   strerror(errno), errno == EFBIG ? " (raise `ulimit -Hf`, or give a smaller --log-limit)" : "");
        goto created;
    }
    if (map_region(r, h.size, e) != 0)
        goto created;
    *r->header = h;
    ft_layout_stream(params, &r->stream);
    for (uint32_t i = 0; i < params->nstreams; i++) {
        stream_head(r, i)->id = i;
        ft_publish32(&stream_head(r, i)->nranks, params->nranks);
    }
    atomic_thread_fence(memory_order_release);
    r->header->magic = FT_MAGIC;
    return 0;

created:
    close(r->fd);
    *r = (struct ft_region){ .fd = -1 }; /* not MAP_FAILED for a base: the caller asks whether there is one */
    return FT_ESYS;
}

int ft_region_attach(struct ft_region *r, int fd, struct ft_error *e)
{
    struct ft_header h;
    struct stat st;

    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || fstat(fd, &st) != 0)
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
    if (madvise(r->base, h.size, MADV_DONTFORK) != 0) {
        ft_err_set(e, FT_ESYS, "cannot keep the job's shared memory from children: %s", strerror(errno));
        munmap(r->base, h.size);
        return FT_ESYS;
    }
    ft_layout_stream(&r->header->params, &r->stream);
    return 0;
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

void ft_region_start_rank(const struct ft_region *r, uint32_t rank, uint32_t incarnation)
{
    struct ft_rank_block *b = ft_region_rank(r, rank);

    b->last_words[0] = 0;
    atomic_store(&b->exit_code, 0);
    atomic_store(&b->attached_pid, 0);
    atomic_store(&b->live_ns, 0);
    atomic_store(&b->left, 0);
    atomic_store(&b->mine, 0);
    atomic_store(&b->called, 0);
    atomic_store(&b->again.unit, 0);
    atomic_store(&b->incarnation, incarnation);
    atomic_store(&b->state, FT_RANK_ABSENT);
    atomic_store((_Atomic uint8_t *)(r->base + r->header->asleep_at) + rank, 0);
}

static struct ft_counters *counters_of(const struct ft_region *r, uint32_t stream)
{
    return (struct ft_counters *)(void *)((char *)stream_head(r, stream) + r->stream.counters_at);
}

uint64_t ft_region_progress(const struct ft_region *r, uint32_t rank)
{
    return ft_look(&counters_of(r, 0)[rank].done);
}

uint64_t ft_region_replayed(const struct ft_region *r, uint32_t rank)
{
    struct ft_rank_block *b = ft_region_rank(r, rank);

    return ft_min(ft_look(&b->left), ft_look(&b->mine));
}

uint64_t ft_region_log_bytes(const struct ft_region *r)
{
    const struct ft_params *p = &r->header->params;
    uint64_t sum = 0;

    for (uint32_t s = 0; s < p->nstreams; s++) {
        uint64_t end = 0;

        for (uint32_t i = 0; i < p->nranks; i++)
            end = ft_max(end, ft_look(&counters_of(r, s)[i].done_at));
        sum += end;
    }
    return sum;
}
