/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/log.h"

#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/outcome/kinds.h"

enum { ALIGN = sizeof(struct ft_outcome) };

_Static_assert(FT_OUTCOME_EXTENT % 16 == 0 && FT_OUTCOME_PIECE + ALIGN < FT_OUTCOME_EXTENT, "a record fits in an extent");

static uint64_t head_bytes(void) { return ft_align(sizeof(struct ft_outcome_words), 4096); }

static uint64_t size_of(uint64_t bytes) { return sizeof(struct ft_outcome) + ft_align(bytes, 16); }

void ft_outcome_log_open(struct ft_outcome_log *log, void *memory, uint64_t bytes)
{
    uint64_t slots = bytes < head_bytes() ? 0 : (bytes - head_bytes()) / FT_OUTCOME_EXTENT;

    log->words = memory;
    log->slots = (char *)memory + head_bytes();
    log->nslots = (uint32_t)ft_min(slots, FT_OUTCOME_SLOTS);
    log->at = log->last = atomic_load(&log->words->tail);
    log->mapped = UINT64_MAX;
    log->where = NULL;
}

void ft_outcome_log_restart(void *memory)
{
    struct ft_outcome_words *words = memory;

    if (!atomic_exchange(&words->started, 1))
        return; /* zeros stored in memory that is zero would be 28 pages for each rank, 70 us */
    atomic_store(&words->released, atomic_load(&words->tail));
    atomic_store(&words->signals, 0);
    atomic_store(&words->once, 0);
    for (uint32_t i = 0; i < FT_OUTCOME_DESCRIPTORS; i++)
        atomic_store_explicit(&words->once_of[i], 0, memory_order_relaxed);
    for (uint32_t i = 0; i < FT_OUTCOME_FILES; i++)
        atomic_store_explicit(&words->files[i], 0, memory_order_relaxed);
    for (uint32_t i = 0; i < FT_OUTCOME_MAPPED; i++)
        atomic_store_explicit(&words->mapped[i], 0, memory_order_relaxed);
    for (uint32_t i = 0; i < FT_OUTCOME_CHILDREN; i++)
        atomic_store_explicit(&words->child[i].pid, 0, memory_order_relaxed);
}

/* ---- children ---- */

struct ft_outcome_child *ft_outcome_child(struct ft_outcome_words *words, pid_t pid)
{
    for (uint32_t i = 0; i < FT_OUTCOME_CHILDREN; i++)
        if (atomic_load_explicit(&words->child[i].pid, memory_order_acquire) == pid)
            return &words->child[i];
    return NULL;
}

bool ft_outcome_tells(struct ft_outcome_child *child, uint32_t incarnation, bool agent)
{
    uint32_t seen = atomic_load(&child->told);

    while (seen >> 1 != incarnation + 1)
        if (atomic_compare_exchange_weak(&child->told, &seen, (incarnation + 1) << 1 | agent))
            return true;
    return agent && seen & 1;
}

/* The kernel lets nobody else say that a child has ended: the rank makes that of it. */
static void signal_rank(const struct ft_outcome_child *child, pid_t rank)
{
    siginfo_t info = {.si_signo = SIGCHLD, .si_code = SI_QUEUE};

    info.si_pid = child->pid;
    syscall(SYS_rt_sigqueueinfo, rank, SIGCHLD, &info);
}

bool ft_outcome_orphan(struct ft_outcome_words *words, pid_t pid, int status, const struct rusage *usage, pid_t rank, uint32_t incarnation)
{
    struct ft_outcome_child *c = ft_outcome_child(words, pid);

    if (!c)
        return false;
    c->status = status;
    c->usage = *usage;
    atomic_thread_fence(memory_order_release);
    if (rank && ft_outcome_tells(c, incarnation, true))
        signal_rank(c, rank);
    atomic_store_explicit(&c->ended, 1, memory_order_release);
    return true;
}

void ft_outcome_stray(struct ft_outcome_words *words, pid_t pid, int status, const struct rusage *usage)
{
    uint64_t n = atomic_load(&words->strays);
    struct ft_outcome_child *c = &words->stray[n % FT_OUTCOME_STRAYS];

    atomic_store(&c->pid, pid);
    c->status = status;
    c->usage = *usage;
    atomic_store(&words->strays, n + 1);
}

/* ---- ways back ---- */

void ft_outcome_close(struct ft_outcome_words *words, const char *why)
{
    snprintf(words->why, sizeof words->why, "%s", why);
    atomic_fetch_add_explicit(&words->closings, 1, memory_order_release);
}

/* The extent's slot; NULL: it is in none. Slots are few, or the answer is found soon: low ones are used first. */
static char *find(const struct ft_outcome_log *log, uint64_t extent)
{
    for (uint32_t i = 0; i < log->nslots; i++)
        if (atomic_load_explicit(&log->words->extent_in[i], memory_order_relaxed) == (uint32_t)extent + 1)
            return log->slots + (uint64_t)i * FT_OUTCOME_EXTENT;
    return NULL;
}

static char *slot_at(const struct ft_outcome_log *log, uint32_t i) { return log->slots + (uint64_t)i * FT_OUTCOME_EXTENT; }

static uint64_t released_extents(const struct ft_outcome_log *log) { return atomic_load(&log->words->released) / FT_OUTCOME_EXTENT; }

/* Only one of the rank and its agent gets it. */
static bool claim(const struct ft_outcome_log *log, uint32_t i, uint32_t in, uint32_t now)
{
    return atomic_compare_exchange_strong(&log->words->extent_in[i], &in, now);
}

/* A slot whose extent is released, the lowest: its pages have been touched before. */
static char *assign(const struct ft_outcome_log *log, uint64_t extent)
{
    uint64_t released = released_extents(log);

    for (uint32_t i = 0; i < log->nslots; i++) {
        uint32_t in = atomic_load_explicit(&log->words->extent_in[i], memory_order_relaxed);

        if ((in == 0 || (in != FT_OUTCOME_TAKEN && in - 1 < released)) && claim(log, i, in, (uint32_t)extent + 1))
            return slot_at(log, i);
    }
    return NULL;
}

char *ft_outcome_log_take(const struct ft_outcome_log *log, uint32_t *slot)
{
    uint64_t released = released_extents(log);

    for (uint32_t i = *slot; i < log->nslots; i++) {
        uint32_t in = atomic_load_explicit(&log->words->extent_in[i], memory_order_relaxed);

        if (in == 0 || (in != FT_OUTCOME_TAKEN && (in - 1 >= released || !claim(log, i, in, FT_OUTCOME_TAKEN))))
            continue;
        *slot = i;
        return slot_at(log, i);
    }
    return NULL;
}

void ft_outcome_log_give(const struct ft_outcome_log *log, uint32_t slot)
{
    atomic_store_explicit(&log->words->extent_in[slot], 0, memory_order_release);
}

uint32_t ft_outcome_log_slots(const struct ft_outcome_log *log)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < log->nslots; i++)
        n += atomic_load_explicit(&log->words->extent_in[i], memory_order_relaxed) != 0;
    return n;
}

/* NULL: there is no room for it. */
static char *place(struct ft_outcome_log *log, uint64_t position, bool make)
{
    uint64_t extent = position / FT_OUTCOME_EXTENT;

    if (extent != log->mapped) {
        char *where = find(log, extent);

        if (!where && make)
            where = assign(log, extent);
        if (!where)
            return NULL;
        log->mapped = extent;
        log->where = where;
    }
    return log->where + position % FT_OUTCOME_EXTENT;
}

static uint64_t left_in_extent(uint64_t position)
{
    return FT_OUTCOME_EXTENT - position % FT_OUTCOME_EXTENT;
}

struct ft_outcome *ft_outcome_next(struct ft_outcome_log *log)
{
    struct ft_outcome *o;

    if (left_in_extent(log->at) < sizeof *o)
        log->at += left_in_extent(log->at);
    o = (struct ft_outcome *)(void *)place(log, log->at, false);
    if (o && o->kind == FT_CALL_PAD) {
        log->at += size_of(o->bytes);
        o = (struct ft_outcome *)(void *)place(log, log->at, false);
    }
    FT_INVARIANT(o, "a record that is not released is in the log");
    log->last = log->at;
    return o;
}

void ft_outcome_pass(struct ft_outcome_log *log, const struct ft_outcome *o)
{
    log->at = log->last + size_of(o->bytes);
}

static void set_tail(struct ft_outcome_log *log, uint64_t tail)
{
    log->at = tail;
    atomic_store_explicit(&log->words->tail, tail, memory_order_release);
}

/* What is left of an extent is a record of nothing, so that who reads need not know how much room there had to be. */
static bool pad(struct ft_outcome_log *log, uint64_t *at, uint64_t need)
{
    uint64_t left = left_in_extent(*at);
    struct ft_outcome *o;

    if (left >= need)
        return true;
    if (left >= sizeof *o) {
        o = (struct ft_outcome *)(void *)place(log, *at, true);
        if (!o)
            return false;
        o->kind = FT_CALL_PAD;
        o->bytes = (uint32_t)(left - sizeof *o);
    }
    *at += left;
    return true;
}

/* `tail` is stored last: until then nothing is begun. A pad before it counts only with it. */
struct ft_outcome *ft_outcome_begin(struct ft_outcome_log *log, uint16_t kind, uint64_t what, uint32_t most)
{
    uint64_t at = log->at;
    struct ft_outcome *o;

    if (!pad(log, &at, size_of(most)))
        return NULL;
    o = (struct ft_outcome *)(void *)place(log, at, true);
    if (!o)
        return NULL;
    atomic_store_explicit(&o->state, FT_OUTCOME_BEGUN, memory_order_relaxed);
    o->kind = kind;
    o->thread = 0;
    o->step = 0;
    o->bytes = most;
    o->error = 0;
    o->result = 0;
    o->what = what;
    o->note[0] = o->note[1] = 0;
    log->last = at;
    set_tail(log, at + size_of(most));
    return o;
}

void ft_outcome_again(struct ft_outcome_log *log, struct ft_outcome *o, uint32_t most)
{
    o->bytes = most;
    set_tail(log, log->last + size_of(most));
}

/* Shortened first: a record that is done has its final size. Whoever finds it begun makes it as long as it wants. */
void ft_outcome_done(struct ft_outcome_log *log, struct ft_outcome *o, uint32_t bytes)
{
    if (bytes != o->bytes) {
        o->bytes = bytes;
        set_tail(log, log->last + size_of(bytes));
    }
    atomic_store_explicit(&log->words->done, atomic_load_explicit(&log->words->done, memory_order_relaxed) + 1, memory_order_relaxed);
    atomic_store_explicit(&o->state, FT_OUTCOME_DONE, memory_order_release);
}
