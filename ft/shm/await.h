/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank waits for, as it says itself before it waits: for people (`ftrun status`, --hang-timeout), and for whoever could wake it
   (ft/shm/doorbell.h). What is said stays: others' words only grow, so a wait that is over is one for nobody. */
#ifndef FT_SHM_AWAIT_H
#define FT_SHM_AWAIT_H

#include <stdbool.h>

#include "ft/shm/layout.h"
#include "ft/shm/word.h"

/* What is yet to be done, by another rank ... */
enum ft_await_kind {
    FT_AWAIT_NOBODY,
    FT_AWAIT_CALLED,       /* make the call that begins with `unit` ... */
    FT_AWAIT_ASKED,        /* ... or ask what it is, too, as long as nobody has made it */
    FT_AWAIT_SHOWN,        /* contribute to `unit` on the short path ... */
    FT_AWAIT_CONTRIBUTED,  /* ... or on the standard one */
    FT_AWAIT_DONE,         /* finish with `unit` */
    FT_AWAIT_JOINED,       /* come into use `unit` + 1 of a stream */
    FT_AWAIT_MESSAGE,      /* send message `unit` in the channel that is the stream; this rank: any may send one ... */
    FT_AWAIT_MATCHED,      /* ... or match a receive with synchronous message `unit` of it */
    FT_AWAIT_CONSUMED,     /* finish with, or load, the checkpoint of version `unit` + 1 */
    FT_AWAIT_MEMORY,       /* ... or by the keeper: give the stream's log memory for byte `unit`; rank 0 ... */
    FT_AWAIT_AGENT         /* ... or by the agent: answer this rank, give a slot free, want a snapshot; rank: this one */
};

struct ft_await {
    enum ft_await_kind kind;
    uint32_t rank;         /* of this node: the first that is behind */
    bool all;              /* any other one has to, too: for people */
    bool anything;         /* it looks at other words as well: whatever is published may end the wait */
    uint32_t stream;       /* less than 2^22 */
    uint64_t unit;
    uint64_t site;         /* of a wait for a message: where in the program, ... */
    int32_t tag;           /* ... and its tag, -1: any; ... */
    uint32_t receives, sends;  /* ... with so many requests, when the wait began; 0: of one message ... */
    bool one;              /* ... and one of them ends it */
};

/* What somebody has just published: of this kind, stream and rank all units below are there. */
struct ft_announced {
    enum ft_await_kind kind;
    uint32_t stream, rank;
    uint64_t below;
};

enum { FT_AWAIT_ALL = 8, FT_AWAIT_ANYTHING, FT_AWAIT_STREAM, FT_AWAIT_RANK = 32 }; /* bits of `what`, after those of the kind */
enum { FT_AWAIT_REQUESTS = 0x7fffffff, FT_AWAIT_SENDS = 31, FT_AWAIT_ONE = 62 }; /* of `several`: receives, sends, one */

static inline uint64_t ft_await_what(const struct ft_await *a)
{
    return (uint64_t)a->kind | (uint64_t)a->all << FT_AWAIT_ALL | (uint64_t)a->anything << FT_AWAIT_ANYTHING |
           (uint64_t)a->stream << FT_AWAIT_STREAM | (uint64_t)a->rank << FT_AWAIT_RANK;
}

static inline void ft_await_say(struct ft_await_words *w, const struct ft_await *a)
{
    /* Out of use first: found under the new `what`, the old unit would be what nobody waits for. */
    ft_note(&w->what, FT_AWAIT_NOBODY);
    atomic_thread_fence(memory_order_release);
    ft_note(&w->unit, a->unit);
    if (a->kind == FT_AWAIT_MESSAGE || a->kind == FT_AWAIT_MATCHED) {
        ft_note(&w->site, a->site);
        ft_note(&w->tag, (uint64_t)(int64_t)a->tag);
        ft_note(&w->several, a->receives | (uint64_t)a->sends << FT_AWAIT_SENDS | (uint64_t)a->one << FT_AWAIT_ONE);
    }
    ft_publish(&w->what, ft_await_what(a));
}

/* This is what the rank itself has said last. */
static inline bool ft_await_is_said(const struct ft_await_words *w, const struct ft_await *a)
{
    return ft_peek(&w->what) == ft_await_what(a) && ft_peek(&w->unit) == a->unit;
}

/* kind NOBODY: it has said nothing, or is just saying something else. */
static inline struct ft_await ft_await_read(const struct ft_await_words *w)
{
    uint64_t what = ft_look(&w->what), unit = ft_peek(&w->unit), site = ft_peek(&w->site), tag = ft_peek(&w->tag);
    uint64_t several = ft_peek(&w->several);

    atomic_thread_fence(memory_order_acquire);
    if (ft_peek(&w->what) != what)
        what = FT_AWAIT_NOBODY;
    return (struct ft_await){ .kind = (enum ft_await_kind)(what & 0xff), .rank = (uint32_t)(what >> FT_AWAIT_RANK),
                              .all = what >> FT_AWAIT_ALL & 1, .anything = what >> FT_AWAIT_ANYTHING & 1,
                              .stream = (uint32_t)what >> FT_AWAIT_STREAM, .unit = unit, .site = site, .tag = (int32_t)(int64_t)tag,
                              .receives = several & FT_AWAIT_REQUESTS, .sends = several >> FT_AWAIT_SENDS & FT_AWAIT_REQUESTS,
                              .one = several >> FT_AWAIT_ONE };
}

/* Whether who waits so may have what it waits for now. */
static inline bool ft_await_ends(const struct ft_await *a, const struct ft_announced *what)
{
    return a->anything || (a->kind == what->kind && a->stream == what->stream && a->rank == what->rank && a->unit < what->below);
}

#endif
