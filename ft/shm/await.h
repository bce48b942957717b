/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank waits for, as it says itself before it waits (`ftrun status`, --hang-timeout).
   What is said stays: others' words only grow, so a wait that is over is one for nobody. */
#ifndef FT_SHM_AWAIT_H
#define FT_SHM_AWAIT_H

#include "ft/shm/layout.h"
#include "ft/shm/word.h"

/* What another rank has yet to do. */
enum ft_await_kind {
    FT_AWAIT_NOBODY,
    FT_AWAIT_CALLED,       /* make the call that begins with `unit` ... */
    FT_AWAIT_ASKED,        /* ... or ask what it is, too, as long as nobody has made it */
    FT_AWAIT_SHOWN,        /* contribute to `unit` on the short path ... */
    FT_AWAIT_CONTRIBUTED,  /* ... or on the standard one */
    FT_AWAIT_DONE,         /* finish with `unit` */
    FT_AWAIT_JOINED,       /* come into use `unit` + 1 of a stream */
    FT_AWAIT_CONSUMED      /* finish with, or load, the checkpoint of version `unit` + 1 */
};

struct ft_await {
    enum ft_await_kind kind;
    uint32_t rank;         /* of this node: the first that is behind */
    bool all;              /* any other one has to, too */
    uint64_t unit;
};

static inline void ft_await_say(struct ft_await_words *w, const struct ft_await *a)
{
    uint64_t what = (uint64_t)a->kind | (uint64_t)a->all << 8 | (uint64_t)a->rank << 32;

    /* Out of use first: found under the new `what`, the old unit would be what nobody waits for. */
    ft_note(&w->what, FT_AWAIT_NOBODY);
    atomic_thread_fence(memory_order_release);
    ft_note(&w->unit, a->unit);
    ft_publish(&w->what, what);
}

/* kind NOBODY: it has said nothing, or is just saying something else. */
static inline struct ft_await ft_await_read(const struct ft_await_words *w)
{
    uint64_t what = ft_look(&w->what), unit = ft_peek(&w->unit);

    atomic_thread_fence(memory_order_acquire);
    if (ft_peek(&w->what) != what)
        what = FT_AWAIT_NOBODY;
    return (struct ft_await){ .kind = (enum ft_await_kind)(what & 0xff), .all = what >> 8 & 1, .rank = (uint32_t)(what >> 32), .unit = unit };
}

#endif
