/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/outcome/log.h"

#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ft/base/util.h"
#include "ft/outcome/kinds.h"

enum { ALIGN = sizeof(struct ft_outcome) /* no record lies across an extent's end: what is left there is whole records */ };

_Static_assert(ALIGN == 64 && FT_OUTCOME_EXTENT % ALIGN == 0 && FT_OUTCOME_PIECE + ALIGN < FT_OUTCOME_EXTENT, "a record fits in an extent");

static uint64_t head_bytes(void) { return ft_align(sizeof(struct ft_outcome_words), 4096); }

static uint64_t room_for(uint64_t bytes) { return sizeof(struct ft_outcome) + ft_align(bytes, ALIGN); }

void ft_outcome_log_open(struct ft_outcome_log *log, void *memory, uint64_t bytes)
{
    uint64_t slots = bytes < head_bytes() ? 0 : (bytes - head_bytes()) / FT_OUTCOME_EXTENT;

    log->words = memory;
    log->slots = (char *)memory + head_bytes();
    log->nslots = (uint32_t)ft_min(slots, FT_OUTCOME_SLOTS);
    log->thread = 0;
    log->at = log->end = log->last = log->from = atomic_load(&log->words->tail);
    log->owed = FT_OUTCOME_NOWHERE;
    log->mapped = UINT64_MAX;
    log->where = NULL;
}

void ft_outcome_log_restart(void *memory, uint64_t next)
{
    struct ft_outcome_words *words = memory;

    atomic_store(&words->oldest, next);
    if (!atomic_exchange(&words->started, 1))
        return; /* zeros stored in memory that is zero would be 28 pages for each rank, 70 us */
    atomic_store(&words->released, atomic_load(&words->tail));
    atomic_store(&words->signals, 0);
    atomic_store(&words->ended, 0);
    atomic_store(&words->once, 0);
    atomic_store(&words->connected, 0);
    for (uint32_t i = 0; i < FT_OUTCOME_DESCRIPTORS; i++)
        atomic_store_explicit(&words->once_of[i], 0, memory_order_relaxed);
    for (uint32_t i = 0; i < FT_OUTCOME_FILES; i++)
        atomic_store_explicit(&words->files[i], 0, memory_order_relaxed);
    for (uint32_t i = 0; i < FT_OUTCOME_MAPPED; i++)
        atomic_store_explicit(&words->mapped[i], 0, memory_order_relaxed);
    for (uint32_t i = 0; i < FT_OUTCOME_CHILDREN; i++)
        atomic_store_explicit(&words->child[i].pid, 0, memory_order_relaxed);
    for (uint32_t i = 0; i < FT_OUTCOME_THREADS; i++)
        if (atomic_load_explicit(&words->locks[i], memory_order_relaxed)) /* few have memory */
            atomic_store_explicit(&words->locks[i], 0, memory_order_relaxed);
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
    uint64_t is = atomic_load(&words->closings);

    snprintf(words->why, sizeof words->why, "%s", why);
    /* Release: who sees it finds why. */
    while (!atomic_compare_exchange_weak_explicit(&words->closings, &is, ft_max(is, atomic_load(&words->renewed)) + 1, memory_order_release,
                                                  memory_order_relaxed))
        ;
}

uint64_t ft_outcome_renews(struct ft_outcome_words *words)
{
    uint64_t will_be = atomic_load(&words->closings) + 1;

    atomic_store(&words->renewed, will_be);
    return will_be;
}

void ft_outcome_renewed(struct ft_outcome_words *words, const char *why, uint64_t closings)
{
    uint64_t is = atomic_load(&words->closings);

    if (is < closings)
        snprintf(words->why, sizeof words->why, "%s", why);
    while (is < closings && !atomic_compare_exchange_weak_explicit(&words->closings, &is, closings, memory_order_release, memory_order_relaxed))
        ;
}

/* The extent's slot; the number of slots: it is in none. They are few, or the answer is found soon: low ones are used first. */
static uint32_t find(const struct ft_outcome_log *log, uint64_t extent)
{
    uint32_t i = 0;

    while (i < log->nslots && atomic_load_explicit(&log->words->extent_in[i], memory_order_relaxed) != (uint32_t)extent + 1)
        i++;
    return i;
}

static char *slot_at(const struct ft_outcome_log *log, uint32_t i) { return log->slots + (uint64_t)i * FT_OUTCOME_EXTENT; }

/* What is needed, as the agent has said it last. */
struct needs {
    uint64_t released; /* extents */
    uint64_t oldest;
};

/* One of the two may be newer: the agent stores what grows, or what keeps more, first. */
static struct needs needs_of(const struct ft_outcome_log *log)
{
    return (struct needs){atomic_load(&log->words->released) / FT_OUTCOME_EXTENT, atomic_load(&log->words->oldest)};
}

/* Nobody needs the extent that lies there. */
static bool is_over(const struct ft_outcome_log *log, uint32_t i, uint32_t in, const struct needs *n)
{
    return in - 1 < n->released && atomic_load(&log->words->needed_by[i]) < n->oldest;
}

/* Only one of the rank and its agent gets it. */
static bool claim(const struct ft_outcome_log *log, uint32_t i, uint32_t in, uint32_t now)
{
    return atomic_compare_exchange_strong(&log->words->extent_in[i], &in, now);
}

/* A slot whose extent is over, the lowest: its pages have been touched before. */
static char *assign(const struct ft_outcome_log *log, uint64_t extent)
{
    struct needs n = needs_of(log);

    for (uint32_t i = 0; i < log->nslots; i++) {
        uint32_t in = atomic_load_explicit(&log->words->extent_in[i], memory_order_relaxed);

        if (in == FT_OUTCOME_TAKEN || (in && !is_over(log, i, in, &n)))
            continue;
        atomic_store(&log->words->needed_by[i], 0);
        if (claim(log, i, in, (uint32_t)extent + 1))
            return slot_at(log, i);
    }
    return NULL;
}

char *ft_outcome_log_take(const struct ft_outcome_log *log, uint32_t *slot)
{
    struct needs n = needs_of(log);

    for (uint32_t i = *slot; i < log->nslots; i++) {
        uint32_t in = atomic_load_explicit(&log->words->extent_in[i], memory_order_relaxed);

        if (in == 0 || (in != FT_OUTCOME_TAKEN && (!is_over(log, i, in, &n) || !claim(log, i, in, FT_OUTCOME_TAKEN))))
            continue;
        *slot = i;
        return slot_at(log, i);
    }
    return NULL;
}

static void need(const struct ft_outcome_log *log, uint32_t i, uint64_t number)
{
    _Atomic uint32_t *by = &log->words->needed_by[i];
    uint32_t seen = atomic_load(by);

    while (seen < number && !atomic_compare_exchange_weak(by, &seen, (uint32_t)number))
        ;
}

void ft_outcome_log_need(const struct ft_outcome_log *log, uint64_t position, uint64_t number)
{
    uint32_t i = find(log, position / FT_OUTCOME_EXTENT);

    FT_INVARIANT(i < log->nslots, "the record of a call that is under way is in the log");
    need(log, i, number);
}

/* The copy before this one is not woken any more. `oldest` first: if there was none, calls that are under way in this one may be done by now, and
   only this keeps their records. */
void ft_outcome_log_hold(struct ft_outcome_words *words, uint64_t number, uint64_t position)
{
    atomic_store(&words->oldest, number);
    atomic_store(&words->released, position);
}

/* No record lies across extents. What cannot be read is taken for needed: another process has written it. */
static bool is_under_way(const struct ft_outcome_log *log, uint32_t i)
{
    const char *slot = slot_at(log, i);

    for (uint32_t at = 0; at < FT_OUTCOME_EXTENT;) {
        const struct ft_outcome *o = (const struct ft_outcome *)(const void *)(slot + at);
        uint32_t room = o->room;

        if (room < ALIGN || room % ALIGN || room > FT_OUTCOME_EXTENT - at)
            return true;
        if (o->kind != FT_CALL_PAD && atomic_load(&o->state) != FT_OUTCOME_DONE)
            return true;
        at += room;
    }
    return false;
}

/* As if what the rank has under way were so in the next copy, which is true, or will not matter. What is noted comes first: once `oldest` is
   stored nothing else keeps it. */
void ft_outcome_log_alone(const struct ft_outcome_log *log, uint64_t next, uint64_t position)
{
    struct needs n = needs_of(log);

    for (uint32_t i = 0; i < log->nslots; i++) {
        uint32_t in = atomic_load_explicit(&log->words->extent_in[i], memory_order_relaxed);

        if (in == 0 || in == FT_OUTCOME_TAKEN || in - 1 >= position / FT_OUTCOME_EXTENT || is_over(log, i, in, &n))
            continue;
        if (is_under_way(log, i))
            need(log, i, next);
        else
            atomic_store(&log->words->needed_by[i], 0); /* it was, when this was last looked at; or in a copy that is no more */
    }
    ft_outcome_log_hold(log->words, next, position);
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
        uint32_t i = find(log, extent);
        char *where = i < log->nslots ? slot_at(log, i) : make ? assign(log, extent) : NULL;

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

/* The record at a position, of whatever thread. */
static struct ft_outcome *record_at(struct ft_outcome_log *log, uint64_t at)
{
    struct ft_outcome *o = (struct ft_outcome *)(void *)place(log, at, false);

    FT_INVARIANT(o, "a record that is not released is in the log");
    return o;
}

void ft_outcome_log_stand(struct ft_outcome_log *log, bool in_call)
{
    log->from = atomic_load(&log->words->tail);
    if (in_call)
        log->owed = log->last; /* else: what it was owed by the copy before, and has not come to again */
}

void ft_outcome_log_follow(struct ft_outcome_log *log)
{
    log->at = log->from;
    log->end = atomic_load(&log->words->tail);
    log->mapped = UINT64_MAX; /* it may lie elsewhere by now */
}

void ft_outcome_log_resume(struct ft_outcome_log *log, void (*see)(struct ft_outcome *o))
{
    ft_outcome_log_follow(log);
    for (uint64_t at = log->at; at < log->end;) {
        struct ft_outcome *o = record_at(log, at);

        if (at + o->room > log->end)
            o->room = (uint32_t)(log->end - at); /* killed when that was done */
        see(o);
        at += o->room;
    }
}

struct ft_outcome *ft_outcome_owed(struct ft_outcome_log *log)
{
    return log->owed == FT_OUTCOME_NOWHERE ? NULL : record_at(log, log->owed);
}

struct ft_outcome *ft_outcome_next(struct ft_outcome_log *log)
{
    struct ft_outcome *o = ft_outcome_owed(log);

    if (o) {
        log->last = log->owed;
        return o;
    }
    while (log->at < log->end) {
        o = record_at(log, log->at);
        if (o->thread == log->thread && o->kind != FT_CALL_PAD) {
            log->last = log->at;
            return o;
        }
        log->at += o->room;
    }
    return NULL;
}

/* Behind the record at `last`. */
static void go_past(struct ft_outcome_log *log, uint64_t room)
{
    log->owed = FT_OUTCOME_NOWHERE;
    if (log->last >= log->from)
        log->at = log->last + room;
}

void ft_outcome_pass(struct ft_outcome_log *log, const struct ft_outcome *o) { go_past(log, o->room); }

static void set_tail(struct ft_outcome_log *log, uint64_t tail) { atomic_store_explicit(&log->words->tail, tail, memory_order_release); }

/* What is left of an extent is a record of nothing, so that who reads need not know how much room there had to be. */
static bool pad(struct ft_outcome_log *log, uint64_t *at, uint64_t need)
{
    uint64_t left = left_in_extent(*at);
    struct ft_outcome *o;

    if (left >= need)
        return true;
    o = (struct ft_outcome *)(void *)place(log, *at, true);
    if (!o)
        return false;
    o->kind = FT_CALL_PAD;
    o->room = (uint32_t)left;
    *at += left;
    return true;
}

/* `tail` is stored last: until then nothing is begun. A pad before it counts only with it. */
struct ft_outcome *ft_outcome_begin(struct ft_outcome_log *log, uint16_t kind, uint64_t what, uint32_t most, uint64_t number)
{
    uint64_t at = atomic_load_explicit(&log->words->tail, memory_order_relaxed);
    struct ft_outcome *o;

    if (!pad(log, &at, room_for(most)))
        return NULL;
    o = (struct ft_outcome *)(void *)place(log, at, true);
    if (!o)
        return NULL;
    *o = (struct ft_outcome){.state = FT_OUTCOME_BEGUN, .kind = kind, .thread = log->thread, .bytes = most, .room = (uint32_t)room_for(most),
                             .begun = (uint32_t)number, .what = what};
    log->last = at;
    log->at = at + o->room;
    set_tail(log, log->at);
    return o;
}

void ft_outcome_again(struct ft_outcome_log *log, struct ft_outcome *o, uint32_t most)
{
    FT_INVARIANT(room_for(most) <= o->room, "a call that is made again has the room that it had");
    o->bytes = most;
    go_past(log, o->room);
}

/* Then the last record gives back what it does not need: the tail first, for whoever finds the record longer than that makes it end there.
   Before `end` the tail does not go back: other threads go through records up to there. Nor before `from`. One that is long before the tail is
   nobody's once it is done: its memory may have gone. */
void ft_outcome_done(struct ft_outcome_log *log, struct ft_outcome *o, uint32_t bytes, uint64_t number)
{
    uint64_t begin = log->last, room = room_for(bytes), had = o->room;

    o->bytes = bytes;
    o->number = number;
    atomic_store_explicit(&log->words->done, atomic_load_explicit(&log->words->done, memory_order_relaxed) + 1, memory_order_relaxed);
    atomic_store_explicit(&o->state, FT_OUTCOME_DONE, memory_order_release);
    if (room < had && begin >= log->end && begin >= log->from &&
        begin + had == atomic_load_explicit(&log->words->tail, memory_order_relaxed)) {
        set_tail(log, begin + room);
        atomic_signal_fence(memory_order_seq_cst);
        o->room = (uint32_t)room;
        had = room;
    }
    go_past(log, had);
}
