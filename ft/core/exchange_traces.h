/* SPDX-License-Identifier: BSD-3-Clause */
/* Words that traces of the answer rule are written in (ft/core/exchange.h): what a node sends, what comes to it, what it does next. */
#ifndef FT_CORE_EXCHANGE_TRACES_H
#define FT_CORE_EXCHANGE_TRACES_H

#include <criterion/criterion.h>

#include "ft/base/util.h"
#include "ft/core/exchange.h"

enum { DEPTH = 4, BYTES = 100, MOST_PEERS = 16 };
static struct ft_peer peers[MOST_PEERS];
static struct ft_exchange x;

static inline uint32_t at(uint32_t node) { return (uint32_t)ft_exchange_peer(&x, node); }

static inline void node(uint32_t me, uint64_t mine) { ft_exchange_init(&x, peers, 3, me, DEPTH, mine); }

static inline void begin(enum ft_unit_kind kind, uint64_t first, uint64_t end) { ft_exchange_begin(&x, FT_TREE_BALANCED, kind, 0, first, end, first); }

#define BEGINS(to, what, unit) do { uint64_t u_ = 0; cr_assert_eq((int)ft_exchange_send(&x, at(to), &u_), FT_FRAME_##what); \
        cr_assert_eq(u_, (uint64_t)(unit)); } while (0)
#define SENDS(to, what, unit) do { BEGINS(to, what, unit); ft_exchange_sent(&x, at(to)); } while (0)
#define SILENT(to) do { uint64_t u_; cr_assert_eq((int)ft_exchange_send(&x, at(to), &u_), FT_FRAME_NONE); } while (0)
#define COMES(from, what, unit, count, how) cr_assert_eq((int)ft_exchange_head(&x, at(from), FT_FRAME_##what, unit, count), FT_TAKE_##how)
#define TAKES(from, what, unit, count, how) do { COMES(from, what, unit, count, how); ft_exchange_taken(&x, at(from)); } while (0)
#define STEP(what, unit) do { uint64_t u_ = 0; cr_assert_eq((int)ft_exchange_step(&x, &u_), FT_STEP_##what); cr_assert_eq(u_, (uint64_t)(unit)); } while (0)

static inline void connect(uint32_t to, uint64_t count)
{
    uint64_t mine = x.mine;

    ft_exchange_connected(&x, at(to));
    SENDS(to, HELLO, 0);
    SILENT(to);
    cr_assert(ft_exchange_hello(&x, at(to), count));
    cr_assert_eq(x.mine, mine);
}

static inline void fold(uint64_t u)
{
    STEP(FOLD, u);
    ft_exchange_folded(&x, u);
}

static inline void result(uint64_t u)
{
    STEP(RESULT, u);
    ft_exchange_commit(&x, u, BYTES);
}

static inline void taken_result(uint32_t from, uint64_t u, uint64_t count)
{
    TAKES(from, RES, u, count, RES);
    ft_exchange_commit(&x, u, BYTES);
}

#endif
