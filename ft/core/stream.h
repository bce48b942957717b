/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's handle of one stream: where it is, what it knows of the others, and the words it shares with
   them (DESIGN section 3). Private memory; a successor makes a new one from what the shared words say.

   Units below `mine` (what `done` of this rank said when it attached) were finished by an earlier
   incarnation: they are answered from the log and nowhere else, since the slots may be in use again.
   Units from `mine` on are live, also those that the earlier incarnation had begun: what its counters
   say is done is not done again (RULE 2). */
#ifndef FT_CORE_STREAM_H
#define FT_CORE_STREAM_H

#include "ft/core/plan.h"
#include "ft/shm/await.h"
#include "ft/shm/log.h"
#include "ft/shm/streams.h"

struct ft;
struct ft_cache;
struct ft_passing;
struct ft_view;

struct ft_stream {
    struct ft *ft;                    /* whose calls on it may take snapshots, or NULL */
    struct ft_cache *cache;           /* of bootstrap operations, or NULL ... */
    bool attentive;                   /* ... which looks at every call, not only at those with a key */
    const struct ft_region *region;   /* NULL: a stream of this rank alone, with nothing shared, ... */
    struct ft_passing *passing;       /* ... or one whose operations are messages (ft/pass/pass.h), else NULL */
    const struct ft_params *params;
    const struct ft_patience *patience;
    uint32_t rank, n;                 /* of this stream, on this node */
    const uint32_t *local;            /* [n]: which rank of this node each is, by which all shared words are numbered; NULL: itself */
    uint32_t me, size;                /* the same in the whole job: what programs see */
    uint32_t number;                  /* of the stream, ... */
    uint64_t use;                     /* ... and of its use (ft/shm/streams.h), ... */
    bool left;                        /* ... which this incarnation has left */
    bool apart;                       /* not all of the stream's ranks share this memory, or there is one only */
    struct ft_nodes *nodes;           /* what it takes to work with those of other nodes, or NULL. Of the first stream, and behind it, by their
                                         numbers, those of all others that are between nodes */
    const char *name;                 /* for messages */

    struct ft_counters *counters;     /* by rank of this node, as what follows: ft_stream_counters */
    struct ft_trail *trails;          /* [trail] each: ft_stream_trail */
    char *shorts;                     /* [short_depth] of short_bytes each: ft_stream_short_slot */
    char *slots;                      /* [slot_depth] of slot_room each: ft_stream_slot */
    char *partials;                   /* [slot_depth] of slot_bytes: of this node, with several */
    uint64_t short_bytes;
    struct ft_log log;

    uint64_t unit;        /* the next one */
    uint64_t end;         /* where the record before it ends in the log */
    uint64_t chain;       /* hash of every signature so far */
    uint64_t mine;        /* see above */
    uint64_t called;      /* operations that begin below have been called by an earlier incarnation */
    uint64_t finished;    /* every rank has finished with all units below, as far as we have seen */
    uint64_t contributed; /* every rank has contributed (standard path) below, as far as we have seen */
    uint64_t wrote;       /* the last unit in whose short slot this rank wrote anything: a guess */
    bool receives;        /* what this rank called behind its last barrier was a bcast of another's. For the next one: a guess */

    /* the operation in progress */
    struct ft_sig sig;
    uint64_t site;
    uint64_t first;       /* its first unit */

    _Atomic uint64_t *checks;     /* of this rank, by first unit; NULL: contributions are not checked */
    const char *host;             /* for messages, with checks */

    struct ft_rank_block *block;  /* of this rank, or NULL */
    struct ft_member *member;     /* where it is noted how far this incarnation is, or NULL */
    struct ft_stay *stay;         /* and when it came into the stream; or NULL */
    bool recovering;              /* the first live unit is not behind it */
    bool loading;                 /* restarted, it has not loaded its checkpoint yet, ... */
    uint64_t load;                /* ... as it had at this unit */
};

/* Makes the handle of the first stream, which all ranks are in, for `rank` out of what the region says. */
void ft_stream_open(struct ft_stream *s, const struct ft_region *region, uint32_t rank, const char *name,
                    const struct ft_patience *patience, int kick_fd, int spill_fd);

/* Comes into another one, in the use that has been agreed with local[n], of which this is number
   `rank`; local stays the caller's and where it is. Waits until all of them have come. A successor
   that comes here again finds that said. *s is zeros, or the handle of one before. One that is
   between nodes is of all ranks, here and there.
   name: for messages. */
void ft_stream_join(struct ft_stream *s, const struct ft_stream *world, const struct ft_use *use, const uint32_t *local, uint32_t n,
                    uint32_t rank, const char *name);

/* *s is zeros, or the handle of one before: this rank was in that one, in that use, and has left it in an earlier life. */
void ft_stream_was_in(struct ft_stream *s, const struct ft_stream *world, const struct ft_use *use);

/* Leaves it after its last operation: nothing may be called on it any more. */
void ft_stream_leave_use(struct ft_stream *s);

/* Where it is: part of what a snapshot says. Of a stream that it has left it needs what follows where the log has come to: that is
   where it may come in again. */
struct ft_position ft_stream_position(const struct ft_stream *s);

/* The copy of a handle that a snapshot has kept becomes its rank's next incarnation: what is no longer true of it is
   read again. */
void ft_stream_resume(struct ft_stream *s);

/* Begins an operation of one or more units at s->unit: publishes the signature (RULE 9), and sees whether
   an earlier incarnation called something else here. 0 or FT_EDIVERGED. */
int ft_stream_begin(struct ft_stream *s, const struct ft_sig *sig, uint64_t site, struct ft_error *e);

/* Ends it: `units` further, the last record ending at `end`. */
void ft_stream_end(struct ft_stream *s, uint64_t units, uint64_t end);

/* Goes on elsewhere: at a unit that comes next after a record that ends at `end`, with the hash of all calls up to it. */
void ft_stream_jump(struct ft_stream *s, uint64_t unit, uint64_t end, uint64_t chain);

/* This rank needs nothing of the log below `position` any more: the keeper may forget it. Release: it has been read by then. */
static inline void ft_stream_leave(struct ft_stream *s, uint64_t position)
{
    if (s->member && !s->loading) /* it is at its cut by then, which is further */
        ft_publish(&s->member->left_at, position);
}

/* Waits until a->rank has done it; FT_EMISMATCH if the wait is long and another rank turns out to be in another call. */
int ft_stream_await_slow(struct ft_stream *s, const struct ft_await *a, struct ft_error *e);

/* Which rank of this node. */
static inline uint32_t ft_stream_local(const struct ft_stream *s, uint32_t r) { return s->local ? s->local[r] : r; }

/* Begins a wait for something else of the stream's; and its number in what a wait that goes on is for. */
struct ft_wait ft_stream_wait_for(const struct ft_stream *s, const struct ft_await *a);
static inline struct ft_await ft_stream_await_of(const struct ft_stream *s, struct ft_await a)
{
    a.stream = s->number;
    a.rank = a.kind == FT_AWAIT_MEMORY ? 0 : ft_stream_local(s, a.rank); /* who says it is no rank */
    return a;
}

/* Publishes a word of this rank's that others of the stream may wait for: units below are there. */
static inline void ft_stream_announce(const struct ft_stream *s, enum ft_await_kind kind, _Atomic uint64_t *word, uint64_t below)
{
    ft_wait_announce(s->patience, kind, s->number, word, below);
}

/* A rank that has not contributed to unit u of an operation in segments, or -1. Does not wait. */
int64_t ft_stream_lacking(struct ft_stream *s, uint64_t u);

/* A rank that has not finished with unit u, or -1: u is committed. Does not wait. */
int64_t ft_stream_behind(struct ft_stream *s, uint64_t u);

/* Waits until every rank's `done` is past unit u: u is committed. Same errors. */
int ft_stream_await_commit(struct ft_stream *s, uint64_t u, struct ft_error *e);
/* Is it? Does not wait. */
bool ft_stream_committed(struct ft_stream *s, uint64_t u);

/* Compares every rank's published signature for the operation in progress with ours, as far as they have
   come. 0 or FT_EMISMATCH. */
int ft_stream_verify(struct ft_stream *s, struct ft_error *e);

/* The same by the hash of all calls so far, which costs no line of its own: for standard operations, after
   every rank has contributed. Says ft_stream_enter first, before its own contribution. */
void ft_stream_enter(struct ft_stream *s);
int ft_stream_verify_entry(struct ft_stream *s, struct ft_error *e);
/* Of one rank only. */
int ft_stream_verify_entry_of(struct ft_stream *s, uint32_t rank, struct ft_error *e);

/* What to say when slots disagree on the history of calls: finds the first call that differs. FT_EMISMATCH. */
int ft_stream_mismatch(struct ft_stream *s, uint32_t other, struct ft_error *e);

/* n bytes at `offset` of the committed record at `position` (ft_log_read). 0, or FT_ESPACE with a line. */
int ft_stream_read(struct ft_stream *s, uint64_t position, uint64_t offset, void *to, uint64_t n, bool past_cache, struct ft_error *e);

/* Checks the head of a committed record against the call in progress. 0, FT_EDIVERGED, FT_ESPACE. */
int ft_stream_check_record(struct ft_stream *s, uint64_t position, uint64_t u, struct ft_error *e);

/* The word "all this rank's duties for units below `unit` are done, the record before it ends at `end`".
   Quiet: wakes nobody, see core/short.c. */
void ft_stream_done(struct ft_stream *s, uint64_t unit, uint64_t end);
void ft_stream_done_quiet(struct ft_stream *s, uint64_t unit, uint64_t end);

/* Writes n bytes of a contribution, from `from` on, into a slot of this rank's, for others to read:
   each its own chunk of it, of elements of so many bytes, and nobody this rank's. */
void ft_stream_fill_chunks(struct ft_stream *s, char *slot, const struct ft_view *v, uint64_t from,
                           uint64_t n, uint32_t elem);
/* The same for one of them, all of it. */
void ft_stream_fill(struct ft_stream *s, char *slot, const struct ft_view *v, uint64_t from,
                    uint64_t n);

/* Writes the head of unit u's record, which is to be at `position`, and has a result of so many bytes; the record before it ends at `before`. */
void ft_stream_write_head(struct ft_stream *s, uint64_t u, uint64_t before, uint64_t position, uint64_t result);

/* The i-th rank to wait for: from ourselves downwards, then from the last. Ranks start in order, so who waits
   for all of them sleeps on the last one and not on each in turn; and not all sleep on the same word. */
static inline uint32_t ft_stream_before(const struct ft_stream *s, uint32_t i)
{
    return s->rank >= i ? s->rank - i : s->rank + s->n - i;
}

static inline struct ft_counters *ft_stream_counters(const struct ft_stream *s, uint32_t r) { return &s->counters[ft_stream_local(s, r)]; }

static inline bool ft_stream_replays(const struct ft_stream *s, uint64_t u) { return u < s->mine; }

static inline struct ft_slot *ft_stream_short_slot(const struct ft_stream *s, uint32_t rank, uint64_t u)
{
    uint64_t i = (uint64_t)ft_stream_local(s, rank) * s->params->short_depth + (u & (s->params->short_depth - 1));

    return (struct ft_slot *)(void *)(s->shorts + i * s->short_bytes);
}

/* An earlier incarnation has contributed to the next unit, one of a single segment: that counts, whatever is given now. */
static inline bool ft_stream_has_contributed(const struct ft_stream *s)
{
    if (s->nodes)
        return ft_peek(&ft_stream_counters(s, s->rank)->contributed) > s->unit;
    return s->n > 1 && ft_peek(&ft_stream_short_slot(s, s->rank, s->unit)->unit) > s->unit;
}

/* Where in it: see struct ft_plan. */
static inline char *ft_stream_slot(const struct ft_stream *s, uint32_t rank, uint64_t u, const struct ft_plan *plan)
{
    uint64_t depth = s->params->slot_depth, i = ft_stream_local(s, rank) * depth + (u & (depth - 1));

    return s->slots + i * s->params->slot_room + (u / depth & (plan->turns - 1)) * ft_align(plan->segment, FT_LINE);
}

static inline struct ft_trail *ft_stream_trail(const struct ft_stream *s, uint32_t rank, uint64_t u)
{
    return &s->trails[(uint64_t)ft_stream_local(s, rank) * s->params->trail + (u & (s->params->trail - 1))];
}

/* A record with a result of n bytes has no memory yet at its position, and *a says so: what follows would wait. */
static inline bool ft_stream_lacks_memory(struct ft_stream *s, uint64_t position, uint64_t n, struct ft_await *a)
{
    if (ft_log_has(&s->log, position, n))
        return false;
    *a = (struct ft_await){ .kind = FT_AWAIT_MEMORY, .unit = position + ft_record_bytes(n) - 1 };
    return true;
}

/* The word that a rank waits for, which is a->unit + 1 at least when a->rank has done it. a->kind is not NOBODY. */
static inline _Atomic uint64_t *ft_stream_awaited(const struct ft_stream *s, const struct ft_await *a)
{
    switch (a->kind) {
    case FT_AWAIT_MEMORY:
        return &s->log.head->ready;
    case FT_AWAIT_JOINED:
        return &ft_region_stream(s->region, s->number).stays[ft_stream_local(s, a->rank)].use;
    case FT_AWAIT_SHOWN:
        return &ft_stream_short_slot(s, a->rank, a->unit)->unit;
    case FT_AWAIT_CONTRIBUTED:
        return &ft_stream_counters(s, a->rank)->contributed;
    case FT_AWAIT_DONE:
        return &ft_stream_counters(s, a->rank)->done;
    default:
        return &ft_stream_trail(s, a->rank, a->unit)->unit;
    }
}

static inline int ft_stream_await(struct ft_stream *s, const struct ft_await *a, struct ft_error *e)
{
    return __builtin_expect(ft_look(ft_stream_awaited(s, a)) > a->unit, 1) ? 0 : ft_stream_await_slow(s, a, e);
}

#endif
