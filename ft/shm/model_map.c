/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/model_map.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "ft/base/hash.h"
#include "ft/base/util.h"
#include "ft/shm/models.h"
#include "ft/shm/point.h"

enum { LEAST = 1 << 20, PIECE = 1 << 18 /* written, and hashed while it is in the cache */ };

void ft_model_map_close(struct ft_model_map *m)
{
    if (m->at)
        munmap(m->at, m->bytes);
    *m = (struct ft_model_map){ 0 };
}

/* A child of the program's must not have it (RULE 15). Twice as large each time: models grow. */
static bool map(struct ft_model_map *m, int fd, uint64_t area, uint64_t n)
{
    uint64_t bytes = ft_max(m->bytes, LEAST);
    void *at;

    while (bytes < n)
        bytes *= 2;
    if (m->at)
        at = mremap(m->at, m->bytes, bytes, MREMAP_MAYMOVE);
    else
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, (off_t)(area * FT_MODELS_AREA_BYTES));
    if (at == MAP_FAILED)
        return false;
    m->at = at;
    m->bytes = bytes;
    return madvise(at, bytes, MADV_DONTFORK) == 0;
}

/* A page that cannot be had (the machine's memory is damaged, say) is an error here, and would be a signal later. Kernels that do
   not know this leave it to the first store. */
static bool touch(struct ft_model_map *m, uint64_t n)
{
    if (n > m->touched && madvise(m->at + m->touched, n - m->touched, MADV_POPULATE_WRITE) != 0 && errno != EINVAL)
        return false;
    m->touched = ft_max(m->touched, n);
    return true;
}

/* How much of n bytes can be stored: all, or whole pages. What is stored behind the end of a file nobody reads. */
static uint64_t storable(struct ft_model_map *m, int fd, uint64_t area, uint64_t n)
{
    uint64_t most = n <= m->there ? n : m->there & ~(ft_page_bytes() - 1);

    if (!most || (m->bytes < most && !map(m, fd, area, most)) || !touch(m, ft_align(most, ft_page_bytes())))
        return 0;
    return most;
}

static int write_rest(int fd, uint64_t area, uint64_t at, const char *bytes, uint64_t n, struct ft_hashing *h, struct ft_error *e)
{
    int err = 0;

    for (uint64_t piece; n > at && !err; at += piece) {
        piece = ft_min(PIECE, n - at);
        err = ft_models_write(fd, area, at, bytes + at, piece, e);
        ft_hashing_add(h, bytes + at, piece);
    }
    return err;
}

void ft_model_map_clear(struct ft_model_map *m, int fd, uint64_t area)
{
    if (m->there || !m->ended)
        ft_models_end(fd, area, 0);
    m->there = m->touched = 0;
    m->ended = true;
}

int ft_model_map_put(struct ft_model_map *m, int fd, uint64_t area, const void *bytes, uint64_t n, uint64_t *hash, struct ft_error *e)
{
    uint64_t stored = storable(m, fd, area, n), whole = ft_align(n, ft_page_bytes());
    struct ft_hashing h;
    int err;

    ft_hashing_begin(&h, 0, n);
    if (stored) {
        ft_point_bulk(m->at, stored);
        ft_hashing_copy(&h, m->at, bytes, stored);
    }
    err = write_rest(fd, area, stored, bytes, n, &h, e);
    if (err) {
        m->ended = false; /* there may be a part of it */
        ft_model_map_clear(m, fd, area);
        return err;
    }
    if (!m->ended || whole < m->there)
        ft_models_end(fd, area, n);
    m->there = ft_max(n, ft_min(m->there, whole));
    m->touched = ft_min(m->touched, whole);
    m->ended = true;
    *hash = n ? ft_hashing_end(&h) : 0;
    return 0;
}
