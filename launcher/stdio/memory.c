/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/stdio/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ft/base/util.h"

/* Bytes of hashes, of all streams and of each: of the first 262,144 lines, or fewer if there are many ranks. Pages come as they are
   used; a job that prints for ever must not take more and more. */
#define HASHES_MOST (UINT64_C(64) << 20)
#define HASHES_EACH (UINT64_C(1) << 20)
enum { PAGE = 4096, HASHES_LEAST = PAGE, LONGEST_LEAST = FT_INTAKE_BYTES, LIMIT_SHARE = 16, COUNTED_MOST = 256 << 10 };

static bool same_place(int a, int b)
{
    struct stat x, y;

    return !fstat(a, &x) && !fstat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void *map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

static void *map_each(uint64_t nstreams, uint64_t bytes)
{
    return bytes <= SIZE_MAX / nstreams ? map((size_t)(nstreams * bytes)) : NULL;
}

/* vm.overcommit_memory 2: address space counts as memory. */
static bool is_counted(void)
{
    char mode = 0;
    int fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);

    if (fd >= 0 && read(fd, &mode, 1) < 0)
        mode = 0;
    if (fd >= 0)
        close(fd);
    return mode == '2';
}

/* A power of two of address space for each stream, at most this much, less if it is limited (ulimit -v). */
static uint64_t fair_share(uint64_t nstreams, uint64_t most)
{
    struct rlimit limit;
    uint64_t each = PAGE;

    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        most = ft_min(most, limit.rlim_cur / LIMIT_SHARE / nstreams);
    if (is_counted())
        most = ft_min(most, COUNTED_MOST);
    while (2 * each <= most)
        each *= 2;
    return each;
}

static bool map_areas(struct ft_stdio_memory *m, uint64_t nstreams)
{
    uint64_t each = fair_share(nstreams, ft_min(HASHES_EACH, HASHES_MOST / nstreams));
    uint64_t longest = ft_max(LONGEST_LEAST, fair_share(nstreams, FT_LINE_MAX));

    while (!(m->parts = map_each(nstreams, longest)) && longest > LONGEST_LEAST)
        longest /= 2;
    m->longest = (uint32_t)longest;
    while (!(m->hashes = map_each(nstreams, each)) && each > HASHES_LEAST)
        each /= 2;
    m->room = each / sizeof *m->hashes;
    m->marks = map_each(nstreams, FT_MARKS * sizeof *m->marks);
    m->long_parts = map_each(nstreams, FT_MARKS * longest);
    return m->parts && m->hashes && m->marks && m->long_parts;
}

static bool open_files(struct ft_stdio_memory *m)
{
    m->intake_fd = memfd_create("ftmpi-intake", MFD_CLOEXEC);
    if (m->intake_fd < 0 || ftruncate(m->intake_fd, FT_INTAKE_BYTES) < 0)
        return false;
    m->intake = mmap(NULL, FT_INTAKE_BYTES, PROT_READ, MAP_SHARED, m->intake_fd, 0);
    if (m->intake == MAP_FAILED) {
        m->intake = NULL;
        return false;
    }
    for (int i = 0; i < 2; i++) {
        m->spools[i] = (struct ft_spool){.state = &m->shared->spools[i], .fd = memfd_create("ftmpi-spool", MFD_CLOEXEC)};
        if (m->spools[i].fd < 0)
            return false;
    }
    return true;
}

static int read_output_dir(struct ft_stdio_memory *m, struct ft_error *e)
{
    const struct ft_stdio_config *c = &m->config;

    return c->output_dir ? ft_output_dir_read(&m->dir, c->output_dir, c->nranks, c->merge, e) : 0;
}

struct ft_stdio_memory *ft_stdio_memory_new(const struct ft_stdio_config *config, struct ft_error *e)
{
    struct ft_stdio_memory *m = calloc(1, sizeof *m);
    uint64_t nstreams = 2 * (uint64_t)config->nranks;

    if (!m) {
        ft_err_set(e, FT_ENOMEM, "out of memory");
        return NULL;
    }
    m->config = *config;
    m->store = (struct ft_store){.from = -1, .to = -1, .middle = {-1, -1}};
    m->intake_fd = m->spools[0].fd = m->spools[1].fd = -1;
    m->one_sink = config->ranks || same_place(1, 2);
    m->shared_bytes = sizeof *m->shared + nstreams * sizeof m->shared->streams[0] + config->nranks * sizeof *m->told;
    m->shared = map(m->shared_bytes);
    if (!m->shared || !map_areas(m, nstreams) || !open_files(m)) {
        ft_err_set(e, FT_ESYS, "cannot make memory for the ranks' output: %s", strerror(errno));
    } else {
        m->told = (bool *)&m->shared->streams[nstreams];
        if (read_output_dir(m, e) == 0 && (!config->store_dir || ft_store_open(&m->store, config->store_dir, &m->shared->stdin_ended, e) == 0))
            return m;
    }
    ft_stdio_memory_free(m);
    return NULL;
}

struct ft_lines ft_stdio_lines(const struct ft_stdio_memory *m, uint32_t stream)
{
    return (struct ft_lines){
        .s = m->shared->streams[stream].lines,
        .keep = m->config.keep,
        .hash = m->hashes + stream * m->room,
        .room = m->room,
        .part = m->parts + (size_t)stream * m->longest,
        .longest = m->longest,
    };
}

static size_t mark_at(uint32_t stream, int which)
{
    return (size_t)stream * FT_MARKS + (size_t)which;
}

struct ft_lines_mark *ft_stdio_mark(const struct ft_stdio_memory *m, uint32_t stream, int which)
{
    return &m->marks[mark_at(stream, which)];
}

char *ft_stdio_long_part(const struct ft_stdio_memory *m, uint32_t stream, int which)
{
    return m->long_parts + mark_at(stream, which) * m->longest;
}

struct ft_spool *ft_stdio_spool(struct ft_stdio_memory *m, uint32_t stream)
{
    return &m->spools[m->one_sink ? 0 : stream % 2];
}

void ft_stdio_memory_free(struct ft_stdio_memory *m)
{
    uint64_t nstreams;

    if (!m)
        return;
    nstreams = 2 * (uint64_t)m->config.nranks;
    if (m->hashes)
        munmap(m->hashes, nstreams * m->room * sizeof *m->hashes);
    if (m->parts)
        munmap(m->parts, nstreams * m->longest);
    if (m->marks)
        munmap(m->marks, nstreams * FT_MARKS * sizeof *m->marks);
    if (m->long_parts)
        munmap(m->long_parts, nstreams * FT_MARKS * m->longest);
    if (m->intake)
        munmap((void *)m->intake, FT_INTAKE_BYTES);
    if (m->shared)
        munmap(m->shared, m->shared_bytes);
    for (int i = 0; i < 2; i++)
        if (m->spools[i].fd >= 0)
            close(m->spools[i].fd);
    if (m->intake_fd >= 0)
        close(m->intake_fd);
    ft_store_close(&m->store);
    free(m);
}
