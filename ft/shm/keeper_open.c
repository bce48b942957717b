/* SPDX-License-Identifier: BSD-3-Clause */
/* What a keeper begins with and ends with: descriptors, and memory that is there before any rank asks. */
#include "ft/shm/keeper_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ft/shm/pages.h"
#include "ft/shm/streams.h"
#include "ft/shm/wait.h"

enum { FEW_RANKS = 8 };

/* The world's slots for segments. */
static char *slots_of(const struct ft_keeper *k, uint64_t *bytes)
{
    const struct ft_stream_layout *l = &k->region->stream;

    *bytes = l->table_at - l->slots_at;
    return ft_region_stream(k->region, 0).slots;
}

/* Memory that no rank has been given yet. -1: there is none (errno), and a rank that is given it all the same dies of SIGBUS. */
int ft_keeper_make(const struct ft_keeper *k, char *from, uint64_t bytes)
{
    return ft_pages_write(k->region->fd, (uint64_t)(from - k->region->base), from, bytes, &k->stopping);
}

uint64_t ft_keeper_bytes(const struct ft_keeper *k)
{
    struct stat st;

    return fstat(k->region->fd, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

/* Small amounts are populated while the ranks start, large ones before (ft_keeper_open); many ranks have enough to
   do with starting, and populate what they use themselves. */
void ft_keeper_populate(struct ft_keeper *k)
{
    uint64_t bytes;
    char *slots = slots_of(k, &bytes);

    if (k->config.prepare > k->extent_bytes || k->region->header->params.nranks > FEW_RANKS)
        return;
    ft_pages_touch(ft_keeper_extent(k, 0), k->extent_bytes, &k->stopping);
    ft_pages_touch(slots, bytes, &k->stopping);
}

static void close_streams(struct ft_keeper *k)
{
    free(k->streams);
    ft_places_close(&k->memory);
}

static int open_streams(struct ft_keeper *k, struct ft_error *e)
{
    const struct ft_header *h = k->region->header;

    k->streams = calloc(ft_params_logs(&h->params), sizeof *k->streams);
    if (!k->streams || ft_places_open(&k->memory, ft_params_places(&h->params)) != 0)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < ft_params_logs(&h->params); i++) {
        struct ft_stream_parts parts = ft_region_stream(k->region, i);

        k->streams[i] = (struct keeper_stream){ .whole = i == 0, .head = parts.head, .members = parts.members, .stays = parts.stays, .counters = parts.counters,
                                                .table = parts.table, .n = parts.n, .ntable = parts.ntable };
    }
    return 0;
}

/* What there is before any rank asks: what the user wants prepared for the first stream, an extent at least. */
static int prepare(struct ft_keeper *k)
{
    const struct ft_params *p = &k->region->header->params;
    uint64_t n = ft_max(1, ft_div_up(k->config.prepare, k->extent_bytes)), place, bytes;

    n = ft_min(n, ft_min(p->nextents, p->ntable));
    while (k->streams[0].assigned < n && ft_places_fresh(&k->memory, &place))
        ft_keeper_assign(k, &k->streams[0], place);
    if (n > 1) {
        char *slots = slots_of(k, &bytes);

        ft_note(&k->region->header->prepared, n);
        if (ft_keeper_make(k, slots, bytes) != 0)
            return -1;
        return ft_keeper_make(k, ft_keeper_extent(k, 0), k->memory.fresh * k->extent_bytes);
    }
    return 0;
}

int ft_keeper_open(struct ft_keeper **out, struct ft_region *r, const struct ft_keeper_config *c, struct ft_error *e)
{
    struct ft_keeper *k = calloc(1, sizeof *k);
    int err;

    if (!k)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    k->region = r;
    k->config = *c;
    k->extent_bytes = r->header->params.extent_bytes;
    k->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (k->kick_fd < 0) {
        err = ft_err_set(e, FT_ESYS, "cannot create an eventfd: %s", strerror(errno));
        goto allocated;
    }
    err = ft_spill_open(&k->file, c->spill_dir, k->extent_bytes, r->header->params.ntable, e);
    if (err)
        goto kick_opened;
    err = open_streams(k, e);
    if (err)
        goto spill_opened;
    if (prepare(k) != 0) {
        err = ft_err_set(e, FT_ENOMEM, "the system gives no memory for --log-prepare: %s", strerror(errno));
        goto streams_opened;
    }
    k->bytes = ft_places_full(&k->memory) * k->extent_bytes;
    atomic_store(&k->full, k->bytes);
    *out = k;
    return 0;

streams_opened:
spill_opened:
    close_streams(k);
    ft_spill_close(&k->file);
kick_opened:
    close(k->kick_fd);
allocated:
    free(k);
    return err;
}

void ft_keeper_close(struct ft_keeper *k)
{
    ft_spill_close(&k->file);
    close(k->kick_fd);
    close_streams(k);
    free(k);
}

int ft_keeper_kick_fd(const struct ft_keeper *k) { return k->kick_fd; }
int ft_keeper_spill_fd(const struct ft_keeper *k) { return k->file.fd; }

struct ft_keeper_stats ft_keeper_stats(const struct ft_keeper *k)
{
    struct ft_keeper_stats stats = { .memory_bytes = ft_keeper_bytes(k), .log_bytes = atomic_load(&k->full),
                                     .file_bytes = ft_spill_bytes(&k->file) };

    for (uint32_t i = 0; i < ft_params_logs(&k->region->header->params); i = ft_streams_used(k->region, i + 1))
        stats.spilled_bytes += ft_peek(&k->streams[i].head->spilled) * k->extent_bytes;
    return stats;
}

void ft_keeper_bound(struct ft_keeper *k, uint64_t bytes)
{
    atomic_store(&k->bound, bytes);
    if (bytes != UINT64_MAX && ft_keeper_bytes(k) > bytes)
        ft_keeper_kick(k);
}

bool ft_keeper_is_short(const struct ft_keeper *k) { return atomic_load(&k->is_short); }
