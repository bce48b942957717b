/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ft/shm/wait.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum {
    FEW_RANKS = 8,
    IDLE_MS = 1000,  /* looks at `want` even if a kick was lost with the rank that owed it */
    SHORT_MS = 1     /* at the limit: ranks do not say when they have committed, so look again soon */
};

struct keeper_stream {
    struct ft_stream_head *head;
    struct ft_counters *counters;
    _Atomic uint64_t *table;
    uint64_t assigned, spilled;    /* extents, from the start of the log */
};

struct ft_keeper {
    /* the same in every process */
    struct ft_region *region;
    struct ft_keeper_config config;
    uint64_t extent_bytes;
    int kick_fd, spill_fd;

    /* what the tables say: ft_keeper_adopt */
    struct keeper_stream *streams;
    bool *taken;                   /* by extent of memory: a table names it */
    uint64_t low;                  /* all extents of memory below are taken */
    uint64_t in_file;              /* extents of the spill file */
    _Atomic uint64_t spilled_bytes;

    /* of this process */
    ft_keeper_failed *tell;
    void *arg;
    bool failed;                   /* and told so */
    bool runs;
    atomic_bool stopping;
    pthread_t thread;
};

static char *extent_at(const struct ft_keeper *k, uint64_t i)
{
    return k->region->base + k->region->header->extents_at + i * k->extent_bytes;
}

/* Makes pages before ranks need them: first touch costs microseconds a page. */
static void populate(const struct ft_keeper *k, uint64_t i, uint64_t n)
{
    if (madvise(extent_at(k, i), n * k->extent_bytes, MADV_POPULATE_WRITE) == 0 || errno != EINVAL)
        return;
    for (uint64_t at = 0; at < n * k->extent_bytes; at += 4096)  /* kernels before 5.14; a load: ranks may be writing there */
        (void)*(volatile char *)(extent_at(k, i) + at);
}

static void fail(struct ft_keeper *k, const char *format, const char *detail)
{
    char line[512];

    if (k->failed)
        return;
    k->failed = true;
    snprintf(line, sizeof line, format, detail);
    k->tell(k->arg, line);
}

static int write_out(struct ft_keeper *k, const char *from, uint64_t to)
{
    uint64_t at = 0;

    ft_point_store();
    while (at < k->extent_bytes) {
        ssize_t n = pwrite(k->spill_fd, from + at, k->extent_bytes - at, (off_t)(to + at));

        if (n > 0)
            at += (uint64_t)n;
        else if (n == 0 || errno != EINTR)
            return -1;
    }
    return 0;
}

/* The stream with the most log in memory that can go: committed by everybody. NULL if there is none. */
static struct keeper_stream *oldest(struct ft_keeper *k)
{
    const struct ft_params *p = &k->region->header->params;
    struct keeper_stream *best = NULL;

    for (uint32_t i = 0; i < p->nstreams; i++) {
        struct keeper_stream *s = &k->streams[i];
        uint64_t safe = UINT64_MAX;

        for (uint32_t r = 0; r < p->nranks; r++)
            safe = ft_min(safe, ft_look(&s->counters[r].done_at));
        if (s->spilled < s->assigned && (s->spilled + 1) * k->extent_bytes <= safe &&
            (!best || s->assigned - s->spilled > best->assigned - best->spilled))
            best = s;
    }
    return best;
}

/* Moves the oldest committed extent to the file. 0 and the memory it had, or -1. Killed before the table says so:
   the successor writes over what is in the file. After it: no table names the memory, so the successor finds it free. */
static int spill(struct ft_keeper *k, uint64_t *freed)
{
    struct keeper_stream *s = oldest(k);

    if (!s)
        return -1;
    *freed = ft_look(&s->table[s->spilled]) >> 2;
    if (write_out(k, extent_at(k, *freed), k->in_file * k->extent_bytes) != 0) {
        char what[400];

        snprintf(what, sizeof what, "in %s: %s", k->config.spill_dir, strerror(errno));
        fail(k, "the log has reached --log-limit and cannot be spilled %s; give it more of either, or another --log-spill", what);
        return -1;
    }
    /* Readers look at this word again after they have copied (RULE 14): it changes before the memory is
       given to anybody. */
    ft_publish(&s->table[s->spilled], k->in_file << 2 | FT_EXTENT_FILE);
    k->in_file++;
    s->spilled++;
    atomic_store(&k->spilled_bytes, k->in_file * k->extent_bytes);
    return 0;
}

static int take_memory(struct ft_keeper *k, uint64_t *place)
{
    uint64_t n = k->region->header->params.nextents;

    while (k->low < n && k->taken[k->low])
        k->low++;
    if (k->low < n) {
        *place = k->low;
        populate(k, *place, 1);
        return 0;
    }
    return k->failed ? -1 : spill(k, place);
}

/* The stream's `assigned` follows from its table; ranks sleep on it. */
static void tell_assigned(struct keeper_stream *s)
{
    ft_announce32(&s->head->assigned, (uint32_t)s->assigned);  /* then the sleep flags would be read; the keeper just wakes */
    ft_wake(&s->head->assigned);
}

/* Killed before the first store: the memory is free, as no table names it. After it: the successor counts the
   extent, and tells. */
static void assign(struct ft_keeper *k, struct keeper_stream *s, uint64_t place)
{
    ft_publish(&s->table[s->assigned], place << 2 | FT_EXTENT_MEMORY);
    k->taken[place] = true;
    s->assigned++;
    tell_assigned(s);
}

bool ft_keeper_serve(struct ft_keeper *k)
{
    const struct ft_params *p = &k->region->header->params;
    bool met = true;

    for (uint32_t i = 0; i < p->nstreams; i++) {
        struct keeper_stream *s = &k->streams[i];
        uint64_t want = 0, place;

        for (uint32_t r = 0; r < p->nranks; r++)
            want = ft_max(want, ft_look(&s->counters[r].want));
        if (want > p->ntable) {
            want = p->ntable;
            if (s->assigned == p->ntable)
                fail(k, "the log has reached its greatest size, %s", "more extents than its table holds");
        }
        while (s->assigned < want && !atomic_load(&k->stopping)) {
            if (take_memory(k, &place) != 0) {
                met = false;
                break;
            }
            assign(k, s, place);
        }
    }
    return met;
}

/* One stream as its table has it. The table is filled from its start, and spilled from its start. */
static void adopt_stream(struct ft_keeper *k, struct keeper_stream *s)
{
    uint64_t entry, n = k->region->header->params.ntable;

    s->spilled = 0;
    for (s->assigned = 0; s->assigned < n && (entry = ft_look(&s->table[s->assigned])) != 0; s->assigned++) {
        if ((entry & 3) == FT_EXTENT_FILE) {
            s->spilled = s->assigned + 1;
            k->in_file = ft_max(k->in_file, (entry >> 2) + 1);
        } else {
            k->taken[entry >> 2] = true;
        }
    }
}

void ft_keeper_adopt(struct ft_keeper *k, ft_keeper_failed *failed, void *arg)
{
    const struct ft_params *p = &k->region->header->params;

    if (ft_region_resetting(k->region))
        ft_region_reset(k->region);
    k->tell = failed;
    k->arg = arg;
    k->failed = k->runs = false;
    atomic_store(&k->stopping, false);
    memset(k->taken, 0, p->nextents * sizeof *k->taken);
    k->low = k->in_file = 0;
    for (uint32_t i = 0; i < p->nstreams; i++)
        adopt_stream(k, &k->streams[i]);
    atomic_store(&k->spilled_bytes, k->in_file * k->extent_bytes);
    for (uint32_t i = 0; i < p->nstreams; i++)
        tell_assigned(&k->streams[i]);
}

/* Small amounts are populated while the ranks start, large ones before (ft_keeper_open); many ranks have enough to
   do with starting, and populate what they use themselves. */
static bool populates_first(const struct ft_keeper *k)
{
    return k->config.prepare <= k->extent_bytes && k->region->header->params.nranks <= FEW_RANKS;
}

static void *keep(void *arg)
{
    struct ft_keeper *k = arg;

    if (populates_first(k))
        populate(k, 0, 1);
    while (!atomic_load(&k->stopping)) {
        struct pollfd p = { .fd = k->kick_fd, .events = POLLIN };
        uint64_t kicks;
        /* First of all: a predecessor may have taken the kick with it. */
        bool met = ft_keeper_serve(k);

        if (poll(&p, 1, met ? IDLE_MS : SHORT_MS) > 0 && read(k->kick_fd, &kicks, sizeof kicks) < 0 && errno != EAGAIN)
            break;
    }
    return NULL;
}

static int open_spill(struct ft_keeper *k, struct ft_error *e)
{
    char path[4096];

    k->spill_fd = open(k->config.spill_dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (k->spill_fd >= 0)
        return 0;
    snprintf(path, sizeof path, "%s/ftmpi-log-XXXXXX", k->config.spill_dir);
    k->spill_fd = mkostemp(path, O_CLOEXEC);
    if (k->spill_fd < 0)
        return ft_err_set(e, FT_ESYS, "cannot create a file in %s for the log to spill to: %s (--log-spill names another "
                          "directory)", k->config.spill_dir, strerror(errno));
    unlink(path);
    return 0;
}

static int open_streams(struct ft_keeper *k, struct ft_error *e)
{
    const struct ft_header *h = k->region->header;

    k->streams = calloc(h->params.nstreams, sizeof *k->streams);
    k->taken = calloc(h->params.nextents, sizeof *k->taken);
    if (!k->streams || !k->taken)
        return ft_err_set(e, FT_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < h->params.nstreams; i++) {
        char *base = k->region->base + h->streams_at + i * h->stream_bytes;

        k->streams[i].head = (struct ft_stream_head *)(void *)base;
        k->streams[i].counters = (struct ft_counters *)(void *)(base + k->region->stream.counters_at);
        k->streams[i].table = (_Atomic uint64_t *)(void *)(base + k->region->stream.table_at);
    }
    return 0;
}

/* What there is before any rank asks: an extent for each stream, and what the user wants prepared for the first. */
static void prepare(struct ft_keeper *k)
{
    const struct ft_params *p = &k->region->header->params;
    uint64_t n = ft_max(1, ft_div_up(k->config.prepare, k->extent_bytes)), place = 0;

    n = ft_min(n, ft_min(p->nextents - (p->nstreams - 1), p->ntable));
    while (place < n)
        assign(k, &k->streams[0], place++);
    for (uint32_t i = 1; i < p->nstreams && place < p->nextents; i++)
        assign(k, &k->streams[i], place++);
    if (n > 1)
        populate(k, 0, place);
}

/* The thread takes no signals: they are the launcher's. */
static int start_thread(struct ft_keeper *k, struct ft_error *e)
{
    sigset_t all, old;
    int err;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    err = pthread_create(&k->thread, NULL, keep, k);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return err ? ft_err_set(e, FT_ESYS, "cannot start a thread: %s (is ulimit -u, -v or -d too small?)", strerror(err)) : 0;
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
    err = open_spill(k, e);
    if (err)
        goto kick_opened;
    err = open_streams(k, e);
    if (err)
        goto spill_opened;
    prepare(k);
    *out = k;
    return 0;

spill_opened:
    free(k->streams);
    free(k->taken);
    close(k->spill_fd);
kick_opened:
    close(k->kick_fd);
allocated:
    free(k);
    return err;
}

void ft_keeper_close(struct ft_keeper *k)
{
    close(k->spill_fd);
    close(k->kick_fd);
    free(k->streams);
    free(k->taken);
    free(k);
}

int ft_keeper_run(struct ft_keeper *k, ft_keeper_failed *failed, void *arg, struct ft_error *e)
{
    int err;

    ft_keeper_adopt(k, failed, arg);
    err = start_thread(k, e);
    k->runs = !err;
    return err;
}

void ft_keeper_kick(const struct ft_keeper *k)
{
    uint64_t one = 1;

    if (write(k->kick_fd, &one, sizeof one) != sizeof one)
        return;  /* the counter is full, so it is awake anyway */
}

int ft_keeper_kick_fd(const struct ft_keeper *k) { return k->kick_fd; }
int ft_keeper_spill_fd(const struct ft_keeper *k) { return k->spill_fd; }

struct ft_keeper_stats ft_keeper_stats(const struct ft_keeper *k)
{
    struct ft_keeper_stats stats = { .spilled_bytes = atomic_load(&k->spilled_bytes) };
    struct stat st;

    if (fstat(k->region->fd, &st) == 0)
        stats.memory_bytes = (uint64_t)st.st_blocks * 512;
    return stats;
}

void ft_keeper_stop(struct ft_keeper *k)
{
    if (!k->runs)
        return;
    k->runs = false;
    atomic_store(&k->stopping, true);
    ft_keeper_kick(k);
    pthread_join(k->thread, NULL);
}
