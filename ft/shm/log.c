/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/shm/log.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ft/base/copy.h"
#include "ft/shm/extent.h"
#include "ft/shm/models.h"

/* Extents asked for before they are needed: the keeper populates at some 0.4-1 GB/s here, a few
   milliseconds each. */
enum { AHEAD = 4 };

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

void ft_log_open(struct ft_log *log, const struct ft_region *region, uint32_t number, struct ft_counters *mine, const struct ft_patience *patience,
                 int kick_fd, int spill_fd)
{
    const struct ft_params *p = &region->header->params;
    struct ft_stream_parts parts = ft_region_stream(region, number);

    memset(log, 0, sizeof *log);
    log->region = region;
    log->stream = number;
    log->head = parts.head;
    log->table = parts.table;
    log->ntable = parts.ntable;
    log->mine = mine;
    log->patience = patience;
    ft_log_extents(log, p->extent_bytes);
    log->kick_fd = kick_fd;
    log->spill_fd = spill_fd;
    /* Many ranks: each page table entry costs everybody, and there may be little to log. */
    log->warm_step = ft_max(65536, log->extent_bytes / 2 * 8 / ft_max(8, p->nranks));
}

static char *memory_extent(const struct ft_log *log, uint64_t place)
{
    return log->region->base + log->region->header->extents_at + place * log->extent_bytes;
}

/* What the table says of an extent that has been assigned. gone NULL: it cannot be released, since this rank needs it. */
static uint64_t entry_of(const struct ft_log *log, uint64_t extent, bool *gone)
{
    uint64_t n = log->ntable, entry = ft_look(&log->table[extent & (n - 1)]);
    bool held = ft_extent_state(entry) != FT_EXTENT_RELEASED && ft_extent_lap(entry) == extent / n;

    FT_INVARIANT(held || gone, "no part of the log is released that a rank needs");
    if (gone)
        *gone = !held;
    return entry;
}

/* Memory up to `want`, and better up to `ahead`. */
static void ask(struct ft_log *log, uint64_t want, uint64_t ahead)
{
    uint64_t one = 1;
    ssize_t n;

    if (ft_peek(&log->mine->want) < want)
        ft_publish(&log->mine->want, want);
    if (ft_peek(&log->mine->ahead) < ahead)
        ft_publish(&log->mine->ahead, ahead);
    do
        n = write(log->kick_fd, &one, sizeof one);
    while (n < 0 && errno == EINTR);
    /* EAGAIN: the keeper has 2^64 - 2 kicks to see already. Anything else: it looks by itself. */
}

/* Where the memory ends that is asked for when an extent comes into use. A stream but the first asks for as many more as it has filled. */
static uint64_t ahead_of(const struct ft_log *log, uint64_t extent)
{
    uint64_t more = log->stream ? ft_min(extent, AHEAD) : AHEAD;

    return log->asks_ahead && more ? (extent + 1 + more) * log->extent_bytes : 0;
}

/* Until the log has memory up to `to`. */
static void await_ready(struct ft_log *log, uint64_t to)
{
    struct ft_wait w;

    if (ft_look(&log->head->ready) >= to)
        return;
    w = ft_wait_for(log->patience, &(struct ft_await){ .kind = FT_AWAIT_MEMORY, .stream = log->stream, .unit = to - 1 });
    w.holds = true; /* in the middle of a message, perhaps */
    while (ft_look(&log->head->ready) < to)
        ft_wait_turn(&w, log->patience);
    ft_wait_over(&w, log->patience);
}

/* The same, if nobody else has asked for it. Up to where it has memory then. */
static uint64_t await_memory(struct ft_log *log, uint64_t to)
{
    uint64_t ready = ft_look(&log->head->ready);

    if (ready >= to)
        return ready;
    ask(log, to, ahead_of(log, ft_log_extent(log, to - 1)));
    await_ready(log, to);
    return ft_look(&log->head->ready);
}

static void map(char *from, uint64_t bytes)
{
    uint64_t page = ft_page_bytes(), more = (uintptr_t)from & (page - 1);

    madvise(from - more, bytes + more, MADV_POPULATE_READ);
}

/* Memory up to `least`, and page tables for it and what is written next, a step at a time, within one extent. Filling
   them only spares faults, one by one the dearer way: kernels that cannot do it are no error. */
static void warm(struct ft_log *log, uint64_t position, uint64_t least, char *extent)
{
    uint64_t start = position & ~(log->extent_bytes - 1), end = start + log->extent_bytes, from = ft_max(log->warm_to, start);
    uint64_t ready = ft_min(end, await_memory(log, least)), to = ft_min(ready, ft_max(from, position) + log->warm_step) & ~4095ull;
    uint64_t place = (uint64_t)(extent - memory_extent(log, 0)) / log->extent_bytes;
    uint64_t *bits = place < FT_LOG_WARMED ? &log->warmed[place / 64] : NULL, bit = 1ull << place % 64;

    if (bits && *bits & bit)
        to = ready;
    else if (from < to)
        map(extent + (from - start), to - from);
    if (bits && to == end)
        *bits |= bit;
    log->warm_to = ft_max(to, least); /* the rest of a step faults */
}

void ft_log_keep_warm(struct ft_log *log, const struct ft_log *before)
{
    log->warm_to = before->warm_to;
    memcpy(log->warmed, before->warmed, sizeof log->warmed);
}

/* The extent has just come into use here: more memory for later. */
static char *enter_extent(struct ft_log *log, uint64_t extent, uint64_t entry)
{
    char *at = memory_extent(log, ft_extent_place(entry));

    if (ft_look(&log->head->ready) < ahead_of(log, extent))
        ask(log, 0, ahead_of(log, extent));
    log->near_[extent % FT_LOG_NEAR].extent = extent;
    log->near_[extent % FT_LOG_NEAR].entry = entry;
    log->near_[extent % FT_LOG_NEAR].at = at;
    return at;
}

void ft_log_pass(struct ft_log *log, uint64_t position)
{
    uint64_t ahead = ahead_of(log, ft_log_extent(log, position));

    if (ft_peek(&log->mine->ahead) < ahead && ft_look(&log->head->ready) < ahead)
        ask(log, 0, ahead);
}

/* The extent of a record that is not committed: so it is in memory and stays where it is. */
static char *live_extent(struct ft_log *log, uint64_t extent, uint64_t least)
{
    uint64_t entry;

    await_memory(log, least);
    entry = entry_of(log, extent, NULL);
    FT_INVARIANT(ft_extent_state(entry) == FT_EXTENT_MEMORY, "an uncommitted extent is in memory");
    return enter_extent(log, extent, entry);
}

FT_HOT char *ft_log_write(struct ft_log *log, uint64_t position, uint64_t n)
{
    uint64_t extent = ft_log_extent(log, position), least = position + ft_record_bytes(n);
    char *at = log->near_[extent % FT_LOG_NEAR].at;

    if (__builtin_expect(!at || log->near_[extent % FT_LOG_NEAR].extent != extent, 0))
        at = live_extent(log, extent, least);
    if (__builtin_expect(least > log->warm_to, 0))
        warm(log, position, least, at);
    return at + (position & (log->extent_bytes - 1));
}

bool ft_log_has_slow(struct ft_log *log, uint64_t position, uint64_t n)
{
    uint64_t least = position + ft_record_bytes(n);

    if (ft_look(&log->head->ready) >= least)
        return true;
    ask(log, least, ahead_of(log, ft_log_extent(log, position)));
    return false;
}

static bool read_file(const struct ft_log *log, uint64_t at, char *to, uint64_t n)
{
    while (n > 0) {
        ssize_t got = pread(log->spill_fd, to, n, (off_t)at);

        if (got == 0 || (got < 0 && errno != EINTR)) /* its end is an error, too: somebody has cut it off */
            return false;
        if (got > 0) {
            at += (uint64_t)got;
            to += got;
            n -= (uint64_t)got;
        }
    }
    return true;
}

/* n bytes at `offset` of a spilled extent. By a system call and not by mapping it: a disk that fails is an error then, and no signal. A replay reads in
   order, so what is small brings along what follows it. */
static bool read_spilled(struct ft_log *log, uint64_t extent, uint64_t place, uint64_t offset, char *to, uint64_t n)
{
    uint64_t position = extent * log->extent_bytes + offset, at = place * log->extent_bytes + offset, more;

    if (position >= log->ahead_from && position + n <= log->ahead_to) {
        memcpy(to, log->ahead + (position - log->ahead_from), n);
        return true;
    }
    if (n >= sizeof log->ahead)
        return read_file(log, at, to, n);
    more = ft_min(sizeof log->ahead, log->extent_bytes - offset);
    log->ahead_from = log->ahead_to = 0;
    if (!read_file(log, at, log->ahead, more))
        return false;
    log->ahead_from = position;
    log->ahead_to = position + more;
    memcpy(to, log->ahead, n);
    return true;
}

/* The entry of an extent that has a record in it already. */
static uint64_t look_up(struct ft_log *log, uint64_t extent, bool *gone)
{
    /* Another rank wrote there, so there is memory; but its store may reach us before the keeper's. */
    await_ready(log, extent * log->extent_bytes + 1);
    return entry_of(log, extent, gone);
}

static void read_memory(struct ft_log *log, uint64_t extent, uint64_t entry, uint64_t offset, void *to, uint64_t n, bool past_cache)
{
    const char *at = log->near_[extent % FT_LOG_NEAR].at;

    if (!at || log->near_[extent % FT_LOG_NEAR].entry != entry || log->near_[extent % FT_LOG_NEAR].extent != extent)
        at = enter_extent(log, extent, entry);
    if (past_cache)
        ft_copy_past_cache(to, at + offset, n);
    else
        ft_copy_lines(to, at + offset, n);
}

static int read_extent(struct ft_log *log, uint64_t extent, uint64_t offset, void *to, uint64_t n, bool past_cache, bool *gone)
{
    uint64_t entry = look_up(log, extent, gone);

    while (!gone || !*gone) {
        bool good = true;
        uint64_t again;

        if (ft_extent_state(entry) == FT_EXTENT_FILE)
            good = read_spilled(log, extent, ft_extent_place(entry), offset, to, n);
        else
            read_memory(log, extent, entry, offset, to, n, past_cache);
        /* Spilled and its memory given away meanwhile, or released and its place in the file? Then what was copied may be another's (RULE 14). The
           fence keeps the copy's loads before the second look. */
        atomic_thread_fence(memory_order_acquire);
        again = entry_of(log, extent, gone);
        if (again == entry)
            return good ? 0 : FT_ESPACE;
        log->near_[extent % FT_LOG_NEAR].at = NULL;
        log->ahead_from = log->ahead_to = 0;
        entry = again;
    }
    return FT_ESPACE;
}

int ft_log_read(struct ft_log *log, uint64_t position, uint64_t offset, void *to, uint64_t n, bool past_cache)
{
    struct ft_error e;

    if (__builtin_expect(position < log->prefix_end, 0))
        return ft_models_read(log->models_fd, FT_MODELS_PREFIX, position + offset, to, n, &e) ? FT_ESPACE : 0;
    return read_extent(log, ft_log_extent(log, position), offset + (position & (log->extent_bytes - 1)), to, n, past_cache, NULL);
}

bool ft_log_try_read(struct ft_log *log, uint64_t position, void *to, uint64_t n)
{
    bool gone;

    return read_extent(log, ft_log_extent(log, position), position & (log->extent_bytes - 1), to, n, true, &gone) == 0;
}

void ft_log_warm(struct ft_log *log)
{
    uint64_t prepared = ft_peek(&log->region->header->prepared);
    const struct ft_stream_layout *l = &log->region->stream;

    /* What was prepared, not what there is by now: of 64 ranks all but the first mapped what that one had asked for meanwhile, and the slots, 28 MiB
       each, which was half the time until an empty program was over. Places are handed out in order at the start, so one call maps them all; once extents
       are released or spilled, and where nothing was prepared, the writes warm theirs. */
    if (prepared == 0 || ft_look(&log->table[0]) != ft_extent_entry(FT_EXTENT_MEMORY, 0, 0))
        return;
    map(memory_extent(log, 0), prepared * log->extent_bytes);
    map((char *)log->head + l->slots_at, l->table_at - l->slots_at);
    log->warm_to = prepared * log->extent_bytes;
}

/* Where the log is, is constant, but a fork does not copy the page tables of shared memory. The addresses at hand follow from what the table said,
   with which they are compared before a committed record is read, and what is not committed does not move: they would still do, but new ones cost
   nothing. What was read ahead of the spill file is committed, and stays as it is. */
void ft_log_resume(struct ft_log *log)
{
    log->warm_to = 0;
    memset(log->warmed, 0, sizeof log->warmed);
    memset(log->near_, 0, sizeof log->near_);
}
