/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/core/single.h"

#include "ft/shm/region.h"
#include "ft/shm/wait.h"

enum { CALL_NS = 800 };  /* of a system call that reads in another process: what it takes whatever it reads, about */

void ft_single_open(struct ft_stream *s)
{
    struct ft_counters *c = &s->counters[s->rank];
    uint64_t who = s->block ? ft_peek32(&s->block->incarnation) + 1 : 0;

    ft_note(&c->lender, ft_foreign_self());
    ft_note(&c->token_at, (uintptr_t)&s->token);
    ft_note(&c->lends_from, s->mine);
    ft_note(&c->lender_alive, who && ft_alive_begin(&s->block->alive, who) ? who : 0);
}

bool ft_single_close(struct ft_stream *s)
{
    return !s->block || !ft_peek(&s->counters[s->rank].lender_alive) || ft_alive_end(&s->block->alive);
}

static void remember(struct ft_stream *s, const void *contribution, uint64_t n)
{
    for (uint32_t i = 0; i < FT_LOANS; i++)
        if (s->loans[i].at == contribution) {
            s->loans[i].n = ft_max(s->loans[i].n, n);
            s->loans[i].times++;
            return;
        }
    s->loans[s->oldest_loan++ % FT_LOANS] = (struct ft_lent){ contribution, n, 1 };
}

/* All are forgotten: what is lent once, as data that a job begins with, must not be copied for each snapshot there ever is. */
void ft_single_unshare(struct ft_stream *s)
{
    for (uint32_t i = 0; i < FT_LOANS; i++) {
        if (s->loans[i].times > 1)
            ft_foreign_unshare(s->loans[i].at, s->loans[i].n);
        s->loans[i] = (struct ft_lent){ 0 };
    }
}

void ft_single_lend(struct ft_stream *s, const void *contribution, uint64_t n)
{
    struct ft_counters *c = &s->counters[s->rank];
    uint64_t number = ft_peek(&c->lent) + 1;

    remember(s, contribution, n);
    s->token = (struct ft_token){ .nonce = s->region->header->nonce, .rank = s->rank, .number = number };
    ft_note(&c->lent_at, (uintptr_t)contribution);
    ft_publish(&c->lent, number);
}

/* A process that has shown its token once is the one that it says it is, as long as it is seen to be alive: afterwards, so that it was all the time. */
static bool read_lent(struct ft_stream *s, uint32_t lender, uint64_t at, void *to, uint64_t n, struct ft_loan *loan)
{
    const struct ft_counters *c = &s->counters[lender];
    struct ft_token expected = { .nonce = s->region->header->nonce, .rank = lender, .number = ft_look(&c->lent) };
    struct ft_lender it = { .process = ft_peek(&c->lender), .alive = ft_peek(&c->lender_alive) };
    bool known = it.alive && it.process == s->lender.process && it.alive == s->lender.alive;
    bool good, lives;

    *loan = (struct ft_loan){ .number = expected.number, .from = ft_peek(&c->lends_from) };
    good = ft_foreign_read(it.process, ft_peek(&c->token_at), known ? NULL : &expected, ft_peek(&c->lent_at) + at, to, n);
    lives = good && it.alive && ft_alive_is(&ft_region_rank(s->region, lender)->alive, it.alive);
    s->lender = lives ? it : (struct ft_lender){ 0 };
    return good && (lives || !known);
}

/* What takes more than half of a core's own cache with the result (single_reduce_max is half of it, or 0 if nobody knows) is not told from what its lender has just made; and a reduce takes as long
   out of the log. */
static enum ft_lent_kind kind_of(const struct ft_stream *s, uint64_t n)
{
    if (s->sig.call == FT_CALL_REDUCE || n > s->params->single_reduce_max / 2)
        return FT_LENT_ANYHOW;
    return s->sig.call == FT_CALL_BCAST ? FT_LENT_BCAST : FT_LENT_GATHER;
}

bool ft_single_read(struct ft_stream *s, uint32_t lender, uint64_t at, void *to, uint64_t n, struct ft_loan *loan)
{
    enum ft_lent_kind kind = kind_of(s, n);
    struct ft_pace *pace = &s->lent[kind];
    enum ft_pace_way way = ft_pace_next_lent(pace, ft_look(&s->counters[0].lent) + ft_look(&s->counters[1].lent));
    uint64_t began_ns = way == FT_PACE_SAMPLE ? ft_clock_ns() : 0;
    bool good = way != FT_PACE_PAST && read_lent(s, lender, at, to, n, loan);

    if (good && way == FT_PACE_SAMPLE) {
        uint64_t took_ns = ft_clock_ns() - began_ns;

        ft_pace_saw(pace, took_ns - ft_min(took_ns, CALL_NS), n, kind == FT_LENT_ANYHOW ? FT_PACE_FAR_LENT : FT_PACE_JUST_MADE);
    }
    return good;
}

bool ft_single_stands(const struct ft_stream *s, uint32_t lender, const struct ft_loan *loan, uint64_t u)
{
    return u >= loan->from && ft_look(&s->counters[lender].lent) == loan->number;
}

void ft_single_taken(struct ft_stream *s, uint64_t unit)
{
    struct ft_counters *c = &s->counters[s->rank];

    if (ft_peek(&c->taken) < unit)
        ft_wait_announce(s->patience, &c->taken, unit);
}
