/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's view of one stream's log: where records are, in memory or spilled (DESIGN section 3, RULES 7, 13, 14).

   A log is a sequence of positions (bytes from the job's start), cut into extents. The stream's table,
   which only the agent's keeper writes, says where an extent is: in the mapping, or in the spill file, or released, because
   every rank has a cut behind it (extent.h). A
   record lies within one extent; one that does not fit starts at the next. */
#ifndef FT_SHM_LOG_H
#define FT_SHM_LOG_H

#include <stdbool.h>

#include "ft/shm/region.h"
#include "ft/shm/wait.h"

enum {
    FT_LOG_NEAR = 8,      /* extents whose addresses are kept at hand */
    FT_LOG_WARMED = 8192, /* places (32 GiB) of which is known whether page tables are filled */
    FT_LOG_AHEAD = 4096   /* bytes of the spill file that are read at a time, at least */
};

struct ft_log {
    const struct ft_region *region;
    uint32_t stream;              /* its number, ... */
    struct ft_stream_head *head;  /* ... and what the keeper says of it */
    const _Atomic uint64_t *table;
    uint64_t ntable;
    struct ft_counters *mine;     /* `want` is said there */
    const struct ft_patience *patience;
    uint64_t extent_bytes;        /* struct ft_params */
    uint32_t extent_shift;        /* extent_bytes is 1 << that: no division in each call */
    int kick_fd, spill_fd, models_fd;
    uint64_t prefix_end;          /* what is below is read from the store; 0: nothing */
    bool asks_ahead;              /* this rank asks for memory before it is needed, for all */
    uint64_t warm_to;             /* there is memory up to this position, and page tables are filled; ... */
    uint64_t warm_step;           /* ... and are filled so many bytes at a time */
    uint64_t warmed[FT_LOG_WARMED / 64];  /* a bit per place of the log memory: so memory that is used again is not warmed again */
    struct { uint64_t extent, entry; char *at; } near_[FT_LOG_NEAR];  /* by extent % FT_LOG_NEAR; at NULL: none */
    uint64_t ahead_from, ahead_to;  /* of the spill file was read, and is here, what these positions hold; nothing: they are equal */
    char ahead[FT_LOG_AHEAD];
};

/* Bytes of a record with a result of n bytes, and where in it the result starts. */
static inline uint64_t ft_record_offset(uint64_t n) { return n <= FT_LINE - sizeof(struct ft_record) ? sizeof(struct ft_record) : FT_LINE; }
static inline uint64_t ft_record_bytes(uint64_t n) { return ft_align(ft_record_offset(n) + n, FT_LINE); }

/* Where a record with a result of n bytes goes when the one before it ended at `end`. */
static inline uint64_t ft_log_place(const struct ft_log *log, uint64_t end, uint64_t n)
{
    uint64_t left = log->extent_bytes - (end & (log->extent_bytes - 1));

    return ft_record_bytes(n) <= left ? end : end + left;
}

/* How large extents are: a power of two (ft_params_check). */
static inline void ft_log_extents(struct ft_log *log, uint64_t extent_bytes)
{
    log->extent_bytes = extent_bytes;
    log->extent_shift = (uint32_t)__builtin_ctzll(extent_bytes);
}

static inline uint64_t ft_log_extent(const struct ft_log *log, uint64_t position) { return position >> log->extent_shift; }

/* Address of a record with a result of n bytes that is not committed: always in memory. Waits for the keeper to assign memory. */
char *ft_log_write(struct ft_log *log, uint64_t position, uint64_t n);

/* That of a stream or a channel; mine: where this rank asks for memory. */
void ft_log_open(struct ft_log *log, const struct ft_region *region, uint32_t number, struct ft_counters *mine, const struct ft_patience *patience,
                 int kick_fd, int spill_fd);

/* What is mapped of it was by another handle of this process, too. */
void ft_log_keep_warm(struct ft_log *log, const struct ft_log *before);

/* There is memory for it: ft_log_write does not wait. Else it has been asked for. */
bool ft_log_has_slow(struct ft_log *log, uint64_t position, uint64_t n);
static inline bool ft_log_has(struct ft_log *log, uint64_t position, uint64_t n)
{
    return __builtin_expect(position + ft_record_bytes(n) <= log->warm_to, 1) || ft_log_has_slow(log, position, n);
}

/* Another rank writes a record there, and this one does not read it either: it may be the one that asks for memory ahead, for all. */
void ft_log_pass(struct ft_log *log, uint64_t position);

/* The same as ft_log_write if it costs nothing, else NULL: does not wait. */
static inline const char *ft_log_at_hand(const struct ft_log *log, uint64_t position)
{
    uint64_t extent = ft_log_extent(log, position);
    const char *at = log->near_[extent % FT_LOG_NEAR].at;

    return at && log->near_[extent % FT_LOG_NEAR].extent == extent ? at + (position & (log->extent_bytes - 1)) : NULL;
}

/* Copies n bytes at `offset` of the record at `position`, from memory or from the spill file, also while
   the keeper moves it. past_cache: the destination is not wanted in the cache. FT_ESPACE if the spill file
   cannot be read. */
int ft_log_read(struct ft_log *log, uint64_t position, uint64_t offset, void *to, uint64_t n, bool past_cache);

/* n bytes of one extent at `position`, all committed. False: they are not there any more. */
bool ft_log_try_read(struct ft_log *log, uint64_t position, void *to, uint64_t n);

/* Maps what the keeper was told to prepare, slots and log, so that no page fault waits on the first pass. */
void ft_log_warm(struct ft_log *log);

/* In a forked copy of the process that had this handle. */
void ft_log_resume(struct ft_log *log);

#endif
